package dev.seamgate;

import java.security.SecureRandom;
import java.time.Clock;
import java.time.Duration;
import java.util.HexFormat;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;

/**
 * Decides about the calls of one run and keeps its facts, so that each decision takes all previous ones into account.
 * Any number of threads may use it: decisions take turns.
 */
public final class Loop {
  private static final SecureRandom RANDOM = new SecureRandom();

  private final Gate gate;
  private final String agent;
  private final Clock clock;
  private Facts facts;

  Loop(Gate gate, String agent, Facts facts) {
    this(gate, agent, facts, Clock.systemUTC());
  }

  Loop(Gate gate, String agent, Facts facts, Clock clock) {
    this.gate = gate;
    this.agent = agent;
    this.clock = clock;
    this.facts = facts.find("nonce", Json::asText) == null ? facts.nonce(nonce()) : facts;
  }

  private static String nonce() {
    byte[] random = new byte[16];
    RANDOM.nextBytes(random);
    return HexFormat.of().formatHex(random);
  }

  /** Returns the current facts. To resume the loop later, store them and pass them to {@link Gate#loop}. */
  public synchronized Facts facts() {
    return facts;
  }

  /** Returns the facts with the current time. Time never goes back. */
  private Facts current() {
    Long before = facts.find("at", Json::asLong);
    facts = facts.at(Math.max(clock.millis(), before == null ? 0 : before));
    return facts;
  }

  /** Decides which tools the model may see. From now on, calls of other tools are denied. */
  public Surface surface() {
    return surface(null);
  }

  /** Decides the same by the tools that the servers list now: see {@link Gate#surface(String, Facts, String)}. */
  public synchronized Surface surface(@Nullable String listed) {
    var surface = gate.surface(agent, current(), listed);
    facts = facts.changed(surface.facts());
    return surface;
  }

  /** Decides whether a call may run. If it may, send the decision's arguments, and nothing else. */
  public synchronized Decision permit(Call call) {
    var decision = gate.permit(agent, current(), call);
    facts = facts.changed(decision.facts());
    return decision;
  }

  /** Turns the result of a call into an observation. Show the model its message, and nothing else of the result. */
  public synchronized Observation observe(Call call, ToolResult result) {
    var observation = gate.observe(agent, current(), call, result);
    facts = facts.changed(observation.facts());
    return observation;
  }

  /**
   * Records a person's decision about a call that needs approval. Then call {@link #permit} for the same call again,
   * which checks the approval.
   *
   * @param principal the person who decides. The host knows who that is, and never takes it from text of the model.
   */
  public synchronized void answer(Decision decision, String principal, ApprovalAnswer answer) {
    Ask ask = decision.ask();
    if (ask == null) {
      throw new IllegalArgumentException("decision: it asks for nothing: only one that needs approval does");
    }
    Facts now = current();
    Long at = now.find("at", Json::asLong);
    facts = now.decided(ask, answer, principal, at == null ? 0 : at);
  }

  /**
   * Charges the model's usage to the profile's budget: input and output tokens, and the time, without the time that a
   * person took. Calls of tools are charged automatically.
   */
  public synchronized void spend(long tokens, Duration elapsed) {
    facts = facts.spent(tokens, elapsed.toMillis());
  }

  /** Changes facts, such as the mode, the task or a value of the context. */
  public synchronized void update(UnaryOperator<Facts> change) {
    facts = change.apply(facts);
  }
}
