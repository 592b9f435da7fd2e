// Made by `cargo xtask generate` from `schemas/` and `xtask/generate/`. Do not edit: run it again.

package dev.seamgate;

import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The request for approval that a person sees.
 *
 * @param key The run's own key for a call: c1, c2, ….
 * @param digest The digest of the action. The approval covers this action, and no other.
 * @param by The principals who may decide. One of them is enough.
 * @param keys The public keys of the principals that have keys. Such a principal's decision counts only with a token
 * that one of these keys signed, whichever profile lists the key. If the profiles of a child and of the agents above it
 * list different keys for one principal, the list is empty, and the principal cannot decide.
 * @param expires The time at which the ask and any approval of it expire.
 * @param view The whole call as it would be sent, with invisible characters escaped, and the equal calls that ran
 * before.
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
