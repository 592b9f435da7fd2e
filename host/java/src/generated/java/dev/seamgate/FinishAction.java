// Made by `cargo xtask generate` from `schemas/` and `xtask/generate/`. Do not edit: run it again.

package dev.seamgate;

import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The run has ended.
 *
 * @param key RUN/STEP/N: the N-th action of a step.
 * @param document The final answer. For a partial one, its parts: {@code asked}, {@code found}, {@code missing}, {@code
 * why}, {@code plan}.
 * @param reasons The reason for which the run had to end. Empty if the answer is final.
 * @param missing The kinds of evidence that are missing.
 * @param uncertain Effects whose outcome is unknown.
 * @param kinds The kinds of evidence that were found.
 * @param labels The labels of everything that the model has read.
 * @param confidence The lowest confidence of all observations.
 * @param used The used budget.
 */
public record FinishAction(
    String key,
    RunStatus status,
    @Nullable String document,
    List<StopReason> reasons,
    List<String> missing,
    List<UncertainCall> uncertain,
    List<String> kinds,
    List<String> labels,
    @Nullable Confidence confidence,
    RunUse used,
    List<ContextRequest> requests) implements Action {
  /** Copies what could change. */
  public FinishAction {
    reasons = List.copyOf(reasons);
    missing = List.copyOf(missing);
    uncertain = List.copyOf(uncertain);
    kinds = List.copyOf(kinds);
    labels = List.copyOf(labels);
    requests = List.copyOf(requests);
  }

  static FinishAction read(Json json) {
    return new FinishAction(
        json.need("key", Json::asText),
        json.need("status", RunStatus::read),
        json.find("document", Json::raw),
        json.need("reasons", Json.list(StopReason::read)),
        json.need("missing", Json.list(Json::asText)),
        json.need("uncertain", Json.list(UncertainCall::read)),
        json.need("kinds", Json.list(Json::asText)),
        json.need("labels", Json.list(Json::asText)),
        json.find("confidence", Confidence::read),
        json.need("used", RunUse::read),
        json.need("requests", Json.list(ContextRequest::read)));
  }
}
