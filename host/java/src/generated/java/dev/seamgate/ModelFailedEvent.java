// Made by `cargo xtask generate` from `schemas/` and `xtask/generate/`. Do not edit: run it again.

package dev.seamgate;

import org.jspecify.annotations.Nullable;

/**
 * The model returned no output.
 *
 * @param at when, in milliseconds since 1970.
 * @param key The key of a call, as in its action.
 * @param retry Whether another attempt may help. Default: false, a permanent failure.
 */
public record ModelFailedEvent(
    long at,
    String key,
    String message,
    @Nullable Boolean retry) implements RunEvent {
  /** Returns one with what it must have. */
  public static ModelFailedEvent of(long at, String key, String message) {
    return new ModelFailedEvent(at, key, message, null);
  }

  /** Returns the same with another {@code retry}. */
  public ModelFailedEvent withRetry(Boolean retry) {
    return new ModelFailedEvent(at, key, message, retry);
  }

  static ModelFailedEvent read(Json json) {
    return new ModelFailedEvent(
        json.need("at", Json::asLong),
        json.need("key", Json::asText),
        json.need("message", Json::asText),
        json.find("retry", Json::asBoolean));
  }

  @Override
  public String toJson() {
    return JsonWriter.written(this::members);
  }

  private void members(JsonWriter to) {
    to.member("type", "model_failed", JsonWriter::text);
    to.member("at", at, JsonWriter::number);
    to.member("key", key, JsonWriter::text);
    to.member("message", message, JsonWriter::text);
    to.member("retry", retry, JsonWriter::bool);
  }
}
