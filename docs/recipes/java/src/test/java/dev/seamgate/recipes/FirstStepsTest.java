package dev.seamgate.recipes;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.ObjectMapper;
import dev.seamgate.Call;
import dev.seamgate.Contract;
import dev.seamgate.Facts;
import dev.seamgate.Fault;
import dev.seamgate.Finish;
import dev.seamgate.Gate;
import dev.seamgate.Limits;
import dev.seamgate.Produced;
import dev.seamgate.Request;
import dev.seamgate.Stop;
import dev.seamgate.ToolResult;
import java.io.ByteArrayInputStream;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.Executors;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** The first steps with the package, each in a few lines. */
class FirstStepsTest {
  record Line(String sku, int count) {}

  record Order(String id, List<Line> lines) {}

  private static final ObjectMapper MAPPER = new ObjectMapper();
  private static final String VALID = "Sure:\n```json\n{\"id\":\"A-1\",\"lines\":[{\"sku\":\"x\",\"count\":2}]}\n```";

  private static Gate gate;

  @BeforeAll
  static void open() {
    gate = Gate.create();
    gate.register(Contract.of("orders", Order.class, Map.of("retry", "{\"limit\":2}")));
    var items = "{\"type\":\"array\",\"items\":{\"required\":[\"id\"]}}";
    gate.register(Contract.of("list", items, Map.of("items", "{\"path\":\"$[*]\"}")));
  }

  @AfterAll
  static void close() {
    gate.close();
  }

  @Test
  void acceptedOutputIsATypedValue() throws Exception {
    var report = gate.validate(Request.of("orders", VALID)).report();
    Order order = report.decode(json -> MAPPER.readValue(json, Order.class));
    assertEquals(new Order("A-1", List.of(new Line("x", 2))), order);
  }

  @Test
  void rejectedOutputHasFeedback() {
    var report = gate.validate(Request.of("orders", "{\"id\":\"A-1\",\"lines\":[{\"sku\":\"x\"}]}")).report();
    assertFalse(report.isAccepted());
    assertTrue(report.feedback().contains("$.lines[0]"), report.feedback());
  }

  @Test
  void modelIsAskedAgain() {
    var outcome =
        gate.run(Request.of("orders"), false, (feedback, attempt) -> Produced.of(feedback.isEmpty() ? "{}" : VALID));
    assertEquals(Stop.ACCEPTED, outcome.stop());
    assertEquals(2, outcome.attempts());
  }

  @Test
  void itemsOfAStreamComeEarly() throws Exception {
    var stream = new ByteArrayInputStream("[{\"id\":1},{\"no\":2},{\"id\":3}]".getBytes(StandardCharsets.UTF_8));
    List<String> came = new ArrayList<>();
    var session = gate.session(Request.of("list"));
    session.read(stream, item -> came.add(session.text(item.span())));
    assertEquals(List.of("{\"id\":1}", "{\"no\":2}", "{\"id\":3}"), came);
    assertEquals("[{\"id\":1},{\"id\":3}]", session.finish(Finish.STOP).report().output());
  }

  @Test
  void toolsRunIfTheyArePermitted() {
    gate.registerProfile(
        """
        {"agent":"reader","tools":[
          {"name":"search","effect":"read","permit":"allow"},
          {"name":"drop","effect":"effectful","permit":"deny"}]}""");
    var loop = gate.loop("reader", Facts.of("r1", "anna"));
    var call = Call.of("c1", "search", "{\"q\":\"x\"}");
    var decision = loop.permit(call);
    assertTrue(decision.allows());
    assertEquals("{\"q\":\"x\"}", decision.arguments());
    assertTrue(loop.observe(call, ToolResult.text("3 hits")).message().contains("3 hits"));
    assertFalse(loop.permit(Call.of("c2", "drop", "{}")).allows());
  }

  @Test
  void clockEndsACall() {
    var limits = Limits.DEFAULT.withTimeout(Duration.ofMillis(2));
    try (var hasty = Gate.builder().limits(limits).build()) {
      var request = Request.under("{\"agent\":\"any\",\"schema\":true}", "{\"a\": \"" + "\\\"".repeat(400_000));
      assertThrows(Fault.Timeout.class, () -> hasty.validate(request));
    }
  }

  @Test
  void mistakesOfTheCallerHaveTypes() {
    var unknown = assertThrows(Fault.UnknownAgent.class, () -> gate.validate(Request.of("nobody", "1")));
    assertTrue(unknown.detail().agents().contains("orders"));
    var bad = assertThrows(Fault.BadContract.class, () -> gate.register(Contract.of("b", "{\"type\":\"strin\"}")));
    assertTrue(bad.getMessage().contains("did you mean \"string\"?"), bad.getMessage());
  }

  @Test
  void hundredThreadsShareAGate() throws Exception {
    Callable<Boolean> call = () -> gate.validate(Request.of("orders", VALID)).report().isAccepted();
    var workers = Executors.newFixedThreadPool(100);
    try {
      for (var accepted : workers.invokeAll(Collections.nCopies(100, call))) {
        assertTrue(accepted.get());
      }
    } finally {
      workers.shutdown();
    }
  }
}
