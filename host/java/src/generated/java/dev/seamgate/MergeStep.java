// Made by `cargo xtask generate` from `wit/` and `xtask/generate/`. Do not edit: run it again.

package dev.seamgate;

import java.util.List;

/**
 * The outcome for one merged report.
 *
 * @param report The index in the list that {@code merge} received, from 0.
 * @param outcome The use that {@code merge} made of the report.
 * @param items The numbers of the items that it provided.
 * @param unknown The numbers of its items that match no requested item. They are not used.
 */
public record MergeStep(
    long report,
    MergeOutcome outcome,
    List<Long> items,
    List<Long> unknown) {
  /** Copies what could change. */
  public MergeStep {
    items = List.copyOf(items);
    unknown = List.copyOf(unknown);
  }

  static MergeStep read(Json json) {
    return new MergeStep(
        json.need("report", Json::asLong),
        json.need("outcome", MergeOutcome::read),
        json.need("items", Json.list(Json::asLong)),
        json.need("unknown", Json.list(Json::asLong)));
  }
}
