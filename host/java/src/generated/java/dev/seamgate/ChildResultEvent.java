// Made by `cargo xtask generate` from `schemas/` and `xtask/generate/`. Do not edit: run it again.

package dev.seamgate;

import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The end of a child, as in its action {@code finish}.
 *
 * @param at when, in milliseconds since 1970.
 * @param call The key of a call, as in its action.
 * @param used The budget that the child used. A missing member counts as zero. Without this object, the child counts as
 * having used its whole budget.
 * @param requests The parts of the parent's context that the child requested and was denied.
 * @param uncertain Calls whose effect is unknown.
 */
public record ChildResultEvent(
    long at,
    String call,
    RunStatus status,
    @Nullable String document,
    @Nullable List<String> kinds,
    @Nullable List<String> labels,
    @Nullable Confidence confidence,
    @Nullable ChildUse used,
    @Nullable List<String> requests,
    @Nullable List<UncertainCall> uncertain) implements RunEvent {
  /** Copies what could change. */
  public ChildResultEvent {
    kinds = kinds == null ? null : List.copyOf(kinds);
    labels = labels == null ? null : List.copyOf(labels);
    requests = requests == null ? null : List.copyOf(requests);
    uncertain = uncertain == null ? null : List.copyOf(uncertain);
  }

  /** Returns one with what it must have. */
  public static ChildResultEvent of(long at, String call, RunStatus status) {
    return new ChildResultEvent(at, call, status, null, null, null, null, null, null, null);
  }

  /** Returns the same with another {@code document}. */
  public ChildResultEvent withDocument(String document) {
    return new ChildResultEvent(at, call, status, document, kinds, labels, confidence, used, requests, uncertain);
  }

  /** Returns the same with another {@code kinds}. */
  public ChildResultEvent withKinds(List<String> kinds) {
    return new ChildResultEvent(at, call, status, document, kinds, labels, confidence, used, requests, uncertain);
  }

  /** Returns the same with another {@code labels}. */
  public ChildResultEvent withLabels(List<String> labels) {
    return new ChildResultEvent(at, call, status, document, kinds, labels, confidence, used, requests, uncertain);
  }

  /** Returns the same with another {@code confidence}. */
  public ChildResultEvent withConfidence(Confidence confidence) {
    return new ChildResultEvent(at, call, status, document, kinds, labels, confidence, used, requests, uncertain);
  }

  /** Returns the same with another {@code used}. */
  public ChildResultEvent withUsed(ChildUse used) {
    return new ChildResultEvent(at, call, status, document, kinds, labels, confidence, used, requests, uncertain);
  }

  /** Returns the same with another {@code requests}. */
  public ChildResultEvent withRequests(List<String> requests) {
    return new ChildResultEvent(at, call, status, document, kinds, labels, confidence, used, requests, uncertain);
  }

  /** Returns the same with another {@code uncertain}. */
  public ChildResultEvent withUncertain(List<UncertainCall> uncertain) {
    return new ChildResultEvent(at, call, status, document, kinds, labels, confidence, used, requests, uncertain);
  }

  static ChildResultEvent read(Json json) {
    return new ChildResultEvent(
        json.need("at", Json::asLong),
        json.need("call", Json::asText),
        json.need("status", RunStatus::read),
        json.find("document", Json::raw),
        json.find("kinds", Json.list(Json::asText)),
        json.find("labels", Json.list(Json::asText)),
        json.find("confidence", Confidence::read),
        json.find("used", ChildUse::read),
        json.find("requests", Json.list(Json::raw)),
        json.find("uncertain", Json.list(UncertainCall::read)));
  }

  @Override
  public String toJson() {
    return JsonWriter.written(this::members);
  }

  private void members(JsonWriter to) {
    to.member("type", "child_result", JsonWriter::text);
    to.member("at", at, JsonWriter::number);
    to.member("call", call, JsonWriter::text);
    to.member("status", status, JsonWriter::word);
    to.member("document", document, JsonWriter::raw);
    to.member("kinds", kinds, JsonWriter.list(JsonWriter::text));
    to.member("labels", labels, JsonWriter.list(JsonWriter::text));
    to.member("confidence", confidence, JsonWriter::word);
    to.member("used", used, ChildUse::write);
    to.member("requests", requests, JsonWriter.list(JsonWriter::raw));
    to.member("uncertain", uncertain, JsonWriter.list(UncertainCall::write));
  }
}
