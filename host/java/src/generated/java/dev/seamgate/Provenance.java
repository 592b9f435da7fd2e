// Made by `cargo xtask generate` from `schemas/` and `xtask/generate/`. Do not edit: run it again.

package dev.seamgate;

import org.jspecify.annotations.Nullable;

/**
 * A {@code Provenance}, as {@code schemas/} has it.
 */
public record Provenance(
    @Nullable String source,
    @Nullable String query,
    @Nullable String timeRange,
    @Nullable Boolean cached) {
  static Provenance read(Json json) {
    return new Provenance(
        json.find("source", Json::asText),
        json.find("query", Json::asText),
        json.find("time_range", Json::asText),
        json.find("cached", Json::asBoolean));
  }
}
