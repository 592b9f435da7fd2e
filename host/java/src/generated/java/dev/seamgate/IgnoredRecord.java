// Made by `cargo xtask generate` from `schemas/` and `xtask/generate/`. Do not edit: run it again.

package dev.seamgate;

/**
 * An event that does not fit the run. It changed nothing.
 *
 * @param message The text for people.
 */
public record IgnoredRecord(
    IgnoredCode code,
    String message) implements RunRecord {
  static IgnoredRecord read(Json json) {
    return new IgnoredRecord(
        json.need("code", IgnoredCode::read),
        json.need("message", Json::asText));
  }
}
