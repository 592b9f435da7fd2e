package dev.seamgate;

import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** Writes JSON text without optional white space. */
final class JsonWriter {
  private final StringBuilder to = new StringBuilder();

  /** True if a comma must precede the next member or item. */
  private boolean isAfter;

  /** Writes a value. */
  @FunctionalInterface
  interface Of<T> {
    void write(JsonWriter to, T value);
  }

  /** Returns the text of an object. */
  static String written(Consumer<JsonWriter> members) {
    var writer = new JsonWriter();
    writer.object(members);
    return writer.to.toString();
  }

  /** Returns the text of a value. */
  static <T> String value(T value, Of<T> of) {
    var writer = new JsonWriter();
    of.write(writer, value);
    return writer.to.toString();
  }

  void object(Consumer<JsonWriter> members) {
    to.append('{');
    isAfter = false;
    members.accept(this);
    to.append('}');
    isAfter = true;
  }

  /** Writes a member, unless it is null. */
  <T> void member(String name, @Nullable T value, Of<T> of) {
    if (value != null) {
      comma();
      quote(name);
      to.append(':');
      of.write(this, value);
      isAfter = true;
    }
  }

  private void comma() {
    if (isAfter) {
      to.append(',');
    }
    isAfter = false;
  }

  static void text(JsonWriter to, String value) {
    to.quote(value);
  }

  /** Writes JSON text unchanged. It must be valid. */
  static void raw(JsonWriter to, String value) {
    to.to.append(Texts.document("a member", value));
  }

  /** Writes JSON text that the module wrote. */
  static void trusted(JsonWriter to, String value) {
    to.to.append(value);
  }

  static void bool(JsonWriter to, Boolean value) {
    to.to.append(value.booleanValue());
  }

  static void number(JsonWriter to, Number value) {
    to.to.append(value.longValue());
  }

  static void word(JsonWriter to, Word value) {
    to.quote(value.word());
  }

  static <T> Of<List<T>> list(Of<T> of) {
    return (to, values) -> {
      to.to.append('[');
      to.isAfter = false;
      for (T value : values) {
        to.comma();
        of.write(to, value);
        to.isAfter = true;
      }
      to.to.append(']');
    };
  }

  static <T> Of<Map<String, T>> map(Of<T> of) {
    return (to, values) -> to.object(members -> values.forEach((name, value) -> members.member(name, value, of)));
  }

  private void quote(String text) {
    Texts.quote(to, text);
  }
}
