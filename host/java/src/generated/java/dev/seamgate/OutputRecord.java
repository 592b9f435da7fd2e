// Made by `cargo xtask generate` from `schemas/` and `xtask/generate/`. Do not edit: run it again.

package dev.seamgate;

/**
 * The kind of the model's output. An output with calls has a decision for each call instead.
 *
 * @param message The text for the model, or the model's question.
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
