// Made by `cargo xtask generate` from `schemas/` and `xtask/generate/`. Do not edit: run it again.

package dev.seamgate;

/**
 * ApprovalAnswer is one of these words.
 */
public enum ApprovalAnswer implements Word {
  APPROVED("approved"),

  REJECTED("rejected"),

  EDITED("edited");

  private final String word;

  ApprovalAnswer(String word) {
    this.word = word;
  }

  @Override
  public String word() {
    return word;
  }

  /** Returns the constant of a word. */
  public static ApprovalAnswer of(String word) {
    return Word.of(values(), word);
  }

  static ApprovalAnswer read(Json json) {
    return of(json.asText());
  }
}
