// Made by `cargo xtask generate` from `wit/` and `xtask/generate/`. Do not edit: run it again.

package dev.seamgate;

import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * One item that was kept out of {@code output}.
 *
 * @param index Its place among the items as the producer wrote them, from 0.
 * @param path Where it stood in the document, as a JSONPath.
 * @param pointer The same place as a JSON Pointer (RFC 6901).
 * @param reason The first check that it failed.
 * @param span The piece of the output, where it stood in this one.
 * @param snippet Its text, cut to 256 bytes.
 * @param violations What is wrong by the check that it failed: at most 10, and 1,000 for all items together; {@code
 * notes} says where there were more.
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
