// Made by `cargo xtask generate` from `schemas/` and `xtask/generate/`. Do not edit: run it again.

package dev.seamgate;

import org.jspecify.annotations.Nullable;

/**
 * A {@code UncertainCall}, as {@code schemas/} has it.
 *
 * @param run The child that made the call. Missing if the run itself made it.
 * @param call The key of a call, as in its action.
 * @param server The server of the tool.
 * @param tool The name of the tool in the child.
 * @param arguments The arguments that were sent. Those of a child are truncated to 1 KiB.
 */
public record UncertainCall(
    @Nullable String run,
    String call,
    @Nullable String server,
    String tool,
    String arguments) {
  /** Returns one with what it must have. */
  public static UncertainCall of(String call, String tool, String arguments) {
    return new UncertainCall(null, call, null, tool, arguments);
  }

  /** Returns the same with another {@code run}. */
  public UncertainCall withRun(String run) {
    return new UncertainCall(run, call, server, tool, arguments);
  }

  /** Returns the same with another {@code server}. */
  public UncertainCall withServer(String server) {
    return new UncertainCall(run, call, server, tool, arguments);
  }

  static UncertainCall read(Json json) {
    return new UncertainCall(
        json.find("run", Json::asText),
        json.need("call", Json::asText),
        json.find("server", Json::asText),
        json.need("tool", Json::asText),
        json.need("arguments", Json::asText));
  }

  static void write(JsonWriter to, UncertainCall value) {
    to.object(value::members);
  }

  private void members(JsonWriter to) {
    to.member("run", run, JsonWriter::text);
    to.member("call", call, JsonWriter::text);
    to.member("server", server, JsonWriter::text);
    to.member("tool", tool, JsonWriter::text);
    to.member("arguments", arguments, JsonWriter::text);
  }
}
