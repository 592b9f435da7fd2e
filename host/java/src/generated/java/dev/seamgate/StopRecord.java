// Made by `cargo xtask generate` from `schemas/` and `xtask/generate/`. Do not edit: run it again.

package dev.seamgate;

/**
 * The reason for which the run ended.
 *
 * @param message The text for people.
 */
public record StopRecord(
    StopCode code,
    String message) implements RunRecord {
  static StopRecord read(Json json) {
    return new StopRecord(
        json.need("code", StopCode::read),
        json.need("message", Json::asText));
  }
}
