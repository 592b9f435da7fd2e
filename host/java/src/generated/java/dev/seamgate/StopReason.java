// Made by `cargo xtask generate` from `schemas/` and `xtask/generate/`. Do not edit: run it again.

package dev.seamgate;

/**
 * The reason for which the run must end.
 *
 * @param message The text for people.
 */
public record StopReason(
    StopCode code,
    String message) {
  static StopReason read(Json json) {
    return new StopReason(
        json.need("code", StopCode::read),
        json.need("message", Json::asText));
  }
}
