package dev.seamgate.recipes;

import dev.seamgate.Gate;
import dev.seamgate.Report;
import dev.seamgate.Request;
import org.springframework.ai.converter.StructuredOutputConverter;

/**
 * The gate as a structured output converter of Spring AI: the prompt gets the contract's description, and the answer becomes
 * a value only if it was accepted.
 */
public final class SpringAiConverter<T> implements StructuredOutputConverter<T> {
  private final Gate gate;
  private final String agent;
  private final Report.Decoder<T, RuntimeException> decoder;

  /** Judges by the contract of an agent, which is registered. The decoder makes the value of JSON text. */
  public SpringAiConverter(Gate gate, String agent, Report.Decoder<T, RuntimeException> decoder) {
    this.gate = gate;
    this.agent = agent;
    this.decoder = decoder;
  }

  @Override
  public String getFormat() {
    return gate.describe(agent);
  }

  @Override
  public T convert(String text) {
    Report report = gate.validate(Request.of(agent, text)).report();
    if (!report.isAccepted()) {
      throw new IllegalStateException("the output was " + report.disposition().word() + ": " + report.feedback());
    }
    return report.decode(decoder);
  }
}
