// Made by `cargo xtask generate` from `schemas/` and `xtask/generate/`. Do not edit: run it again.

package dev.seamgate;

import org.jspecify.annotations.Nullable;

/**
 * A message that a person sent unasked.
 *
 * @param at when, in milliseconds since 1970.
 */
public record UserMessageEvent(
    long at,
    String text,
    @Nullable String principal,
    @Nullable String turn) implements RunEvent {
  /** Returns one with what it must have. */
  public static UserMessageEvent of(long at, String text) {
    return new UserMessageEvent(at, text, null, null);
  }

  /** Returns the same with another {@code principal}. */
  public UserMessageEvent withPrincipal(String principal) {
    return new UserMessageEvent(at, text, principal, turn);
  }

  /** Returns the same with another {@code turn}. */
  public UserMessageEvent withTurn(String turn) {
    return new UserMessageEvent(at, text, principal, turn);
  }

  static UserMessageEvent read(Json json) {
    return new UserMessageEvent(
        json.need("at", Json::asLong),
        json.need("text", Json::asText),
        json.find("principal", Json::asText),
        json.find("turn", Json::asText));
  }

  @Override
  public String toJson() {
    return JsonWriter.written(this::members);
  }

  private void members(JsonWriter to) {
    to.member("type", "user_message", JsonWriter::text);
    to.member("at", at, JsonWriter::number);
    to.member("text", text, JsonWriter::text);
    to.member("principal", principal, JsonWriter::text);
    to.member("turn", turn, JsonWriter::text);
  }
}
