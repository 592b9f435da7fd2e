// Made by `cargo xtask generate` from `schemas/` and `xtask/generate/`. Do not edit: run it again.

package dev.seamgate;

/**
 * ResolutionOutcome is one of these words.
 */
public enum ResolutionOutcome implements Word {
  DONE("done"),

  NOT_DONE("not_done");

  private final String word;

  ResolutionOutcome(String word) {
    this.word = word;
  }

  @Override
  public String word() {
    return word;
  }

  /** Returns the constant of a word. */
  public static ResolutionOutcome of(String word) {
    return Word.of(values(), word);
  }

  static ResolutionOutcome read(Json json) {
    return of(json.asText());
  }
}
