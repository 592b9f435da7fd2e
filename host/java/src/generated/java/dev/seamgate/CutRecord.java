// Made by `cargo xtask generate` from `schemas/` and `xtask/generate/`. Do not edit: run it again.

package dev.seamgate;

import java.util.List;

/**
 * The content that was removed from the prompt or the state to make it fit.
 *
 * @param calls Calls whose observations lost their text.
 * @param entries The number of oldest messages that were left out.
 */
public record CutRecord(
    CutFrom from,
    List<String> calls,
    long entries) implements RunRecord {
  /** Copies what could change. */
  public CutRecord {
    calls = List.copyOf(calls);
  }

  static CutRecord read(Json json) {
    return new CutRecord(
        json.need("from", CutFrom::read),
        json.need("calls", Json.list(Json::asText)),
        json.need("entries", Json::asLong));
  }
}
