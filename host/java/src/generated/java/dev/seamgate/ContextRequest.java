// Made by `cargo xtask generate` from `schemas/` and `xtask/generate/`. Do not edit: run it again.

package dev.seamgate;

import java.util.List;

/**
 * The part of its parent's context that a child requested and was denied.
 *
 * @param reason The child's reason for the request.
 * @param packet The digest of the task that it received.
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
