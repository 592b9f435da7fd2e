package dev.seamgate;

import dev.seamgate.Judge.Told;
import dev.seamgate.Register.Registered;
import dev.seamgate.Request.Written;
import dev.seamgate.sandbox.Code;
import dev.seamgate.sandbox.Engine;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * Judges outputs and calls, each in an instance whose memory is reset to that of a new one. Any number of threads may
 * use it.
 *
 * <p>A call throws a {@link Fault} if there is no verdict. Interrupting a thread ends its call with {@link
 * Fault.Timeout}; the thread stays interrupted.
 */
public final class Gate implements AutoCloseable {
  private static final Set<String> DECISIONS = Set.of("surface", "permit", "observe", "advance", "project");

  private final Engine engine;
  private final Judge judge;
  private final Register<ContractInfo> contracts = new Register<>("contract", FaultCode.BAD_CONTRACT);
  private final Register<ProfileInfo> profiles = new Register<>("profile", FaultCode.BAD_PROFILE);

  private Gate(Engine engine, Limits limits) {
    this.engine = engine;
    this.judge = new Judge(engine, limits);
  }

  /** Creates a gate with the default limits. */
  public static Gate create() {
    return builder().build();
  }

  /** Returns a builder of a gate. */
  public static Builder builder() {
    return new Builder();
  }

  /** A builder of a gate. */
  public static final class Builder {
    private Limits limits = Limits.DEFAULT;
    private int instances = Runtime.getRuntime().availableProcessors();
    private @Nullable Code code;

    private Builder() {}

    /** Sets the limits of one call. */
    public Builder limits(Limits limits) {
      this.limits = limits;
      return this;
    }

    /** Sets the number of calls that can run concurrently; others wait. Default: the number of processors. */
    public Builder instances(int instances) {
      if (instances < 1) {
        throw new IllegalArgumentException("instances: must be at least 1, and is " + instances);
      }
      this.instances = instances;
      return this;
    }

    /** Runs a module in Chicory's interpreter. */
    Builder interpreted(byte[] module) {
      this.code = Code.interpreted(module);
      return this;
    }

    /** Creates the gate. */
    public Gate build() {
      Code code = this.code == null ? Code.compiled() : this.code;
      return new Gate(new Engine(code, limits.memory(), instances), limits);
    }
  }

  /** Frees the memory of the gate and its siblings. Running calls return their answers; later calls fail. */
  @Override
  public void close() {
    engine.close();
  }

  /** Returns another gate with the same instances, in which nothing is registered. Closing either closes both. */
  public Gate sibling() {
    return new Gate(engine, judge.limits());
  }

  /** Returns the limits of one call. */
  public Limits limits() {
    return judge.limits();
  }

  /**
   * Checks a contract and registers it: from now on, outputs of its agent are judged by it. Registering the same
   * contract again has no effect.
   *
   * @param contract one self-contained document ({@code schemas/contract.schema.json}), with the schema inside. {@link
   *     Contract} creates it from a schema.
   * @throws Fault.BadContract if the contract is invalid or the agent already has another one.
   */
  public ContractInfo register(String contract) {
    return keep(contracts, "register", contract, ContractInfo::read, ContractInfo::agent, ContractInfo::contract);
  }

  private <T> T keep(
      Register<T> of,
      String op,
      String text,
      Function<Json, T> read,
      Function<T, String> agent,
      Function<T, String> digest) {
    var compiled = judge.compile(of, op, text);
    T info = read.apply(Json.parse(compiled.result()));
    of.keep(
        new Registered<>(
            agent.apply(info),
            digest.apply(info),
            Texts.bytes(text),
            compiled.request(),
            info,
            compiled.memory(),
            compiled.spent()));
    return info;
  }

  /** Returns the agents that have a contract, in ascending order. */
  public List<String> agents() {
    return contracts.names();
  }

  /**
   * Returns the contract that is registered for an agent.
   *
   * @throws Fault.UnknownAgent if there is none.
   */
  public ContractInfo contract(String agent) {
    return contracts.of(agent).info();
  }

  /** Returns text for an agent's prompt that says what its output must be. */
  public String describe(String agent) {
    return about("describe", contracts.of(agent));
  }

  private String about(String op, Registered<?> one) {
    String request = JsonWriter.written(to -> {
      to.member("op", op, JsonWriter::text);
      to.member("agent", one.agent(), JsonWriter::text);
    });
    var told = judge.fresh(List.of(one), new Written(Written.of(request).text(), 0));
    return Json.parse(Judge.answered(told.json(), "result")).asText();
  }

  /** Returns warnings about likely mistakes in a contract. The contract need not be registered. */
  public List<Warning> lint(String contract) {
    return warnings(contracts, "lint", contract);
  }

