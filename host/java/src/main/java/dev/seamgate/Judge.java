package dev.seamgate;

import dev.seamgate.Register.Registered;
import dev.seamgate.Request.Written;
import dev.seamgate.sandbox.EndException;
import dev.seamgate.sandbox.Engine;
import dev.seamgate.sandbox.Sandbox;
import dev.seamgate.sandbox.Snapshot;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** Calls instances. */
final class Judge {
  private static final String FAULT = "{\"id\":null,\"fault\":";

  private final Engine engine;
  private final Limits limits;

  Judge(Engine engine, Limits limits) {
    this.engine = engine;
    this.limits = limits;
  }

  Limits limits() {
    return limits;
  }

  /** The answer of an instance, and its resource usage. */
  record Told(String json, Usage usage) {}

  /** The result of compiling a contract or profile. */
  record Compiled(String result, byte[] request, Snapshot memory, long spent) {}

  private long deadline(long start) {
    // Longer than any program runs.
    var most = Duration.ofDays(10_000);
    return start + (limits.timeout().compareTo(most) < 0 ? limits.timeout() : most).toNanos();
  }

  /** Makes an instance read a contract or profile. */
  Compiled compile(Register<?> of, String op, String text) {
    Texts.document(of.what(), text, of.code());
    String request = "{\"op\":\"" + op + "\",\"" + of.what() + "\":" + text + "}";
    byte[] bytes = request.getBytes(StandardCharsets.UTF_8);
    long budget = limits.fuelForContract(Texts.bytes(text));
    long deadline = deadline(System.nanoTime());
    return Deep.call(
        () -> {
          Sandbox sandbox = engine.take(engine.fresh(), deadline);
          try {
            var answer = sandbox.call(bytes, budget, deadline);
            String result = answered(text(answer), "result");
            return new Compiled(result, bytes, sandbox.snapshot(), answer.fuel());
          } finally {
            engine.release(sandbox);
          }
        },
        e -> ended(e, budget, "compiling"));
  }

  /** Calls a new instance in which the needed contracts and profiles are registered. */
  Told fresh(List<? extends Registered<?>> needed, Written request) {
    long start = System.nanoTime();
    long deadline = deadline(start);
    boolean isOne = needed.size() == 1;
    Snapshot snapshot = isOne ? needed.get(0).memory() : engine.fresh();
    long ready = isOne ? needed.get(0).spent() : 0;
    long bytes = request.bytes();
    for (var one : needed) {
      bytes += one.bytes();
    }
    long budget = limits.fuelFor(bytes);
    return Deep.call(
        () -> {
          Sandbox sandbox = engine.take(snapshot, deadline);
          try {
            long spent = ready;
            if (!isOne) {
              for (var one : needed) {
                spent += give(sandbox, one, deadline);
              }
            }
            return ask(sandbox, request, budget, spent, start, deadline);
          } finally {
            engine.release(sandbox);
          }
        },
        e -> ended(e, budget, "the verdict"));
  }

  /** Calls an instance that is used again, after registering the needed contracts and profiles that it lacks. */
  Told again(Sandbox sandbox, Set<Registered<?>> given, List<? extends Registered<?>> needed, Written request) {
    long start = System.nanoTime();
    long deadline = deadline(start);
    long bytes = request.bytes();
    for (var one : needed) {
      bytes += given.contains(one) ? 0 : one.bytes();
    }
    long budget = limits.fuelFor(bytes);
    try {
      long spent = 0;
      for (var one : needed) {
        if (!given.contains(one)) {
          spent += give(sandbox, one, deadline);
          given.add(one);
        }
      }
      return ask(sandbox, request, budget, spent, start, deadline);
    } catch (EndException e) {
      throw ended(e, budget, "the verdict");
    }
  }

  /**
   * Registers a contract or profile in an instance, within its own budget. The rest of that is not available to the
   * call.
   */
  private long give(Sandbox sandbox, Registered<?> one, long deadline) {
    long budget = limits.fuelForContract(one.bytes());
    try {
      var answer = sandbox.call(one.request(), budget, deadline);
      answered(text(answer), "result");
      return answer.fuel();
    } catch (EndException e) {
      throw ended(e, budget, "compiling");
    }
  }

  private static Told ask(Sandbox sandbox, Written request, long budget, long spent, long start, long deadline)
      throws EndException {
    var answer = sandbox.call(request.text(), budget, deadline);
    var elapsed = Duration.ofNanos(System.nanoTime() - start);
    return new Told(text(answer), new Usage(spent + answer.fuel(), sandbox.memory(), elapsed));
  }

  private static String text(Sandbox.Answer answer) {
    return new String(answer.text(), StandardCharsets.UTF_8);
  }

  /** Returns the report or the result in an answer to a request without an {@code id}, or throws the fault in it. */
  static String answered(String answer, String member) {
    String before = "{\"id\":null,\"" + member + "\":";
    if (answer.startsWith(before)) {
      return answer.substring(before.length(), answer.length() - 1);
    }
    if (!answer.startsWith(FAULT)) {
      throw Fault.of(FaultCode.TRAP, "the module gave an invalid answer");
    }
    throw Json.parse(answer).need("fault", Fault::read);
  }

  /** Returns the fault for a call that ended without an answer. {@code doing} says what used the fuel. */
  private Fault ended(EndException e, long budget, String doing) {
    @Nullable Throwable cause = e.getCause();
    return switch (e.why()) {
      case OUT_OF_FUEL ->
          Fault.of(
              FaultCode.OUT_OF_FUEL, doing + " took more than " + budget + " units of fuel", Fault.Detail.limit(budget), null);
      case OUT_OF_MEMORY ->
          Fault.of(
              FaultCode.OUT_OF_MEMORY,
              "the verdict took more than " + limits.memory() + " bytes of memory",
              Fault.Detail.limit(limits.memory()),
              null);
      case STACK_OVERFLOW ->
          Fault.of(FaultCode.STACK_OVERFLOW, "the verdict took more stack than the runtime gives", Fault.Detail.NONE, null);
      case LATE ->
          Fault.of(
              FaultCode.TIMEOUT,
              "the verdict took more than " + limits.timeout().toMillis() + " ms",
              Fault.Detail.limit(limits.timeout().toMillis()),
              null);
      case INTERRUPTED -> {
        var interrupted = new InterruptedException("the thread was interrupted");
        if (cause != null) {
          interrupted.initCause(cause);
        }
        yield Fault.of(
            FaultCode.TIMEOUT, "the thread was interrupted before the verdict", Fault.Detail.NONE, interrupted);
      }
      case BUSY -> Fault.of(FaultCode.BUSY, "no instance was free in time");
      case TRAPPED -> Fault.of(FaultCode.TRAP, "the module failed: " + cause, Fault.Detail.NONE, cause);
    };
  }
}
