// Made by `cargo xtask generate` from `wit/` and `xtask/generate/`. Do not edit: run it again.

package dev.seamgate;

/**
 * The content that the feedback requests from the producer.
 */
public enum Wanted implements Word {
  /**
   * Nothing: the output is accepted, the producer declined, or the syntax was repaired and nothing is missing.
   */
  NOTHING("nothing"),

  /**
   * Only the items that it names. {@code merge} puts them in their places.
   */
  ITEMS("items"),

  /**
   * The whole output again.
   */
  WHOLE("whole");

  private final String word;

  Wanted(String word) {
    this.word = word;
  }

  @Override
  public String word() {
    return word;
  }

  /** Returns the constant of a word. */
  public static Wanted of(String word) {
    return Word.of(values(), word);
  }

  static Wanted read(Json json) {
    return of(json.asText());
  }
}
