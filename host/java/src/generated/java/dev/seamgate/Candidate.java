// Made by `cargo xtask generate` from `wit/` and `xtask/generate/`. Do not edit: run it again.

package dev.seamgate;

import org.jspecify.annotations.Nullable;

/**
 * A piece of the output that could be the JSON asked for.
 *
 * @param source How it was found.
 * @param marker The contract's marker that the block bears; none for a block without an info string, and for other
 * sources.
 * @param span The piece of the output.
 * @param chosen Whether this one was judged.
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