  private List<Warning> warnings(Register<?> of, String op, String text) {
    return Json.list(Warning::read).apply(Json.parse(judge.compile(of, op, text).result()));
  }

  /**
   * Judges one output. A rejected output is a report, not an exception. A {@link Fault} means that there is no verdict.
   */
  public Verdict validate(Request request) {
    var needed = needed(request);
    return verdict(judge.fresh(needed, request.validation(limits())));
  }

  List<Registered<ContractInfo>> needed(Request request) {
    String agent = request.agent();
    return request.contract() != null || agent == null ? List.of() : List.of(contracts.of(agent));
  }

  static Verdict verdict(Told told) {
    return new Verdict(Report.answered(Judge.answered(told.json(), "report")), told.usage());
  }

  /**
   * Answers one request that is JSON text ({@code schemas/request.schema.json}). The limit on the size of outputs
   * applies to it. Faults of the request itself are returned as answers; only an exceeded limit is an exception.
   */
  public Answer call(String request) {
    var written = Written.of(request);
    limits().checkSize(written.bytes());
    var told = judge.fresh(neededFor(request), written);
    return new Answer(told.json(), told.usage());
  }

  /**
   * Returns the contracts and profiles that a request may need. A verdict needs the contract of the agent that the
   * request names, and a decision needs the profile. Any other request may need all of them.
   */
  List<? extends Registered<?>> neededFor(String request) {
    @Nullable String op;
    @Nullable String agent;
    try {
      var json = Json.parse(request);
      op = json.find("op", Json::asText);
      agent = json.find("agent", Json::asText);
    } catch (Json.JsonException e) {
      // The module reports what is wrong with an invalid request.
      return List.of();
    }
    if (op == null || op.equals("validate")) {
      return one(contracts, agent);
    }
    if (DECISIONS.contains(op)) {
      return one(profiles, agent);
    }
    return op.contains("profile") ? profiles.all() : contracts.all();
  }

  private static <T> List<Registered<T>> one(Register<T> of, @Nullable String agent) {
    var found = agent == null ? null : of.find(agent);
    return found == null ? List.of() : List.of(found);
  }

  /**
   * Merges the reports of several attempts, in order, and judges the result as a whole. All must belong to one agent.
   * The request provides the lists and the evidence; its agent and its output are ignored.
   */
  public Verdict merge(List<Report> reports, Request request) {
    if (reports.isEmpty()) {
      throw Fault.of(FaultCode.BAD_REQUEST, "reports: there must be one at least to merge");
    }
    String agent = reports.get(0).document().agent();
    var text = new StringBuilder("{\"op\":\"merge\",\"agent\":");
    Texts.quote(text, agent);
    request.extras(text, false);
    text.append(",\"reports\":[");
    for (int index = 0; index < reports.size(); index++) {
      text.append(index == 0 ? "" : ",").append(reports.get(index).json());
    }
    return verdict(judge.fresh(one(contracts, agent), Written.of(text.append("]}").toString())));
  }

  /**
   * Begins a session, which follows an output while it is streamed. The request's output is ignored. Missing lists and
   * missing evidence are reported as faults now, not at the end.
   */
  public Session session(Request request) {
    if (request.contract() != null) {
      throw Fault.of(FaultCode.BAD_REQUEST, "request: a session is for the contract of an agent: register it");
    }
    var begun = request.output("");
    validate(begun);
    return new Session(this, begun);
  }

  /** Adds a chunk to the state of an output. Returns the new state and the progress. */
  String push(String agent, String chunk, @Nullable String state) {
    String request =
        JsonWriter.written(
            to -> {
              to.member("op", "push", JsonWriter::text);
              to.member("agent", agent, JsonWriter::text);
              to.member("chunk", chunk, JsonWriter::text);
              to.member("state", state, JsonWriter::trusted);
            });
    return Judge.answered(judge.fresh(one(contracts, agent), Written.of(request)).json(), "result");
  }

  /**
   * Asks a producer until its output is accepted, or there is a reason to stop. The contract's {@code retry.limit} says how
   * often to ask again. The request names the agent, the lists and the evidence; its output is ignored.
   *
   * @param allowPartial lets the run end with a partial document.
   * @throws E any exception of the producer, unchanged.
   */
  public <E extends Exception> Outcome run(Request request, boolean allowPartial, Producer<E> producer) throws E {
    var attempts = attempts(request, allowPartial);
    while (true) {
      var next = attempts.next();
      var stop = next.stop();
      if (stop != null) {
        var report = attempts.report();
        if (report == null) {
          throw new IllegalStateException("a run stopped before its first attempt");
        }
        return new Outcome(report, attempts.count(), stop);
      }
      attempts.judge(producer.produce(next.feedback(), attempts.count() + 1));
    }
  }

