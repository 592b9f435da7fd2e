// Made by `cargo xtask generate` from `schemas/` and `xtask/generate/`. Do not edit: run it again.

package dev.seamgate;

import org.jspecify.annotations.Nullable;

/**
 * A call ended without a result.
 *
 * @param at when, in milliseconds since 1970.
 * @param call The key of a call, as in its action.
 * @param effect Whether the call may have had an effect. Default: unknown, if it was started.
 */
public record ToolFailedEvent(
    long at,
    String call,
    String message,
    @Nullable PossibleEffect effect) implements RunEvent {
  /** Returns one with what it must have. */
  public static ToolFailedEvent of(long at, String call, String message) {
    return new ToolFailedEvent(at, call, message, null);
  }

  /** Returns the same with another {@code effect}. */
  public ToolFailedEvent withEffect(PossibleEffect effect) {
    return new ToolFailedEvent(at, call, message, effect);
  }

  static ToolFailedEvent read(Json json) {
    return new ToolFailedEvent(
        json.need("at", Json::asLong),
        json.need("call", Json::asText),
        json.need("message", Json::asText),
        json.find("effect", PossibleEffect::read));
  }

  @Override
  public String toJson() {
    return JsonWriter.written(this::members);
  }

  private void members(JsonWriter to) {
    to.member("type", "tool_failed", JsonWriter::text);
    to.member("at", at, JsonWriter::number);
    to.member("call", call, JsonWriter::text);
    to.member("message", message, JsonWriter::text);
    to.member("effect", effect, JsonWriter::word);
  }
}
