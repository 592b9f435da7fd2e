// Made by `cargo xtask generate` from `schemas/` and `xtask/generate/`. Do not edit: run it again.

package dev.seamgate;

import org.jspecify.annotations.Nullable;

/**
 * A call continues elsewhere. Its result comes later.
 *
 * @param at when, in milliseconds since 1970.
 * @param call The key of a call, as in its action.
 * @param ttlS The maximum time until then, in seconds from now.
 */
public record JobEvent(
    long at,
    String call,
    @Nullable Long ttlS) implements RunEvent {
  /** Returns one with what it must have. */
  public static JobEvent of(long at, String call) {
    return new JobEvent(at, call, null);
  }

  /** Returns the same with another {@code ttlS}. */
  public JobEvent withTtlS(Long ttlS) {
    return new JobEvent(at, call, ttlS);
  }

  static JobEvent read(Json json) {
    return new JobEvent(
        json.need("at", Json::asLong),
        json.need("call", Json::asText),
        json.find("ttl_s", Json::asLong));
  }

  @Override
  public String toJson() {
    return JsonWriter.written(this::members);
  }

  private void members(JsonWriter to) {
    to.member("type", "job", JsonWriter::text);
    to.member("at", at, JsonWriter::number);
    to.member("call", call, JsonWriter::text);
    to.member("ttl_s", ttlS, JsonWriter::number);
  }
}
