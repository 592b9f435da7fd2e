// Made by `cargo xtask generate` from `schemas/` and `xtask/generate/`. Do not edit: run it again.

package dev.seamgate;

import org.jspecify.annotations.Nullable;

/**
 * Where the name of its item stands.
 *
 * @param origin {@code user} or {@code task}.
 * @param message The number of the text among those that people said, from 1.
 * @param at A JSON Pointer into the task.
 * @param span A part of the text there, in bytes: the first byte, and the one after the last.
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
