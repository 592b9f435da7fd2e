// Made by `cargo xtask generate` from `wit/` and `xtask/generate/`. Do not edit: run it again.

package dev.seamgate;

/**
 * The word for a fault, the same in every language.
 */
public enum FaultCode implements Word {
  BAD_REQUEST("bad_request"),

  BAD_CONTRACT("bad_contract"),

  BAD_PROFILE("bad_profile"),

  UNKNOWN_AGENT("unknown_agent"),

  SEALED("sealed"),

  OUT_OF_FUEL("out_of_fuel"),

  OUT_OF_MEMORY("out_of_memory"),

  STACK_OVERFLOW("stack_overflow"),

  TIMEOUT("timeout"),

  BUSY("busy"),

  INPUT_TOO_LARGE("input_too_large"),

  TRAP("trap");

  private final String word;

  FaultCode(String word) {
    this.word = word;
  }

  @Override
  public String word() {
    return word;
  }

  /** Returns the constant of a word. */
  public static FaultCode of(String word) {
    return Word.of(values(), word);
  }

  static FaultCode read(Json json) {
    return of(json.asText());
  }
}
