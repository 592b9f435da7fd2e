package dev.seamgate;

import java.nio.charset.StandardCharsets;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** An output to judge, with its options. It is immutable: each method returns a new object. */
public final class Request {
  private final @Nullable String agent;
  private final @Nullable String contract;
  private final String output;

  /** The offset of the first byte of the output that is not UTF-8; -1 if there is none. */
  private final int invalid;

  private final long bytes;
  private final @Nullable String finish;
  private final @Nullable Map<String, List<String>> lists;
  private final @Nullable List<Seen> evidence;

  private Request(
      @Nullable String agent,
      @Nullable String contract,
      Output output,
      @Nullable String finish,
      @Nullable Map<String, List<String>> lists,
      @Nullable List<Seen> evidence) {
    this.agent = agent;
    this.contract = contract;
    this.output = output.text;
    this.invalid = output.invalid;
    this.bytes = output.bytes;
    this.finish = finish;
    this.lists = lists;
    this.evidence = evidence;
  }

  private record Output(String text, int invalid, long bytes) {
    static Output of(String text) {
      return new Output(text, -1, Texts.bytes(text));
    }

    static Output of(byte[] bytes) {
      var decoded = Texts.decode(bytes);
      return new Output(decoded.text(), decoded.invalid(), bytes.length);
    }
  }

  /** Returns a request without an output yet, for the registered contract of an agent. */
  public static Request of(String agent) {
    return new Request(agent, null, Output.of(""), null, null, null);
  }

  /** Returns a request for a verdict on an agent's output, prose and fences included. */
  public static Request of(String agent, String output) {
    return of(agent).output(output);
  }

  /** Returns a request with a contract to judge by without registering it, as JSON text. */
  public static Request under(String contract, String output) {
    return new Request(null, contract, Output.of(output), null, null, null);
  }

  private Output output() {
    return new Output(output, invalid, bytes);
  }

  /** Sets the agent's output. */
  public Request output(String output) {
    return new Request(agent, contract, Output.of(output), finish, lists, evidence);
  }

  /** Sets the agent's output in UTF-8. If it has other bytes, it is rejected, and the report names their position. */
  public Request output(byte[] output) {
    return new Request(agent, contract, Output.of(output), finish, lists, evidence);
  }

  /** Sets the reason why the producer stopped. Default: unknown. */
  public Request finish(Finish finish) {
    return finish(finish.word());
  }

  /**
   * Sets the reason why the producer stopped, in its API's own words: {@code end_turn}, {@code MAX_TOKENS} and so on.
   */
  public Request finish(String finish) {
    return new Request(agent, contract, output(), finish, lists, evidence);
  }

  /** Adds a list that the contract's {@code allow} names. */
  public Request list(String name, List<String> values) {
    Map<String, List<String>> more = lists == null ? new LinkedHashMap<>() : new LinkedHashMap<>(lists);
    more.put(name, List.copyOf(values));
    return new Request(agent, contract, output(), finish, more, evidence);
  }

  /** Sets the results that the agent saw. A contract with {@code evidence} requires them, but the list may be empty. */
  public Request evidence(List<Seen> evidence) {
    return new Request(agent, contract, output(), finish, lists, List.copyOf(evidence));
  }

  @Nullable String agent() {
    return agent;
  }

  @Nullable String contract() {
    return contract;
  }

  /** A request as JSON text, and the number of its bytes that count towards fuel. */
  record Written(byte[] text, long bytes) {
    static Written of(String text) {
      byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
      return new Written(bytes, bytes.length);
    }
  }

  /** Writes the request for a verdict. */
  Written validation(Limits limits) {
    limits.checkSize(bytes);
    var text = new StringBuilder(output.length() + output.length() / 8 + 256).append('{');
    if (contract != null) {
      text.append("\"contract\":").append(Texts.document("contract", contract, FaultCode.BAD_CONTRACT));
    } else {
      text.append("\"agent\":");
      Texts.quote(text, agent == null ? "" : agent);
    }
    text.append(",\"output\":");
    Texts.quote(text, output);
    int evidence = extras(text, true);
    limits.checkSize(bytes + evidence);
    if (invalid >= 0) {
      text.append(",\"invalid_utf8\":").append(invalid);
    }
    // Escapes count as well.
    return Written.of(text.append('}').toString());
  }

  /** Appends the options of an output. Returns the size of the evidence in bytes. */
  int extras(StringBuilder text, boolean withFinish) {
    if (withFinish && finish != null) {
      text.append(",\"finish\":");
      Texts.quote(text, finish);
    }
    var more = lists;
    if (more != null) {
      text.append(",\"lists\":").append(JsonWriter.value(more, JsonWriter.map(JsonWriter.list(JsonWriter::text))));
    }
    if (evidence == null) {
      return 0;
    }
    String written = JsonWriter.value(evidence, JsonWriter.list(Seen::write));
    text.append(",\"evidence\":").append(written);
    return Texts.bytes(written);
  }
}
