// Made by `cargo xtask generate` from `schemas/` and `xtask/generate/`. Do not edit: run it again.

package dev.seamgate;

/**
 * Data from outside that the model does not get, or only in part.
 *
 * @param name The digest of the value.
 * @param message The text for people.
 */
public record LeftOutRecord(
    LeftOutWhat what,
    String name,
    LeftOutCode code,
    String message) implements RunRecord {
  static LeftOutRecord read(Json json) {
    return new LeftOutRecord(
        json.need("what", LeftOutWhat::read),
        json.need("name", Json::asText),
        json.need("code", LeftOutCode::read),
        json.need("message", Json::asText));
  }
}
