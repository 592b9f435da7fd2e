package dev.seamgate;

/** A constant that is a word in JSON, the same in every language. */
interface Word {
  /** Returns the word. */
  String word();

  static <T extends Word> T of(T[] constants, String word) {
    for (T constant : constants) {
      if (constant.word().equals(word)) {
        return constant;
      }
    }
    throw new IllegalArgumentException("the word " + word + " is unknown: the module is of another version");
  }
}
