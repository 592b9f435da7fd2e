// Made by `cargo xtask generate` from `schemas/` and `xtask/generate/`. Do not edit: run it again.

package dev.seamgate;

import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The rules of one agent above a child.
 *
 * @param profile The part of the agent's profile that judges calls of the tools that were handed on: see
 * profile.schema.json.
 * @param task The agent's task, if a scope or an origin names it. The child's model does not see it.
 * @param context The values of the agent's context that a scope or an origin names. The child's model does not see
 * them.
 * @param lists The lists that a scope or an origin names.
 * @param said The texts that people said to the agent, if an origin needs them. The child's model does not see them.
 * @param observed Values of the agent's results that an origin names: see facts.schema.json. The child's model does not
 * see them.
 * @param calls The number of times that each call was permitted in the agent's run and below it before the child
 * started, if the agent's budget has {@code same_call}. A call that waits for approval counts.
 * @param recent The times of the last permitted calls of each tool with a {@code rate}, in the agent's run and below
 * it, before the child started.
 * @param reserved The number of times that other children, which run at the same time, may make each call that is not
 * only a read.
 */
public record ParentRules(
    String profile,
    @Nullable String task,
    @Nullable String context,
    @Nullable Map<String, List<String>> lists,
    @Nullable List<String> said,
    @Nullable List<String> observed,
    @Nullable Map<String, Long> calls,
    @Nullable Map<String, List<Long>> recent,
    @Nullable Long reserved) {
  /** Copies what could change. */
  public ParentRules {
    lists = lists == null ? null : Map.copyOf(lists);
    said = said == null ? null : List.copyOf(said);
    observed = observed == null ? null : List.copyOf(observed);
    calls = calls == null ? null : Map.copyOf(calls);
    recent = recent == null ? null : Map.copyOf(recent);
  }

  /** Returns one with what it must have. */
  public static ParentRules of(String profile) {
    return new ParentRules(profile, null, null, null, null, null, null, null, null);
  }

  /** Returns the same with another {@code task}. */
  public ParentRules withTask(String task) {
    return new ParentRules(profile, task, context, lists, said, observed, calls, recent, reserved);
  }

  /** Returns the same with another {@code context}. */
  public ParentRules withContext(String context) {
    return new ParentRules(profile, task, context, lists, said, observed, calls, recent, reserved);
  }

  /** Returns the same with another {@code lists}. */
  public ParentRules withLists(Map<String, List<String>> lists) {
    return new ParentRules(profile, task, context, lists, said, observed, calls, recent, reserved);
  }

  /** Returns the same with another {@code said}. */
  public ParentRules withSaid(List<String> said) {
    return new ParentRules(profile, task, context, lists, said, observed, calls, recent, reserved);
  }

  /** Returns the same with another {@code observed}. */
  public ParentRules withObserved(List<String> observed) {
    return new ParentRules(profile, task, context, lists, said, observed, calls, recent, reserved);
  }

  /** Returns the same with another {@code calls}. */
  public ParentRules withCalls(Map<String, Long> calls) {
    return new ParentRules(profile, task, context, lists, said, observed, calls, recent, reserved);
  }

  /** Returns the same with another {@code recent}. */
  public ParentRules withRecent(Map<String, List<Long>> recent) {
    return new ParentRules(profile, task, context, lists, said, observed, calls, recent, reserved);
  }

  /** Returns the same with another {@code reserved}. */
  public ParentRules withReserved(Long reserved) {
    return new ParentRules(profile, task, context, lists, said, observed, calls, recent, reserved);
  }

  static ParentRules read(Json json) {
    return new ParentRules(
        json.need("profile", Json::raw),
        json.find("task", Json::raw),
        json.find("context", Json::raw),
        json.find("lists", Json.map(Json.list(Json::asText))),
        json.find("said", Json.list(Json::asText)),
        json.find("observed", Json.list(Json::raw)),
        json.find("calls", Json.map(Json::asLong)),
        json.find("recent", Json.map(Json.list(Json::asLong))),
        json.find("reserved", Json::asLong));
  }

  static void write(JsonWriter to, ParentRules value) {
    to.object(value::members);
  }

  private void members(JsonWriter to) {
    to.member("profile", profile, JsonWriter::raw);
    to.member("task", task, JsonWriter::raw);
    to.member("context", context, JsonWriter::raw);
    to.member("lists", lists, JsonWriter.map(JsonWriter.list(JsonWriter::text)));
    to.member("said", said, JsonWriter.list(JsonWriter::text));
    to.member("observed", observed, JsonWriter.list(JsonWriter::raw));
    to.member("calls", calls, JsonWriter.map(JsonWriter::number));
    to.member("recent", recent, JsonWriter.map(JsonWriter.list(JsonWriter::number)));
    to.member("reserved", reserved, JsonWriter::number);
  }
}
