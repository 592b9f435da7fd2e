// Made by `cargo xtask generate` from `schemas/` and `xtask/generate/`. Do not edit: run it again.

package dev.seamgate;

import org.jspecify.annotations.Nullable;

/**
 * A person states the outcome of an uncertain call.
 *
 * @param at when, in milliseconds since 1970.
 * @param call The key of a call, as in its action.
 */
public record ResolutionEvent(
    long at,
    String call,
    ResolutionOutcome outcome,
    String principal,
    @Nullable String text) implements RunEvent {
  /** Returns one with what it must have. */
  public static ResolutionEvent of(long at, String call, ResolutionOutcome outcome, String principal) {
    return new ResolutionEvent(at, call, outcome, principal, null);
  }

  /** Returns the same with another {@code text}. */
  public ResolutionEvent withText(String text) {
    return new ResolutionEvent(at, call, outcome, principal, text);
  }

  static ResolutionEvent read(Json json) {
    return new ResolutionEvent(
        json.need("at", Json::asLong),
        json.need("call", Json::asText),
        json.need("outcome", ResolutionOutcome::read),
        json.need("principal", Json::asText),
        json.find("text", Json::asText));
  }

  @Override
  public String toJson() {
    return JsonWriter.written(this::members);
  }

  private void members(JsonWriter to) {
    to.member("type", "resolution", JsonWriter::text);
    to.member("at", at, JsonWriter::number);
    to.member("call", call, JsonWriter::text);
    to.member("outcome", outcome, JsonWriter::word);
    to.member("principal", principal, JsonWriter::text);
    to.member("text", text, JsonWriter::text);
  }
}
