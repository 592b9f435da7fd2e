// Made by `cargo xtask generate` from `schemas/` and `xtask/generate/`. Do not edit: run it again.

package dev.seamgate;

import org.jspecify.annotations.Nullable;

/**
 * A {@code ModelCall}, as {@code schemas/} has it.
 *
 * @param id The model's own id. It may repeat.
 * @param arguments An object, or the text as the model wrote it.
 */
public record ModelCall(
    @Nullable String id,
    @Nullable String server,
    String tool,
    String arguments) {
  /** Returns one with what it must have. */
  public static ModelCall of(String tool, String arguments) {
    return new ModelCall(null, null, tool, arguments);
  }

  /** Returns the same with another {@code id}. */
  public ModelCall withId(String id) {
    return new ModelCall(id, server, tool, arguments);
  }

  /** Returns the same with another {@code server}. */
  public ModelCall withServer(String server) {
    return new ModelCall(id, server, tool, arguments);
  }

  static ModelCall read(Json json) {
    return new ModelCall(
        json.find("id", Json::asText),
        json.find("server", Json::asText),
        json.need("tool", Json::asText),
        json.need("arguments", Json::raw));
  }

  static void write(JsonWriter to, ModelCall value) {
    to.object(value::members);
  }

  private void members(JsonWriter to) {
    to.member("id", id, JsonWriter::text);
    to.member("server", server, JsonWriter::text);
    to.member("tool", tool, JsonWriter::text);
    to.member("arguments", arguments, JsonWriter::raw);
  }
}
