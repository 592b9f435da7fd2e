package dev.seamgate.benchmarks;

import com.github.erosb.jsonsKema.JsonParser;
import com.github.erosb.jsonsKema.SchemaLoader;
import com.github.erosb.jsonsKema.Validator;
import com.networknt.schema.InputFormat;
import com.networknt.schema.SchemaRegistry;
import com.networknt.schema.SpecificationVersion;
import dev.seamgate.Contract;
import dev.seamgate.Gate;
import dev.seamgate.Limits;
import dev.seamgate.Request;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicInteger;

/** Measures calls beside other validators: {@code cargo xtask java bench} runs it. */
public final class Bench {
  private static final String SCHEMA =
      """
      {"$schema":"https://json-schema.org/draft/2020-12/schema","type":"object","required":["tickets"],
      "additionalProperties":false,"properties":{"tickets":{"type":"array","items":{"type":"object",
      "required":["id","title","severity","tags"],"additionalProperties":false,"properties":{
      "id":{"type":"string","pattern":"^[A-Z]+-[0-9]+$"},"title":{"type":"string","minLength":1,"maxLength":200},
      "severity":{"enum":["low","medium","high"]},"score":{"type":"number","minimum":0,"maximum":1},
      "tags":{"type":"array","items":{"type":"string"},"maxItems":8}}}}}}""";

  private static final List<Integer> SIZES = List.of(500, 5_000, 500_000);

  /** In each round, all take their turns. In the first ones, HotSpot compiles. */
  private static final int ROUNDS = 5;

  private static final int WARMING = 2;

  private Bench() {}

  private interface Judge {
    void judge(String text) throws Exception;
  }

  /** A validator to measure, on this many threads at once. */
  private record Contestant(String name, int threads, Judge judge) {}

  /** Prints a table. */
  public static void main(String[] arguments) throws Exception {
    long start = System.nanoTime();
    // Large outputs take seconds until HotSpot has compiled what judges them.
    var limits = Limits.DEFAULT.withTimeout(Duration.ofMinutes(5));
    try (var gate = Gate.builder().limits(limits).build();
        var instance = gate.instance()) {
      gate.register(Contract.of("tickets", SCHEMA));
      String small = document(500);
      check(gate.validate(Request.of("tickets", small)).report().isAccepted());
      System.out.printf("first verdict of this process: %d ms%n", (System.nanoTime() - start) / 1_000_000);
      // The whole document's validity, and the first error where there is one.
      var networknt = SchemaRegistry.withDefaultDialect(SpecificationVersion.DRAFT_2020_12).getSchema(SCHEMA);
      var skema = new SchemaLoader(new JsonParser(SCHEMA).parse()).load();
      Judge fresh = text -> check(gate.validate(Request.of("tickets", text)).report().isAccepted());
      print(
          List.of(
              new Contestant("seamgate, fresh", 1, fresh),
              new Contestant(
                  "seamgate, warm", 1, text -> check(instance.validate(Request.of("tickets", text)).report().isAccepted())),
              new Contestant("seamgate, fresh, on two threads at once, by call", 2, fresh),
              new Contestant(
                  "networknt with Jackson", 1, text -> check(networknt.validate(text, InputFormat.JSON).isEmpty())),
              new Contestant(
                  "json-sKema",
                  1,
                  text -> check(Validator.forSchema(skema).validate(new JsonParser(text).parse()) == null))));
      memory(gate);
    }
  }

  /** Prints the microseconds for a call: of all rounds the least, and the middle in brackets. */
  private static void print(List<Contestant> contestants) throws Exception {
    List<String> documents = SIZES.stream().map(Bench::document).toList();
    Map<String, List<Double>> times = new HashMap<>();
    for (int round = 0; round < WARMING + ROUNDS; round++) {
      for (var one : contestants) {
        for (String text : documents) {
          double took = time(one, text);
          if (round >= WARMING) {
            times.computeIfAbsent(one.name + text.length(), name -> new ArrayList<>()).add(took);
          }
        }
      }
    }
    System.out.println("| µs a call | 500 B | 5 KB | 500 KB |\n| --- | ---: | ---: | ---: |");
    for (var one : contestants) {
      var cells = new StringBuilder("| " + one.name);
      for (String text : documents) {
        var all = times.get(one.name + text.length()).stream().sorted().toList();
        cells.append(String.format(" | %,.0f (%,.0f)", all.get(0), all.get(ROUNDS / 2)));
      }
      System.out.println(cells + " |");
    }
  }

  private static double time(Contestant one, String text) throws Exception {
    int calls = Math.max(4, 1_000_000 / text.length());
    var next = new AtomicInteger();
    Callable<Void> work =
        () -> {
          while (next.getAndIncrement() < calls) {
            one.judge.judge(text);
          }
          return null;
        };
    var workers = Executors.newFixedThreadPool(one.threads);
    try {
      long start = System.nanoTime();
      for (var done : workers.invokeAll(Collections.nCopies(one.threads, work))) {
        done.get();
      }
      return (System.nanoTime() - start) / 1000.0 / calls;
    } finally {
      workers.shutdown();
    }
  }

  /** Prints the memory of the process, before and after many calls. */
  private static void memory(Gate gate) throws IOException {
    String small = document(500);
    String large = document(300_000);
    for (int tenth = 0; tenth <= 10; tenth++) {
      var now = Memory.now();
      System.out.printf(
          "%,9d calls  %d MiB of heap used  %d MiB resident%n", tenth * 5_000, now.heap() >> 20, now.resident() >> 20);
      for (int call = 0; tenth < 10 && call < 5_000; call++) {
        gate.validate(Request.of("tickets", call % 1000 == 0 ? large : small));
      }
    }
  }

  static void check(boolean is) {
    if (!is) {
      throw new IllegalStateException("another verdict than expected");
    }
  }

  /** Returns a valid document of about this many bytes. */
  private static String document(int size) {
    var text = new StringBuilder("{\"tickets\":[");
    for (int index = 0; text.length() < size - 60; index++) {
      text.append(index > 0 ? "," : "")
          .append("{\"id\":\"WEB-").append(index)
          .append("\",\"title\":\"The basket is empty after a reload, ").append(index * 7919)
          .append("\",\"severity\":\"").append(List.of("low", "medium", "high").get(index % 3))
          .append("\",\"score\":0.").append(index % 10)
          .append(",\"tags\":[\"shop\",\"reload\"]}");
    }
    return text.append("]}").toString();
  }
}
