// Made by `cargo xtask generate` from `schemas/` and `xtask/generate/`. Do not edit: run it again.

package dev.seamgate;

/**
 * A call that equals a call of the event's {@code joinable}. It was not decided. The host answers it with the result of
 * the other call.
 *
 * @param same The digest that equal calls share: calls of the same tool with equal arguments, however these are
 * written.
 */
public record JoinedRecord(
    String same) implements RunRecord {
  static JoinedRecord read(Json json) {
    return new JoinedRecord(
        json.need("same", Json::asText));
  }
}
