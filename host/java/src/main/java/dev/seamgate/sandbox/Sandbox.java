package dev.seamgate.sandbox;

import com.dylibso.chicory.runtime.ChicoryInterruptedException;
import com.dylibso.chicory.runtime.ExportFunction;
import com.dylibso.chicory.runtime.GlobalInstance;
import com.dylibso.chicory.runtime.HostFunction;
import com.dylibso.chicory.runtime.ImportValues;
import com.dylibso.chicory.runtime.Instance;
import com.dylibso.chicory.wasm.ChicoryException;
import com.dylibso.chicory.wasm.types.FunctionType;
import dev.seamgate.sandbox.EndException.Why;
import java.util.List;

/** An instance with a memory of its own. One thread at a time may use it. */
public final class Sandbox {
  /** How much fuel an instance gets at once. Between two steps, it looks at the clock. */
  private static final long STEP = 1 << 20;

  private static final class StoppedException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    StoppedException() {
      super("the call was stopped", null, false, false);
    }
  }

  private final LinearMemory memory;
  private final GlobalInstance fuel;
  private final GlobalInstance refused;
  private final ExportFunction allocate;
  private final ExportFunction call;
  private final ExportFunction post;

  /** The fuel that the module has not received yet. */
  private long left;

  private long deadline;
  private Why stopped = Why.TRAPPED;
  private boolean isBroken;

  Sandbox(Code code, Image image, Snapshot snapshot, int most) {
    memory = new LinearMemory(image, snapshot, most);
    var refuel =
        new HostFunction(
            "seamgate",
            "refuel",
            FunctionType.of(List.of(), List.of()),
            (instance, arguments) -> {
              refuel();
              return new long[0];
            });
    var instance =
        Instance.builder(code.module())
            .withMachineFactory(code.machine())
            .withMemoryFactory(limits -> memory)
            .withImportValues(ImportValues.builder().addFunction(refuel).build())
            .build();
    fuel = instance.exports().global("fuel");
    refused = instance.exports().global("memory_refused");
    allocate = instance.exports().function("allocate");
    call = instance.exports().function("call");
    post = instance.exports().function("call_post");
  }

  /** Makes the memory what a snapshot holds. */
  void reset(Snapshot snapshot) {
    memory.reset(snapshot);
  }

  /** Returns whether the instance was stopped, so that it cannot go on. */
  public boolean isBroken() {
    return isBroken;
  }

  /** Returns what the memory holds. */
  public Snapshot snapshot() {
    return memory.snapshot();
  }

  /** Returns how much memory the instance has, in bytes. It only grows: this is the most it had. */
  public int memory() {
    return memory.size();
  }

  /** An answer and the fuel that it took. */
  public record Answer(byte[] text, long fuel) {}

  /**
   * Answers a request, which is UTF-8, within this much fuel, and before the deadline, which is a time of {@link
   * System#nanoTime}. After an exception, the instance is broken.
   */
  public Answer call(byte[] request, long budget, long deadline) throws EndException {
    this.deadline = deadline;
    left = budget;
    stopped = Why.TRAPPED;
    refused.setValue(0);
    fill(0);
    // An unexpected exception leaves the instance in an undefined state.
    isBroken = true;
    try {
      byte[] answer = ask(request);
      isBroken = false;
      return new Answer(answer, budget - left - fuel.getValue());
    } catch (ChicoryInterruptedException e) {
      throw new EndException(Why.INTERRUPTED, e);
    } catch (ChicoryException | StackOverflowError | StoppedException e) {
      throw new EndException(why(e), e);
    }
  }

  private byte[] ask(byte[] request) {
    int at = (int) allocate.apply(0, 0, 1, request.length)[0];
    memory.write(at, request);
    int result = (int) call.apply(at, request.length)[0];
    byte[] answer = memory.readBytes(memory.readInt(result), memory.readInt(result + 4));
    post.apply(result);
    return answer;
  }

  private Why why(Throwable error) {
    if (stopped != Why.TRAPPED) {
      return stopped;
    }
    if (refused.getValue() != 0) {
      return Why.OUT_OF_MEMORY;
    }
    for (Throwable cause = error; cause != null; cause = cause.getCause()) {
      if (cause instanceof StackOverflowError) {
        return Why.STACK_OVERFLOW;
      }
    }
    return Why.TRAPPED;
  }

  /** Gives the module its next step of fuel, minus the fuel that it has already used. */
  private void fill(long before) {
    long next = Math.min(left, STEP);
    left -= next;
    fuel.setValue(before + next);
  }

  /** Answers a module that has no fuel. */
  private void refuel() {
    while (fuel.getValue() <= 0) {
      if (left <= 0) {
        throw stop(Why.OUT_OF_FUEL);
      }
      if (Thread.currentThread().isInterrupted()) {
        throw stop(Why.INTERRUPTED);
      }
      if (System.nanoTime() - deadline >= 0) {
        throw stop(Why.LATE);
      }
      fill(fuel.getValue());
    }
  }

  private StoppedException stop(Why why) {
    stopped = why;
    return new StoppedException();
  }
}
