// Made by `cargo xtask generate` from `wit/` and `xtask/generate/`. Do not edit: run it again.

package dev.seamgate;

/**
 * How bad it is what {@code lint} found.
 */
public enum Level implements Word {
  /**
   * It does not do what it says: a keyword is misspelled, limits contradict each other, a member is required and
   * forbidden.
   */
  ERROR("error"),

  /**
   * It works, and is likely a mistake.
   */
  WARNING("warning"),

  /**
   * A matter of style: what could be said more narrowly, or described.
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
