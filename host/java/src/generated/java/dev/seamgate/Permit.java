// Made by `cargo xtask generate` from `schemas/` and `xtask/generate/`. Do not edit: run it again.

package dev.seamgate;

/**
 * Permit is one of these words.
 */
public enum Permit implements Word {
  ALLOW("allow"),

  DENY("deny"),

  APPROVAL("approval");

  private final String word;

  Permit(String word) {
    this.word = word;
  }

  @Override
  public String word() {
    return word;
  }

  /** Returns the constant of a word. */
  public static Permit of(String word) {
    return Word.of(values(), word);
  }

  static Permit read(Json json) {
    return of(json.asText());
  }
}
