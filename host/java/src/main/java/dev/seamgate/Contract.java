package dev.seamgate;

import java.util.Map;

/** Makes contracts as JSON text, for {@link Gate#register}. */
public final class Contract {
  private Contract() {}

  /**
   * Returns the contract of an agent with a JSON Schema: JSON text, a tree that {@code toString} writes as JSON, such as a
   * {@code JsonNode} of Jackson, or the class of a record.
   *
   * <p>The schema of a record has its components, with their types: strings, numbers, booleans, enums, records, collections
   * and maps. Components are required unless they are {@code Optional} or JSpecify's {@code @Nullable}, and other
   * members are rejected. An integer must fit into its type. Rules such as patterns need a schema as JSON text.
   *
   * @throws IllegalArgumentException for a class that is not such a record, with the component that has no schema.
   */
  public static String of(String agent, Object schema) {
    return of(agent, schema, Map.of());
  }

  /** Returns the same with more members, each as JSON text or a tree: {@code Map.of("retry", "{\"limit\":2}")}. */
  public static String of(String agent, Object schema, Map<String, ?> members) {
    return JsonWriter.written(
        to -> {
          to.member("agent", agent, JsonWriter::text);
          to.member("schema", Texts.document("schema", text(schema), FaultCode.BAD_CONTRACT), JsonWriter::raw);
          members.forEach(
              (name, value) ->
                  to.member(name, Texts.document(name, value.toString(), FaultCode.BAD_CONTRACT), JsonWriter::raw));
        });
  }

  private static String text(Object schema) {
    if (!(schema instanceof Class<?> type)) {
      return schema.toString();
    }
    if (!type.isRecord()) {
      throw new IllegalArgumentException("schema: " + type.getName() + " is not a record. Write the schema as JSON text");
    }
    return RecordSchema.of(type.asSubclass(Record.class));
  }
}
