// Made by `cargo xtask generate` from `schemas/` and `xtask/generate/`. Do not edit: run it again.

package dev.seamgate;

/**
 * Time has passed.
 *
 * @param at when, in milliseconds since 1970.
 */
public record TickEvent(
    long at) implements RunEvent {
  static TickEvent read(Json json) {
    return new TickEvent(
        json.need("at", Json::asLong));
  }

  @Override
  public String toJson() {
    return JsonWriter.written(this::members);
  }

  private void members(JsonWriter to) {
    to.member("type", "tick", JsonWriter::text);
    to.member("at", at, JsonWriter::number);
  }
}
