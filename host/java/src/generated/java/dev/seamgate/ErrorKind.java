// Made by `cargo xtask generate` from `wit/` and `xtask/generate/`. Do not edit: run it again.

package dev.seamgate;

/**
 * Which of the three stages rejected the output.
 */
public enum ErrorKind implements Word {
  /**
   * JSON was found and read, and is not what the contract asks for.
   */
  OUTPUT_VALIDATION_FAILED("output_validation_failed"),

  /**
   * No candidate was found, or several where the contract allows one.
   */
  EXTRACTION_FAILED("extraction_failed"),

  /**
   * A candidate was found that is not JSON; the violation says where it stops being so.
   */
  MALFORMED_JSON("malformed_json");

  private final String word;

  ErrorKind(String word) {
    this.word = word;
  }

  @Override
  public String word() {
    return word;
  }

  /** Returns the constant of a word. */
  public static ErrorKind of(String word) {
    return Word.of(values(), word);
  }

  static ErrorKind read(Json json) {
    return of(json.asText());
  }
}
