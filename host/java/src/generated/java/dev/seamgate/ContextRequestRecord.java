// Made by `cargo xtask generate` from `schemas/` and `xtask/generate/`. Do not edit: run it again.

package dev.seamgate;

/**
 * A child asked for its parent's context, and was denied: in its own run, and in its parent's.
 *
 * @param call The run's own key of a call: c1, c2, ….
 * @param request In the run of the parent: as the child's end has it.
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
