// Made by `cargo xtask generate` from `schemas/` and `xtask/generate/`. Do not edit: run it again.

package dev.seamgate;

/**
 * A secret whose value the host puts in place of a reference when it sends the call.
 *
 * @param at A JSON Pointer into the arguments. The value there is the text {@code secret:NAME}.
 * @param name Its name.
 */
public record Secret(
    String at,
    String name) {
  static Secret read(Json json) {
    return new Secret(
        json.need("at", Json::asText),
        json.need("name", Json::asText));
  }
}
