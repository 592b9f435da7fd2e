// Made by `cargo xtask generate` from `schemas/` and `xtask/generate/`. Do not edit: run it again.

package dev.seamgate;

import org.jspecify.annotations.Nullable;

/**
 * Ask a person a question, and send the answer as {@code input}. For an uncertain call, send it as {@code resolution}.
 *
 * @param key RUN/STEP/N: the N-th action of a step.
 * @param question The question, without invisible characters.
 * @param call The uncertain call whose outcome somebody must state.
 * @param expires In milliseconds since 1970.
 */
public record AskInputAction(
    String key,
    String question,
    @Nullable String call,
    long expires) implements Action {
  static AskInputAction read(Json json) {
    return new AskInputAction(
        json.need("key", Json::asText),
        json.need("question", Json::asText),
        json.find("call", Json::asText),
        json.need("expires", Json::asLong));
  }
}
