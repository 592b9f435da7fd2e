// Made by `cargo xtask generate` from `wit/` and `xtask/generate/`. Do not edit: run it again.

package dev.seamgate;

/**
 * An item that is complete, as the text stands. It is not judged: that is for {@code finish}.
 *
 * @param candidate Where the candidate begins that it is in. An output may hold several; the contract chooses at the
 * end.
 * @param index Its place among the items of that candidate, from 0.
 * @param span Its text in the output.
 */
public record Completed(
    long candidate,
    long index,
    Span span) {
  static Completed read(Json json) {
    return new Completed(
        json.need("candidate", Json::asLong),
        json.need("index", Json::asLong),
        json.need("span", Span::read));
  }
}
