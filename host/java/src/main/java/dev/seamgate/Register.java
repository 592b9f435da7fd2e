package dev.seamgate;

import dev.seamgate.sandbox.Snapshot;
import java.util.ArrayList;
import java.util.List;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/** The contracts or the profiles of a gate. */
final class Register<T> {
  /**
   * A contract or a profile that instances have before they answer by it.
   *
   * @param digest tells it from others of the same agent.
   * @param request gives it to an instance.
   * @param memory an instance that has it, and nothing else.
   * @param spent the fuel that it took to compile it.
   */
  record Registered<T>(
      String agent, String digest, int bytes, byte[] request, T info, Snapshot memory, long spent) {}

  private final String what;
  private final FaultCode code;
  private final TreeMap<String, Registered<T>> byAgent = new TreeMap<>(Register::byBytes);

  Register(String what, FaultCode code) {
    this.what = what;
    this.code = code;
  }

  /** Compares as UTF-8 would: by characters and not by halves of pairs. */
  private static int byBytes(String one, String other) {
    return java.util.Arrays.compareUnsigned(
        one.getBytes(java.nio.charset.StandardCharsets.UTF_8), other.getBytes(java.nio.charset.StandardCharsets.UTF_8));
  }

  String what() {
    return what;
  }

  FaultCode code() {
    return code;
  }

  /** Keeps one. The same one again changes nothing. */
  synchronized void keep(Registered<T> one) {
    var held = byAgent.putIfAbsent(one.agent(), one);
    if (held != null && !held.digest().equals(one.digest())) {
      throw Fault.of(code, what + ": the agent \"" + one.agent() + "\" already has another " + what + ": " + held.digest());
    }
  }

  /** Returns the agents, in ascending order of their bytes. */
  synchronized List<String> names() {
    return List.copyOf(byAgent.keySet());
  }

  /** Returns all of them, by ascending agent. */
  synchronized List<Registered<T>> all() {
    return new ArrayList<>(byAgent.values());
  }

  synchronized @Nullable Registered<T> find(String agent) {
    return byAgent.get(agent);
  }

  /** Returns the one of an agent, or the fault {@link Fault.UnknownAgent}. */
  Registered<T> of(String agent) {
    var one = find(agent);
    if (one == null) {
      var detail = new Fault.Detail(List.of(), names(), null, null);
      throw Fault.of(
          FaultCode.UNKNOWN_AGENT, "agent: no " + what + " is registered for the agent \"" + agent + "\"", detail, null);
    }
    return one;
  }
}
