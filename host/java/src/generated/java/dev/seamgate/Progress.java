// Made by `cargo xtask generate` from `wit/` and `xtask/generate/`. Do not edit: run it again.

package dev.seamgate;

import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * What is known after a chunk.
 *
 * @param completeness How far the document has come.
 * @param items Those that were completed by this chunk, in order.
 * @param deadEnd Why it can no longer become right, where it cannot.
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
