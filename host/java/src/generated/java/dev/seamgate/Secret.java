// Made by `cargo xtask generate` from `schemas/` and `xtask/generate/`. Do not edit: run it again.

package dev.seamgate;

/**
 * A secret. The host replaces a reference with its value when it sends the call.
 *
 * @param at A JSON Pointer into the arguments. The value there is the text {@code secret:NAME}.
 * @param name The name of the tool.
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
