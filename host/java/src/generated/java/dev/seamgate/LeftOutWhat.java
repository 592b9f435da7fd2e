// Made by `cargo xtask generate` from `schemas/` and `xtask/generate/`. Do not edit: run it again.

package dev.seamgate;

/**
 * LeftOutWhat is one of these words.
 */
public enum LeftOutWhat implements Word {
  CONTEXT("context"),

  OUTPUT("output");

  private final String word;

  LeftOutWhat(String word) {
    this.word = word;
  }

  @Override
  public String word() {
    return word;
  }

  /** Returns the constant of a word. */
  public static LeftOutWhat of(String word) {
    return Word.of(values(), word);
  }

  static LeftOutWhat read(Json json) {
    return of(json.asText());
  }
}
