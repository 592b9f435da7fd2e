package dev.seamgate;

import dev.seamgate.sandbox.Snapshot;
import java.util.ArrayList;
import java.util.List;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/** The contracts or the profiles of a gate. */
final class Register<T> {
  /**
   * A contract or a profile, which is registered in an instance before the instance needs it.
   *
   * @param digest distinguishes it from others of the same agent.
   * @param request the request that registers it in an instance.
   * @param memory a snapshot of an instance in which only this one is registered.
   * @param spent the fuel that compiling it used.
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

  /** Compares in the order of UTF-8 bytes, that is, by code points and not by UTF-16 code units. */
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

  /** Adds one. Adding the same one again has no effect. */
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

  /** Returns all of them, sorted by agent. */
  synchronized List<Registered<T>> all() {
    return new ArrayList<>(byAgent.values());
  }

  synchronized @Nullable Registered<T> find(String agent) {
    return byAgent.get(agent);
  }

  /** Returns the contract or profile of an agent, or throws {@link Fault.UnknownAgent}. */
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
