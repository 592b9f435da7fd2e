// Made by `cargo xtask generate` from `schemas/` and `xtask/generate/`. Do not edit: run it again.

package dev.seamgate;

import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * What the model may read of a result. See observation.schema.json.
 *
 * @param call The run's own key of a call: c1, c2, ….
 * @param server Where it ran.
 * @param tool Its name there.
 * @param id What claims cite.
 * @param message What goes into the prompt.
 * @param kinds The kinds of evidence that it provides.
 * @param labels What is known of the data by where it came from.
 * @param complete Whether it is everything that there is.
 * @param returned The result to hand on in place of one of the Model Context Protocol. Without it, that is handed on as
 * it is.
 * @param artifact Of the whole result.
 * @param bytes Its length.
 * @param found What was found in the whole result, and what was done about it.
 * @param durationMs As the host says.
 * @param ui What {@code ui} is shown.
 * @param user What {@code user} is shown.
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
