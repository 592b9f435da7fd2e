// Made by `cargo xtask generate` from `wit/` and `xtask/generate/`. Do not edit: run it again.

package dev.seamgate;

/**
 * The kind of a change. Kinds that repair syntax come first, then kinds that remove what could not be repaired, then
 * kinds that the contract asks for.
 */
public enum ChangeKind implements Word {
  /**
   * Missing brackets were added.
   */
  CLOSED("closed"),

  /**
   * The missing quote was added to a string that was cut off. The contract's {@code keep_cut_off} names it.
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
   * White space that JSON does not allow was replaced, such as a literal {@code } between values.
   */
  SPACE("space"),

  /**
   * Other quotes were replaced with double quotes.
   */
  QUOTES("quotes"),

  /**
   * Quotes were added around a member name.
   */
  QUOTED("quoted"),

  /**
   * A character in a string was escaped because JSON requires it, or a backslash that begins no JSON escape was
   * removed.
   */
  ESCAPED("escaped"),

  /**
   * A Python literal was replaced with the JSON literal.
   */
  LITERAL("literal"),

  /**
   * A full-width comma or colon between values was replaced with the JSON character.
   */
  PUNCTUATION("punctuation"),

  /**
   * A backslash was removed from JSON that was escaped once too often.
   */
  UNESCAPED("unescaped"),

  /**
   * Consecutive documents were put into a list.
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
   * A member that could not be repaired was removed.
   */
  MEMBER_REMOVED("member_removed"),

  /**
   * A member that the schema forbids was removed, because the contract asks for it.
   */
  STRIPPED("stripped"),

  /**
   * A value was rewritten to match the schema, because the contract asks for it: the value inside a string, a word in
   * another case, or a removed {@code null}.
   */
  COERCED("coerced"),

  /**
   * The envelope around the document was removed, or a missing envelope was added, because the contract asks for it.
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
