// Made by `cargo xtask generate` from `wit/` and `xtask/generate/`. Do not edit: run it again.

package dev.seamgate;

/**
 * What became of an output.
 */
public enum Disposition implements Word {
  /**
   * The document is valid: {@code report.output} is it.
   */
  ACCEPTED("accepted"),

  /**
   * Some items were kept and some quarantined, the text had to be repaired, or another document in it was left out:
   * look before use.
   */
  PARTIAL("partial"),

  /**
   * Nothing is emitted: {@code report.error} says why.
   */
  REJECTED("rejected"),

  /**
   * The producer declined to answer. A first-class outcome, not a failure.
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
