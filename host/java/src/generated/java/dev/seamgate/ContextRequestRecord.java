// Made by `cargo xtask generate` from `schemas/` and `xtask/generate/`. Do not edit: run it again.

package dev.seamgate;

/**
 * A child requested part of its parent's context and was denied. Recorded in its own run, and in its parent's run.
 *
 * @param call The run's own key for a call: c1, c2, ….
 * @param request In the parent's run: as in the child's end.
 */
public record ContextRequestRecord(
    String call,
    String request) implements RunRecord {
  static ContextRequestRecord read(Json json) {
    return new ContextRequestRecord(
        json.need("call", Json::asText),
        json.need("request", Json::raw));
  }
}
