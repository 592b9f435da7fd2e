package dev.seamgate;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** A JSON value with its source text. */
final class Json {
  /** The most levels of nesting that are read. No contract and no report has that many. */
  static final int LEVELS = 1000;

  private final String text;
  private final int start;
  private final int end;

  /** A map, a list, a string, a boolean or null; for a number, its digits. */
  private final @Nullable Object value;

  private Json(String text, int start, int end, @Nullable Object value) {
    this.text = text;
    this.start = start;
    this.end = end;
    this.value = value;
  }

  /** Reads a document, strictly. */
  static Json parse(String text) {
    return new Reader(text).document();
  }

  /** The text is not JSON, or has an unexpected shape. */
  static final class JsonException extends IllegalArgumentException {
    private static final long serialVersionUID = 1L;

    JsonException(String message) {
      super(message);
    }
  }

  /** Returns the source text of the value. */
  String raw() {
    return text.substring(start, end);
  }

  boolean isNull() {
    return value == null;
  }

  boolean isText() {
    return value instanceof String;
  }

  boolean isList() {
    return value instanceof Items;
  }

  String asText() {
    if (value instanceof String string) {
      return string;
    }
    throw unexpected("a string");
  }

  boolean asBoolean() {
    if (value instanceof Boolean bool) {
      return bool;
    }
    throw unexpected("a boolean");
  }

  long asLong() {
    if (value instanceof Digits) {
      try {
        return Long.parseLong(raw());
      } catch (NumberFormatException e) {
        throw unexpected("an integer of at most 64 bits");
      }
    }
    throw unexpected("an integer");
  }

  private Map<String, Json> members() {
    if (value instanceof Members members) {
      return members.of();
    }
    throw unexpected("an object");
  }

  /** Returns a required member of an object. */
  <T> T need(String name, Function<Json, T> read) {
    var member = members().get(name);
    if (member == null) {
      throw new JsonException("an object lacks the member " + name);
    }
    return read.apply(member);
  }

  /** Returns a member of an object; null if it is missing or null. */
  <T> @Nullable T find(String name, Function<Json, T> read) {
    var member = members().get(name);
    return member == null || member.isNull() ? null : read.apply(member);
  }

  boolean has(String name) {
    return value instanceof Members members && members.of().containsKey(name);
  }

  static <T> Function<Json, List<T>> list(Function<Json, T> read) {
    return json -> {
      if (json.value instanceof Items items) {
        return items.of().stream().map(read).toList();
      }
      throw json.unexpected("an array");
    };
  }

  static <T> Function<Json, Map<String, T>> map(Function<Json, T> read) {
    return json -> {
      Map<String, T> map = new LinkedHashMap<>();
      json.members().forEach((name, member) -> map.put(name, read.apply(member)));
      return map;
    };
  }

  private JsonException unexpected(String wanted) {
    return new JsonException("expected " + wanted + " at character " + start);
  }

  private record Members(Map<String, Json> of) {}

  private record Items(List<Json> of) {}

  private enum Digits {
    NUMBER
  }

  private static final class Reader {
    private final String text;
    private int at;

    Reader(String text) {
      this.text = text;
    }

    Json document() {
      skip();
      Json json = value(LEVELS);
      skip();
      if (at < text.length()) {
        throw error("expected the end");
      }
      return json;
    }

    private JsonException error(String what) {
      return new JsonException(what + " at character " + at);
    }

    private int peek() {
      return at < text.length() ? text.charAt(at) : -1;
    }

    private void skip() {
      while (at < text.length() && " \t\n\r".indexOf(text.charAt(at)) >= 0) {
        at++;
      }
    }

    private Json value(int levels) {
      if (levels == 0) {
        throw error("expected at most " + LEVELS + " levels");
      }
      int start = at;
      @Nullable Object value =
          switch (peek()) {
            case '{' -> object(levels);
            case '[' -> array(levels);
            case '"' -> string();
            case 't' -> literal("true", true);
            case 'f' -> literal("false", false);
            case 'n' -> literal("null", null);
            default -> number();
          };
      return new Json(text, start, at, value);
    }

    private @Nullable Object literal(String word, @Nullable Object value) {
      if (!text.startsWith(word, at)) {
        throw error("expected a value");
      }
      at += word.length();
      return value;
    }

    private Members object(int levels) {
      Map<String, Json> members = new LinkedHashMap<>();
      at++;
      skip();
      if (peek() == '}') {
        at++;
        return new Members(members);
      }
      while (true) {
        skip();
        if (peek() != '"') {
          throw error("expected the name of a member");
        }
        String name = string();
        skip();
        expect(':');
        skip();
        members.put(name, value(levels - 1));
        skip();
        if (peek() == '}') {
          at++;
          return new Members(members);
        }
        expect(',');
      }
    }

    private Items array(int levels) {
      List<Json> items = new ArrayList<>();
      at++;
      skip();
      if (peek() == ']') {
        at++;
        return new Items(items);
      }
      while (true) {
        skip();
        items.add(value(levels - 1));
        skip();
        if (peek() == ']') {
          at++;
          return new Items(items);
        }
        expect(',');
      }
    }

    private void expect(char wanted) {
      if (peek() != wanted) {
        throw error("expected '" + wanted + "'");
      }
      at++;
    }

    private String string() {
      int start = ++at;
      while (at < text.length()) {
        char next = text.charAt(at);
        if (next == '"') {
          return text.substring(start, at++);
        }
        if (next == '\\') {
          return escaped(start);
        }
        if (next < ' ') {
          throw error("expected an escape for a control character");
        }
        at++;
      }
      throw error("expected the end of a string");
    }

    private String escaped(int start) {
      var to = new StringBuilder().append(text, start, at);
      while (at < text.length()) {
        char next = text.charAt(at++);
        if (next == '"') {
          return to.toString();
        }
        if (next < ' ') {
          at--;
          throw error("expected an escape for a control character");
        }
        to.append(next == '\\' ? escape() : next);
      }
      throw error("expected the end of a string");
    }

    private char escape() {
      int escape = peek();
      at++;
      return switch (escape) {
        case '"', '\\', '/' -> (char) escape;
        case 'b' -> '\b';
        case 'f' -> '\f';
        case 'n' -> '\n';
        case 'r' -> '\r';
        case 't' -> '\t';
        case 'u' -> unicode();
        default -> {
          at--;
          throw error("expected an escape");
        }
      };
    }

    private char unicode() {
      int value = 0;
      for (int count = 0; count < 4; count++) {
        int digit = Character.digit(peek(), 16);
        if (digit < 0 || peek() > 'f') {
          throw error("expected four hexadecimal digits");
        }
        value = value << 4 | digit;
        at++;
      }
      return (char) value;
    }

    private Digits number() {
      if (peek() == '-') {
        at++;
      }
      if (peek() == '0') {
        at++;
      } else {
        digits("expected a value");
      }
      if (peek() == '.') {
        at++;
        digits("expected a digit");
      }
      if (peek() == 'e' || peek() == 'E') {
        at++;
        if (peek() == '+' || peek() == '-') {
          at++;
        }
        digits("expected a digit");
      }
      return Digits.NUMBER;
    }

    private void digits(String otherwise) {
      int start = at;
      while (peek() >= '0' && peek() <= '9') {
        at++;
      }
      if (at == start) {
        throw error(otherwise);
      }
    }
  }
}
