// Made by `cargo xtask generate` from `wit/` and `xtask/generate/`. Do not edit: run it again.

package dev.seamgate;

/**
 * The confidence in an observation.
 */
public enum Confidence implements Word {
  /**
   * Low: the observation is stale, or nothing else is known.
   */
  LOW("low"),

  /**
   * Medium: part of the result was seen.
   */
  MEDIUM("medium"),

  /**
   * High: as reliable as its source.
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
