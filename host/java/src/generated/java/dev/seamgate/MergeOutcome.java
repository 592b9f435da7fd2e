// Made by `cargo xtask generate` from `wit/` and `xtask/generate/`. Do not edit: run it again.

package dev.seamgate;

/**
 * The use that {@code merge} made of a report.
 */
public enum MergeOutcome implements Word {
  /**
   * It replaced the document before it.
   */
  REPLACED("replaced"),

  /**
   * It provided items.
   */
  GAVE_ITEMS("gave_items"),

  /**
   * None of its items was used.
   */
  GAVE_NONE("gave_none"),

  /**
   * It is not used, because it was not needed or has no items.
   */
  UNUSED("unused"),

  /**
   * It is not used, because the merged document would be invalid.
   */
  INVALID("invalid");

  private final String word;

  MergeOutcome(String word) {
    this.word = word;
  }

  @Override
  public String word() {
    return word;
  }

  /** Returns the constant of a word. */
  public static MergeOutcome of(String word) {
    return Word.of(values(), word);
  }

  static MergeOutcome read(Json json) {
    return of(json.asText());
  }
}
