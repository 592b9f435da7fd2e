// Made by `cargo xtask generate` from `schemas/` and `xtask/generate/`. Do not edit: run it again.

package dev.seamgate;

import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The decision whether a call may run. See decision.schema.json.
 *
 * @param call The run's own key for a call: c1, c2, ….
 * @param server The server of the tool.
 * @param tool The arguments as the model gave them, truncated.
 * @param digest The digest of the action.
 * @param arguments The arguments as the model wrote them, truncated to 4 KiB.
 * @param argumentsDigest The digest of the whole.
 * @param same The digest that equal calls share: calls of the same tool with equal arguments, however these are
 * written.
 * @param message The text for the model.
 * @param approval The approval that the call uses.
 * @param origins The origins of values of the arguments. See decision.schema.json.
 * @param secrets The secrets that the call takes. See decision.schema.json.
 */
public record DecisionRecord(
    String call,
    Permit permit,
    @Nullable String server,
    String tool,
    @Nullable Effect effect,
    @Nullable String digest,
    String arguments,
    String argumentsDigest,
    String same,
    String message,
    List<Reason> reasons,
    @Nullable Approval approval,
    @Nullable List<Proof> origins,
    @Nullable List<Secret> secrets) implements RunRecord {
  /** Copies what could change. */
  public DecisionRecord {
    reasons = List.copyOf(reasons);
    origins = origins == null ? null : List.copyOf(origins);
    secrets = secrets == null ? null : List.copyOf(secrets);
  }

  static DecisionRecord read(Json json) {
    return new DecisionRecord(
        json.need("call", Json::asText),
        json.need("permit", Permit::read),
        json.find("server", Json::asText),
        json.need("tool", Json::asText),
        json.find("effect", Effect::read),
        json.find("digest", Json::asText),
        json.need("arguments", Json::asText),
        json.need("arguments_digest", Json::asText),
        json.need("same", Json::asText),
        json.need("message", Json::asText),
        json.need("reasons", Json.list(Reason::read)),
        json.find("approval", Approval::read),
        json.find("origins", Json.list(Proof::read)),
        json.find("secrets", Json.list(Secret::read)));
  }
}
