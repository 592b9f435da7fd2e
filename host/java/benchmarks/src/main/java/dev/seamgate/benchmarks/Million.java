package dev.seamgate.benchmarks;

import dev.seamgate.Contract;
import dev.seamgate.Fault;
import dev.seamgate.Gate;
import dev.seamgate.Limits;
import dev.seamgate.Request;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicLong;

/**
 * Judges a million outputs on all processors, and fails if the heap or the process grows meanwhile: {@code cargo xtask java
 * million} runs it. The argument is how many; the default is 1,000,000.
 */
public final class Million {
  private static final String SCHEMA =
      "{\"type\":\"object\",\"required\":[\"count\"],\"properties\":{\"count\":{\"type\":\"integer\",\"minimum\":1}}}";
  private static final String LARGE = "{\"count\":1,\"pad\":\"" + "x".repeat(300_000) + "\"}";

  private Million() {}

  /** Prints a line for each tenth of the calls. */
  public static void main(String[] arguments) throws Exception {
    long calls = arguments.length > 0 ? Long.parseLong(arguments[0]) : 1_000_000;
    int processors = Runtime.getRuntime().availableProcessors();
    var workers = Executors.newFixedThreadPool(processors);
    var limits = Limits.DEFAULT.withTimeout(Duration.ofMinutes(5));
    try (var gate = Gate.builder().limits(limits).build();
        var hurried = Gate.builder().limits(limits.withTimeout(Duration.ofMillis(1))).build()) {
      var contract = Contract.of("counter", SCHEMA, Map.of("caps", "{\"string_bytes\":1000000}"));
      gate.register(contract);
      register(hurried, contract);
      var next = new AtomicLong();
      long start = System.nanoTime();
      Memory begun = null;
      for (int tenth = 1; tenth <= 10; tenth++) {
        long until = calls * tenth / 10;
        List<Callable<Void>> work = new ArrayList<>();
        for (int worker = 0; worker < processors; worker++) {
          work.add(
              () -> {
                for (long index = next.getAndIncrement(); index < until; index = next.getAndIncrement()) {
                  one(gate, hurried, index);
                }
                return null;
              });
        }
        for (var done : workers.invokeAll(work)) {
          done.get();
        }
        next.set(until);
        var now = Memory.now();
        System.out.printf(
            "%,9d calls  %,7d KiB of heap  %4d MiB resident  %3d threads  %d s%n",
            until, now.heap() >> 10, now.resident() >> 20, Thread.activeCount(), (System.nanoTime() - start) / 1_000_000_000);
        // In the first two tenths, HotSpot compiles, and the heap finds its size.
        if (tenth == 2) {
          begun = now;
        } else if (begun != null) {
          begun.check(now);
        }
      }
    } finally {
      workers.shutdownNow();
    }
  }

  /** Registers a contract in a gate whose clock may end that, too, until HotSpot has compiled it. */
  private static void register(Gate gate, String contract) {
    while (true) {
      try {
        gate.register(contract);
        return;
      } catch (Fault.Timeout e) {
        // Again.
      }
    }
  }

  private static void one(Gate gate, Gate hurried, long index) {
    String output = "{\"count\":" + index % 3 + "}";
    if (index % 101 == 0) {
      // It is stopped in the middle, or is just in time.
      try {
        hurried.validate(Request.of("counter", LARGE));
      } catch (Fault.Timeout | Fault.Busy e) {
        return;
      }
    } else if (index % 103 == 0) {
      // It never was valid.
      try {
        gate.validate(Request.under("{\"agent\":1}", output));
        throw new IllegalStateException("an invalid contract has a verdict");
      } catch (Fault.BadContract e) {
        return;
      }
    } else if (index % 1000 == 0) {
      // It grows the memory, so that the instance gets another one.
      Bench.check(gate.validate(Request.of("counter", LARGE)).report().isAccepted());
    } else {
      Bench.check(gate.validate(Request.of("counter", output)).report().isAccepted() == (index % 3 != 0));
    }
  }
}
