// Made by `cargo xtask generate` from `schemas/` and `xtask/generate/`. Do not edit: run it again.

package dev.seamgate;

/**
 * ReasonCode is one of these words.
 */
public enum ReasonCode implements Word {
  UNKNOWN_TOOL("unknown_tool"),

  AMBIGUOUS_TOOL("ambiguous_tool"),

  MODE("mode"),

  PARENT("parent"),

  SURFACE("surface"),

  MALFORMED("malformed"),

  TOO_LARGE("too_large"),

  DEFINITION("definition"),

  ARGUMENTS("arguments"),

  DENY("deny"),

  MARK("mark"),

  SECRET("secret"),

  SCOPE("scope"),

  ORIGIN("origin"),

  FLOW("flow"),

  BUDGET("budget"),

  SAME_CALL("same_call"),

  RATE("rate"),

  STATE_BYTES("state_bytes"),

  PERMIT("permit"),

  REJECTED("rejected"),

  EXPIRED("expired"),

  APPROVER("approver"),

  DIGEST("digest"),

  BEFORE_ASK("before_ask"),

  INVALID_DEFINITION("invalid_definition");

  private final String word;

  ReasonCode(String word) {
    this.word = word;
  }

  @Override
  public String word() {
    return word;
  }

  /** Returns the constant of a word. */
  public static ReasonCode of(String word) {
    return Word.of(values(), word);
  }

  static ReasonCode read(Json json) {
    return of(json.asText());
  }
}
