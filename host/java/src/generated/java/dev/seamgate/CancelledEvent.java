// Made by `cargo xtask generate` from `schemas/` and `xtask/generate/`. Do not edit: run it again.

package dev.seamgate;

import org.jspecify.annotations.Nullable;

/**
 * A person ends the run.
 *
 * @param at when, in milliseconds since 1970.
 */
public record CancelledEvent(
    long at,
    @Nullable String principal,
    @Nullable String reason) implements RunEvent {
  /** Returns one with what it must have. */
  public static CancelledEvent of(long at) {
    return new CancelledEvent(at, null, null);
  }

  /** Returns the same with another {@code principal}. */
  public CancelledEvent withPrincipal(String principal) {
    return new CancelledEvent(at, principal, reason);
  }

  /** Returns the same with another {@code reason}. */
  public CancelledEvent withReason(String reason) {
    return new CancelledEvent(at, principal, reason);
  }

  static CancelledEvent read(Json json) {
    return new CancelledEvent(
        json.need("at", Json::asLong),
        json.find("principal", Json::asText),
        json.find("reason", Json::asText));
  }

  @Override
  public String toJson() {
    return JsonWriter.written(this::members);
  }

  private void members(JsonWriter to) {
    to.member("type", "cancelled", JsonWriter::text);
    to.member("at", at, JsonWriter::number);
    to.member("principal", principal, JsonWriter::text);
    to.member("reason", reason, JsonWriter::text);
  }
}
