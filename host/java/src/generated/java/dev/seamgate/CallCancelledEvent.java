// Made by `cargo xtask generate` from `schemas/` and `xtask/generate/`. Do not edit: run it again.

package dev.seamgate;

import org.jspecify.annotations.Nullable;

/**
 * The host cancelled a call.
 *
 * @param at when, in milliseconds since 1970.
 * @param call The key of a call, as in its action.
 * @param effect Whether the call may have had an effect. Default: unknown, if it was started.
 */
public record CallCancelledEvent(
    long at,
    String call,
    @Nullable PossibleEffect effect) implements RunEvent {
  /** Returns one with what it must have. */
  public static CallCancelledEvent of(long at, String call) {
    return new CallCancelledEvent(at, call, null);
  }

  /** Returns the same with another {@code effect}. */
  public CallCancelledEvent withEffect(PossibleEffect effect) {
    return new CallCancelledEvent(at, call, effect);
  }

  static CallCancelledEvent read(Json json) {
    return new CallCancelledEvent(
        json.need("at", Json::asLong),
        json.need("call", Json::asText),
        json.find("effect", PossibleEffect::read));
  }

  @Override
  public String toJson() {
    return JsonWriter.written(this::members);
  }

  private void members(JsonWriter to) {
    to.member("type", "call_cancelled", JsonWriter::text);
    to.member("at", at, JsonWriter::number);
    to.member("call", call, JsonWriter::text);
    to.member("effect", effect, JsonWriter::word);
  }
}