  /** Begins a run, step by step. Missing lists are a fault now, before the producer is asked. */
  public Attempts attempts(Request request, boolean allowPartial) {
    String agent = request.agent();
    if (agent == null) {
      throw Fault.of(FaultCode.BAD_REQUEST, "request: a run is for the contract of an agent: register it");
    }
    long most = contract(agent).retryLimit() + 1;
    var begun = request.output("");
    validate(begun);
    return new Attempts(this, begun, most, allowPartial);
  }

  /** Returns an instance that can be used more than once. Close it after use. */
  public Instance instance() {
    return new Instance(this, engine, judge);
  }

  /**
   * Checks a profile and registers it: from now on it decides what its agent may do. Registering the same profile again
   * has no effect.
   *
   * @throws Fault.BadProfile if the profile is invalid or contradicts its examples, or the agent already has another
   *     one.
   */
  public ProfileInfo registerProfile(String profile) {
    return keep(profiles, "register_profile", profile, ProfileInfo::read, ProfileInfo::agent, ProfileInfo::profile);
  }

  /** Returns the profiles that are registered here, sorted by agent. */
  public List<ProfileInfo> profiles() {
    return profiles.all().stream().map(Registered::info).toList();
  }

  /** Returns text for an agent's prompt that says what the agent may do. */
  public String describeProfile(String agent) {
    return about("describe_profile", profiles.of(agent));
  }

  /** Returns warnings about likely mistakes in a profile. The profile need not be registered. */
  public List<Warning> lintProfile(String profile) {
    return warnings(profiles, "lint_profile", profile);
  }

  /** A document in a request, with its name. */
  private record Part(String name, String json) {}

  /** Runs an operation of the kernel by the profile of an agent. */
  private Json decide(String op, String agent, List<Part> parts) {
    var needed = List.of(profiles.of(agent));
    long bytes = 0;
    var text = new StringBuilder("{\"op\":\"").append(op).append("\",\"agent\":");
    Texts.quote(text, agent);
    for (var part : parts) {
      text.append(",\"").append(part.name).append("\":").append(part.json);
      bytes += Texts.bytes(part.json);
    }
    limits().checkSize(bytes);
    var request = new Written(Written.of(text.append('}').toString()).text(), bytes);
    return Json.parse(Judge.answered(judge.fresh(needed, request).json(), "result"));
  }

  /** Decides which tools the model may see, by the profile's own definitions. */
  public Surface surface(String agent, Facts facts) {
    return surface(agent, facts, null);
  }

  /**
   * Decides which tools the model may see.
   *
   * @param listed the tools that the servers list now, in the form of a lock file ({@code schemas/lock.schema.json}): a
   *     tool that is missing, or whose definition changed, is hidden. Null means the profile's own definitions.
   */
  public Surface surface(String agent, Facts facts, @Nullable String listed) {
    var parts = new ArrayList<>(List.of(new Part("facts", facts.toJson())));
    if (listed != null) {
      parts.add(new Part("listed", Texts.document("listed", listed)));
    }
    return Surface.read(decide("surface", agent, parts));
  }

  /** Decides whether a call may run. A denied call is a decision, not an exception. A {@link Loop} keeps the facts. */
  public Decision permit(String agent, Facts facts, Call call) {
    return Decision.read(
        decide("permit", agent, List.of(new Part("facts", facts.toJson()), new Part("call", call.toJson()))));
  }

  /** Turns a tool's result into an observation, which holds what the model may read. The facts must have a nonce. */
  public Observation observe(String agent, Facts facts, Call call, ToolResult result) {
    return Observation.read(
        decide(
            "observe",
            agent,
            List.of(
                new Part("facts", facts.toJson()),
                new Part("call", call.toJson()),
                new Part("result", result.toJson()))));
  }

  /**
   * Applies one event to a run. The kernel makes every decision of the run; the host performs the actions. After an
   * exception, the state is unchanged.
   *
   * @param state the state of the previous step, unchanged; null for the first event, which is a {@link StartedEvent}.
   */
  public Step advance(String agent, @Nullable String state, RunEvent event) {
    var parts = new ArrayList<Part>();
    if (state != null) {
      parts.add(new Part("state", Texts.document("state", state)));
    }
    parts.add(new Part("event", event.toJson()));
    return Step.read(decide("advance", agent, parts));
  }

  /**
   * Returns what one audience sees of a line of a journal, which is an object with {@code event}, {@code record} or
   * {@code action}. Returns null if the profile shows it nothing.
   */
  public @Nullable String project(String agent, String line, Audience audience) {
    var parts =
        List.of(
            new Part("line", Texts.document("line", line)), new Part("audience", '"' + audience.word() + '"'));
    return decide("project", agent, parts).find("view", Json::raw);
  }

  /** Returns a loop for the calls of one run. If the facts have no nonce, a random one is generated. */
  public Loop loop(String agent, Facts facts) {
    return new Loop(this, agent, facts);
  }
}
