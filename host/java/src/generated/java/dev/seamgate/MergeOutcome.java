// Made by `cargo xtask generate` from `wit/` and `xtask/generate/`. Do not edit: run it again.

package dev.seamgate;

/**
 * What {@code merge} did with a report.
 */
public enum MergeOutcome implements Word {
  /**
   * It took the place of what was before it.
   */
  REPLACED("replaced"),

  /**
   * It gave items.
   */
  GAVE_ITEMS("gave_items"),

  /**
   * None of its items was used.
   */
  GAVE_NONE("gave_none"),

  /**
   * It was not needed, or has no items: it is not used.
   */
  UNUSED("unused"),

  /**
   * It is not used: with it, the whole would not be valid.
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
