// Made by `cargo xtask generate` from `schemas/` and `xtask/generate/`. Do not edit: run it again.

package dev.seamgate;

import org.jspecify.annotations.Nullable;

/**
 * A text that a person said elsewhere, which can prove {@code origins}. The model does not receive it.
 *
 * @param at when, in milliseconds since 1970.
 */
public record SaidEvent(
    long at,
    String text,
    @Nullable String principal) implements RunEvent {
  /** Returns one with what it must have. */
  public static SaidEvent of(long at, String text) {
    return new SaidEvent(at, text, null);
  }

  /** Returns the same with another {@code principal}. */
  public SaidEvent withPrincipal(String principal) {
    return new SaidEvent(at, text, principal);
  }

  static SaidEvent read(Json json) {
    return new SaidEvent(
        json.need("at", Json::asLong),
        json.need("text", Json::asText),
        json.find("principal", Json::asText));
  }

  @Override
  public String toJson() {
    return JsonWriter.written(this::members);
  }

  private void members(JsonWriter to) {
    to.member("type", "said", JsonWriter::text);
    to.member("at", at, JsonWriter::number);
    to.member("text", text, JsonWriter::text);
    to.member("principal", principal, JsonWriter::text);
  }
}
