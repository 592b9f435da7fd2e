// Made by `cargo xtask generate` from `wit/` and `xtask/generate/`. Do not edit: run it again.

package dev.seamgate;

/**
 * Why the candidate that is being read can no longer become right, whatever comes. It is told only where nothing can be
 * taken instead but what is still to come (a later block, where the contract takes the last), as far as the text up to
 * here tells where candidates are: the verdict is {@code finish}'s.
 *
 * @param keyword The check that it fails: {@code json}, {@code extract}, {@code caps.bytes}, {@code caps.depth}, {@code
 * caps.string_bytes}, {@code caps.array_items} or {@code caps.object_members}.
 * @param message One sentence for a person.
 * @param at Where in the output that came to light.
 */
public record DeadEnd(
    String keyword,
    String message,
    long at) {
  static DeadEnd read(Json json) {
    return new DeadEnd(
        json.need("keyword", Json::asText),
        json.need("message", Json::asText),
        json.need("at", Json::asLong));
  }
}
