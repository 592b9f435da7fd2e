// Made by `cargo xtask generate` from `wit/` and `xtask/generate/`. Do not edit: run it again.

package dev.seamgate;

import java.util.List;

/**
 * What became of one report that was put together with those before it.
 *
 * @param report Its place in the list that {@code merge} was given, from 0.
 * @param outcome What was done with it.
 * @param items The numbers of the items that it gave.
 * @param unknown The numbers of its own items that match no item that was asked for: they are not used.
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
