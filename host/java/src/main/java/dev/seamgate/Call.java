package dev.seamgate;

import org.jspecify.annotations.Nullable;

/**
 * What the model asked for ({@code schemas/call.schema.json}). It is a wish: {@link Gate#permit} decides.
 *
 * @param key the caller's own name for this call, another one for each call. The ids of models may repeat.
 * @param server where the tool runs. Null if one tool has this name.
 * @param tool the name of the tool.
 * @param arguments JSON text: an object; or a string, whose text is sent as it is.
 */
public record Call(String key, @Nullable String server, String tool, String arguments) {
  /** Returns a call of a tool that one server alone has. */
  public static Call of(String key, String tool, String arguments) {
    return new Call(key, null, tool, arguments);
  }

  /** Returns the same for a server. */
  public Call withServer(String server) {
    return new Call(key, server, tool, arguments);
  }

  String toJson() {
    return JsonWriter.written(
        to -> {
          to.member("key", key, JsonWriter::text);
          to.member("server", server, JsonWriter::text);
          to.member("tool", tool, JsonWriter::text);
          to.member("arguments", Texts.document("call: arguments", arguments), JsonWriter::trusted);
        });
  }
}
