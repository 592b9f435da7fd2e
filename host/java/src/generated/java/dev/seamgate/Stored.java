// Made by `cargo xtask generate` from `schemas/` and `xtask/generate/`. Do not edit: run it again.

package dev.seamgate;

import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The labels of the data below one key of a store.
 *
 * @param store The name of the store.
 * @param key The key. If it is missing, the whole store.
 */
public record Stored(
    String store,
    @Nullable String key,
    List<String> labels) {
  /** Copies what could change. */
  public Stored {
    labels = List.copyOf(labels);
  }

  /** Returns one with what it must have. */
  public static Stored of(String store, List<String> labels) {
    return new Stored(store, null, labels);
  }

  /** Returns the same with another {@code key}. */
  public Stored withKey(String key) {
    return new Stored(store, key, labels);
  }

  static Stored read(Json json) {
    return new Stored(
        json.need("store", Json::asText),
        json.find("key", Json::asText),
        json.need("labels", Json.list(Json::asText)));
  }

  static void write(JsonWriter to, Stored value) {
    to.object(value::members);
  }

  private void members(JsonWriter to) {
    to.member("store", store, JsonWriter::text);
    to.member("key", key, JsonWriter::text);
    to.member("labels", labels, JsonWriter.list(JsonWriter::text));
  }
}
