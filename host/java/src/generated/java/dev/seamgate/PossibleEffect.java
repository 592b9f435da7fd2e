// Made by `cargo xtask generate` from `schemas/` and `xtask/generate/`. Do not edit: run it again.

package dev.seamgate;

/**
 * PossibleEffect is one of these words.
 */
public enum PossibleEffect implements Word {
  NONE("none"),

  UNKNOWN("unknown");

  private final String word;

  PossibleEffect(String word) {
    this.word = word;
  }

  @Override
  public String word() {
    return word;
  }

  /** Returns the constant of a word. */
  public static PossibleEffect of(String word) {
    return Word.of(values(), word);
  }

  static PossibleEffect read(Json json) {
    return of(json.asText());
  }
}
