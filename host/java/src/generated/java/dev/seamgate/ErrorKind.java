// Made by `cargo xtask generate` from `wit/` and `xtask/generate/`. Do not edit: run it again.

package dev.seamgate;

/**
 * The stage that rejected the output.
 */
public enum ErrorKind implements Word {
  /**
   * The JSON was parsed, and does not match the contract.
   */
  OUTPUT_VALIDATION_FAILED("output_validation_failed"),

  /**
   * No candidate was found, or several were found and the contract allows one.
   */
  EXTRACTION_FAILED("extraction_failed"),

  /**
   * The candidate is invalid JSON. The violation says where.
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
