package dev.seamgate;

import java.nio.ByteBuffer;
import java.nio.CharBuffer;
import java.nio.charset.CharsetDecoder;
import java.nio.charset.CoderResult;
import java.nio.charset.CodingErrorAction;
import java.nio.charset.StandardCharsets;

/** Prepares text for requests. */
final class Texts {
  private static final String HEX = "0123456789abcdef";

  private Texts() {}

  /** Appends a text as a JSON string. Lone surrogates become U+FFFD, because UTF-8 cannot encode them. */
  static void quote(StringBuilder to, CharSequence text) {
    to.append('"');
    for (int at = 0; at < text.length(); at++) {
      char next = text.charAt(at);
      switch (next) {
        case '"', '\\' -> to.append('\\').append(next);
        case '\n' -> to.append("\\n");
        case '\r' -> to.append("\\r");
        case '\t' -> to.append("\\t");
        default -> {
          if (next < ' ') {
            to.append("\\u00").append(HEX.charAt(next >> 4)).append(HEX.charAt(next & 0xf));
          } else if (Character.isSurrogate(next)) {
            boolean isPair =
                Character.isHighSurrogate(next)
                    && at + 1 < text.length()
                    && Character.isLowSurrogate(text.charAt(at + 1));
            if (isPair) {
              to.append(next).append(text.charAt(++at));
            } else {
              to.append('\ufffd');
            }
          } else {
            to.append(next);
          }
        }
      }
    }
    to.append('"');
  }

  /** A text, and the offset of the first byte that was not UTF-8; -1 if there was none. */
  record Decoded(String text, int invalid) {}

  /**
   * Decodes UTF-8, with U+FFFD for other bytes. A truncated sequence is replaced as a whole, as the Unicode Standard
   * recommends and other hosts do.
   */
  static Decoded decode(byte[] bytes) {
    CharsetDecoder decoder =
        StandardCharsets.UTF_8
            .newDecoder()
            .onMalformedInput(CodingErrorAction.REPORT)
            .onUnmappableCharacter(CodingErrorAction.REPORT);
    var from = ByteBuffer.wrap(bytes);
    var to = CharBuffer.allocate(bytes.length + 1);
    int first = -1;
    while (true) {
      CoderResult result = decoder.decode(from, to, true);
      if (result.isUnderflow()) {
        break;
      }
      if (first < 0) {
        first = from.position();
      }
      to.put('\ufffd');
      from.position(from.position() + subpart(bytes, from.position()));
      decoder.reset();
    }
    decoder.flush(to);
    return new Decoded(to.flip().toString(), first);
  }

  /** Returns the number of bytes of an invalid sequence that could begin a character; at least one. */
  private static int subpart(byte[] bytes, int at) {
    int lead = bytes[at] & 0xff;
    int most = lead >= 0xf0 ? 3 : lead >= 0xe0 ? 2 : 1;
    int length = 1;
    while (length <= most && at + length < bytes.length) {
      boolean isStart = length > 1 ? (bytes[at + length] & 0xc0) == 0x80 : isStart(bytes, at, 2);
      if (!isStart) {
        break;
      }
      length++;
    }
    return length;
  }

  /**
   * Returns the number of bytes at the end that begin an incomplete character: fewer than four. More bytes may complete
   * it.
   */
  static int incomplete(byte[] bytes, int length) {
    for (int back = 1; back < 4 && back <= length; back++) {
      int next = bytes[length - back] & 0xff;
      if (next < 0x80) {
        return 0;
      }
      if (next >= 0xc0) {
        int whole = next >= 0xf0 ? 4 : next >= 0xe0 ? 3 : 2;
        return whole > back && isStart(bytes, length - back, back) ? back : 0;
      }
    }
    return 0;
  }

  /** Returns whether these bytes may begin a character. */
  private static boolean isStart(byte[] bytes, int at, int length) {
    int lead = bytes[at] & 0xff;
    if (lead < 0xc2 || lead > 0xf4) {
      return false;
    }
    if (length < 2) {
      return true;
    }
    int second = bytes[at + 1] & 0xff;
    int low = lead == 0xe0 ? 0xa0 : lead == 0xf0 ? 0x90 : 0x80;
    int high = lead == 0xed ? 0x9f : lead == 0xf4 ? 0x8f : 0xbf;
    return second >= low && second <= high;
  }

  /** The most bytes of a contract or profile. */
  private static final int MOST = 8 << 20;

  /** Returns the size of a text in UTF-8. */
  static int bytes(CharSequence text) {
    int count = text.length();
    for (int at = 0; at < text.length(); at++) {
      char next = text.charAt(at);
      if (next >= 0x800) {
        // Each half of a pair has two of its four bytes.
        count += Character.isSurrogate(next) ? 1 : 2;
      } else if (next >= 0x80) {
        count++;
      }
    }
    return count;
  }

  /**
   * Checks that a caller's document can be embedded in a request, and returns it. Otherwise invalid text could close
   * the enclosing object and add members to it.
   */
  static String document(String argument, String text) {
    return document(argument, text, FaultCode.BAD_REQUEST);
  }

  static String document(String argument, String text, FaultCode code) {
    int bytes = bytes(text);
    if (bytes > MOST) {
      throw Fault.invalid(argument, code, "bytes", "must have at most " + MOST + " bytes, not " + bytes);
    }
    for (int at = 0; at < text.length(); at++) {
      if (Character.isSurrogate(text.charAt(at))) {
        if (at + 1 == text.length() || !Character.isSurrogatePair(text.charAt(at), text.charAt(at + 1))) {
          throw Fault.invalid(argument, code, "utf8", "must be Unicode, and has half of a surrogate pair at character " + at);
        }
        at++;
      }
    }
    try {
      Json.parse(text);
    } catch (Json.JsonException e) {
      throw Fault.invalid(argument, code, "json", "must be JSON: " + e.getMessage());
    }
    return text;
  }
}
