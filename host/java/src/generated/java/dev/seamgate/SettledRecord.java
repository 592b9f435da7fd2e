// Made by `cargo xtask generate` from `schemas/` and `xtask/generate/`. Do not edit: run it again.

package dev.seamgate;

/**
 * A call that ended without a result.
 *
 * @param call The run's own key for a call: c1, c2, ….
 * @param tool The name of the tool, truncated.
 * @param message The text for people.
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
