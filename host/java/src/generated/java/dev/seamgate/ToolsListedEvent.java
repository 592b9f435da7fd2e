// Made by `cargo xtask generate` from `schemas/` and `xtask/generate/`. Do not edit: run it again.

package dev.seamgate;

/**
 * The tools that servers list now.
 *
 * @param at when, in milliseconds since 1970.
 * @param listed The list, in the format of lock files: see lock.schema.json.
 */
public record ToolsListedEvent(
    long at,
    String listed) implements RunEvent {
  static ToolsListedEvent read(Json json) {
    return new ToolsListedEvent(
        json.need("at", Json::asLong),
        json.need("listed", Json::raw));
  }

  @Override
  public String toJson() {
    return JsonWriter.written(this::members);
  }

  private void members(JsonWriter to) {
    to.member("type", "tools_listed", JsonWriter::text);
    to.member("at", at, JsonWriter::number);
    to.member("listed", listed, JsonWriter::raw);
  }
}
