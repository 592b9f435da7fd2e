package dev.seamgate.benchmarks;

import com.networknt.schema.InputFormat;
import com.networknt.schema.SchemaRegistry;
import com.networknt.schema.SpecificationVersion;
import dev.seamgate.Contract;
import dev.seamgate.Gate;
import dev.seamgate.Limits;
import dev.seamgate.Request;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;

/** Measures calls beside another validator: {@code cargo xtask java bench} runs it. Each figure is the least of several rounds. */
public final class Bench {
  private static final String SCHEMA =
      """
      {"$schema":"https://json-schema.org/draft/2020-12/schema","type":"object","required":["tickets"],
      "additionalProperties":false,"properties":{"tickets":{"type":"array","items":{"type":"object",
      "required":["id","title","severity","tags"],"additionalProperties":false,"properties":{
      "id":{"type":"string","pattern":"^[A-Z]+-[0-9]+$"},"title":{"type":"string","minLength":1,"maxLength":200},
      "severity":{"enum":["low","medium","high"]},"score":{"type":"number","minimum":0,"maximum":1},
      "tags":{"type":"array","items":{"type":"string"},"maxItems":8}}}}}}""";

  private static final int ROUNDS = 9;

  private Bench() {}

  /** Something that is measured. */
  private interface Work {
    void run();
  }

  /** Prints a table. */
  public static void main(String[] arguments) throws IOException {
    long start = System.nanoTime();
    // Large outputs take seconds until HotSpot has compiled what judges them.
    var limits = Limits.DEFAULT.withTimeout(Duration.ofMinutes(5));
    try (var gate = Gate.builder().limits(limits).build()) {
      gate.register(Contract.of("tickets", SCHEMA));
      String small = document(500);
      check(gate.validate(Request.of("tickets", small)).report().isAccepted());
      System.out.printf("first verdict of this process: %d ms%n", (System.nanoTime() - start) / 1_000_000);
      // The whole document's validity, and the first error where there is one.
      var schema = SchemaRegistry.withDefaultDialect(SpecificationVersion.DRAFT_2020_12).getSchema(SCHEMA);
      System.out.println("| µs a call | 500 B | 5 KB | 500 KB |\n| --- | ---: | ---: | ---: |");
      try (var instance = gate.instance()) {
        row("seamgate, fresh", text -> check(gate.validate(Request.of("tickets", text)).report().isAccepted()));
        row("seamgate, warm", text -> check(instance.validate(Request.of("tickets", text)).report().isAccepted()));
        row("networknt with Jackson", text -> check(schema.validate(text, InputFormat.JSON).isEmpty()));
      }
      memory(gate);
    }
  }

  private interface Judge {
    void judge(String text);
  }

  private static void row(String name, Judge judge) {
    var cells = new StringBuilder("| " + name);
    for (int size : List.of(500, 5_000, 500_000)) {
      String text = document(size);
      int calls = Math.max(5, 1_500_000 / text.length());
      double least = Double.MAX_VALUE;
      for (int round = 0; round < ROUNDS; round++) {
        least = Math.min(least, time(calls, () -> judge.judge(text)));
      }
      cells.append(String.format(" | %,.0f", least));
    }
    System.out.println(cells + " |");
  }

  private static double time(int calls, Work work) {
    long start = System.nanoTime();
    for (int call = 0; call < calls; call++) {
      work.run();
    }
    return (System.nanoTime() - start) / 1000.0 / calls;
  }

  /** Prints the memory of the process, before and after many calls. */
  private static void memory(Gate gate) throws IOException {
    String small = document(500);
    String large = document(300_000);
    for (int tenth = 0; tenth <= 10; tenth++) {
      System.gc();
      var runtime = Runtime.getRuntime();
      long used = (runtime.totalMemory() - runtime.freeMemory()) >> 20;
      System.out.printf("%,9d calls  %d MiB of heap used  %d MiB resident%n", tenth * 5_000, used, resident());
      for (int call = 0; tenth < 10 && call < 5_000; call++) {
        gate.validate(Request.of("tickets", call % 1000 == 0 ? large : small));
      }
    }
  }

  /** Returns the resident memory of this process in MiB; zero where the system does not say. */
  private static long resident() throws IOException {
    var status = Path.of("/proc/self/status");
    if (!Files.exists(status)) {
      return 0;
    }
    for (String line : Files.readAllLines(status)) {
      if (line.startsWith("VmRSS:")) {
        return Long.parseLong(line.replaceAll("[^0-9]", "")) >> 10;
      }
    }
    return 0;
  }

  private static void check(boolean is) {
    if (!is) {
      throw new IllegalStateException("another verdict than expected");
    }
  }

  /** Returns a valid document of about so many bytes. */
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
