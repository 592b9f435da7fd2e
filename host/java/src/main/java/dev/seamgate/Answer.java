package dev.seamgate;

/**
 * The answer to one request that is JSON text, and what it took.
 *
 * @param json one line: {@code {"id":…,"report":{…}}}, {@code {"id":…,"result":…}} or {@code {"id":…,"fault":{…}}}.
 * @param usage what the call used.
 */
public record Answer(String json, Usage usage) {}
