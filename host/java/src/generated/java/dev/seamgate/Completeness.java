// Made by `cargo xtask generate` from `wit/` and `xtask/generate/`. Do not edit: run it again.

package dev.seamgate;

/**
 * How far a document has come.
 */
public enum Completeness implements Word {
  /**
   * None is complete.
   */
  IN_FLIGHT("in_flight"),

  /**
   * What has come is a whole document, and more may come.
   */
  SOFT_COMPLETE("soft_complete"),

  /**
   * The producer has stopped: {@code finish} was called.
   */
  HARD_COMPLETE("hard_complete");

  private final String word;

  Completeness(String word) {
    this.word = word;
  }

  @Override
  public String word() {
    return word;
  }

  /** Returns the constant of a word. */
  public static Completeness of(String word) {
    return Word.of(values(), word);
  }

  static Completeness read(Json json) {
    return of(json.asText());
  }
}
