// Made by `cargo xtask generate` from `schemas/` and `xtask/generate/`. Do not edit: run it again.

package dev.seamgate;

import org.jspecify.annotations.Nullable;

/**
 * A person's decision about one ask. {@code edited} replaces the call's arguments with {@code arguments}. The call is
 * then judged again, and needs a new ask if it requires approval.
 *
 * @param at when, in milliseconds since 1970.
 * @param key The key of a call, as in its action.
 * @param arguments The new arguments as they would be sent: the text of a JSON object. Only with {@code edited}, and
 * only in a loop.
 * @param remember The approval also covers further calls of this run: those of the same tool with the same arguments
 * except some, as long as they need approval for no other reason. Not allowed with a token.
 * @param reason The reason, in the person's words. The model reads it if the call is rejected or edited.
 * @param token The facts that the host verified before it appended this event.
 */
public record ApprovalEvent(
    long at,
    String key,
    String digest,
    ApprovalAnswer decision,
    String principal,
    @Nullable String arguments,
    @Nullable ApprovalRemember remember,
    @Nullable String reason,
    @Nullable String token) implements RunEvent {
  /** Returns one with what it must have. */
  public static ApprovalEvent of(long at, String key, String digest, ApprovalAnswer decision, String principal) {
    return new ApprovalEvent(at, key, digest, decision, principal, null, null, null, null);
  }

  /** Returns the same with another {@code arguments}. */
  public ApprovalEvent withArguments(String arguments) {
    return new ApprovalEvent(at, key, digest, decision, principal, arguments, remember, reason, token);
  }

  /** Returns the same with another {@code remember}. */
  public ApprovalEvent withRemember(ApprovalRemember remember) {
    return new ApprovalEvent(at, key, digest, decision, principal, arguments, remember, reason, token);
  }

  /** Returns the same with another {@code reason}. */
  public ApprovalEvent withReason(String reason) {
    return new ApprovalEvent(at, key, digest, decision, principal, arguments, remember, reason, token);
  }

  /** Returns the same with another {@code token}. */
  public ApprovalEvent withToken(String token) {
    return new ApprovalEvent(at, key, digest, decision, principal, arguments, remember, reason, token);
  }

  static ApprovalEvent read(Json json) {
    return new ApprovalEvent(
        json.need("at", Json::asLong),
        json.need("key", Json::asText),
        json.need("digest", Json::asText),
        json.need("decision", ApprovalAnswer::read),
        json.need("principal", Json::asText),
        json.find("arguments", Json::asText),
        json.find("remember", ApprovalRemember::read),
        json.find("reason", Json::asText),
        json.find("token", Json::asText));
  }

  @Override
  public String toJson() {
    return JsonWriter.written(this::members);
  }

  private void members(JsonWriter to) {
    to.member("type", "approval", JsonWriter::text);
    to.member("at", at, JsonWriter::number);
    to.member("key", key, JsonWriter::text);
    to.member("digest", digest, JsonWriter::text);
    to.member("decision", decision, JsonWriter::word);
    to.member("principal", principal, JsonWriter::text);
    to.member("arguments", arguments, JsonWriter::text);
    to.member("remember", remember, ApprovalRemember::write);
    to.member("reason", reason, JsonWriter::text);
    to.member("token", token, JsonWriter::text);
  }
}
