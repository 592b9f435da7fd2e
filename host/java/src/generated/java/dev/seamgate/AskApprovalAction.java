// Made by `cargo xtask generate` from `schemas/` and `xtask/generate/`. Do not edit: run it again.

package dev.seamgate;

/**
 * Ask a person, and send the decision as {@code approval}.
 *
 * @param key RUN/STEP/N: the N-th action of a step.
 * @param call The run's own key for a call: c1, c2, ….
 * @param ask The request for approval that a person sees.
 */
public record AskApprovalAction(
    String key,
    String call,
    Ask ask) implements Action {
  static AskApprovalAction read(Json json) {
    return new AskApprovalAction(
        json.need("key", Json::asText),
        json.need("call", Json::asText),
        json.need("ask", Ask::read));
  }
}
