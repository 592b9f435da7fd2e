// Made by `cargo xtask generate` from `schemas/` and `xtask/generate/`. Do not edit: run it again.

package dev.seamgate;

/**
 * StopCode is one of these words.
 */
public enum StopCode implements Word {
  BUDGET("budget"),

  SAME_CALL("same_call"),

  SAME_DENIAL("same_denial"),

  REJECTED("rejected"),

  SURFACE("surface"),

  UNRESOLVED("unresolved"),

  NO_ANSWER("no_answer"),

  PROMPT("prompt"),

  STATE_BYTES("state_bytes"),

  CANCELLED("cancelled"),

  TASK("task"),

  CONTEXT("context"),

  MODEL("model");

  private final String word;

  StopCode(String word) {
    this.word = word;
  }

  @Override
  public String word() {
    return word;
  }

  /** Returns the constant of a word. */
  public static StopCode of(String word) {
    return Word.of(values(), word);
  }

  static StopCode read(Json json) {
    return of(json.asText());
  }
}
