// Made by `cargo xtask generate` from `schemas/` and `xtask/generate/`. Do not edit: run it again.

package dev.seamgate;

import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The part of a result that the model may read.
 *
 * @param id The id that claims cite: the tool's name, {@code #}, and the key of the call.
 * @param status {@code error}: the tool reports a failure. {@code invalid}: the result does not match its schema, and
 * none of it is shown.
 * @param message The text for the prompt: the source of the data, its problems, and the data between marks.
 * @param text The data: truncated to the profile's {@code max_bytes}, and sanitized.
 * @param kinds The kinds of evidence that it provides.
 * @param complete True if it contains the complete result.
 * @param returned The result that replaces a result of the Model Context Protocol. If it is missing, that result is
 * passed on unchanged.
 * @param artifact The digest of the whole result, under which the host keeps it.
 * @param bytes The length of the whole result.
 * @param shown The truncation: the number of items or lines that are shown, and the total number.
 * @param found The findings in the whole result, and their treatment.
 * @param violations The places at which it does not match its schema.
 * @param facts The members of the facts that changed.
 * @param json the observation as JSON text, the same bytes as in every other runtime.
 */
public record Observation(
    String id,
    @Nullable String server,
    String tool,
    ObservationStatus status,
    String message,
    String text,
    List<String> kinds,
    List<String> labels,
    Confidence confidence,
    boolean complete,
    List<Limitation> limitations,
    @Nullable String returned,
    String artifact,
    long bytes,
    @Nullable Shown shown,
    Provenance provenance,
    @Nullable Freshness freshness,
    Found found,
    List<Violation> violations,
    String facts,
    String json) {
  /** Copies what could change. */
  public Observation {
    kinds = List.copyOf(kinds);
    labels = List.copyOf(labels);
    limitations = List.copyOf(limitations);
    violations = List.copyOf(violations);
  }

  static Observation read(Json json) {
    return new Observation(
        json.need("id", Json::asText),
        json.find("server", Json::asText),
        json.need("tool", Json::asText),
        json.need("status", ObservationStatus::read),
        json.need("message", Json::asText),
        json.need("text", Json::asText),
        json.need("kinds", Json.list(Json::asText)),
        json.need("labels", Json.list(Json::asText)),
        json.need("confidence", Confidence::read),
        json.need("complete", Json::asBoolean),
        json.need("limitations", Json.list(Limitation::read)),
        json.find("returned", Json::raw),
        json.need("artifact", Json::asText),
        json.need("bytes", Json::asLong),
        json.find("shown", Shown::read),
        json.need("provenance", Provenance::read),
        json.find("freshness", Freshness::read),
        json.need("found", Found::read),
        json.need("violations", Json.list(Violation::read)),
        json.need("facts", Json::raw),
        json.raw());
  }

  /** Returns what claims may cite of it. */
  public Seen seen() {
    return Seen.of(this);
  }
}
