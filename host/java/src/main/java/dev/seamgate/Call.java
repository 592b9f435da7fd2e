package dev.seamgate;

import org.jspecify.annotations.Nullable;

/**
 * A call that the model asks for ({@code schemas/call.schema.json}). {@link Gate#permit} decides whether it may run.
 *
 * @param key the caller's own name for this call, unique for each call. Ids that models choose may repeat.
 * @param server the server that runs the tool. May be null if only one tool has this name.
 * @param tool the name of the tool.
 * @param arguments JSON text: an object; or a string, whose text is sent unchanged.
 */
public record Call(String key, @Nullable String server, String tool, String arguments) {
  /** Returns a call of a tool that only one server has. */
  public static Call of(String key, String tool, String arguments) {
    return new Call(key, null, tool, arguments);
  }

  /** Returns the same call with this server. */
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
