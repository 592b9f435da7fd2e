// Made by `cargo xtask generate` from `wit/` and `xtask/generate/`. Do not edit: run it again.

package dev.seamgate;

/**
 * The reason for which the current candidate can no longer become valid, whatever follows. Reported only if nothing but
 * later text could be taken instead, such as a later block if the contract takes the last one. This is judged by the
 * candidates in the text so far. The verdict is that of {@code finish}.
 *
 * @param keyword The check that the candidate fails: {@code json}, {@code extract}, {@code caps.bytes}, {@code
 * caps.depth}, {@code caps.string_bytes}, {@code caps.array_items} or {@code caps.object_members}.
 * @param message One sentence for people.
 * @param at The offset in the output at which the failure was detected.
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
