// Made by `cargo xtask generate` from `schemas/` and `xtask/generate/`. Do not edit: run it again.

package dev.seamgate;

import org.jspecify.annotations.Nullable;

/**
 * The budget of the child.
 */
public record ChildBudget(
    @Nullable Long steps,
    @Nullable Long toolCalls,
    @Nullable Long tokens,
    @Nullable Long ms,
    @Nullable Long sameCall,
    @Nullable Long stateBytes) {
  /** Returns one with what it must have. */
  public static ChildBudget of() {
    return new ChildBudget(null, null, null, null, null, null);
  }

  /** Returns the same with another {@code steps}. */
  public ChildBudget withSteps(Long steps) {
    return new ChildBudget(steps, toolCalls, tokens, ms, sameCall, stateBytes);
  }

  /** Returns the same with another {@code toolCalls}. */
  public ChildBudget withToolCalls(Long toolCalls) {
    return new ChildBudget(steps, toolCalls, tokens, ms, sameCall, stateBytes);
  }

  /** Returns the same with another {@code tokens}. */
  public ChildBudget withTokens(Long tokens) {
    return new ChildBudget(steps, toolCalls, tokens, ms, sameCall, stateBytes);
  }

  /** Returns the same with another {@code ms}. */
  public ChildBudget withMs(Long ms) {
    return new ChildBudget(steps, toolCalls, tokens, ms, sameCall, stateBytes);
  }

  /** Returns the same with another {@code sameCall}. */
  public ChildBudget withSameCall(Long sameCall) {
    return new ChildBudget(steps, toolCalls, tokens, ms, sameCall, stateBytes);
  }

  /** Returns the same with another {@code stateBytes}. */
  public ChildBudget withStateBytes(Long stateBytes) {
    return new ChildBudget(steps, toolCalls, tokens, ms, sameCall, stateBytes);
  }

  static ChildBudget read(Json json) {
    return new ChildBudget(
        json.find("steps", Json::asLong),
        json.find("tool_calls", Json::asLong),
        json.find("tokens", Json::asLong),
        json.find("ms", Json::asLong),
        json.find("same_call", Json::asLong),
        json.find("state_bytes", Json::asLong));
  }

  static void write(JsonWriter to, ChildBudget value) {
    to.object(value::members);
  }

  private void members(JsonWriter to) {
    to.member("steps", steps, JsonWriter::number);
    to.member("tool_calls", toolCalls, JsonWriter::number);
    to.member("tokens", tokens, JsonWriter::number);
    to.member("ms", ms, JsonWriter::number);
    to.member("same_call", sameCall, JsonWriter::number);
    to.member("state_bytes", stateBytes, JsonWriter::number);
  }
}
