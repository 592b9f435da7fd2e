// Made by `cargo xtask generate` from `schemas/` and `xtask/generate/`. Do not edit: run it again.

package dev.seamgate;

/**
 * Start the run of another agent, or go on with it: its run has one name. Append {@code tool_started} before.
 *
 * @param key RUN/STEP/N: the N-th action of a step.
 * @param call The run's own key of a call: c1, c2, ….
 * @param run The child's run.
 * @param agent Its agent.
 * @param profile Of its profile.
 * @param reason Why, as the model says.
 * @param task All that it is given.
 * @param digest Of the task as it stands here.
 * @param parent What the parent allows. It goes into the child's event {@code started} as {@code parent}, as it is: see
 * event.schema.json.
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
