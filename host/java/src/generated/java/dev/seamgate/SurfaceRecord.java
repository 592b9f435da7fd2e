// Made by `cargo xtask generate` from `schemas/` and `xtask/generate/`. Do not edit: run it again.

package dev.seamgate;

import java.util.List;

/**
 * The tools that servers list now.
 *
 * @param tools The tools that the model may see.
 */
public record SurfaceRecord(
    List<String> tools,
    List<HiddenName> hidden) implements RunRecord {
  /** Copies what could change. */
  public SurfaceRecord {
    tools = List.copyOf(tools);
    hidden = List.copyOf(hidden);
  }

  static SurfaceRecord read(Json json) {
    return new SurfaceRecord(
        json.need("tools", Json.list(Json::asText)),
        json.need("hidden", Json.list(HiddenName::read)));
  }
}
