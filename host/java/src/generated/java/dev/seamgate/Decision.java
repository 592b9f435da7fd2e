// Made by `cargo xtask generate` from `schemas/` and `xtask/generate/`. Do not edit: run it again.

package dev.seamgate;

import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The decision whether a call may run.
 *
 * @param permit whether the call may run now.
 * @param arguments The exact text to send. Missing if the call is denied.
 * @param digest The digest of the action. The approval covers this action, and no other.
 * @param message The text that the model may read. Empty if the call may run.
 * @param reasons The reasons for which the call may not run, or needs approval.
 * @param approval The approval that the call uses.
 * @param origins The origins of the values that the tool's {@code origins} rules cover. Values without an origin come
 * first. At most 64 values are listed.
 * @param secrets The secrets that the call takes, in the order of its arguments. A host without secrets must not send
 * the call.
 * @param facts The members of the facts that changed.
 * @param allowed If the call is denied, the tools that are allowed.
 * @param ask The request for approval that a person sees.
 * @param json the decision as JSON text, the same bytes as in every other runtime.
 */
public record Decision(
    Permit permit,
    String key,
    @Nullable String server,
    String tool,
    @Nullable Effect effect,
    @Nullable String arguments,
    @Nullable String digest,
    String message,
    List<Reason> reasons,
    @Nullable Approval approval,
    @Nullable List<Proof> origins,
    @Nullable List<Secret> secrets,
    String facts,
    @Nullable List<String> allowed,
    @Nullable Ask ask,
    String json) {
  /** Copies what could change. */
  public Decision {
    reasons = List.copyOf(reasons);
    origins = origins == null ? null : List.copyOf(origins);
    secrets = secrets == null ? null : List.copyOf(secrets);
    allowed = allowed == null ? null : List.copyOf(allowed);
  }

  static Decision read(Json json) {
    return new Decision(
        json.need("permit", Permit::read),
        json.need("key", Json::asText),
        json.find("server", Json::asText),
        json.need("tool", Json::asText),
        json.find("effect", Effect::read),
        json.find("arguments", Json::asText),
        json.find("digest", Json::asText),
        json.need("message", Json::asText),
        json.need("reasons", Json.list(Reason::read)),
        json.find("approval", Approval::read),
        json.find("origins", Json.list(Proof::read)),
        json.find("secrets", Json.list(Secret::read)),
        json.need("facts", Json::raw),
        json.find("allowed", Json.list(Json::asText)),
        json.find("ask", Ask::read),
        json.raw());
  }

  /** Returns whether the call may run now. */
  public boolean allows() {
    return permit == Permit.ALLOW;
  }
}
