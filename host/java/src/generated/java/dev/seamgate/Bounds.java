// Made by `cargo xtask generate` from `schemas/` and `xtask/generate/`. Do not edit: run it again.

package dev.seamgate;

import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The bounds of a child.
 *
 * @param call The key of a call, as in its action.
 * @param tools The tools that were handed on.
 * @param rules The rules of the agents above, beginning with the parent. Each of them judges each call of the child, in
 * addition to the child's own profile.
 * @param labels The labels of the data that the parent has read.
 * @param budget The budget of the child.
 * @param deadline The time of the event, in milliseconds since 1970. The time of the run is the greatest time so far.
 * @param edited True if the last of the rules is the run's own profile after an edit. In a run without a parent, it is
 * the only one.
 */
public record Bounds(
    String run,
    String call,
    List<String> tools,
    List<ParentRules> rules,
    @Nullable List<String> labels,
    ChildBudget budget,
    @Nullable Long deadline,
    @Nullable Boolean edited) {
  /** Copies what could change. */
  public Bounds {
    tools = List.copyOf(tools);
    rules = List.copyOf(rules);
    labels = labels == null ? null : List.copyOf(labels);
  }

  /** Returns one with what it must have. */
  public static Bounds of(String run, String call, List<String> tools, List<ParentRules> rules, ChildBudget budget) {
    return new Bounds(run, call, tools, rules, null, budget, null, null);
  }

  /** Returns the same with another {@code labels}. */
  public Bounds withLabels(List<String> labels) {
    return new Bounds(run, call, tools, rules, labels, budget, deadline, edited);
  }

  /** Returns the same with another {@code deadline}. */
  public Bounds withDeadline(Long deadline) {
    return new Bounds(run, call, tools, rules, labels, budget, deadline, edited);
  }

  /** Returns the same with another {@code edited}. */
  public Bounds withEdited(Boolean edited) {
    return new Bounds(run, call, tools, rules, labels, budget, deadline, edited);
  }

  static Bounds read(Json json) {
    return new Bounds(
        json.need("run", Json::asText),
        json.need("call", Json::asText),
        json.need("tools", Json.list(Json::asText)),
        json.need("rules", Json.list(ParentRules::read)),
        json.find("labels", Json.list(Json::asText)),
        json.need("budget", ChildBudget::read),
        json.find("deadline", Json::asLong),
        json.find("edited", Json::asBoolean));
  }

  static void write(JsonWriter to, Bounds value) {
    to.object(value::members);
  }

  private void members(JsonWriter to) {
    to.member("run", run, JsonWriter::text);
    to.member("call", call, JsonWriter::text);
    to.member("tools", tools, JsonWriter.list(JsonWriter::text));
    to.member("rules", rules, JsonWriter.list(ParentRules::write));
    to.member("labels", labels, JsonWriter.list(JsonWriter::text));
    to.member("budget", budget, ChildBudget::write);
    to.member("deadline", deadline, JsonWriter::number);
    to.member("edited", edited, JsonWriter::bool);
  }
}
