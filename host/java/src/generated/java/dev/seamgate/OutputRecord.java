// Made by `cargo xtask generate` from `schemas/` and `xtask/generate/`. Do not edit: run it again.

package dev.seamgate;

/**
 * What the model's output was. An output with calls has a decision for each instead.
 *
 * @param message What the model is told, or what it asked.
 */
public record OutputRecord(
    OutputKind kind,
    String message) implements RunRecord {
  static OutputRecord read(Json json) {
    return new OutputRecord(
        json.need("kind", OutputKind::read),
        json.need("message", Json::asText));
  }
}
