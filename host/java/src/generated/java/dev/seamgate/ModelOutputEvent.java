// Made by `cargo xtask generate` from `schemas/` and `xtask/generate/`. Do not edit: run it again.

package dev.seamgate;

import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The output of the model.
 *
 * @param at when, in milliseconds since 1970.
 * @param key The key of the action {@code ask_model} that this event answers.
 * @param calls The calls that the model requests, in its order.
 * @param message The provider's message. Later prompts contain it unchanged.
 * @param finish The reason for which the model stopped.
 * @param usage The number of tokens. If it is missing, it is estimated from bytes.
 * @param artifacts The artifacts that the step requested under {@code need}: texts by their digests.
 */
public record ModelOutputEvent(
    long at,
    String key,
    @Nullable String text,
    @Nullable List<ModelCall> calls,
    @Nullable String message,
    @Nullable Finish finish,
    @Nullable TokenUsage usage,
    @Nullable Map<String, String> artifacts) implements RunEvent {
  /** Copies what could change. */
  public ModelOutputEvent {
    calls = calls == null ? null : List.copyOf(calls);
    artifacts = artifacts == null ? null : Map.copyOf(artifacts);
  }

  /** Returns one with what it must have. */
  public static ModelOutputEvent of(long at, String key) {
    return new ModelOutputEvent(at, key, null, null, null, null, null, null);
  }

  /** Returns the same with another {@code text}. */
  public ModelOutputEvent withText(String text) {
    return new ModelOutputEvent(at, key, text, calls, message, finish, usage, artifacts);
  }

  /** Returns the same with another {@code calls}. */
  public ModelOutputEvent withCalls(List<ModelCall> calls) {
    return new ModelOutputEvent(at, key, text, calls, message, finish, usage, artifacts);
  }

  /** Returns the same with another {@code message}. */
  public ModelOutputEvent withMessage(String message) {
    return new ModelOutputEvent(at, key, text, calls, message, finish, usage, artifacts);
  }

  /** Returns the same with another {@code finish}. */
  public ModelOutputEvent withFinish(Finish finish) {
    return new ModelOutputEvent(at, key, text, calls, message, finish, usage, artifacts);
  }

  /** Returns the same with another {@code usage}. */
  public ModelOutputEvent withUsage(TokenUsage usage) {
    return new ModelOutputEvent(at, key, text, calls, message, finish, usage, artifacts);
  }

  /** Returns the same with another {@code artifacts}. */
  public ModelOutputEvent withArtifacts(Map<String, String> artifacts) {
    return new ModelOutputEvent(at, key, text, calls, message, finish, usage, artifacts);
  }

  static ModelOutputEvent read(Json json) {
    return new ModelOutputEvent(
        json.need("at", Json::asLong),
        json.need("key", Json::asText),
        json.find("text", Json::asText),
        json.find("calls", Json.list(ModelCall::read)),
        json.find("message", Json::raw),
        json.find("finish", Finish::read),
        json.find("usage", TokenUsage::read),
        json.find("artifacts", Json.map(Json::asText)));
  }

  @Override
  public String toJson() {
    return JsonWriter.written(this::members);
  }

  private void members(JsonWriter to) {
    to.member("type", "model_output", JsonWriter::text);
    to.member("at", at, JsonWriter::number);
    to.member("key", key, JsonWriter::text);
    to.member("text", text, JsonWriter::text);
    to.member("calls", calls, JsonWriter.list(ModelCall::write));
    to.member("message", message, JsonWriter::raw);
    to.member("finish", finish, JsonWriter::word);
    to.member("usage", usage, TokenUsage::write);
    to.member("artifacts", artifacts, JsonWriter.map(JsonWriter::text));
  }
}
