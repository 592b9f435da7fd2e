// Made by `cargo xtask generate` from `wit/` and `xtask/generate/`. Do not edit: run it again.

package dev.seamgate;

/**
 * The reason for which the producer stopped, as its API reports it. In JSON and in the host libraries, the words of the
 * common APIs are also accepted: {@code schemas/request.schema.json} has the table.
 */
public enum Finish implements Word {
  /**
   * It finished by itself.
   */
  STOP("stop"),

  /**
   * It reached a length limit.
   */
  LENGTH("length"),

  /**
   * It declined to answer.
   */
  REFUSAL("refusal"),

  /**
   * A filter withheld its text.
   */
  CONTENT_FILTER("content_filter"),

  /**
   * It stopped to call a tool. Its text is judged as after {@code stop}.
   */
  TOOL_CALL("tool_call"),

  /**
   * Unknown. The default if a caller does not state the reason.
   */
  UNKNOWN("unknown");

  private final String word;

  Finish(String word) {
    this.word = word;
  }

  @Override
  public String word() {
    return word;
  }

  /** Returns the constant of a word. */
  public static Finish of(String word) {
    return Word.of(values(), word);
  }

  static Finish read(Json json) {
    return of(json.asText());
  }
}
