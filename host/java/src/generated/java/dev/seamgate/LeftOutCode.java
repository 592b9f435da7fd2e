// Made by `cargo xtask generate` from `schemas/` and `xtask/generate/`. Do not edit: run it again.

package dev.seamgate;

/**
 * LeftOutCode is one of these words.
 */
public enum LeftOutCode implements Word {
  UNDECLARED("undeclared"),

  INVALID("invalid"),

  TOO_LARGE("too_large");

  private final String word;

  LeftOutCode(String word) {
    this.word = word;
  }

  @Override
  public String word() {
    return word;
  }

  /** Returns the constant of a word. */
  public static LeftOutCode of(String word) {
    return Word.of(values(), word);
  }

  static LeftOutCode read(Json json) {
    return of(json.asText());
  }
}
