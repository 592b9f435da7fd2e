package dev.seamgate;

/**
 * The answer to one request that is JSON text, and its resource usage.
 *
 * @param json one line: {@code {"id":…,"report":{…}}}, {@code {"id":…,"result":…}} or {@code {"id":…,"fault":{…}}}.
 * @param usage the resource usage of the call.
 */
public record Answer(String json, Usage usage) {}
