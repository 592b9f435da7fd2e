// Made by `cargo xtask generate` from `schemas/` and `xtask/generate/`. Do not edit: run it again.

package dev.seamgate;

import java.util.List;
import java.util.Map;

/**
 * What was found in the whole result, and what was done about it.
 *
 * @param defanged How many links and images are defanged.
 * @param escaped How many hidden characters of each kind are escaped.
 * @param instructions Passages that read like an instruction. They stay.
 * @param instructionsLeftOut How many more there are.
 * @param redacted How many secrets of each kind are left out.
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
