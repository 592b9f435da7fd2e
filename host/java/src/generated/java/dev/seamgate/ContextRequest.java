// Made by `cargo xtask generate` from `schemas/` and `xtask/generate/`. Do not edit: run it again.

package dev.seamgate;

import java.util.List;

/**
 * What a child asked of its parent's context, and was denied.
 *
 * @param reason Why it asked, as it says.
 * @param packet Of the task that it was given.
 * @param tools The tools that its profile names.
 */
public record ContextRequest(
    String reason,
    String packet,
    List<String> tools) {
  /** Copies what could change. */
  public ContextRequest {
    tools = List.copyOf(tools);
  }

  static ContextRequest read(Json json) {
    return new ContextRequest(
        json.need("reason", Json::asText),
        json.need("packet", Json::asText),
        json.need("tools", Json.list(Json::asText)));
  }
}
