// Made by `cargo xtask generate` from `wit/` and `xtask/generate/`. Do not edit: run it again.

package dev.seamgate;

import org.jspecify.annotations.Nullable;

/**
 * A valid item of an invalid document.
 *
 * @param index The index among the items as the producer wrote them, from 0.
 * @param path The item's location in the document, as a JSONPath.
 * @param span The piece of the output.
 * @param value The item as JSON text without optional white space.
 */
public record Item(
    long index,
    String path,
    @Nullable Span span,
    String value) {
  static Item read(Json json) {
    return new Item(
        json.need("index", Json::asLong),
        json.need("path", Json::asText),
        json.find("span", Span::read),
        json.need("value", Json::raw));
  }
}
