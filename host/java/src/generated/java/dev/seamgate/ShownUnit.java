// Made by `cargo xtask generate` from `schemas/` and `xtask/generate/`. Do not edit: run it again.

package dev.seamgate;

/**
 * ShownUnit is one of these words.
 */
public enum ShownUnit implements Word {
  ITEMS("items"),

  LINES("lines"),

  MEMBERS("members"),

  BYTES("bytes"),

  PARTS("parts");

  private final String word;

  ShownUnit(String word) {
    this.word = word;
  }

  @Override
  public String word() {
    return word;
  }

  /** Returns the constant of a word. */
  public static ShownUnit of(String word) {
    return Word.of(values(), word);
  }

  static ShownUnit read(Json json) {
    return of(json.asText());
  }
}
