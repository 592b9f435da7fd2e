package dev.seamgate;

import java.util.Map;

/** Makes contracts as JSON text, for {@link Gate#register}. */
public final class Contract {
  private Contract() {}

  /**
   * Returns the contract of an agent with a JSON Schema: JSON text, or a tree that {@code toString} writes as JSON, such as
   * a {@code JsonNode} of Jackson.
   */
  public static String of(String agent, Object schema) {
    return of(agent, schema, Map.of());
  }

  /** Returns the same with more members, each as JSON text or a tree: {@code Map.of("retry", "{\"limit\":2}")}. */
  public static String of(String agent, Object schema, Map<String, ?> members) {
    return JsonWriter.written(
        to -> {
          to.member("agent", agent, JsonWriter::text);
          to.member("schema", Texts.document("schema", schema.toString(), FaultCode.BAD_CONTRACT), JsonWriter::raw);
          members.forEach(
              (name, value) ->
                  to.member(name, Texts.document(name, value.toString(), FaultCode.BAD_CONTRACT), JsonWriter::raw));
        });
  }
}
