// Made by `cargo xtask generate` from `wit/` and `xtask/generate/`. Do not edit: run it again.

package dev.seamgate;

/**
 * The reason for which an item is in quarantine: the first check that it failed, in this order.
 */
public enum QuarantineReason implements Word {
  /**
   * It is invalid JSON.
   */
  MALFORMED("malformed"),

  /**
   * The schema does not allow it.
   */
  SCHEMA("schema"),

  /**
   * It exceeds a cap, has a duplicate member, or contains text that is not Unicode.
   */
  GUARDRAIL("guardrail"),

  /**
   * A value is not on its list.
   */
  ALLOW_LIST("allow_list"),

  /**
   * Its claims are not supported by what they cite.
   */
  EVIDENCE("evidence"),

  /**
   * It is valid, but {@code items.max} other items are already kept.
   */
  OVER_LIMIT("over_limit");

  private final String word;

  QuarantineReason(String word) {
    this.word = word;
  }

  @Override
  public String word() {
    return word;
  }

  /** Returns the constant of a word. */
  public static QuarantineReason of(String word) {
    return Word.of(values(), word);
  }

  static QuarantineReason read(Json json) {
    return of(json.asText());
  }
}
