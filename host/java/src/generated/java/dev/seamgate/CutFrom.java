// Made by `cargo xtask generate` from `schemas/` and `xtask/generate/`. Do not edit: run it again.

package dev.seamgate;

/**
 * CutFrom is one of these words.
 */
public enum CutFrom implements Word {
  PROMPT("prompt"),

  STATE("state");

  private final String word;

  CutFrom(String word) {
    this.word = word;
  }

  @Override
  public String word() {
    return word;
  }

  /** Returns the constant of a word. */
  public static CutFrom of(String word) {
    return Word.of(values(), word);
  }

  static CutFrom read(Json json) {
    return of(json.asText());
  }
}
