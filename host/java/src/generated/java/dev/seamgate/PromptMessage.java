// Made by `cargo xtask generate` from `schemas/` and `xtask/generate/`. Do not edit: run it again.

package dev.seamgate;

import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * One message. The messages have a fixed order: role, rules, task, context, history, and last what to answer.
 *
 * @param text The text of the message. Data from outside is between marks that the data cannot know.
 * @param calls The calls of an assistant's message.
 * @param call The call that a tool's message answers.
 * @param id The model's own id for the call.
 * @param message The provider's message, unchanged.
 */
public record PromptMessage(
    Role role,
    String text,
    @Nullable List<RequestedCall> calls,
    @Nullable String call,
    @Nullable String id,
    @Nullable String message) {
  /** Copies what could change. */
  public PromptMessage {
    calls = calls == null ? null : List.copyOf(calls);
  }

  static PromptMessage read(Json json) {
    return new PromptMessage(
        json.need("role", Role::read),
        json.need("text", Json::asText),
        json.find("calls", Json.list(RequestedCall::read)),
        json.find("call", Json::asText),
        json.find("id", Json::asText),
        json.find("message", Json::raw));
  }
}
