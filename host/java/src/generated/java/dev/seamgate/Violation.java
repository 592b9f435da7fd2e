// Made by `cargo xtask generate` from `wit/` and `xtask/generate/`. Do not edit: run it again.

package dev.seamgate;

import org.jspecify.annotations.Nullable;

/**
 * A requirement that is not met.
 *
 * @param path The location in the document as a JSONPath (RFC 9535) of names and indices: {@code $.citations[0].url}.
 * @param keyword The violated keyword of the schema ({@code type}, {@code required}, …), or the failed check of the
 * gate: {@code json}, {@code utf8}, {@code extract}, {@code duplicate_member}, {@code lone_surrogate}, {@code
 * number_range}, {@code caps.depth}, {@code caps.bytes}, {@code caps.string_bytes}, {@code caps.array_items}, {@code
 * caps.object_members}, {@code allow}, {@code items} (no item is valid), {@code items.max}; or {@code evidence.claim}
 * (a claim has no text or cites nothing), {@code evidence.id}, {@code evidence.quote}, {@code evidence.value} (the
 * value at a pointer), {@code evidence.compute} (a figure computed from others), {@code evidence.number} (a figure of
 * the claim), {@code evidence.confidence}, {@code evidence.limitations}, {@code evidence.absence}, {@code
 * evidence.kind}.
 * @param expected A short description of what would be right.
 * @param received The received value, truncated to 256 bytes. Invisible characters are escaped as in JSON strings.
 * @param message One sentence for people.
 * @param pointer The same location as a JSON Pointer (RFC 6901). Empty for the whole document.
 * @param schemaPath The location of the keyword in the schema as a JSON Pointer. If the keyword is in one of {@code
 * resources}, a URI with a pointer as its fragment. Empty if no keyword is involved.
 * @param span The affected piece of the output, if there is one.
 */
public record Violation(
    String path,
    String keyword,
    String expected,
    String received,
    String message,
    String pointer,
    String schemaPath,
    @Nullable Span span) {
  static Violation read(Json json) {
    return new Violation(
        json.need("path", Json::asText),
        json.need("keyword", Json::asText),
        json.need("expected", Json::asText),
        json.need("received", Json::asText),
        json.need("message", Json::asText),
        json.need("pointer", Json::asText),
        json.need("schema_path", Json::asText),
        json.find("span", Span::read));
  }
}
