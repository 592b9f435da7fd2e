// Made by `cargo xtask generate` from `schemas/` and `xtask/generate/`. Do not edit: run it again.

package dev.seamgate;

import org.jspecify.annotations.Nullable;

/**
 * A message between a client and a tool server that is not a tool call.
 *
 * @param at when, in milliseconds since 1970.
 * @param id An id that distinguishes equal messages.
 * @param method The method of the message, or of the request that it answers.
 * @param document The content of the message. Without it, only the method is checked.
 */
public record MessageEvent(
    long at,
    @Nullable String id,
    @Nullable String server,
    String method,
    Party from,
    @Nullable String document) implements RunEvent {
  /** Returns one with what it must have. */
  public static MessageEvent of(long at, String method, Party from) {
    return new MessageEvent(at, null, null, method, from, null);
  }

  /** Returns the same with another {@code id}. */
  public MessageEvent withId(String id) {
    return new MessageEvent(at, id, server, method, from, document);
  }

  /** Returns the same with another {@code server}. */
  public MessageEvent withServer(String server) {
    return new MessageEvent(at, id, server, method, from, document);
  }

  /** Returns the same with another {@code document}. */
  public MessageEvent withDocument(String document) {
    return new MessageEvent(at, id, server, method, from, document);
  }

  static MessageEvent read(Json json) {
    return new MessageEvent(
        json.need("at", Json::asLong),
        json.find("id", Json::asText),
        json.find("server", Json::asText),
        json.need("method", Json::asText),
        json.need("from", Party::read),
        json.find("document", Json::raw));
  }

  @Override
  public String toJson() {
    return JsonWriter.written(this::members);
  }

  private void members(JsonWriter to) {
    to.member("type", "message", JsonWriter::text);
    to.member("at", at, JsonWriter::number);
    to.member("id", id, JsonWriter::text);
    to.member("server", server, JsonWriter::text);
    to.member("method", method, JsonWriter::text);
    to.member("from", from, JsonWriter::word);
    to.member("document", document, JsonWriter::raw);
  }
}
