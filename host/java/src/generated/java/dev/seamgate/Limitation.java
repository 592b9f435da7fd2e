// Made by `cargo xtask generate` from `schemas/` and `xtask/generate/`. Do not edit: run it again.

package dev.seamgate;

/**
 * Limitation is one of these words.
 */
public enum Limitation implements Word {
  CONTRADICTORY("contradictory"),

  ERROR("error"),

  FORMAT("format"),

  INVALID("invalid"),

  INVALID_ITEMS("invalid_items"),

  PARTIAL("partial"),

  SAMPLED("sampled"),

  STALE("stale"),

  TRUNCATED("truncated"),

  UNDATED("undated"),

  UNCHECKED("unchecked");

  private final String word;

  Limitation(String word) {
    this.word = word;
  }

  @Override
  public String word() {
    return word;
  }

  /** Returns the constant of a word. */
  public static Limitation of(String word) {
    return Word.of(values(), word);
  }

  static Limitation read(Json json) {
    return of(json.asText());
  }
}
