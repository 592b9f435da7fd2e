// Made by `cargo xtask generate` from `wit/` and `xtask/generate/`. Do not edit: run it again.

package dev.seamgate;

import org.jspecify.annotations.Nullable;

/**
 * A piece of the output that could be the requested JSON.
 *
 * @param source The way in which it was found.
 * @param marker The contract's marker on the block. None for a block without an info string, and for other sources.
 * @param span The piece of the output.
 * @param chosen True if this candidate was judged.
 */
public record Candidate(
    Source source,
    @Nullable String marker,
    Span span,
    boolean chosen) {
  static Candidate read(Json json) {
    return new Candidate(
        json.need("source", Source::read),
        json.find("marker", Json::asText),
        json.need("span", Span::read),
        json.need("chosen", Json::asBoolean));
  }
}
