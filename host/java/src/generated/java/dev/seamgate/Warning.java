// Made by `cargo xtask generate` from `wit/` and `xtask/generate/`. Do not edit: run it again.

package dev.seamgate;

import org.jspecify.annotations.Nullable;

/**
 * Something in a contract that can be used and is likely a mistake.
 *
 * @param path Where in the contract, as a JSONPath.
 * @param code Which kind: a word that a program can compare.
 * @param message What to do about it.
 * @param pointer The same place as a JSON Pointer (RFC 6901).
 * @param level How bad it is. The same for all of a code.
 * @param span The piece of the contract concerned, where there is one: of a keyword that is not known, its name.
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
