// Made by `cargo xtask generate` from `schemas/` and `xtask/generate/`. Do not edit: run it again.

package dev.seamgate;

import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The origin of a value of a call, or the places where it was sought.
 *
 * @param pointer A JSON Pointer into the arguments.
 * @param origin {@code user}, {@code task}, {@code context.NAME}, {@code list NAME}, {@code TOOL at PATH}, {@code
 * secret NAME} and others, as in the rule.
 * @param message The number of the text among the texts that people said, counted from 1.
 * @param call The call whose result contains it.
 * @param at A JSON Pointer into the task, the value of the context, the list or the result.
 * @param span A range of bytes in the text there: the first byte, and the one after the last.
 * @param named The place of the name of the value's item.
 * @param sought The places where a value without an origin was sought.
 */
public record Proof(
    String pointer,
    @Nullable String origin,
    @Nullable Long message,
    @Nullable String call,
    @Nullable String at,
    @Nullable Span span,
    @Nullable NamePlace named,
    @Nullable List<String> sought) {
  /** Copies what could change. */
  public Proof {
    sought = sought == null ? null : List.copyOf(sought);
  }

  static Proof read(Json json) {
    return new Proof(
        json.need("pointer", Json::asText),
        json.find("origin", Json::asText),
        json.find("message", Json::asLong),
        json.find("call", Json::asText),
        json.find("at", Json::asText),
        json.find("span", Span::read),
        json.find("named", NamePlace::read),
        json.find("sought", Json.list(Json::asText)));
  }
}
