// Made by `cargo xtask generate` from `schemas/` and `xtask/generate/`. Do not edit: run it again.

package dev.seamgate;

/**
 * A person changes the mode.
 *
 * @param at when, in milliseconds since 1970.
 */
public record ModeEvent(
    long at,
    String mode,
    String principal) implements RunEvent {
  static ModeEvent read(Json json) {
    return new ModeEvent(
        json.need("at", Json::asLong),
        json.need("mode", Json::asText),
        json.need("principal", Json::asText));
  }

  @Override
  public String toJson() {
    return JsonWriter.written(this::members);
  }

  private void members(JsonWriter to) {
    to.member("type", "mode", JsonWriter::text);
    to.member("at", at, JsonWriter::number);
    to.member("mode", mode, JsonWriter::text);
    to.member("principal", principal, JsonWriter::text);
  }
}
