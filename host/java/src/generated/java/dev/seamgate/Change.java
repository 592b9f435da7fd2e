// Made by `cargo xtask generate` from `wit/` and `xtask/generate/`. Do not edit: run it again.

package dev.seamgate;

import org.jspecify.annotations.Nullable;

/**
 * One change that was made to the text before it was validated. Applied in order to the candidate that was chosen, the
 * changes give exactly the text that was validated; they do not overlap, and several may insert at one place.
 *
 * @param kind What it did.
 * @param path The innermost value concerned, as far as it is there.
 * @param span The piece of the output concerned.
 * @param before What stood there, cut to 256 bytes.
 * @param after What stands there instead, whole.
 */
public record Change(
    ChangeKind kind,
    String path,
    @Nullable Span span,
    String before,
    String after) {
  static Change read(Json json) {
    return new Change(
        json.need("kind", ChangeKind::read),
        json.need("path", Json::asText),
        json.find("span", Span::read),
        json.need("before", Json::asText),
        json.need("after", Json::asText));
  }
}
