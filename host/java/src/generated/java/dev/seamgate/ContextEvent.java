// Made by `cargo xtask generate` from `schemas/` and `xtask/generate/`. Do not edit: run it again.

package dev.seamgate;

/**
 * A declared context value changed.
 *
 * @param at when, in milliseconds since 1970.
 */
public record ContextEvent(
    long at,
    String name,
    String value) implements RunEvent {
  static ContextEvent read(Json json) {
    return new ContextEvent(
        json.need("at", Json::asLong),
        json.need("name", Json::asText),
        json.need("value", Json::raw));
  }

  @Override
  public String toJson() {
    return JsonWriter.written(this::members);
  }

  private void members(JsonWriter to) {
    to.member("type", "context", JsonWriter::text);
    to.member("at", at, JsonWriter::number);
    to.member("name", name, JsonWriter::text);
    to.member("value", value, JsonWriter::raw);
  }
}
