package dev.seamgate;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;

class KernelTest {
  private static final Path RUNS = Path.of("../../tests/runs");
  private static Gate gate;

  @BeforeAll
  static void open() {
    gate = Gate.create();
  }

  @AfterAll
  static void close() {
    gate.close();
  }

  private static String profile() throws IOException {
    return Files.readString(RUNS.resolve("loop/profile.json"));
  }

  /** The events of runs, read as types and written again, lead to the same steps as their texts. */
  @TestFactory
  List<DynamicTest> typedEventsLeadToTheSameSteps() throws IOException {
    String agent = gate.registerProfile(profile()).agent();
    try (var folders = Files.list(RUNS.resolve("loop"))) {
      return folders
          .filter(folder -> Files.exists(folder.resolve("events.ndjson")))
          .sorted()
          .map(folder -> DynamicTest.dynamicTest(folder.getFileName().toString(), () -> steps(agent, folder)))
          .toList();
    }
  }

  private static void steps(String agent, Path folder) throws IOException {
    String state = null;
    long at = 1_790_000_000_000L;
    int typed = 0;
    for (String line : Files.readAllLines(folder.resolve("events.ndjson"))) {
      if (line.isBlank()) {
        continue;
      }
      at += 1000;
      String event = line.contains("\"at\"") ? line : "{\"at\":" + at + "," + line.substring(1);
      String before = state == null ? "" : ",\"state\":" + state;
      String told =
          gate.call("{\"op\":\"advance\",\"agent\":\"" + agent + "\"" + before + ",\"event\":" + event + "}").json();
      if (!told.startsWith("{\"id\":null,\"result\":")) {
        continue;
      }
      RunEvent read;
      try {
        read = RunEvent.of(event);
      } catch (IllegalArgumentException e) {
        // Runs hold invalid events, too: the kernel ignores them.
        state = Json.parse(told).need("result", Json::raw);
        state = Json.parse(state).need("state", Json::raw);
        continue;
      }
      var step = gate.advance(agent, state, read);
      // The state holds a digest of the event's text, whose members and white space differ.
      assertEquals(withoutSeen(Judge.answered(told, "result")), withoutSeen(step.json()));
      assertEquals(read, RunEvent.of(read.toJson()));
      state = step.state();
      typed++;
    }
    assertTrue(typed > 1, "the run has typed events");
  }

  private static String withoutSeen(String step) {
    return step.replaceAll("\"seen\":\\[[^]]*]", "");
  }

  @Test
  void loopKeepsFacts() throws IOException {
    String agent = gate.registerProfile(profile()).agent();
    var facts =
        Facts.of("r1", "anna").mode("operate").task("{\"service\":\"payment-api\",\"env\":\"prod\"}")
            .list("services", List.of("payment-api"));
    var loop = gate.loop(agent, facts);
    var surface = loop.surface();
    assertFalse(surface.tools().isEmpty());
    var call = Call.of("c1", "search_logs", "{\"service\":\"payment-api\",\"since\":\"10m\"}");
    var decision = loop.permit(call);
    assertTrue(decision.allows(), decision.json());
    var observation = loop.observe(call, ToolResult.json("{\"lines\":[]}"));
    assertFalse(observation.message().isEmpty());
    assertEquals(observation.id(), observation.seen().id());
    var denied = loop.permit(Call.of("c2", "no_such_tool", "{}"));
    assertEquals(Permit.DENY, denied.permit());
    assertThrows(IllegalArgumentException.class, () -> loop.answer(denied, "anna", ApprovalAnswer.APPROVED));
    loop.spend(10, Duration.ofMillis(5));
    loop.spend(10, Duration.ZERO);
    var kept = Facts.read(loop.facts().toJson());
    Json used = Json.parse(kept.toJson()).need("used", json -> json);
    assertEquals(20, used.need("tokens", Json::asLong));
    assertEquals(1, used.need("tool_calls", Json::asLong));
    assertEquals(kept.toJson(), gate.loop(agent, kept).facts().toJson());
  }

  @Test
  void mistakesOfTheCallerAreFaults() {
    for (var profile : List.of("{", "{}", "{\"agent\":1}")) {
      var fault = assertThrows(Fault.BadProfile.class, () -> gate.registerProfile(profile));
      assertTrue(fault.getMessage().startsWith("profile: "), fault.getMessage());
    }
    assertThrows(Fault.UnknownAgent.class, () -> gate.permit("nobody", Facts.of("r", "p"), Call.of("c", "t", "{}")));
    assertThrows(Fault.BadRequest.class, () -> Call.of("c", "t", "{").toJson());
  }
}
