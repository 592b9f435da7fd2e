// Made by `cargo xtask generate` from `schemas/` and `xtask/generate/`. Do not edit: run it again.

package dev.seamgate;

import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The used budget.
 *
 * @param calls The number of times that each call was permitted, by a digest of the call. For the parent of a child.
 * @param recent The times of the last permitted calls of each tool with a {@code rate}. For the parent of a child.
 */
public record RunUse(
    long steps,
    long toolCalls,
    long tokens,
    @Nullable Map<String, Long> calls,
    @Nullable Map<String, List<Long>> recent) {
  /** Copies what could change. */
  public RunUse {
    calls = calls == null ? null : Map.copyOf(calls);
    recent = recent == null ? null : Map.copyOf(recent);
  }

  static RunUse read(Json json) {
    return new RunUse(
        json.need("steps", Json::asLong),
        json.need("tool_calls", Json::asLong),
        json.need("tokens", Json::asLong),
        json.find("calls", Json.map(Json::asLong)),
        json.find("recent", Json.map(Json.list(Json::asLong))));
  }
}
