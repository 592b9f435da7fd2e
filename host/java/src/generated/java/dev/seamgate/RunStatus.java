// Made by `cargo xtask generate` from `schemas/` and `xtask/generate/`. Do not edit: run it again.

package dev.seamgate;

/**
 * RunStatus is one of these words.
 */
public enum RunStatus implements Word {
  FINAL("final"),

  FINAL_PARTIAL("final_partial"),

  FAILED("failed"),

  CANCELLED("cancelled");

  private final String word;

  RunStatus(String word) {
    this.word = word;
  }

  @Override
  public String word() {
    return word;
  }

  /** Returns the constant of a word. */
  public static RunStatus of(String word) {
    return Word.of(values(), word);
  }

  static RunStatus read(Json json) {
    return of(json.asText());
  }
}
