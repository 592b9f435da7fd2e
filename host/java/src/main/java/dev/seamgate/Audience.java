package dev.seamgate;

/** The audience that a line of a journal is shown to. */
public enum Audience implements Word {
  /** The model. */
  MODEL("model"),
  /** The user's interface. */
  UI("ui"),
  /** The user. */
  USER("user"),
  /** An audit. */
  AUDIT("audit"),
  /** An evaluation. */
  EVAL("eval");

  private final String word;

  Audience(String word) {
    this.word = word;
  }

  @Override
  public String word() {
    return word;
  }
}
