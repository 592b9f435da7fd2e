// Made by `cargo xtask generate` from `schemas/` and `xtask/generate/`. Do not edit: run it again.

package dev.seamgate;

import org.jspecify.annotations.Nullable;

/**
 * The approval that the call uses.
 *
 * @param principal The principal who approved.
 * @param at In milliseconds since 1970.
 * @param remembered True if a person gave the approval for another call of the run and it also covers this one.
 */
public record Approval(
    String principal,
    long at,
    @Nullable Boolean remembered) {
  static Approval read(Json json) {
    return new Approval(
        json.need("principal", Json::asText),
        json.need("at", Json::asLong),
        json.find("remembered", Json::asBoolean));
  }
}
