// Made by `cargo xtask generate` from `schemas/` and `xtask/generate/`. Do not edit: run it again.

package dev.seamgate;

import java.util.List;

/**
 * Labels that other runs gave to data in stores, in addition to those that the run knows.
 *
 * @param at when, in milliseconds since 1970.
 */
public record StoresEvent(
    long at,
    List<Stored> stores) implements RunEvent {
  /** Copies what could change. */
  public StoresEvent {
    stores = List.copyOf(stores);
  }

  static StoresEvent read(Json json) {
    return new StoresEvent(
        json.need("at", Json::asLong),
        json.need("stores", Json.list(Stored::read)));
  }

  @Override
  public String toJson() {
    return JsonWriter.written(this::members);
  }

  private void members(JsonWriter to) {
    to.member("type", "stores", JsonWriter::text);
    to.member("at", at, JsonWriter::number);
    to.member("stores", stores, JsonWriter.list(Stored::write));
  }
}
