// Made by `cargo xtask generate` from `wit/` and `xtask/generate/`. Do not edit: run it again.

package dev.seamgate;

/**
 * The outcome for an output.
 */
public enum Disposition implements Word {
  /**
   * The document is valid and is in {@code report.output}.
   */
  ACCEPTED("accepted"),

  /**
   * Some items were kept and others quarantined, the text was repaired, or another document in it was left out. Review
   * it before use.
   */
  PARTIAL("partial"),

  /**
   * The output is not used. {@code report.error} says why.
   */
  REJECTED("rejected"),

  /**
   * The producer declined to answer. This is a normal outcome, not a failure.
   */
  REFUSED("refused");

  private final String word;

  Disposition(String word) {
    this.word = word;
  }

  @Override
  public String word() {
    return word;
  }

  /** Returns the constant of a word. */
  public static Disposition of(String word) {
    return Word.of(values(), word);
  }

  static Disposition read(Json json) {
    return of(json.asText());
  }
}
