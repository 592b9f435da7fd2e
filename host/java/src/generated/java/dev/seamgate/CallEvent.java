// Made by `cargo xtask generate` from `schemas/` and `xtask/generate/`. Do not edit: run it again.

package dev.seamgate;

import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * One call from outside a loop, for profiles without a loop.
 *
 * @param at when, in milliseconds since 1970.
 * @param joinable The digests of calls that an equal call may join, as in {@code same} of their decisions. A call that
 * joins another is not decided.
 */
public record CallEvent(
    long at,
    @Nullable String id,
    @Nullable String server,
    String tool,
    String arguments,
    @Nullable List<String> joinable) implements RunEvent {
  /** Copies what could change. */
  public CallEvent {
    joinable = joinable == null ? null : List.copyOf(joinable);
  }

  /** Returns one with what it must have. */
  public static CallEvent of(long at, String tool, String arguments) {
    return new CallEvent(at, null, null, tool, arguments, null);
  }

  /** Returns the same with another {@code id}. */
  public CallEvent withId(String id) {
    return new CallEvent(at, id, server, tool, arguments, joinable);
  }

  /** Returns the same with another {@code server}. */
  public CallEvent withServer(String server) {
    return new CallEvent(at, id, server, tool, arguments, joinable);
  }

  /** Returns the same with another {@code joinable}. */
  public CallEvent withJoinable(List<String> joinable) {
    return new CallEvent(at, id, server, tool, arguments, joinable);
  }

  static CallEvent read(Json json) {
    return new CallEvent(
        json.need("at", Json::asLong),
        json.find("id", Json::asText),
        json.find("server", Json::asText),
        json.need("tool", Json::asText),
        json.need("arguments", Json::raw),
        json.find("joinable", Json.list(Json::asText)));
  }

  @Override
  public String toJson() {
    return JsonWriter.written(this::members);
  }

  private void members(JsonWriter to) {
    to.member("type", "call", JsonWriter::text);
    to.member("at", at, JsonWriter::number);
    to.member("id", id, JsonWriter::text);
    to.member("server", server, JsonWriter::text);
    to.member("tool", tool, JsonWriter::text);
    to.member("arguments", arguments, JsonWriter::raw);
    to.member("joinable", joinable, JsonWriter.list(JsonWriter::text));
  }
}
