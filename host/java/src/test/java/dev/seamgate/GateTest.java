package dev.seamgate;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.StringReader;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executors;
import java.util.concurrent.FutureTask;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class GateTest {
  private static final String SCHEMA =
      """
      {"type":"object","required":["id","count"],"properties":{
        "id":{"type":"string","pattern":"^[A-Z]-[0-9]+$"},"count":{"type":"integer","minimum":1}}}""";
  private static final String CONTRACT = Contract.of("orders", SCHEMA, Map.of("retry", "{\"limit\":2}"));
  private static final String VALID = "{\"id\":\"A-7\",\"count\":2}";
  private static final String INVALID = "{\"id\":\"A-7\",\"count\":0}";

  private static Gate gate;

  @BeforeAll
  static void open() {
    gate = Gate.create();
    gate.register(CONTRACT);
  }

  @AfterAll
  static void close() {
    gate.close();
  }

  @Test
  void verdictsHaveTheirDisposition() {
    var accepted = gate.validate(Request.of("orders", VALID)).report();
    assertTrue(accepted.isAccepted());
    assertEquals(VALID, accepted.output());
    assertEquals(VALID, accepted.decode(text -> text));
    var rejected = gate.validate(Request.of("orders", INVALID)).report();
    assertEquals(Disposition.REJECTED, rejected.disposition());
    assertEquals("must be >= 1", rejected.violations().get(0).message());
    assertThrows(NoOutputException.class, () -> rejected.decode(text -> text));
    assertEquals(rejected, Report.of(rejected.json()));
  }

  @Test
  void faultsAreTypedAndNameTheArgument() {
    var unknown = assertThrows(Fault.UnknownAgent.class, () -> gate.validate(Request.of("nobody", VALID)));
    assertEquals(List.of("orders"), unknown.detail().agents());
    assertTrue(unknown.getMessage().startsWith("agent: "), unknown.getMessage());
    for (var contract : List.of("{", "1", "[]", "{\"agent\":1}", "{\"agent\":\"a\"} {}", "\ud800", "[".repeat(100_000))) {
      var bad = assertThrows(Fault.BadContract.class, () -> gate.register(contract));
      assertTrue(bad.getMessage().startsWith("contract: "), bad.getMessage());
      assertFalse(bad.detail().violations().isEmpty());
    }
    var other = assertThrows(Fault.BadContract.class, () -> gate.register(Contract.of("orders", "{}")));
    assertTrue(other.getMessage().startsWith("contract: "), other.getMessage());
    assertThrows(Fault.BadRequest.class, () -> gate.merge(List.of(), Request.of("orders")));
    assertThrows(Fault.BadRequest.class, () -> gate.session(Request.under(CONTRACT, "")));
  }

  @Test
  void limitsEndCalls() {
    var long1 = "{\"id\":\"A-7\",\"count\":2,\"pad\":\"" + "x ".repeat(200_000) + "\"}";
    try (var small = Gate.builder().limits(Limits.DEFAULT.withFuel(1000).withFuelPerByte(0)).build()) {
      small.register(CONTRACT);
      var fault = assertThrows(Fault.OutOfFuel.class, () -> small.validate(Request.of("orders", VALID)));
      assertEquals(1000L, fault.detail().limit());
    }
    try (var small = Gate.builder().limits(Limits.DEFAULT.withOutputBytes(10)).build()) {
      small.register(CONTRACT);
      assertThrows(Fault.InputTooLarge.class, () -> small.validate(Request.of("orders", VALID)));
    }
    try (var small = Gate.builder().limits(Limits.DEFAULT.withMemory(3 << 20)).build()) {
      small.register(CONTRACT);
      assertThrows(Fault.OutOfMemory.class, () -> small.validate(Request.of("orders", long1)));
      // The gate goes on.
      assertTrue(small.validate(Request.of("orders", VALID)).report().isAccepted());
    }
    try (var small = Gate.builder().limits(Limits.DEFAULT.withTimeout(Duration.ofNanos(1))).build()) {
      var fault = assertThrows(Fault.Timeout.class, () -> small.validate(Request.under(CONTRACT, long1)));
      assertEquals(0L, fault.detail().limit());
    }
    assertThrows(IllegalArgumentException.class, () -> Limits.DEFAULT.withFuel(-1));
  }

  @Test
  void interruptedThreadEndsItsCall() {
    Thread.currentThread().interrupt();
    var fault = assertThrows(Fault.Timeout.class, () -> gate.validate(Request.of("orders", VALID)));
    assertInstanceOf(InterruptedException.class, fault.getCause());
    assertTrue(Thread.interrupted());
    assertTrue(gate.validate(Request.of("orders", VALID)).report().isAccepted());
  }

  /** Millions of units of fuel in one call: quotes that a repair has to look at. */
  private static Request slow() {
    var contract = Contract.of("slow", "{\"type\":\"string\"}", Map.of("repair", "{}", "caps", "{\"bytes\":2000000}"));
    return Request.under(contract, "```json\n\"a" + "\\\"".repeat(400_000));
  }

  @Test
  void interruptEndsACallInTheMiddle() throws Exception {
    var limits = Limits.DEFAULT.withTimeout(Duration.ofMinutes(10));
    try (var patient = Gate.builder().limits(limits).instances(1).build()) {
      patient.register(CONTRACT);
      var before = patient.validate(Request.of("orders", VALID));
      var ended = new FutureTask<>(() -> assertThrows(Fault.Timeout.class, () -> patient.validate(slow())));
      var thread = new Thread(ended);
      thread.start();
      Thread.sleep(50);
      thread.interrupt();
      var fault = ended.get();
      assertInstanceOf(InterruptedException.class, fault.getCause());
      assertNull(fault.detail().limit());
      var after = patient.validate(Request.of("orders", VALID));
      assertEquals(before.report(), after.report());
      assertEquals(before.usage().fuel(), after.usage().fuel());
    }
  }

  @Test
  void clockEndsACallInTheMiddle() {
    try (var hasty = Gate.builder().limits(Limits.DEFAULT.withTimeout(Duration.ofMillis(20))).build()) {
      var fault = assertThrows(Fault.Timeout.class, () -> hasty.validate(slow()));
      assertEquals(20L, fault.detail().limit());
    }
  }

  @Test
  void aThousandThreadsAtOnceGetTheSameVerdict() throws Exception {
    var limits = Limits.DEFAULT.withTimeout(Duration.ofMinutes(5));
    try (var shared = Gate.builder().limits(limits).build()) {
      shared.register(CONTRACT);
      var expected = shared.validate(Request.of("orders", INVALID));
      var start = new CountDownLatch(1);
      List<FutureTask<Verdict>> tasks = new ArrayList<>();
      for (int count = 0; count < 1000; count++) {
        var task =
            new FutureTask<>(
                () -> {
                  start.await();
                  return shared.validate(Request.of("orders", INVALID));
                });
        tasks.add(task);
        new Thread(task).start();
      }
      start.countDown();
      for (var task : tasks) {
        assertEquals(expected.report(), task.get().report());
        assertEquals(expected.usage().fuel(), task.get().usage().fuel());
      }
    }
  }

  @Test
  void manyThreadsGetTheSameVerdicts() throws Exception {
    var expected = gate.validate(Request.of("orders", VALID));
    var workers = Executors.newFixedThreadPool(8);
    try {
      List<Callable<Verdict>> calls = new ArrayList<>();
      for (int count = 0; count < 200; count++) {
        calls.add(() -> gate.validate(Request.of("orders", VALID)));
      }
      for (var call : workers.invokeAll(calls)) {
        assertEquals(expected.report(), call.get().report());
        assertEquals(expected.usage().fuel(), call.get().usage().fuel());
      }
    } finally {
      workers.shutdownNow();
    }
  }

  @Test
  void memoryIsThatOfANewInstanceAfterEachCall() {
    var first = gate.validate(Request.of("orders", VALID));
    for (var output : List.of(INVALID, "x".repeat(500_000), "{\"id\":" + "[".repeat(90), "```json\n" + VALID + "\n```")) {
      gate.validate(Request.of("orders", output));
      var again = gate.validate(Request.of("orders", VALID));
      assertEquals(first.report(), again.report());
      assertEquals(first.usage().fuel(), again.usage().fuel());
      assertEquals(first.usage().memory(), again.usage().memory());
    }
  }

  @Test
  void smallStackDoesNotChangeAVerdict() throws Exception {
    var deep = "[".repeat(60) + "]".repeat(60);
    var expected = gate.validate(Request.of("orders", deep)).report();
    var task = new FutureTask<>(() -> gate.validate(Request.of("orders", deep)).report());
    new Thread(null, task, "small", 160_000).start();
    assertEquals(expected, task.get());
  }

  @Test
  void sessionGivesTheVerdictOfTheWholeText() throws IOException {
    var text = "{\"id\":\"A-7\",\"count\":2,\"name\":\"Zo\u00eb \ud83d\ude00\"}";
    var expected = gate.validate(Request.of("orders", text)).report();
    var bytes = text.getBytes(StandardCharsets.UTF_8);
    var session = gate.session(Request.of("orders"));
    for (byte one : bytes) {
      session.push(new byte[] {one});
    }
    assertEquals(Completeness.SOFT_COMPLETE, session.progress().completeness());
    assertEquals(expected, session.finish().report());
    assertThrows(IllegalStateException.class, session::finish);
    var streamed = gate.session(Request.of("orders"));
    streamed.read(new ByteArrayInputStream(bytes));
    assertEquals(expected, streamed.finish().report());
    var read = gate.session(Request.of("orders"));
    read.read(new StringReader(text));
    assertEquals(expected, read.finish().report());
  }

  @Test
  void sessionStopsAtADeadEnd() throws IOException {
    var strict = gate.sibling();
    var extract = "{\"markers\":[],\"raw_json\":true}";
    strict.register(
        Contract.of("list", "{\"type\":\"array\"}", Map.of("extract", extract, "caps", "{\"array_items\":3}")));
    var session = strict.session(Request.of("list"));
    var progress = session.read(new StringReader("[1,2,3,4,5,6,7,8,9"));
    assertNotNull(progress.deadEnd());
    assertEquals("caps.array_items", progress.deadEnd().keyword());
  }

  @Test
  void sessionPassesOnItemsWhenTheyAreComplete() throws IOException {
    var lists = gate.sibling();
    var extract = "{\"markers\":[],\"raw_json\":true}";
    var items = "{\"path\":\"$[*]\",\"schema\":true}";
    lists.register(Contract.of("list", "{\"type\":\"array\"}", Map.of("extract", extract, "items", items)));
    record Case(byte[] output, List<String> items) {
      Case(String output, String... items) {
        this(output.getBytes(StandardCharsets.UTF_8), List.of(items));
      }
    }
    var invalid = new Case(java.util.HexFormat.of().parseHex("5b22ff222c2262225d"), List.of("\"\ufffd\"", "\"b\""));
    for (var one :
        List.of(
            new Case("[{\"id\":1},{\"id\":\"\u00eb\ud83d\ude00\"},3]", "{\"id\":1}", "{\"id\":\"\u00eb\ud83d\ude00\"}", "3"),
            new Case("[]"),
            new Case("nothing"),
            new Case("[1,{\"id\":2", "1"),
            invalid)) {
      List<String> came = new ArrayList<>();
      var session = lists.session(Request.of("list"));
      session.read(new ByteArrayInputStream(one.output), item -> came.add(session.text(item.span())));
      assertEquals(one.items, came);
      assertThrows(IndexOutOfBoundsException.class, () -> session.text(new Span(0, 1L << 32)));
      assertThrows(IndexOutOfBoundsException.class, () -> session.text(new Span(2, 1)));
      if (one != invalid) {
        came.clear();
        var read = lists.session(Request.of("list"));
        read.read(new StringReader(new String(one.output, StandardCharsets.UTF_8)), item -> came.add(read.text(item.span())));
        assertEquals(one.items, came);
      }
    }
  }

  @Test
  void numbersOfReportsMayHaveAllBitsThatTheyHaveElsewhere() {
    var rejected = gate.validate(Request.of("orders", INVALID)).report().json();
    var item =
        "{\"index\":4294967295,\"path\":\"$\",\"pointer\":\"\",\"reason\":\"schema\",\"span\":[0,4294967295],"
            + "\"snippet\":\"\",\"violations\":[]}";
    var read = Report.of(rejected.replace("\"quarantined\":[]", "\"quarantined\":[" + item + "]")).document();
    assertEquals(4294967295L, read.quarantined().get(0).index());
    assertEquals(4294967295L, read.quarantined().get(0).span().end());
    assertThrows(IllegalArgumentException.class, () -> Report.of(rejected.replace("\"quarantined\":[]", "\"quarantined\":[9]")));
  }

  @Test
  void runAsksAgain() {
    var feedback = new ArrayList<String>();
    var outcome =
        gate.run(
            Request.of("orders"),
            false,
            (told, attempt) -> {
              feedback.add(told);
              return Produced.of(attempt == 1 ? INVALID : VALID);
            });
    assertEquals(Stop.ACCEPTED, outcome.stop());
    assertEquals(2, outcome.attempts());
    assertTrue(outcome.isUsable());
    assertEquals("", feedback.get(0));
    assertTrue(feedback.get(1).contains("$.count"), feedback.get(1));
    var repeated = gate.run(Request.of("orders"), false, (told, attempt) -> Produced.of(INVALID));
    assertEquals(Stop.REPEATED, repeated.stop());
    assertThrows(
        IOException.class,
        () ->
            gate.run(
                Request.of("orders"),
                false,
                (told, attempt) -> {
                  throw new IOException("no model");
                }));
  }

  @ParameterizedTest
  @ValueSource(strings = {"{\"id\":1,\"agent\":\"orders\",\"output\":\"{}\"}", "{\"op\":\"names\"}", "{", "{\"op\":\"no\"}"})
  void callAnswersAnyRequest(String request) {
    assertTrue(gate.call(request).json().startsWith("{\"id\":"));
  }

  @Test
  void gateSaysWhatItHas() {
    assertEquals(List.of("orders"), gate.agents());
    assertEquals(2, gate.contract("orders").retryLimit());
    assertTrue(gate.describe("orders").contains("count"));
    assertFalse(gate.lint(Contract.of("vague", "{\"type\":\"object\"}")).isEmpty());
  }

  @Test
  void bytesThatAreNotUtf8AreReplacedAsOtherHostsDo() {
    record Case(String hex, String text, int invalid) {}
    for (var one :
        List.of(
            new Case("61", "a", -1),
            new Case("80", "\ufffd", 0),
            new Case("61c3", "a\ufffd", 1),
            new Case("e28261", "\ufffda", 0),
            new Case("f0908061", "\ufffda", 0),
            new Case("eda080", "\ufffd\ufffd\ufffd", 0),
            new Case("c080", "\ufffd\ufffd", 0),
            new Case("f5808080", "\ufffd\ufffd\ufffd\ufffd", 0))) {
      var decoded = Texts.decode(java.util.HexFormat.of().parseHex(one.hex));
      assertEquals(one.text, decoded.text(), one.hex);
      assertEquals(one.invalid, decoded.invalid(), one.hex);
    }
  }

  @Test
  void closedGateFails() {
    var closed = Gate.create();
    closed.register(CONTRACT);
    closed.close();
    assertThrows(IllegalStateException.class, () -> closed.validate(Request.of("orders", VALID)));
    assertNull(gate.contract("orders").schemaId());
  }
}
