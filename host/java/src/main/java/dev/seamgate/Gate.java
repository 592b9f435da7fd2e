package dev.seamgate;

import dev.seamgate.Judge.Told;
import dev.seamgate.Register.Registered;
import dev.seamgate.Request.Written;
import dev.seamgate.sandbox.Code;
import dev.seamgate.sandbox.Engine;
import java.util.List;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * Judges outputs and calls, each in an instance whose memory is that of a new one. Any number of threads may use it.
 *
 * <p>A call ends in a {@link Fault} if there is no verdict. An interrupted thread ends its call, which is {@link
 * Fault.Timeout}; the thread stays interrupted.
 */
public final class Gate implements AutoCloseable {
  private final Engine engine;
  private final Judge judge;
  private final Register<ContractInfo> contracts = new Register<>("contract", FaultCode.BAD_CONTRACT);
  private final Register<ProfileInfo> profiles = new Register<>("profile", FaultCode.BAD_PROFILE);

  private Gate(Engine engine, Limits limits) {
    this.engine = engine;
    this.judge = new Judge(engine, limits);
  }

  /** Makes a gate with the default limits. */
  public static Gate create() {
    return builder().build();
  }

  /** Begins a gate. */
  public static Builder builder() {
    return new Builder();
  }

  /** Sets up a gate. */
  public static final class Builder {
    private Limits limits = Limits.DEFAULT;
    private int instances = Runtime.getRuntime().availableProcessors();
    private @Nullable Code code;

    private Builder() {}

    /** Sets what one call may use. */
    public Builder limits(Limits limits) {
      this.limits = limits;
      return this;
    }

    /** Sets how many calls run at once; others wait. Default: as many as there are processors. */
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

    /** Makes the gate. */
    public Gate build() {
      Code code = this.code == null ? Code.compiled() : this.code;
      return new Gate(new Engine(code, limits.memory(), instances), limits);
    }
  }

  /** Frees the memory of the gate and of its siblings. Calls that run get their answers; later ones fail. */
  @Override
  public void close() {
    engine.close();
  }

  /** Returns another gate on the same instances, in which nothing is registered. To close one of them closes both. */
  public Gate sibling() {
    return new Gate(engine, judge.limits());
  }

  /** Returns what one call may use. */
  public Limits limits() {
    return judge.limits();
  }

  /**
   * Checks a contract and keeps it: outputs of its agent are judged by it from now on. The same contract again changes
   * nothing.
   *
   * @param contract one whole document ({@code schemas/contract.schema.json}), with the schema inside. {@link Contract}
   *     makes it of a schema.
   * @throws Fault.BadContract for an invalid contract, and if the agent has another one already.
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
   * Returns which contract is registered for an agent.
   *
   * @throws Fault.UnknownAgent if there is none.
   */
  public ContractInfo contract(String agent) {
    return contracts.of(agent).info();
  }

  /** Returns text for an agent's prompt: what its output must be. */
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

  /** Returns what is likely a mistake in a contract, which need not be registered. */
  public List<Warning> lint(String contract) {
    return warnings(contracts, "lint", contract);
  }

  private List<Warning> warnings(Register<?> of, String op, String text) {
    return Json.list(Warning::read).apply(Json.parse(judge.compile(of, op, text).result()));
  }

  /** Judges one output. A rejected output is a report and no exception; a {@link Fault} says that there is no verdict. */
  public Verdict validate(Request request) {
    var needed = needed(request);
    return verdict(judge.fresh(needed, request.validation(limits())));
  }

  private List<Registered<ContractInfo>> needed(Request request) {
    String agent = request.agent();
    return request.contract() != null || agent == null ? List.of() : List.of(contracts.of(agent));
  }

  private static Verdict verdict(Told told) {
    return new Verdict(Report.answered(Judge.answered(told.json(), "report")), told.usage());
  }
}
