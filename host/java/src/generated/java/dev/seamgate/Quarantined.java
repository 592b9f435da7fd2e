// Made by `cargo xtask generate` from `wit/` and `xtask/generate/`. Do not edit: run it again.

package dev.seamgate;

import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * An item that was left out of {@code output}.
 *
 * @param index The index among the items as the producer wrote them, from 0.
 * @param path The item's location in the document, as a JSONPath.
 * @param pointer The same location as a JSON Pointer (RFC 6901).
 * @param reason The first check that it failed.
 * @param span The piece of the output, if the item is in this output.
 * @param snippet The item's text, truncated to 256 bytes.
 * @param violations The violations of the failed check: at most 10, and 1,000 for all items together. {@code notes}
 * says if there were more.
 */
public record Quarantined(
    long index,
    String path,
    String pointer,
    QuarantineReason reason,
    @Nullable Span span,
    String snippet,
    List<Violation> violations) {
  /** Copies what could change. */
  public Quarantined {
    violations = List.copyOf(violations);
  }

  static Quarantined read(Json json) {
    return new Quarantined(
        json.need("index", Json::asLong),
        json.need("path", Json::asText),
        json.need("pointer", Json::asText),
        json.need("reason", QuarantineReason::read),
        json.find("span", Span::read),
        json.need("snippet", Json::asText),
        json.need("violations", Json.list(Violation::read)));
  }
}
