// Made by `cargo xtask generate` from `schemas/` and `xtask/generate/`. Do not edit: run it again.

package dev.seamgate;

import org.jspecify.annotations.Nullable;

/**
 * A person's answer to a question.
 *
 * @param at when, in milliseconds since 1970.
 * @param key The key of the action {@code ask_input}.
 */
public record InputEvent(
    long at,
    String key,
    String text,
    @Nullable String principal) implements RunEvent {
  /** Returns one with what it must have. */
  public static InputEvent of(long at, String key, String text) {
    return new InputEvent(at, key, text, null);
  }

  /** Returns the same with another {@code principal}. */
  public InputEvent withPrincipal(String principal) {
    return new InputEvent(at, key, text, principal);
  }

  static InputEvent read(Json json) {
    return new InputEvent(
        json.need("at", Json::asLong),
        json.need("key", Json::asText),
        json.need("text", Json::asText),
        json.find("principal", Json::asText));
  }

  @Override
  public String toJson() {
    return JsonWriter.written(this::members);
  }

  private void members(JsonWriter to) {
    to.member("type", "input", JsonWriter::text);
    to.member("at", at, JsonWriter::number);
    to.member("key", key, JsonWriter::text);
    to.member("text", text, JsonWriter::text);
    to.member("principal", principal, JsonWriter::text);
  }
}
