// Made by `cargo xtask generate` from `wit/` and `xtask/generate/`. Do not edit: run it again.

package dev.seamgate;

import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The canonical error of a rejected output.
 *
 * @param error Which stage rejected it.
 * @param schemaId The schema's {@code $id}, where it has one.
 * @param agentId The agent whose output it is.
 * @param violations At most 100, in document order, then in the order of the schema; {@code notes} says where there
 * were more.
 * @param rawOutput The output, cut to 4,096 bytes at a character boundary; the cut says how much is left out.
 * @param retryable Whether another attempt by the same producer can help.
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
