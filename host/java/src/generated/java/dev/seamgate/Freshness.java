// Made by `cargo xtask generate` from `schemas/` and `xtask/generate/`. Do not edit: run it again.

package dev.seamgate;

import org.jspecify.annotations.Nullable;

/**
 * A {@code Freshness}, as {@code schemas/} has it.
 *
 * @param until The time up to which the data extends, in milliseconds since 1970.
 */
public record Freshness(
    @Nullable Long until,
    long lagS,
    boolean stale) {
  static Freshness read(Json json) {
    return new Freshness(
        json.find("until", Json::asLong),
        json.need("lag_s", Json::asLong),
        json.need("stale", Json::asBoolean));
  }
}
