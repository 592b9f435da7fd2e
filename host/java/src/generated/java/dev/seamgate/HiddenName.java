// Made by `cargo xtask generate` from `schemas/` and `xtask/generate/`. Do not edit: run it again.

package dev.seamgate;

import org.jspecify.annotations.Nullable;

/**
 * A tool that the model does not see.
 *
 * @param tool NAME or SERVER/NAME.
 * @param message The error in the tool's definition, and its place.
 */
public record HiddenName(
    String tool,
    HiddenToolCode code,
    @Nullable String message) {
  static HiddenName read(Json json) {
    return new HiddenName(
        json.need("tool", Json::asText),
        json.need("code", HiddenToolCode::read),
        json.find("message", Json::asText));
  }
}
