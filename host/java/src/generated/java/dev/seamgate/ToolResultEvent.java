// Made by `cargo xtask generate` from `schemas/` and `xtask/generate/`. Do not edit: run it again.

package dev.seamgate;

import org.jspecify.annotations.Nullable;

/**
 * The result of a tool: see result.schema.json.
 *
 * @param at when, in milliseconds since 1970.
 * @param call The key of a call, as in its action.
 * @param status {@code error}: the tool reports a failure. The result is then sanitized, and not validated against the
 * schema.
 * @param result Any JSON.
 * @param returned A whole result of the Model Context Protocol, which itself says whether the tool failed. Its {@code
 * structuredContent} is validated against the schema. Without that, its only text is validated.
 * @param text Text. If the profile has a schema or items for the result, it is parsed as JSON.
 * @param head The beginning of a text that is too large.
 * @param tail The end of the text.
 * @param length The length of the whole text in bytes.
 * @param digest The digest of the whole result, under which the host keeps it. Beside {@code returned}, the host states
 * it.
 */
public record ToolResultEvent(
    long at,
    String call,
    @Nullable Long durationMs,
    @Nullable ResultStatus status,
    @Nullable String result,
    @Nullable String returned,
    @Nullable String text,
    @Nullable String head,
    @Nullable String tail,
    @Nullable Long length,
    @Nullable String digest) implements RunEvent {
  /** Returns one with what it must have. */
  public static ToolResultEvent of(long at, String call) {
    return new ToolResultEvent(at, call, null, null, null, null, null, null, null, null, null);
  }

  /** Returns the same with another {@code durationMs}. */
  public ToolResultEvent withDurationMs(Long durationMs) {
    return new ToolResultEvent(at, call, durationMs, status, result, returned, text, head, tail, length, digest);
  }

  /** Returns the same with another {@code status}. */
  public ToolResultEvent withStatus(ResultStatus status) {
    return new ToolResultEvent(at, call, durationMs, status, result, returned, text, head, tail, length, digest);
  }

  /** Returns the same with another {@code result}. */
  public ToolResultEvent withResult(String result) {
    return new ToolResultEvent(at, call, durationMs, status, result, returned, text, head, tail, length, digest);
  }

  /** Returns the same with another {@code returned}. */
  public ToolResultEvent withReturned(String returned) {
    return new ToolResultEvent(at, call, durationMs, status, result, returned, text, head, tail, length, digest);
  }

  /** Returns the same with another {@code text}. */
  public ToolResultEvent withText(String text) {
    return new ToolResultEvent(at, call, durationMs, status, result, returned, text, head, tail, length, digest);
  }

  /** Returns the same with another {@code head}. */
  public ToolResultEvent withHead(String head) {
    return new ToolResultEvent(at, call, durationMs, status, result, returned, text, head, tail, length, digest);
  }

  /** Returns the same with another {@code tail}. */
  public ToolResultEvent withTail(String tail) {
    return new ToolResultEvent(at, call, durationMs, status, result, returned, text, head, tail, length, digest);
  }

  /** Returns the same with another {@code length}. */
  public ToolResultEvent withLength(Long length) {
    return new ToolResultEvent(at, call, durationMs, status, result, returned, text, head, tail, length, digest);
  }

  /** Returns the same with another {@code digest}. */
  public ToolResultEvent withDigest(String digest) {
    return new ToolResultEvent(at, call, durationMs, status, result, returned, text, head, tail, length, digest);
  }

  static ToolResultEvent read(Json json) {
    return new ToolResultEvent(
        json.need("at", Json::asLong),
        json.need("call", Json::asText),
        json.find("duration_ms", Json::asLong),
        json.find("status", ResultStatus::read),
        json.find("result", Json::raw),
        json.find("returned", Json::raw),
        json.find("text", Json::asText),
        json.find("head", Json::asText),
        json.find("tail", Json::asText),
        json.find("length", Json::asLong),
        json.find("digest", Json::asText));
  }

  @Override
  public String toJson() {
    return JsonWriter.written(this::members);
  }

  private void members(JsonWriter to) {
    to.member("type", "tool_result", JsonWriter::text);
    to.member("at", at, JsonWriter::number);
    to.member("call", call, JsonWriter::text);
    to.member("duration_ms", durationMs, JsonWriter::number);
    to.member("status", status, JsonWriter::word);
    to.member("result", result, JsonWriter::raw);
    to.member("returned", returned, JsonWriter::raw);
    to.member("text", text, JsonWriter::text);
    to.member("head", head, JsonWriter::text);
    to.member("tail", tail, JsonWriter::text);
    to.member("length", length, JsonWriter::number);
    to.member("digest", digest, JsonWriter::text);
  }
}
