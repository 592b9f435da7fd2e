// Made by `cargo xtask generate` from `wit/` and `xtask/generate/`. Do not edit: run it again.

package dev.seamgate;

import org.jspecify.annotations.Nullable;

/**
 * A likely mistake in a valid contract.
 *
 * @param path The location in the contract, as a JSONPath.
 * @param code The kind of warning, as a word that programs can compare.
 * @param message The likely mistake, and how to correct it.
 * @param pointer The same location as a JSON Pointer (RFC 6901).
 * @param level The severity, which is the same for all warnings with this code.
 * @param span The affected piece of the contract, if there is one. For an unknown keyword, its name.
 */
public record Warning(
    String path,
    String code,
    String message,
    String pointer,
    Level level,
    @Nullable Span span) {
  static Warning read(Json json) {
    return new Warning(
        json.need("path", Json::asText),
        json.need("code", Json::asText),
        json.need("message", Json::asText),
        json.need("pointer", Json::asText),
        json.need("level", Level::read),
        json.find("span", Span::read));
  }
}
