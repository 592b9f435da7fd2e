// Made by `cargo xtask generate` from `schemas/` and `xtask/generate/`. Do not edit: run it again.

package dev.seamgate;

import org.jspecify.annotations.Nullable;

/**
 * A tool that the model sees.
 *
 * @param server The server of the tool.
 * @param tool The name of the tool.
 * @param definition The definition as the server lists it, sanitized.
 */
public record VisibleTool(
    @Nullable String server,
    String tool,
    Effect effect,
    Permit permit,
    @Nullable String definition) {
  static VisibleTool read(Json json) {
    return new VisibleTool(
        json.find("server", Json::asText),
        json.need("tool", Json::asText),
        json.need("effect", Effect::read),
        json.need("permit", Permit::read),
        json.find("definition", Json::raw));
  }
}
