// Made by `cargo xtask generate` from `schemas/` and `xtask/generate/`. Do not edit: run it again.

package dev.seamgate;

import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The budget that the child used. A missing member counts as zero. Without this object, the child counts as having used
 * its whole budget.
 *
 * @param calls The number of times that each call was permitted. The parent counts them as its own.
 * @param recent The times of the last permitted calls of each tool with a {@code rate}. The parent counts them as its
 * own.
 */
public record ChildUse(
    @Nullable Long steps,
    @Nullable Long toolCalls,
    @Nullable Long tokens,
    @Nullable Long ms,
    @Nullable Map<String, Long> calls,
    @Nullable Map<String, List<Long>> recent) {
  /** Copies what could change. */
  public ChildUse {
    calls = calls == null ? null : Map.copyOf(calls);
    recent = recent == null ? null : Map.copyOf(recent);
  }

  /** Returns one with what it must have. */
  public static ChildUse of() {
    return new ChildUse(null, null, null, null, null, null);
  }

  /** Returns the same with another {@code steps}. */
  public ChildUse withSteps(Long steps) {
    return new ChildUse(steps, toolCalls, tokens, ms, calls, recent);
  }

  /** Returns the same with another {@code toolCalls}. */
  public ChildUse withToolCalls(Long toolCalls) {
    return new ChildUse(steps, toolCalls, tokens, ms, calls, recent);
  }

  /** Returns the same with another {@code tokens}. */
  public ChildUse withTokens(Long tokens) {
    return new ChildUse(steps, toolCalls, tokens, ms, calls, recent);
  }

  /** Returns the same with another {@code ms}. */
  public ChildUse withMs(Long ms) {
    return new ChildUse(steps, toolCalls, tokens, ms, calls, recent);
  }

  /** Returns the same with another {@code calls}. */
  public ChildUse withCalls(Map<String, Long> calls) {
    return new ChildUse(steps, toolCalls, tokens, ms, calls, recent);
  }

  /** Returns the same with another {@code recent}. */
  public ChildUse withRecent(Map<String, List<Long>> recent) {
    return new ChildUse(steps, toolCalls, tokens, ms, calls, recent);
  }

  static ChildUse read(Json json) {
    return new ChildUse(
        json.find("steps", Json::asLong),
        json.find("tool_calls", Json::asLong),
        json.find("tokens", Json::asLong),
        json.find("ms", Json::asLong),
        json.find("calls", Json.map(Json::asLong)),
        json.find("recent", Json.map(Json.list(Json::asLong))));
  }

  static void write(JsonWriter to, ChildUse value) {
    to.object(value::members);
  }

  private void members(JsonWriter to) {
    to.member("steps", steps, JsonWriter::number);
    to.member("tool_calls", toolCalls, JsonWriter::number);
    to.member("tokens", tokens, JsonWriter::number);
    to.member("ms", ms, JsonWriter::number);
    to.member("calls", calls, JsonWriter.map(JsonWriter::number));
    to.member("recent", recent, JsonWriter.map(JsonWriter.list(JsonWriter::number)));
  }
}
