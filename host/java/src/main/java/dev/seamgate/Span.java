package dev.seamgate;

/**
 * A piece of the output, as byte offsets into the text as it was given, in UTF-8.
 *
 * @param start where it begins.
 * @param end where what comes after it begins.
 */
public record Span(long start, long end) {
  static Span read(Json json) {
    var places = Json.list(Json::asLong).apply(json);
    return new Span(places.get(0), places.get(1));
  }
}
