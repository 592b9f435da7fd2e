// Made by `cargo xtask generate` from `wit/` and `xtask/generate/`. Do not edit: run it again.

package dev.seamgate;

/**
 * Why an item is in quarantine: the first check that it failed, in this order.
 */
public enum QuarantineReason implements Word {
  /**
   * It is not JSON.
   */
  MALFORMED("malformed"),

  /**
   * The schema does not allow it.
   */
  SCHEMA("schema"),

  /**
   * It passes a cap, has a member twice, or holds text that is not Unicode.
   */
  GUARDRAIL("guardrail"),

  /**
   * A value is not in its list.
   */
  ALLOW_LIST("allow_list"),

  /**
   * What it claims is not supported by what it cites.
   */
  EVIDENCE("evidence"),

  /**
   * It is valid, and {@code items.max} others are kept.
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
