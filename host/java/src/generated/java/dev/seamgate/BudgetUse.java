// Made by `cargo xtask generate` from `schemas/` and `xtask/generate/`. Do not edit: run it again.

package dev.seamgate;

import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The used budget: see facts.schema.json.
 *
 * @param calls The number of times that each call was permitted, by a digest of the call.
 * @param recent The times of the last permitted calls of each tool with a {@code rate}.
 */
public record BudgetUse(
    long toolCalls,
    long tokens,
    long ms,
    Map<String, Long> calls,
    @Nullable Map<String, List<Long>> recent) {
  /** Copies what could change. */
  public BudgetUse {
    calls = Map.copyOf(calls);
    recent = recent == null ? null : Map.copyOf(recent);
  }

  static BudgetUse read(Json json) {
    return new BudgetUse(
        json.need("tool_calls", Json::asLong),
        json.need("tokens", Json::asLong),
        json.need("ms", Json::asLong),
        json.need("calls", Json.map(Json::asLong)),
        json.find("recent", Json.map(Json.list(Json::asLong))));
  }
}
