// Made by `cargo xtask generate` from `schemas/` and `xtask/generate/`. Do not edit: run it again.

package dev.seamgate;

import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * What a person is asked.
 *
 * @param key The run's own key of a call: c1, c2, ….
 * @param digest Of the action: what is approved is this, and nothing else.
 * @param by The principals who may decide: one of them is enough.
 * @param keys The public keys of those who have one: their decision counts only with a token that one of these keys
 * signed, whoever's profile has it. Where the profiles of a child and of the agents above it have different keys for
 * one principal, the list is empty, and the principal cannot decide.
 * @param expires From then on, neither the ask nor an approval holds.
 * @param view What would be sent, whole, with what cannot be seen escaped, and equal calls that ran before.
 */
public record Ask(
    String key,
    String digest,
    List<String> by,
    @Nullable Map<String, List<String>> keys,
    long expires,
    String view) {
  /** Copies what could change. */
  public Ask {
    by = List.copyOf(by);
    keys = keys == null ? null : Map.copyOf(keys);
  }

  static Ask read(Json json) {
    return new Ask(
        json.need("key", Json::asText),
        json.need("digest", Json::asText),
        json.need("by", Json.list(Json::asText)),
        json.find("keys", Json.map(Json.list(Json::asText))),
        json.need("expires", Json::asLong),
        json.need("view", Json::asText));
  }
}
