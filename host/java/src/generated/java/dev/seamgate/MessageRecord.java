// Made by `cargo xtask generate` from `schemas/` and `xtask/generate/`. Do not edit: run it again.

package dev.seamgate;

import org.jspecify.annotations.Nullable;

/**
 * Whether a message between a client and a server may pass, and as what.
 *
 * @param document What it says, cleaned. Without it, it passes as it is.
 * @param found What was found in it, and what was done about it.
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
