// Made by `cargo xtask generate` from `schemas/` and `xtask/generate/`. Do not edit: run it again.

package dev.seamgate;

import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Whether a call may run. See decision.schema.json.
 *
 * @param call The run's own key of a call: c1, c2, ….
 * @param server Where it runs.
 * @param tool As the model gave it, cut.
 * @param digest Of the action.
 * @param arguments As the model wrote them, cut to 4 KiB.
 * @param argumentsDigest Of the whole.
 * @param same The digest that equal calls share: calls of the same tool with equal arguments, however these are
 * written.
 * @param message What the model is told.
 * @param approval The approval that it uses.
 * @param origins Where values of the arguments come from. See decision.schema.json.
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
