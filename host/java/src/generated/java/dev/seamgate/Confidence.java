// Made by `cargo xtask generate` from `wit/` and `xtask/generate/`. Do not edit: run it again.

package dev.seamgate;

/**
 * How sure one may be of what was seen.
 */
public enum Confidence implements Word {
  /**
   * Little: it is stale, or nobody says more.
   */
  LOW("low"),

  /**
   * Something: a part of it was seen.
   */
  MEDIUM("medium"),

  /**
   * As sure as its source is.
   */
  HIGH("high");

  private final String word;

  Confidence(String word) {
    this.word = word;
  }

  @Override
  public String word() {
    return word;
  }

  /** Returns the constant of a word. */
  public static Confidence of(String word) {
    return Word.of(values(), word);
  }

  static Confidence read(Json json) {
    return of(json.asText());
  }
}
