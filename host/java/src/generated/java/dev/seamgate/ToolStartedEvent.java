// Made by `cargo xtask generate` from `schemas/` and `xtask/generate/`. Do not edit: run it again.

package dev.seamgate;

/**
 * The host is about to send a call. It writes this event to the journal first.
 *
 * @param at when, in milliseconds since 1970.
 * @param call The key of a call, as in its action.
 */
public record ToolStartedEvent(
    long at,
    String call) implements RunEvent {
  static ToolStartedEvent read(Json json) {
    return new ToolStartedEvent(
        json.need("at", Json::asLong),
        json.need("call", Json::asText));
  }

  @Override
  public String toJson() {
    return JsonWriter.written(this::members);
  }

  private void members(JsonWriter to) {
    to.member("type", "tool_started", JsonWriter::text);
    to.member("at", at, JsonWriter::number);
    to.member("call", call, JsonWriter::text);
  }
}
