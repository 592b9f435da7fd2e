// Made by `cargo xtask generate` from `schemas/` and `xtask/generate/`. Do not edit: run it again.

package dev.seamgate;

/**
 * Party is one of these words.
 */
public enum Party implements Word {
  CLIENT("client"),

  SERVER("server");

  private final String word;

  Party(String word) {
    this.word = word;
  }

  @Override
  public String word() {
    return word;
  }

  /** Returns the constant of a word. */
  public static Party of(String word) {
    return Word.of(values(), word);
  }

  static Party read(Json json) {
    return of(json.asText());
  }
}
