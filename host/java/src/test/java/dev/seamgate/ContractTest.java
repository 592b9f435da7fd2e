package dev.seamgate;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.math.BigDecimal;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class ContractTest {
  enum Size {
    SMALL,
    LARGE
  }

  record Line(String sku, int count) {}

  record Order(
      String id,
      List<Line> lines,
      Set<Size> sizes,
      Map<String, BigDecimal> prices,
      @Nullable String note,
      Optional<Boolean> isGift,
      long at) {}

  record Late(List<Instant> times) {}

  record Tree(List<Tree> children) {}

  record Generic<T>(T value) {}

  private static final String ORDER =
      "{\"id\":\"a\",\"lines\":[{\"sku\":\"b\",\"count\":1}],\"sizes\":[\"LARGE\"],\"prices\":{\"b\":1.5},\"at\":1";

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '`',
      value = {
        "} | ACCEPTED |",
        ",\"note\":\"x\",\"isGift\":true} | ACCEPTED |",
        ",\"note\":null,\"isGift\":null} | ACCEPTED |",
        ",\"note\":1} | REJECTED | $.note",
        ",\"more\":1} | REJECTED | $.more",
        ",\"at\":9223372036854775808} | REJECTED | $.at",
      })
  void contractOfARecordDescribesIt(String rest, Disposition disposition, String path) {
    try (var gate = Gate.create()) {
      gate.register(Contract.of("orders", Order.class));
      // A member that stands twice would be another mistake.
      String output = rest.contains("\"at\"") ? ORDER.replace(",\"at\":1", "") + rest : ORDER + rest;
      var report = gate.validate(Request.of("orders", output)).report();
      assertEquals(disposition, report.disposition(), report.json());
      assertTrue(path == null || report.violations().get(0).path().startsWith(path), report.json());
    }
  }

  @Test
  void eachComponentIsChecked() {
    var wrong =
        "{\"id\":1,\"lines\":[{\"sku\":\"b\",\"count\":2147483648}],\"sizes\":[\"NONE\"],\"prices\":{\"b\":\"1\"}}";
    try (var gate = Gate.create()) {
      gate.register(Contract.of("orders", Order.class, Map.of("retry", "{\"limit\":1}")));
      List<String> paths = new ArrayList<>();
      for (var violation : gate.validate(Request.of("orders", wrong)).report().violations()) {
        paths.add(violation.path());
      }
      assertTrue(
          paths.containsAll(List.of("$.id", "$.lines[0].count", "$.sizes[0]", "$.prices.b", "$")), paths.toString());
    }
  }

  @Test
  void typesWithoutASchemaAreNamed() {
    record Case(Class<?> type, String place) {}
    for (var one :
        List.of(
            new Case(Late.class, "Late.times: java.time.Instant"),
            new Case(Tree.class, "Tree.children: dev.seamgate.ContractTest$Tree"),
            new Case(Generic.class, "Generic.value: T"),
            new Case(String.class, "schema: java.lang.String is not a record"))) {
      var thrown = assertThrows(IllegalArgumentException.class, () -> Contract.of("a", one.type));
      assertTrue(thrown.getMessage().startsWith(one.place), thrown.getMessage());
    }
  }
}
