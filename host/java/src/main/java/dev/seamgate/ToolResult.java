package dev.seamgate;

import org.jspecify.annotations.Nullable;

/**
 * A tool's result ({@code schemas/result.schema.json}). One of {@code result}, {@code text} and {@code returned} is
 * set, or {@code head} and {@code tail} with {@code length} and {@code digest}.
 *
 * @param status {@link ResultStatus#ERROR} if the tool reports a failure.
 * @param result a JSON document.
 * @param text a text.
 * @param returned a whole result of the Model Context Protocol, which itself says whether the tool failed.
 * @param head the beginning of a text that is too large to pass in whole.
 * @param tail the end of that text.
 * @param length how many bytes that text has.
 * @param digest the digest of that text.
 */
public record ToolResult(
    @Nullable ResultStatus status,
    @Nullable String result,
    @Nullable String text,
    @Nullable String returned,
    @Nullable String head,
    @Nullable String tail,
    @Nullable Long length,
    @Nullable String digest) {
  /** Returns a result that is text. */
  public static ToolResult text(String text) {
    return new ToolResult(null, null, text, null, null, null, null, null);
  }

  /** Returns a result that is a JSON document. */
  public static ToolResult json(String result) {
    return new ToolResult(null, result, null, null, null, null, null, null);
  }

  /** Returns a whole result of the Model Context Protocol. */
  public static ToolResult returned(String returned) {
    return new ToolResult(null, null, null, returned, null, null, null, null);
  }

  /** Returns the same of a tool that says that it failed. */
  public ToolResult failed() {
    return new ToolResult(ResultStatus.ERROR, result, text, returned, head, tail, length, digest);
  }

  String toJson() {
    return JsonWriter.written(
        to -> {
          to.member("status", status, JsonWriter::word);
          to.member("result", result, JsonWriter::raw);
          to.member("text", text, JsonWriter::text);
          to.member("returned", returned, JsonWriter::raw);
          to.member("head", head, JsonWriter::text);
          to.member("tail", tail, JsonWriter::text);
          to.member("length", length, JsonWriter::number);
          to.member("digest", digest, JsonWriter::text);
        });
  }
}
