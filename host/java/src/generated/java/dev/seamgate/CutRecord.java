// Made by `cargo xtask generate` from `schemas/` and `xtask/generate/`. Do not edit: run it again.

package dev.seamgate;

import java.util.List;

/**
 * What left the prompt or the state, so that it fits.
 *
 * @param calls Calls whose observations lost their text.
 * @param entries How many of the oldest messages were left out.
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
