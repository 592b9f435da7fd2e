// Made by `cargo xtask generate` from `schemas/` and `xtask/generate/`. Do not edit: run it again.

package dev.seamgate;

/**
 * HiddenToolCode is one of these words.
 */
public enum HiddenToolCode implements Word {
  ABSENT("absent"),

  CHANGED("changed"),

  UNKNOWN("unknown"),

  PERMIT("permit"),

  DENY("deny"),

  MODE("mode"),

  PARENT("parent"),

  INVALID_DEFINITION("invalid_definition");

  private final String word;

  HiddenToolCode(String word) {
    this.word = word;
  }

  @Override
  public String word() {
    return word;
  }

  /** Returns the constant of a word. */
  public static HiddenToolCode of(String word) {
    return Word.of(values(), word);
  }

  static HiddenToolCode read(Json json) {
    return of(json.asText());
  }
}
