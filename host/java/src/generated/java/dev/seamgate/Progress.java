// Made by `cargo xtask generate` from `wit/` and `xtask/generate/`. Do not edit: run it again.

package dev.seamgate;

import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The state after a chunk.
 *
 * @param completeness The progress of the document.
 * @param items The items that this chunk completed, in order.
 * @param deadEnd The reason for which the candidate can no longer become valid, if so.
 */
public record Progress(
    Completeness completeness,
    List<Completed> items,
    @Nullable DeadEnd deadEnd) {
  /** Copies what could change. */
  public Progress {
    items = List.copyOf(items);
  }

  static Progress read(Json json) {
    return new Progress(
        json.need("completeness", Completeness::read),
        json.need("items", Json.list(Completed::read)),
        json.find("dead_end", DeadEnd::read));
  }
}
