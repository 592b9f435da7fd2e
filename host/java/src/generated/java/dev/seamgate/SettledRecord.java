// Made by `cargo xtask generate` from `schemas/` and `xtask/generate/`. Do not edit: run it again.

package dev.seamgate;

/**
 * A call that came to no result.
 *
 * @param call The run's own key of a call: c1, c2, ….
 * @param tool Its name, cut.
 * @param message For people.
 */
public record SettledRecord(
    String call,
    String tool,
    SettledCode code,
    String message) implements RunRecord {
  static SettledRecord read(Json json) {
    return new SettledRecord(
        json.need("call", Json::asText),
        json.need("tool", Json::asText),
        json.need("code", SettledCode::read),
        json.need("message", Json::asText));
  }
}
