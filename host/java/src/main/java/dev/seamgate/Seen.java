package dev.seamgate;

import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A result as an agent saw it, which claims can cite. The defaults are the strictest values.
 *
 * @param id the unique id by which claims cite it: 1 to 256 bytes.
 * @param text the text that the agent saw, character for character: at most 1 MiB.
 * @param kinds the kinds of evidence that it counts as.
 * @param labels its labels. {@code stale}, {@code sampled}, {@code partial}, {@code truncated} and {@code empty} have a
 *     meaning.
 * @param confidence the highest confidence that a claim citing it may state. Default: low.
 * @param complete true if the agent saw the whole result, so that absence from it proves absence.
 * @param limitations the codes of its limitations. Each claim that cites it must repeat them.
 */
public record Seen(
    String id,
    String text,
    List<String> kinds,
    List<String> labels,
    @Nullable Confidence confidence,
    boolean complete,
    List<String> limitations) {
  /** Copies mutable arguments. */
  public Seen {
    kinds = List.copyOf(kinds);
    labels = List.copyOf(labels);
    limitations = List.copyOf(limitations);
  }

  /** Returns a result with default values for all other components. */
  public static Seen of(String id, String text) {
    return new Seen(id, text, List.of(), List.of(), null, false, List.of());
  }

  static Seen of(Observation observation) {
    return new Seen(
        observation.id(),
        observation.text(),
        observation.kinds(),
        observation.labels(),
        observation.confidence(),
        observation.complete(),
        observation.limitations().stream().map(Limitation::word).toList());
  }

  static void write(JsonWriter to, Seen seen) {
    to.object(
        members -> {
          members.member("id", seen.id, JsonWriter::text);
          members.member("text", seen.text, JsonWriter::text);
          members.member("kinds", seen.kinds, JsonWriter.list(JsonWriter::text));
          members.member("labels", seen.labels, JsonWriter.list(JsonWriter::text));
          members.member("confidence", seen.confidence, JsonWriter::word);
          members.member("complete", seen.complete, JsonWriter::bool);
          members.member("limitations", seen.limitations, JsonWriter.list(JsonWriter::text));
        });
  }
}
