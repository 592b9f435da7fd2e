// Made by `cargo xtask generate` from `schemas/` and `xtask/generate/`. Do not edit: run it again.

package dev.seamgate;

import java.util.Map;

/**
 * The use of budgets: see facts.schema.json.
 *
 * @param calls How often each call was permitted, by a digest of the call.
 */
public record BudgetUse(
    long toolCalls,
    long tokens,
    long ms,
    Map<String, Long> calls) {
  /** Copies what could change. */
  public BudgetUse {
    calls = Map.copyOf(calls);
  }

  static BudgetUse read(Json json) {
    return new BudgetUse(
        json.need("tool_calls", Json::asLong),
        json.need("tokens", Json::asLong),
        json.need("ms", Json::asLong),
        json.need("calls", Json.map(Json::asLong)));
  }
}
