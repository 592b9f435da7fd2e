// Made by `cargo xtask generate` from `schemas/` and `xtask/generate/`. Do not edit: run it again.

package dev.seamgate;

/**
 * Cancel a call that was sent or is about to be sent.
 *
 * @param key RUN/STEP/N: the N-th action of a step.
 * @param call The run's own key for a call: c1, c2, ….
 */
public record CancelAction(
    String key,
    String call) implements Action {
  static CancelAction read(Json json) {
    return new CancelAction(
        json.need("key", Json::asText),
        json.need("call", Json::asText));
  }
}
