// Made by `cargo xtask generate` from `schemas/` and `xtask/generate/`. Do not edit: run it again.

package dev.seamgate;

import org.jspecify.annotations.Nullable;

/**
 * The decision whether a message between a client and a server may pass, and in which form.
 *
 * @param document The sanitized message. If it is missing, the message passes unchanged.
 * @param found The findings in the message, and their treatment.
 */
public record MessageRecord(
    String server,
    String method,
    Party from,
    Permit permit,
    @Nullable String document,
    Found found) implements RunRecord {
  static MessageRecord read(Json json) {
    return new MessageRecord(
        json.need("server", Json::asText),
        json.need("method", Json::asText),
        json.need("from", Party::read),
        json.need("permit", Permit::read),
        json.find("document", Json::raw),
        json.need("found", Found::read));
  }
}
