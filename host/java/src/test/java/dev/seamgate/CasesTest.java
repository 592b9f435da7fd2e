package dev.seamgate;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.TestFactory;

/** The cases of tests/cases that have a contract and an output alone, each in a new instance and in one that is used again. */
class CasesTest {
  private static final Path CASES = Path.of("../../tests/cases");

  @TestFactory
  List<DynamicTest> reportsAreTheExpectedBytes() throws IOException {
    var gate = Gate.create();
    var again = gate.instance();
    try (var groups = Files.walk(CASES, 2)) {
      return groups
          .filter(folder -> Files.exists(folder.resolve("report.json")) && Files.exists(folder.resolve("output.txt")))
          .filter(folder -> !Files.exists(folder.resolve("output-2.txt")) && request(folder) == null)
          .sorted()
          .map(folder -> DynamicTest.dynamicTest(CASES.relativize(folder).toString(), () -> check(gate, again, folder)))
          .toList();
    }
  }

  private static Path request(Path folder) {
    for (var of : List.of(folder, folder.getParent())) {
      if (Files.exists(of.resolve("request.json"))) {
        return of;
      }
    }
    return null;
  }

  private static void check(Gate gate, Instance again, Path folder) throws IOException {
    var own = folder.resolve("contract.json");
    var contract = Files.readString(Files.exists(own) ? own : folder.getParent().resolve("contract.json"));
    var request = Request.under(contract, "").output(Files.readAllBytes(folder.resolve("output.txt")));
    var verdict = gate.validate(request);
    assertEquals(dense(Files.readString(folder.resolve("report.json"))), verdict.report().json());
    assertEquals(verdict.report().json(), again.validate(request).report().json());
    verdict.report().document();
  }

  /** Leaves out white space between tokens, which the files have for readers. */
  static String dense(String json) {
    var to = new StringBuilder();
    boolean isInString = false;
    for (int at = 0; at < json.length(); at++) {
      char next = json.charAt(at);
      if (isInString && next == '\\') {
        to.append(next).append(json.charAt(++at));
        continue;
      }
      isInString ^= next == '"';
      if (isInString || !Character.isWhitespace(next)) {
        to.append(next);
      }
    }
    return to.toString();
  }
}
