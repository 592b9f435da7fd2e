// Made by `cargo xtask generate` from `wit/` and `xtask/generate/`. Do not edit: run it again.

package dev.seamgate;

/**
 * Why the producer stopped, as its API said. On the wire and in the hosts' libraries, the words of the common APIs
 * stand for these: {@code schemas/request.schema.json} has the table.
 */
public enum Finish implements Word {
  /**
   * It came to an end by itself.
   */
  STOP("stop"),

  /**
   * It was cut off at a length limit.
   */
  LENGTH("length"),

  /**
   * It declined.
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
   * Not known. The default where a caller has nothing to say.
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
