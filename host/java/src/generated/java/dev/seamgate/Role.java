// Made by `cargo xtask generate` from `schemas/` and `xtask/generate/`. Do not edit: run it again.

package dev.seamgate;

/**
 * Role is one of these words.
 */
public enum Role implements Word {
  SYSTEM("system"),

  USER("user"),

  ASSISTANT("assistant"),

  TOOL("tool");

  private final String word;

  Role(String word) {
    this.word = word;
  }

  @Override
  public String word() {
    return word;
  }

  /** Returns the constant of a word. */
  public static Role of(String word) {
    return Word.of(values(), word);
  }

  static Role read(Json json) {
    return of(json.asText());
  }
}
