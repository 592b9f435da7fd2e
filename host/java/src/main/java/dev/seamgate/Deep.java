package dev.seamgate;

import dev.seamgate.sandbox.EndException;
import dev.seamgate.sandbox.EndException.Why;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.function.Function;

/** Calls that may need more stack than the caller's thread has left. */
final class Deep {
  /** Enough for every call that fits into Wasmtime's smaller stack. */
  private static final long STACK = 64 << 20;

  private Deep() {}

  /** A call of an instance. */
  @FunctionalInterface
  interface Call<T> {
    T run() throws EndException;
  }

  /**
   * Returns the result of a call. If it exhausts this thread's stack, it runs again from the beginning in a separate
   * thread, so that the verdict does not depend on the depth of the caller's stack.
   */
  static <T> T call(Call<T> call, Function<EndException, Fault> ended) {
    try {
      try {
        return call.run();
      } catch (EndException e) {
        if (e.why() != Why.STACK_OVERFLOW) {
          throw e;
        }
      }
      return apart(call);
    } catch (EndException e) {
      throw ended.apply(e);
    }
  }

  private static <T> T apart(Call<T> call) throws EndException {
    var task = new FutureTask<>(call::run);
    var thread = new Thread(null, task, "seamgate-deep", STACK);
    thread.setDaemon(true);
    thread.start();
    boolean wasInterrupted = false;
    try {
      while (true) {
        try {
          return task.get();
        } catch (InterruptedException e) {
          // The call ends soon, as this one would.
          wasInterrupted = true;
          thread.interrupt();
        } catch (ExecutionException e) {
          Throwable cause = e.getCause();
          if (cause instanceof EndException end) {
            throw end;
          }
          if (cause instanceof RuntimeException failed) {
            throw failed;
          }
          throw new IllegalStateException(cause);
        }
      }
    } finally {
      if (wasInterrupted) {
        Thread.currentThread().interrupt();
      }
    }
  }
}
