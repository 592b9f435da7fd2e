// Made by `cargo xtask generate` from `wit/` and `xtask/generate/`. Do not edit: run it again.

package dev.seamgate;

/**
 * What the feedback asks the producer for.
 */
public enum Wanted implements Word {
  /**
   * Nothing: the output is accepted, the producer declined, or nothing is missing of an output whose syntax was
   * repaired.
   */
  NOTHING("nothing"),

  /**
   * The items that it names, and nothing else: {@code merge} puts them in their places.
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
