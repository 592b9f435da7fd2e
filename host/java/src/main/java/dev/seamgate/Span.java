package dev.seamgate;

/**
 * A part of the output, as byte offsets into the original text in UTF-8.
 *
 * @param start the offset of its first byte.
 * @param end the offset after its last byte.
 */
public record Span(long start, long end) {
  static Span read(Json json) {
    var places = Json.list(Json::asLong).apply(json);
    return new Span(places.get(0), places.get(1));
  }
}
