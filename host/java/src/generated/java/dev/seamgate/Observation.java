// Made by `cargo xtask generate` from `schemas/` and `xtask/generate/`. Do not edit: run it again.

package dev.seamgate;

import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * What the model may read of a result.
 *
 * @param id What claims cite: the tool's name, {@code #}, and the key of the call.
 * @param status {@code error}: the tool says that it failed. {@code invalid}: the result is not what its schema asks
 * for, and none of it is shown.
 * @param message What goes into the prompt: where the data comes from, what is wrong with it, and the text between
 * marks.
 * @param text The data: cut, cleaned, at most {@code max_bytes} of the profile.
 * @param kinds The kinds of evidence that it provides.
 * @param complete Whether it is everything that there is.
 * @param returned The result to hand on in place of one of the Model Context Protocol. Without it, that is handed on as
 * it is.
 * @param artifact The digest of the whole result, under which the host keeps it.
 * @param bytes The length of the whole result.
 * @param shown Where it was cut: how many items or lines of how many are shown.
 * @param found What was found in the whole result, and what was done about it.
 * @param violations Where it does not match its schema.
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
