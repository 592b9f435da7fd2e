// Made by `cargo xtask generate` from `schemas/` and `xtask/generate/`. Do not edit: run it again.

package dev.seamgate;

/**
 * Effect is one of these words.
 */
public enum Effect implements Word {
  READ("read"),

  IDEMPOTENT("idempotent"),

  EFFECTFUL("effectful");

  private final String word;

  Effect(String word) {
    this.word = word;
  }

  @Override
  public String word() {
    return word;
  }

  /** Returns the constant of a word. */
  public static Effect of(String word) {
    return Word.of(values(), word);
  }

  static Effect read(Json json) {
    return of(json.asText());
  }
}
