// Made by `cargo xtask generate` from `wit/` and `xtask/generate/`. Do not edit: run it again.

package dev.seamgate;

import org.jspecify.annotations.Nullable;

/**
 * One thing that is wrong.
 *
 * @param path Where in the document, as a JSONPath (RFC 9535) of names and indices: {@code $.citations[0].url}.
 * @param keyword The keyword of the schema that is not met ({@code type}, {@code required}, …), or the check of the
 * gate that is not: {@code json}, {@code utf8}, {@code extract}, {@code duplicate_member}, {@code lone_surrogate},
 * {@code number_range}, {@code caps.depth}, {@code caps.bytes}, {@code caps.string_bytes}, {@code caps.array_items},
 * {@code caps.object_members}, {@code allow}, {@code items} (none of them is valid), {@code items.max}; or {@code
 * evidence.claim} (a claim has no text or cites nothing), {@code evidence.id}, {@code evidence.quote}, {@code
 * evidence.value} (what stands at a pointer), {@code evidence.compute} (a figure that follows from others), {@code
 * evidence.number} (a figure of the claim), {@code evidence.confidence}, {@code evidence.limitations}, {@code
 * evidence.absence}, {@code evidence.kind}.
 * @param expected What would be right, short.
 * @param received What was there instead, cut to 256 bytes; what cannot be seen is escaped as JSON strings escape it.
 * @param message One sentence for a person.
 * @param pointer The same place as a JSON Pointer (RFC 6901); empty for the whole document.
 * @param schemaPath The keyword's place in the schema as a JSON Pointer; as a URI with a pointer for its fragment where
 * the keyword stands in one of {@code resources}. Empty where no keyword is concerned.
 * @param span The piece of the output concerned, where there is one.
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
