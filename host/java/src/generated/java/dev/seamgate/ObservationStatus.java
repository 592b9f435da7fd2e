// Made by `cargo xtask generate` from `schemas/` and `xtask/generate/`. Do not edit: run it again.

package dev.seamgate;

/**
 * ObservationStatus is one of these words.
 */
public enum ObservationStatus implements Word {
  OK("ok"),

  ERROR("error"),

  INVALID("invalid");

  private final String word;

  ObservationStatus(String word) {
    this.word = word;
  }

  @Override
  public String word() {
    return word;
  }

  /** Returns the constant of a word. */
  public static ObservationStatus of(String word) {
    return Word.of(values(), word);
  }

  static ObservationStatus read(Json json) {
    return of(json.asText());
  }
}
