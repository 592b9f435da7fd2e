// Made by `cargo xtask generate` from `schemas/` and `xtask/generate/`. Do not edit: run it again.

package dev.seamgate;

/**
 * IgnoredCode is one of these words.
 */
public enum IgnoredCode implements Word {
  FINISHED("finished"),

  REPEATED("repeated"),

  STARTED("started"),

  LOOP("loop"),

  NO_LOOP("no_loop"),

  LATE("late"),

  NOT_DISPATCHED("not_dispatched"),

  NOT_UNDER_WAY("not_under_way"),

  NOT_UNCERTAIN("not_uncertain"),

  NO_ASK("no_ask"),

  BEFORE_ASK("before_ask"),

  DIGEST("digest"),

  APPROVER("approver"),

  ARGUMENTS("arguments"),

  TOKEN("token"),

  NOT_ASKED("not_asked"),

  MODE("mode");

  private final String word;

  IgnoredCode(String word) {
    this.word = word;
  }

  @Override
  public String word() {
    return word;
  }

  /** Returns the constant of a word. */
  public static IgnoredCode of(String word) {
    return Word.of(values(), word);
  }

  static IgnoredCode read(Json json) {
    return of(json.asText());
  }
}
