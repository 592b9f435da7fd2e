// Made by `cargo xtask generate` from `schemas/` and `xtask/generate/`. Do not edit: run it again.

package dev.seamgate;

/**
 * Call the model, and send its output as {@code model_output}.
 *
 * @param key RUN/STEP/N: the N-th action of a step.
 * @param purpose The purpose of the request. {@code frame}: turn free text into a task. {@code step}: continue. {@code
 * final}: answer without tools.
 * @param prompt The request to the model.
 * @param expires Later answers are ignored.
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
