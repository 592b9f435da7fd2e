package dev.seamgate;

import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * What an agent saw of one result, for claims to cite. What is left out allows least.
 *
 * @param id what claims cite it by: 1 to 256 bytes, and no other has it.
 * @param text what the agent saw of it, character for character: at most 1 MiB.
 * @param kinds the kinds of evidence that it is.
 * @param labels what is known of it: {@code stale}, {@code sampled}, {@code partial}, {@code truncated} and {@code empty}
 *     have a meaning.
 * @param confidence the most that its source allows a claim to state. Default: low.
 * @param complete whether all of the result was seen, so that what is not in it is not there.
 * @param limitations codes of what limits it. Each claim that cites it must repeat them.
 */
public record Seen(
    String id,
    String text,
    List<String> kinds,
    List<String> labels,
    @Nullable Confidence confidence,
    boolean complete,
    List<String> limitations) {
  /** Copies what could change. */
  public Seen {
    kinds = List.copyOf(kinds);
    labels = List.copyOf(labels);
    limitations = List.copyOf(limitations);
  }

  /** Returns what was seen, of which nothing more is known. */
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
