// Made by `cargo xtask generate` from `schemas/` and `xtask/generate/`. Do not edit: run it again.

package dev.seamgate;

/**
 * OutputKind is one of these words.
 */
public enum OutputKind implements Word {
  ANSWER("answer"),

  NO_ANSWER("no_answer"),

  QUESTION("question"),

  PLAN("plan"),

  REFUSAL("refusal"),

  TASK("task"),

  NO_TASK("no_task"),

  CALLS("calls"),

  FAILURE("failure");

  private final String word;

  OutputKind(String word) {
    this.word = word;
  }

  @Override
  public String word() {
    return word;
  }

  /** Returns the constant of a word. */
  public static OutputKind of(String word) {
    return Word.of(values(), word);
  }

  static OutputKind read(Json json) {
    return of(json.asText());
  }
}
