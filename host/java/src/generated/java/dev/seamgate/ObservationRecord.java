// Made by `cargo xtask generate` from `schemas/` and `xtask/generate/`. Do not edit: run it again.

package dev.seamgate;

import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The part of a result that the model may read. See observation.schema.json.
 *
 * @param call The run's own key for a call: c1, c2, ….
 * @param server The server of the tool.
 * @param tool The name of the tool in the child.
 * @param id The id that claims cite.
 * @param message The text for the prompt.
 * @param kinds The kinds of evidence that it provides.
 * @param labels The labels of the data from its source.
 * @param complete True if it contains the complete result.
 * @param returned The result that replaces a result of the Model Context Protocol. If it is missing, that result is
 * passed on unchanged.
 * @param artifact The digest of the whole result.
 * @param bytes The length of the whole result.
 * @param found The findings in the whole result, and their treatment.
 * @param durationMs The value that the host states.
 * @param ui The text for the audience {@code ui}.
 * @param user The text for the audience {@code user}.
 */
public record ObservationRecord(
    String call,
    @Nullable String server,
    String tool,
    ObservationStatus status,
    String id,
    String message,
    List<String> kinds,
    List<String> labels,
    Confidence confidence,
    boolean complete,
    List<Limitation> limitations,
    @Nullable String returned,
    String artifact,
    long bytes,
    Found found,
    @Nullable Long durationMs,
    String argumentsDigest,
    @Nullable String ui,
    @Nullable String user) implements RunRecord {
  /** Copies what could change. */
  public ObservationRecord {
    kinds = List.copyOf(kinds);
    labels = List.copyOf(labels);
    limitations = List.copyOf(limitations);
  }

  static ObservationRecord read(Json json) {
    return new ObservationRecord(
        json.need("call", Json::asText),
        json.find("server", Json::asText),
        json.need("tool", Json::asText),
        json.need("status", ObservationStatus::read),
        json.need("id", Json::asText),
        json.need("message", Json::asText),
        json.need("kinds", Json.list(Json::asText)),
        json.need("labels", Json.list(Json::asText)),
        json.need("confidence", Confidence::read),
        json.need("complete", Json::asBoolean),
        json.need("limitations", Json.list(Limitation::read)),
        json.find("returned", Json::raw),
        json.need("artifact", Json::asText),
        json.need("bytes", Json::asLong),
        json.need("found", Found::read),
        json.find("duration_ms", Json::asLong),
        json.need("arguments_digest", Json::asText),
        json.find("ui", Json::asText),
        json.find("user", Json::asText));
  }
}
