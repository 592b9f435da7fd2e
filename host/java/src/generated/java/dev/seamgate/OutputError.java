// Made by `cargo xtask generate` from `wit/` and `xtask/generate/`. Do not edit: run it again.

package dev.seamgate;

import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The error of a rejected output.
 *
 * @param error The stage that rejected it.
 * @param schemaId The schema's {@code $id}, if it has one.
 * @param agentId The agent that produced the output.
 * @param violations At most 100 violations, in document order and then in schema order. {@code notes} says if there
 * were more.
 * @param rawOutput The output, truncated to 4,096 bytes at a character boundary. The end says how much was left out.
 * @param retryable True if another attempt by the same producer can help.
 */
public record OutputError(
    ErrorKind error,
    @Nullable String schemaId,
    String agentId,
    List<Violation> violations,
    String rawOutput,
    boolean retryable) {
  /** Copies what could change. */
  public OutputError {
    violations = List.copyOf(violations);
  }

  static OutputError read(Json json) {
    return new OutputError(
        json.need("error", ErrorKind::read),
        json.find("schema_id", Json::asText),
        json.need("agent_id", Json::asText),
        json.need("violations", Json.list(Violation::read)),
        json.need("raw_output", Json::asText),
        json.need("retryable", Json::asBoolean));
  }
}
