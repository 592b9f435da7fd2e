// Made by `cargo xtask generate` from `schemas/` and `xtask/generate/`. Do not edit: run it again.

package dev.seamgate;

import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * A run starts. This is the first event, and the only one of its kind.
 *
 * @param at when, in milliseconds since 1970.
 * @param run The run's id.
 * @param principal The person or system that the agent works for.
 * @param nonce A random secret of the run, from which the marks around data from outside are derived.
 * @param mode One of the profile's modes. Default: the first mode.
 * @param task The task. Free text if the profile has {@code frame}.
 * @param context Values, by the names in the profile's {@code context}.
 * @param lists The lists that {@code scope} names.
 * @param listed The tools that servers list now, as in {@code tools_listed}. Without this member, all tools of the
 * profile are available.
 * @param labels The labels of data that the client has read in earlier runs.
 * @param parent The limits that a parent sets, as in its action {@code delegate}.
 */
public record StartedEvent(
    long at,
    String run,
    String principal,
    String nonce,
    @Nullable String session,
    @Nullable String turn,
    @Nullable String mode,
    @Nullable String task,
    @Nullable String context,
    @Nullable Map<String, List<String>> lists,
    @Nullable String listed,
    @Nullable List<String> labels,
    @Nullable Bounds parent) implements RunEvent {
  /** Copies what could change. */
  public StartedEvent {
    lists = lists == null ? null : Map.copyOf(lists);
    labels = labels == null ? null : List.copyOf(labels);
  }

  /** Returns one with what it must have. */
  public static StartedEvent of(long at, String run, String principal, String nonce) {
    return new StartedEvent(at, run, principal, nonce, null, null, null, null, null, null, null, null, null);
  }

  /** Returns the same with another {@code session}. */
  public StartedEvent withSession(String session) {
    return new StartedEvent(at, run, principal, nonce, session, turn, mode, task, context, lists, listed, labels, parent);
  }

  /** Returns the same with another {@code turn}. */
  public StartedEvent withTurn(String turn) {
    return new StartedEvent(at, run, principal, nonce, session, turn, mode, task, context, lists, listed, labels, parent);
  }

  /** Returns the same with another {@code mode}. */
  public StartedEvent withMode(String mode) {
    return new StartedEvent(at, run, principal, nonce, session, turn, mode, task, context, lists, listed, labels, parent);
  }

  /** Returns the same with another {@code task}. */
  public StartedEvent withTask(String task) {
    return new StartedEvent(at, run, principal, nonce, session, turn, mode, task, context, lists, listed, labels, parent);
  }

  /** Returns the same with another {@code context}. */
  public StartedEvent withContext(String context) {
    return new StartedEvent(at, run, principal, nonce, session, turn, mode, task, context, lists, listed, labels, parent);
  }

  /** Returns the same with another {@code lists}. */
  public StartedEvent withLists(Map<String, List<String>> lists) {
    return new StartedEvent(at, run, principal, nonce, session, turn, mode, task, context, lists, listed, labels, parent);
  }

  /** Returns the same with another {@code listed}. */
  public StartedEvent withListed(String listed) {
    return new StartedEvent(at, run, principal, nonce, session, turn, mode, task, context, lists, listed, labels, parent);
  }

  /** Returns the same with another {@code labels}. */
  public StartedEvent withLabels(List<String> labels) {
    return new StartedEvent(at, run, principal, nonce, session, turn, mode, task, context, lists, listed, labels, parent);
  }

  /** Returns the same with another {@code parent}. */
  public StartedEvent withParent(Bounds parent) {
    return new StartedEvent(at, run, principal, nonce, session, turn, mode, task, context, lists, listed, labels, parent);
  }

  static StartedEvent read(Json json) {
    return new StartedEvent(
        json.need("at", Json::asLong),
        json.need("run", Json::asText),
        json.need("principal", Json::asText),
        json.need("nonce", Json::asText),
        json.find("session", Json::asText),
        json.find("turn", Json::asText),
        json.find("mode", Json::asText),
        json.find("task", Json::raw),
        json.find("context", Json::raw),
        json.find("lists", Json.map(Json.list(Json::asText))),
        json.find("listed", Json::raw),
        json.find("labels", Json.list(Json::asText)),
        json.find("parent", Bounds::read));
  }

  @Override
  public String toJson() {
    return JsonWriter.written(this::members);
  }

  private void members(JsonWriter to) {
    to.member("type", "started", JsonWriter::text);
    to.member("at", at, JsonWriter::number);
    to.member("run", run, JsonWriter::text);
    to.member("principal", principal, JsonWriter::text);
    to.member("nonce", nonce, JsonWriter::text);
    to.member("session", session, JsonWriter::text);
    to.member("turn", turn, JsonWriter::text);
    to.member("mode", mode, JsonWriter::text);
    to.member("task", task, JsonWriter::raw);
    to.member("context", context, JsonWriter::raw);
    to.member("lists", lists, JsonWriter.map(JsonWriter.list(JsonWriter::text)));
    to.member("listed", listed, JsonWriter::raw);
    to.member("labels", labels, JsonWriter.list(JsonWriter::text));
    to.member("parent", parent, Bounds::write);
  }
}
