package dev.seamgate;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * The facts that a decision about one call depends on ({@code schemas/facts.schema.json}). A {@link Loop} keeps them.
 *
 * <p>Facts are immutable: each method returns a new object.
 */
public final class Facts {
  /** The members, each as JSON text. */
  private final Map<String, String> members;

  private Facts(Map<String, String> members) {
    this.members = members;
  }

  /**
   * Returns the facts at the start of a run.
   *
   * @param run the run's id.
   * @param principal the person or system that the agent works for.
   */
  public static Facts of(String run, String principal) {
    return new Facts(Map.of()).with("run", run, JsonWriter::text).with("principal", principal, JsonWriter::text);
  }

  /** Reads facts that {@link #toJson} wrote. */
  public static Facts read(String json) {
    return new Facts(Json.map(Json::raw).apply(Json.parse(Texts.document("facts", json))));
  }

  private <T> Facts with(String name, T value, JsonWriter.Of<T> of) {
    return withJson(name, JsonWriter.value(value, of));
  }

  private Facts withJson(String name, String json) {
    Map<String, String> more = new LinkedHashMap<>(members);
    more.put(name, json);
    return new Facts(more);
  }

  /** Sets the time, in milliseconds since 1970. */
  public Facts at(long at) {
    return with("at", at, JsonWriter::number);
  }

  /**
   * Sets a random secret of the run, of at least 16 characters. The markers around untrusted data are derived from it.
   */
  public Facts nonce(String nonce) {
    return with("nonce", nonce, JsonWriter::text);
  }

  /** Sets one of the profile's modes. A profile with modes needs it. */
  public Facts mode(String mode) {
    return with("mode", mode, JsonWriter::text);
  }

  /** Sets the task, as JSON text that matches the profile's schema for tasks. */
  public Facts task(String task) {
    return withJson("task", Texts.document("facts: task", task));
  }

  /** Sets a value of the context, as JSON text, by its name in the profile. */
  public Facts context(String name, String value) {
    return withMember("context", name, Texts.document("facts: context", value));
  }

  /** Sets a list that {@code scope} names. */
  public Facts list(String name, List<String> values) {
    return withMember("lists", name, JsonWriter.value(values, JsonWriter.list(JsonWriter::text)));
  }

  /** Sets the tools that exist and are unchanged, as NAME or SERVER/NAME. Default: all tools of the profile. */
  public Facts surface(List<String> tools) {
    return with("surface", tools, JsonWriter.list(JsonWriter::text));
  }

  /**
   * Sets the program that runs tools: the name SERVER/ covers all tools of a server, and SERVER/TOOL one tool. A person
   * reads the program before approving a call, and the approval is valid for this program only.
   */
  public Facts program(String name, String program) {
    return withMember("programs", name, JsonWriter.value(program, JsonWriter::text));
  }

  /** Sets the bounds of a child run, from the parent's action {@code delegate}. */
  public Facts parent(Bounds parent) {
    return with("parent", parent, Bounds::write);
  }

  /** Sets the labels of the data that the model has read. */
  public Facts labels(List<String> labels) {
    return with("labels", labels, JsonWriter.list(JsonWriter::text));
  }

  private Facts withMember(String of, String name, String value) {
    Map<String, String> all = find(of, Json.map(Json::raw));
    Map<String, String> more = all == null ? new LinkedHashMap<>() : new LinkedHashMap<>(all);
    more.put(name, value);
    return with(of, more, JsonWriter.map(JsonWriter::trusted));
  }

  /** Returns a member; null if it is missing. */
  <T> @Nullable T find(String name, Function<Json, T> read) {
    String json = members.get(name);
    return json == null ? null : read.apply(Json.parse(json));
  }

  /** Returns the same facts with the members of an object replaced. */
  Facts changed(String json) {
    Map<String, String> more = new LinkedHashMap<>(members);
    more.putAll(Json.map(Json::raw).apply(Json.parse(json)));
    return new Facts(more);
  }

  /** Returns the same facts with a person's decision about a question. It comes from the host, never from the model. */
  Facts decided(Ask ask, ApprovalAnswer answer, String principal, long at) {
    List<String> all = find("approvals", Json.list(Json::raw));
    String decided =
        JsonWriter.written(
            to -> {
              to.member("key", ask.key(), JsonWriter::text);
              to.member("digest", ask.digest(), JsonWriter::text);
              to.member("decision", answer, JsonWriter::word);
              to.member("principal", principal, JsonWriter::text);
              to.member("at", at, JsonWriter::number);
            });
    var more = new java.util.ArrayList<>(all == null ? List.<String>of() : all);
    more.add(decided);
    return with("approvals", more, JsonWriter.list(JsonWriter::trusted));
  }

  /** Returns the same facts with more usage of budgets. */
  Facts spent(long tokens, long milliseconds) {
    Map<String, String> used = find("used", Json.map(Json::raw));
    Map<String, String> more = used == null ? new LinkedHashMap<>() : new LinkedHashMap<>(used);
    more.merge("tokens", Long.toString(tokens), Facts::sum);
    more.merge("ms", Long.toString(milliseconds), Facts::sum);
    return with("used", more, JsonWriter.map(JsonWriter::trusted));
  }

  private static String sum(String one, String other) {
    return Long.toString(Long.parseLong(one) + Long.parseLong(other));
  }

  /** Returns the facts as JSON text, to be stored. The nonce in it is a secret. */
  public String toJson() {
    return JsonWriter.value(members, JsonWriter.map(JsonWriter::trusted));
  }
}
