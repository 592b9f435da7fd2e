// Made by `cargo xtask generate` from `schemas/` and `xtask/generate/`. Do not edit: run it again.

package dev.seamgate;

/**
 * SettledCode is one of these words.
 */
public enum SettledCode implements Word {
  EXPIRED("expired"),

  NOT_SENT("not_sent"),

  REJECTED("rejected"),

  CANCELLED("cancelled"),

  UNCERTAIN("uncertain");

  private final String word;

  SettledCode(String word) {
    this.word = word;
  }

  @Override
  public String word() {
    return word;
  }

  /** Returns the constant of a word. */
  public static SettledCode of(String word) {
    return Word.of(values(), word);
  }

  static SettledCode read(Json json) {
    return of(json.asText());
  }
}
