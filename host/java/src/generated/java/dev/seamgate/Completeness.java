// Made by `cargo xtask generate` from `wit/` and `xtask/generate/`. Do not edit: run it again.

package dev.seamgate;

/**
 * The progress of a document.
 */
public enum Completeness implements Word {
  /**
   * No document is complete.
   */
  IN_FLIGHT("in_flight"),

  /**
   * The text so far is a complete document, and more may follow.
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
