// Made by `cargo xtask generate` from `wit/` and `xtask/generate/`. Do not edit: run it again.

package dev.seamgate;

/**
 * The way in which a candidate was found.
 */
public enum Source implements Word {
  /**
   * In a fenced block with one of the contract's markers or, without such a block, in one without an info string.
   */
  BLOCK("block"),

  /**
   * As the whole output, or as one of its documents with the text around it.
   */
  RAW("raw"),

  /**
   * As a bare object or array in prose.
   */
  EMBEDDED("embedded");

  private final String word;

  Source(String word) {
    this.word = word;
  }

  @Override
  public String word() {
    return word;
  }

  /** Returns the constant of a word. */
  public static Source of(String word) {
    return Word.of(values(), word);
  }

  static Source read(Json json) {
    return of(json.asText());
  }
}
