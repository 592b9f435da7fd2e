// Made by `cargo xtask generate` from `schemas/` and `xtask/generate/`. Do not edit: run it again.

package dev.seamgate;

/**
 * A {@code Instruction}, as {@code schemas/} has it.
 *
 * @param path The place in the result.
 * @param span The range of bytes in the text there: the first byte, and the one after the last.
 */
public record Instruction(
    String kind,
    String path,
    Span span) {
  static Instruction read(Json json) {
    return new Instruction(
        json.need("kind", Json::asText),
        json.need("path", Json::asText),
        json.need("span", Span::read));
  }
}
