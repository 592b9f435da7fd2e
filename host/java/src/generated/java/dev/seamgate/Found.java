// Made by `cargo xtask generate` from `schemas/` and `xtask/generate/`. Do not edit: run it again.

package dev.seamgate;

import java.util.List;
import java.util.Map;

/**
 * The findings in the whole result, and their treatment.
 *
 * @param defanged The number of links and images that were defanged.
 * @param escaped The number of hidden characters of each kind that were escaped.
 * @param instructions Passages that read like an instruction. They are kept.
 * @param instructionsLeftOut The number of further ones.
 * @param redacted The number of secrets of each kind that were left out.
 */
public record Found(
    long defanged,
    Map<String, Long> escaped,
    List<Instruction> instructions,
    long instructionsLeftOut,
    Map<String, Long> redacted) {
  /** Copies what could change. */
  public Found {
    escaped = Map.copyOf(escaped);
    instructions = List.copyOf(instructions);
    redacted = Map.copyOf(redacted);
  }

  static Found read(Json json) {
    return new Found(
        json.need("defanged", Json::asLong),
        json.need("escaped", Json.map(Json::asLong)),
        json.need("instructions", Json.list(Instruction::read)),
        json.need("instructions_left_out", Json::asLong),
        json.need("redacted", Json.map(Json::asLong)));
  }
}
