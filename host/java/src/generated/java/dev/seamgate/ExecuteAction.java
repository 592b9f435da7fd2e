// Made by `cargo xtask generate` from `schemas/` and `xtask/generate/`. Do not edit: run it again.

package dev.seamgate;

import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Send a call. Append {@code tool_started} before sending it. If that event is ignored, do not send the call.
 *
 * @param key RUN/STEP/N: the N-th action of a step.
 * @param call The run's own key for a call: c1, c2, ….
 * @param server The server of the tool. Missing if the host itself offers the tool.
 * @param tool The name of the tool in the child.
 * @param arguments The exact text to send.
 * @param digest The digest of the action.
 * @param idempotencyKey The idempotency key, which stays the same however often the call is sent.
 * @param expires Later results of a read are ignored. An effect is then uncertain.
 * @param approval The approval that the call uses.
 * @param secrets The secrets whose values the host inserts into the arguments, in the order of the arguments. A host
 * without secrets must not send the call.
 */
public record ExecuteAction(
    String key,
    String call,
    @Nullable String server,
    String tool,
    Effect effect,
    String arguments,
    @Nullable String digest,
    String idempotencyKey,
    long expires,
    @Nullable Approval approval,
    @Nullable List<Secret> secrets) implements Action {
  /** Copies what could change. */
  public ExecuteAction {
    secrets = secrets == null ? null : List.copyOf(secrets);
  }

  static ExecuteAction read(Json json) {
    return new ExecuteAction(
        json.need("key", Json::asText),
        json.need("call", Json::asText),
        json.find("server", Json::asText),
        json.need("tool", Json::asText),
        json.need("effect", Effect::read),
        json.need("arguments", Json::asText),
        json.find("digest", Json::asText),
        json.need("idempotency_key", Json::asText),
        json.need("expires", Json::asLong),
        json.find("approval", Approval::read),
        json.find("secrets", Json.list(Secret::read)));
  }
}
