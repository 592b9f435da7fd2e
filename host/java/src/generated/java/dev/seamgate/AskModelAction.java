// Made by `cargo xtask generate` from `schemas/` and `xtask/generate/`. Do not edit: run it again.

package dev.seamgate;

/**
 * Ask the model, and send what it writes as {@code model_output}.
 *
 * @param key RUN/STEP/N: the N-th action of a step.
 * @param purpose {@code frame}: make a task of free text. {@code step}: go on. {@code final}: answer, without tools.
 * @param prompt What the model is asked.
 * @param expires Later answers do not count.
 */
public record AskModelAction(
    String key,
    Purpose purpose,
    ModelPrompt prompt,
    long expires) implements Action {
  static AskModelAction read(Json json) {
    return new AskModelAction(
        json.need("key", Json::asText),
        json.need("purpose", Purpose::read),
        json.need("prompt", ModelPrompt::read),
        json.need("expires", Json::asLong));
  }
}
