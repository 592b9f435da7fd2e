// Made by `cargo xtask generate` from `wit/` and `xtask/generate/`. Do not edit: run it again.

package dev.seamgate;

/**
 * The severity of a warning.
 */
public enum Level implements Word {
  /**
   * Something does not do what it says: a keyword is misspelled, limits contradict each other, or a member is both
   * required and forbidden.
   */
  ERROR("error"),

  /**
   * It works, but is probably a mistake.
   */
  WARNING("warning"),

  /**
   * A matter of style: something could be narrower, or described.
   */
  HINT("hint");

  private final String word;

  Level(String word) {
    this.word = word;
  }

  @Override
  public String word() {
    return word;
  }

  /** Returns the constant of a word. */
  public static Level of(String word) {
    return Word.of(values(), word);
  }

  static Level read(Json json) {
    return of(json.asText());
  }
}
