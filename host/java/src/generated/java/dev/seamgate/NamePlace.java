// Made by `cargo xtask generate` from `schemas/` and `xtask/generate/`. Do not edit: run it again.

package dev.seamgate;

import org.jspecify.annotations.Nullable;

/**
 * The place of the name of the value's item.
 *
 * @param origin {@code user} or {@code task}.
 * @param message The number of the text among the texts that people said, counted from 1.
 * @param at A JSON Pointer into the task.
 * @param span A range of bytes in the text there: the first byte, and the one after the last.
 */
public record NamePlace(
    String origin,
    @Nullable Long message,
    @Nullable String at,
    @Nullable Span span) {
  static NamePlace read(Json json) {
    return new NamePlace(
        json.need("origin", Json::asText),
        json.find("message", Json::asLong),
        json.find("at", Json::asText),
        json.find("span", Span::read));
  }
}
