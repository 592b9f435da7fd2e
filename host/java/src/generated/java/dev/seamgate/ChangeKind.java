// Made by `cargo xtask generate` from `wit/` and `xtask/generate/`. Do not edit: run it again.

package dev.seamgate;

/**
 * What a change did: first what puts right what is only syntax, then what leaves out what could not be put right, then
 * what the contract asks for.
 */
public enum ChangeKind implements Word {
  /**
   * Brackets that were missing were added.
   */
  CLOSED("closed"),

  /**
   * The missing quote was added to a text that was cut off, where the contract's {@code keep_cut_off} names it.
   */
  CLOSED_STRING("closed_string"),

  /**
   * The unfinished end of a text that was cut off was removed: a name without a value, or part of a string, a number, a
   * literal or an escape.
   */
  DROPPED("dropped"),

  /**
   * A comma was added.
   */
  COMMA_ADDED("comma_added"),

  /**
   * A comma was removed.
   */
  COMMA_REMOVED("comma_removed"),

  /**
   * A colon was added.
   */
  COLON_ADDED("colon_added"),

  /**
   * A comment was removed.
   */
  COMMENT("comment"),

  /**
   * White space that is not JSON's was replaced, such as a literal {@code \n} between values.
   */
  SPACE("space"),

  /**
   * Quotes were made double.
   */
  QUOTES("quotes"),

  /**
   * Quotes were put around a member name.
   */
  QUOTED("quoted"),

  /**
   * A character that must be escaped in a string was escaped, or a backslash that JSON does not know there was removed.
   */
  ESCAPED("escaped"),

  /**
   * A literal of Python's was made JSON's.
   */
  LITERAL("literal"),

  /**
   * A full-width comma or colon between values was made JSON's.
   */
  PUNCTUATION("punctuation"),

  /**
   * A backslash was removed from JSON that was escaped once too often.
   */
  UNESCAPED("unescaped"),

  /**
   * Documents in a row were put into a list.
   */
  WRAPPED("wrapped"),

  /**
   * Brackets and marks that belong to nothing were removed.
   */
  STRAY("stray"),

  /**
   * Text around the JSON was removed.
   */
  AROUND("around"),

  /**
   * An item was removed: it is in quarantine.
   */
  ITEM_REMOVED("item_removed"),

  /**
   * A member that could not be put right was removed.
   */
  MEMBER_REMOVED("member_removed"),

  /**
   * A member that the schema forbids was removed, as the contract asks.
   */
  STRIPPED("stripped"),

  /**
   * A value was written as the schema wants it, as the contract asks: what a string holds, a word in another case, or
   * nothing in place of {@code null}.
   */
  COERCED("coerced"),

  /**
   * The envelope around the document was removed, or the one that it lacked was added, as the contract asks.
   */
  UNWRAPPED("unwrapped");

  private final String word;

  ChangeKind(String word) {
    this.word = word;
  }

  @Override
  public String word() {
    return word;
  }

  /** Returns the constant of a word. */
  public static ChangeKind of(String word) {
    return Word.of(values(), word);
  }

  static ChangeKind read(Json json) {
    return of(json.asText());
  }
}
