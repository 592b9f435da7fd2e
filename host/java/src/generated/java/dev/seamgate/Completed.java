// Made by `cargo xtask generate` from `wit/` and `xtask/generate/`. Do not edit: run it again.

package dev.seamgate;

/**
 * An item that is complete in the text so far. It is not judged before {@code finish}.
 *
 * @param candidate The offset at which the item's candidate begins. An output may have several candidates, and the
 * contract selects one at the end.
 * @param index The index among the items of that candidate, from 0.
 * @param span The item's text in the output.
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
