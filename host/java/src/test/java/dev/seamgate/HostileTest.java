package dev.seamgate;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

/** Each attack of tests/hostile has its outcome, the same bytes twice if it is quick, and leaves the next verdict as it was. */
class HostileTest {
  private static final Path ATTACKS = Path.of("../../tests/hostile");
  private static final String ORDINARY =
      "Here it is:\n```json\n{\"list\": [{\"id\": \"a\"}, {\"id\": 1}, {\"id\": \"c\"}]}\n```";

  /** Attacks with another outcome here: an output is passed as JSON text, so the memory holds it twice. */
  private static final Map<String, String> ELSEWHERE = Map.of("size/output-over-its-cap", "out_of_memory");

  /** An attack is a file. */
  private record Attack(String name, Json file) {
    static Attack read(Path path) {
      try {
        String name = ATTACKS.relativize(path).toString().replace('\\', '/').replace(".json", "");
        return new Attack(name, Json.parse(Files.readString(path)));
      } catch (IOException e) {
        throw new java.io.UncheckedIOException(e);
      }
    }

    boolean isRequest() {
      return file.has("request");
    }

    String contract() {
      return file.need("contract", of -> of.isText() || of.isList() || of.has("repeat") ? written(of) : of.raw());
    }

    boolean isAsItMustBe(String outcome) {
      String must = ELSEWHERE.getOrDefault(name, file.need("must", Json::asText));
      if (must.equals("stack_overflow") && !isRequest()) {
        // The stack of a thread with 64 MiB is larger than Wasmtime's: there is a verdict instead.
        return outcome.equals(must) || !outcome.contains(": ");
      }
      return outcome.equals(must) || (!must.contains(": ") && outcome.split(": ", 2)[0].equals(must));
    }
  }

  /** An outcome in the words of the file, and the answer. */
  private record Came(String outcome, String text) {}

  /** Writes out a text: a string is itself, a list its pieces, and {@code {"repeat": …, "times": N}} a text N times. */
  private static String written(Json text) {
    if (text.isText()) {
      return text.asText();
    }
    if (text.isList()) {
      return String.join("", Json.list(HostileTest::written).apply(text));
    }
    String piece = text.need("repeat", HostileTest::written);
    int times = Math.toIntExact(text.need("times", Json::asLong));
    if (!piece.contains("{n")) {
      return piece.repeat(times);
    }
    var whole = new StringBuilder();
    for (int n = 0; n < times; n++) {
      whole.append(piece.replace("{n}", Integer.toString(n)).replace("{n+1}", Integer.toString(n + 1)));
    }
    return whole.toString();
  }

  private static Came ask(Gate gate, Attack attack) {
    try {
      if (!attack.isRequest()) {
        String output = attack.file.need("output", HostileTest::written);
        var report = gate.validate(Request.under(attack.contract(), output)).report();
        return new Came(outcome(report), report.json());
      }
      String answer = gate.call(attack.file.need("request", HostileTest::written)).json();
      var read = Json.parse(answer);
      if (read.has("fault")) {
        return new Came(outcome(read.need("fault", Fault::read)), answer);
      }
      return new Came(read.has("report") ? outcome(Report.of(read.need("report", Json::raw))) : "result", answer);
    } catch (Fault fault) {
      return new Came(outcome(fault), fault.toString());
    }
  }

  private static String outcome(Report report) {
    String disposition = report.disposition().word();
    return report.violations().isEmpty() ? disposition : disposition + ": " + report.violations().get(0).keyword();
  }

  private static String outcome(Fault fault) {
    var violations = fault.detail().violations();
    return violations.isEmpty() ? fault.code().word() : fault.code().word() + ": " + violations.get(0).path();
  }

  @Test
  void attacksHaveTheirOutcome() throws Exception {
    List<Attack> attacks;
    try (var files = Files.walk(ATTACKS)) {
      attacks =
          files
              .filter(path -> path.toString().endsWith(".json") && ATTACKS.relativize(path).getNameCount() == 2)
              .sorted()
              .map(Attack::read)
              .toList();
    }
    assertTrue(attacks.size() > 200, "all attacks are read, and not " + attacks.size());
    // Fuel bounds them. The clock would say how busy the machine is.
    var limits = Limits.DEFAULT.withTimeout(Duration.ofHours(1));
    try (var gate = Gate.builder().limits(limits).build()) {
      gate.register(Files.readString(ATTACKS.resolve("contract.json")));
      var before = gate.validate(Request.of("lister", ORDINARY));
      List<String> failed = new ArrayList<>();
      var next = new AtomicInteger();
      Callable<List<String>> attacker =
          () -> {
            List<String> mine = new ArrayList<>();
            for (int index = next.getAndIncrement(); index < attacks.size(); index = next.getAndIncrement()) {
              mine.addAll(hold(gate, attacks.get(index), before));
            }
            return mine;
          };
      var workers = Executors.newFixedThreadPool(Runtime.getRuntime().availableProcessors());
      try {
        for (var mine : workers.invokeAll(List.of(attacker, attacker, attacker, attacker))) {
          failed.addAll(mine.get());
        }
      } finally {
        workers.shutdownNow();
      }
      assertEquals("", String.join("\n", failed));
    }
  }

  /** Returns what is wrong with what came of an attack. */
  private static List<String> hold(Gate gate, Attack attack, Verdict before) {
    List<String> wrong = new ArrayList<>();
    long start = System.nanoTime();
    var came = ask(gate, attack);
    boolean isQuick = System.nanoTime() - start < 200_000_000;
    if (!attack.isAsItMustBe(came.outcome)) {
      String text = came.text.substring(0, Math.min(300, came.text.length()));
      wrong.add(attack.name + " must be " + attack.file.need("must", Json::raw) + ", is " + came.outcome + ": " + text);
    }
    if (isQuick && !ask(gate, attack).equals(came)) {
      wrong.add(attack.name + ": the second time, it is another answer");
    }
    var after = gate.validate(Request.of("lister", ORDINARY));
    if (!after.report().equals(before.report()) || after.usage().fuel() != before.usage().fuel()) {
      wrong.add("after " + attack.name + ", the next verdict is another one");
    }
    return wrong;
  }
}
