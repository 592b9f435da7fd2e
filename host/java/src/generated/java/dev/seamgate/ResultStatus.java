// Made by `cargo xtask generate` from `schemas/` and `xtask/generate/`. Do not edit: run it again.

package dev.seamgate;

/**
 * ResultStatus is one of these words.
 */
public enum ResultStatus implements Word {
  OK("ok"),

  ERROR("error");

  private final String word;

  ResultStatus(String word) {
    this.word = word;
  }

  @Override
  public String word() {
    return word;
  }

  /** Returns the constant of a word. */
  public static ResultStatus of(String word) {
    return Word.of(values(), word);
  }

  static ResultStatus read(Json json) {
    return of(json.asText());
  }
}
