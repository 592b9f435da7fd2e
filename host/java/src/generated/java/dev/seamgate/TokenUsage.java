// Made by `cargo xtask generate` from `schemas/` and `xtask/generate/`. Do not edit: run it again.

package dev.seamgate;

import org.jspecify.annotations.Nullable;

/**
 * The number of tokens. If it is missing, it is estimated from bytes.
 */
public record TokenUsage(
    @Nullable Long input,
    @Nullable Long output) {
  /** Returns one with what it must have. */
  public static TokenUsage of() {
    return new TokenUsage(null, null);
  }

  /** Returns the same with another {@code input}. */
  public TokenUsage withInput(Long input) {
    return new TokenUsage(input, output);
  }

  /** Returns the same with another {@code output}. */
  public TokenUsage withOutput(Long output) {
    return new TokenUsage(input, output);
  }

  static TokenUsage read(Json json) {
    return new TokenUsage(
        json.find("input", Json::asLong),
        json.find("output", Json::asLong));
  }

  static void write(JsonWriter to, TokenUsage value) {
    to.object(value::members);
  }

  private void members(JsonWriter to) {
    to.member("input", input, JsonWriter::number);
    to.member("output", output, JsonWriter::number);
  }
}
