// Made by `cargo xtask generate` from `schemas/` and `xtask/generate/`. Do not edit: run it again.

package dev.seamgate;

/**
 * Purpose is one of these words.
 */
public enum Purpose implements Word {
  FRAME("frame"),

  STEP("step"),

  FINAL("final");

  private final String word;

  Purpose(String word) {
    this.word = word;
  }

  @Override
  public String word() {
    return word;
  }

  /** Returns the constant of a word. */
  public static Purpose of(String word) {
    return Word.of(values(), word);
  }

  static Purpose read(Json json) {
    return of(json.asText());
  }
}
