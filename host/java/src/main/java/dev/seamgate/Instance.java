package dev.seamgate;

import dev.seamgate.Judge.Told;
import dev.seamgate.Register.Registered;
import dev.seamgate.Request.Written;
import dev.seamgate.sandbox.Engine;
import dev.seamgate.sandbox.Sandbox;
import java.util.Collections;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * An instance that can be used for more than one call. It is for callers who trust all their producers equally, because
 * one output can affect the state that the next one finds. The reports are the same bytes, and contracts are compiled
 * only once. Any number of threads may use it: calls take turns.
 */
public final class Instance implements AutoCloseable {
  private final Gate gate;
  private final Engine engine;
  private final Judge judge;
  private final Set<Registered<?>> given = Collections.newSetFromMap(new IdentityHashMap<>());
  private @Nullable Sandbox sandbox;
  private boolean isClosed;

  Instance(Gate gate, Engine engine, Judge judge) {
    this.gate = gate;
    this.engine = engine;
    this.judge = judge;
  }

  /** Judges one output: see {@link Gate#validate}. */
  public Verdict validate(Request request) {
    return Gate.verdict(ask(gate.needed(request), request.validation(judge.limits())));
  }

  /** Answers one request that is JSON text: see {@link Gate#call}. */
  public Answer call(String request) {
    var written = Written.of(request);
    judge.limits().checkSize(written.bytes());
    var told = ask(gate.neededFor(request), written);
    return new Answer(told.json(), told.usage());
  }

  private synchronized Told ask(List<? extends Registered<?>> needed, Written request) {
    if (isClosed) {
      throw new IllegalStateException("the instance was closed");
    }
    Sandbox held = sandbox;
    if (held == null) {
      held = engine.open(engine.fresh());
      given.clear();
      sandbox = held;
    }
    try {
      return judge.again(held, given, needed, request);
    } finally {
      if (held.isBroken()) {
        // The next call starts a new instance.
        sandbox = null;
      }
    }
  }

  /** Frees the instance. */
  @Override
  public synchronized void close() {
    isClosed = true;
    if (sandbox != null) {
      engine.putBack(sandbox);
      sandbox = null;
    }
  }
}
