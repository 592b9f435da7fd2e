package dev.seamgate;

import java.lang.reflect.AnnotatedType;
import java.lang.reflect.ParameterizedType;
import java.lang.reflect.RecordComponent;
import java.lang.reflect.Type;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Deque;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** The JSON Schema of a record: its members and their types. */
final class RecordSchema {
  private static final Map<Class<?>, String> PLAIN =
      Map.ofEntries(
          Map.entry(String.class, "{\"type\":\"string\"}"),
          Map.entry(boolean.class, "{\"type\":\"boolean\"}"),
          Map.entry(Boolean.class, "{\"type\":\"boolean\"}"),
          Map.entry(short.class, integer(Short.MIN_VALUE, Short.MAX_VALUE)),
          Map.entry(Short.class, integer(Short.MIN_VALUE, Short.MAX_VALUE)),
          Map.entry(int.class, integer(Integer.MIN_VALUE, Integer.MAX_VALUE)),
          Map.entry(Integer.class, integer(Integer.MIN_VALUE, Integer.MAX_VALUE)),
          Map.entry(long.class, integer(Long.MIN_VALUE, Long.MAX_VALUE)),
          Map.entry(Long.class, integer(Long.MIN_VALUE, Long.MAX_VALUE)),
          Map.entry(BigInteger.class, "{\"type\":\"integer\"}"),
          Map.entry(float.class, "{\"type\":\"number\"}"),
          Map.entry(Float.class, "{\"type\":\"number\"}"),
          Map.entry(double.class, "{\"type\":\"number\"}"),
          Map.entry(Double.class, "{\"type\":\"number\"}"),
          Map.entry(BigDecimal.class, "{\"type\":\"number\"}"));

  /** The members that lead to the type that is written. */
  private final Deque<String> place = new ArrayDeque<>();

  /** The records that it stands in. */
  private final Deque<Class<?>> around = new ArrayDeque<>();

  private RecordSchema() {}

  static String of(Class<? extends Record> type) {
    var schema = new RecordSchema();
    schema.place.add(type.getSimpleName());
    return schema.object(type);
  }

  /** A number that does not fit into the type is rejected, and does not fail when it is decoded. */
  private static String integer(long least, long most) {
    return "{\"type\":\"integer\",\"minimum\":" + least + ",\"maximum\":" + most + "}";
  }

  private String object(Class<?> type) {
    if (around.contains(type)) {
      throw unknown(type, "a record must not contain itself");
    }
    around.push(type);
    List<String> properties = new ArrayList<>();
    List<String> required = new ArrayList<>();
    for (var component : type.getRecordComponents()) {
      String name = quoted(component.getName());
      place.add(component.getName());
      properties.add(name + ":" + member(component));
      place.removeLast();
      if (!mayBeMissing(component)) {
        required.add(name);
      }
    }
    around.pop();
    return "{\"type\":\"object\",\"properties\":{"
        + String.join(",", properties)
        + "},\"required\":["
        + String.join(",", required)
        + "],\"additionalProperties\":false}";
  }

  private String member(RecordComponent component) {
    String schema = schema(component.getGenericType());
    return mayBeMissing(component) ? "{\"anyOf\":[" + schema + ",{\"type\":\"null\"}]}" : schema;
  }

  private static boolean mayBeMissing(RecordComponent component) {
    AnnotatedType type = component.getAnnotatedType();
    return component.getType() == Optional.class || type.isAnnotationPresent(Nullable.class);
  }

  private String schema(Type type) {
    if (type instanceof ParameterizedType generic && generic.getRawType() instanceof Class<?> raw) {
      Type[] of = generic.getActualTypeArguments();
      if (raw == Optional.class) {
        return schema(of[0]);
      }
      if (Collection.class.isAssignableFrom(raw)) {
        return "{\"type\":\"array\",\"items\":" + schema(of[0]) + "}";
      }
      if (Map.class.isAssignableFrom(raw) && of[0] == String.class) {
        return "{\"type\":\"object\",\"additionalProperties\":" + schema(of[1]) + "}";
      }
    } else if (type instanceof Class<?> plain) {
      String known = PLAIN.get(plain);
      if (known != null) {
        return known;
      }
      if (plain.isRecord()) {
        return object(plain);
      }
      if (plain.isEnum()) {
        return constants(plain);
      }
    }
    throw unknown(type, "expected a string, a number, a boolean, an enum, a record, or a collection or map of them");
  }

  private static String constants(Class<?> type) {
    List<String> names = new ArrayList<>();
    for (Object constant : type.getEnumConstants()) {
      names.add(quoted(((Enum<?>) constant).name()));
    }
    return "{\"enum\":[" + String.join(",", names) + "]}";
  }

  private static String quoted(String text) {
    var to = new StringBuilder();
    Texts.quote(to, text);
    return to.toString();
  }

  private IllegalArgumentException unknown(Type type, String expected) {
    return new IllegalArgumentException(
        String.join(".", place) + ": " + type.getTypeName() + " has no schema: " + expected + ". Write the schema as JSON text");
  }
}
