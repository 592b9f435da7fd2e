// Made by `cargo xtask generate` from `schemas/` and `xtask/generate/`. Do not edit: run it again.

package dev.seamgate;

/**
 * Start or continue the run of another agent. The run's name is fixed. Append {@code tool_started} first.
 *
 * @param key RUN/STEP/N: the N-th action of a step.
 * @param call The run's own key for a call: c1, c2, ….
 * @param run The id of the child's run.
 * @param agent The child's agent.
 * @param profile The digest of the child's profile.
 * @param reason The model's reason for the delegation.
 * @param task The task of the child: everything that it receives.
 * @param digest The digest of this task.
 * @param parent The limits that the parent sets. They go unchanged into the child's event {@code started} as {@code
 * parent}: see event.schema.json.
 */
public record DelegateAction(
    String key,
    String call,
    String run,
    String agent,
    String profile,
    String reason,
    String task,
    String digest,
    Bounds parent) implements Action {
  static DelegateAction read(Json json) {
    return new DelegateAction(
        json.need("key", Json::asText),
        json.need("call", Json::asText),
        json.need("run", Json::asText),
        json.need("agent", Json::asText),
        json.need("profile", Json::asText),
        json.need("reason", Json::asText),
        json.need("task", Json::raw),
        json.need("digest", Json::asText),
        json.need("parent", Bounds::read));
  }
}
