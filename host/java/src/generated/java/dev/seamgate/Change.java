// Made by `cargo xtask generate` from `wit/` and `xtask/generate/`. Do not edit: run it again.

package dev.seamgate;

import org.jspecify.annotations.Nullable;

/**
 * One change that was made to the text before validation. Applied in order to the chosen candidate, the changes produce
 * exactly the text that was validated. They do not overlap, and several may insert text at the same position.
 *
 * @param kind The kind of the change.
 * @param path The path of the innermost affected value, as far as it exists.
 * @param span The affected piece of the output.
 * @param before The replaced text, truncated to 256 bytes.
 * @param after The complete replacement.
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
