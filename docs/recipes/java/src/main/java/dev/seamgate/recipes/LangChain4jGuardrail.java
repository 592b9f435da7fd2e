package dev.seamgate.recipes;

import dev.langchain4j.guardrail.OutputGuardrail;
import dev.langchain4j.guardrail.OutputGuardrailRequest;
import dev.langchain4j.guardrail.OutputGuardrailResult;
import dev.seamgate.Disposition;
import dev.seamgate.Gate;
import dev.seamgate.Report;
import dev.seamgate.Request;

/**
 * The gate as an output guardrail of an AI service in LangChain4j. A rejected answer is asked for again with the gate's
 * feedback, as often as {@code maxRetries} says; the service returns the validated document, and nothing around it.
 */
public final class LangChain4jGuardrail implements OutputGuardrail {
  private final Gate gate;
  private final String agent;

  /** Judges by the contract of an agent, which is registered. */
  public LangChain4jGuardrail(Gate gate, String agent) {
    this.gate = gate;
    this.agent = agent;
  }

  @Override
  public OutputGuardrailResult validate(OutputGuardrailRequest request) {
    var response = request.responseFromLLM();
    String text = response.aiMessage().text();
    var judged = Request.of(agent, text == null ? "" : text);
    if (response.finishReason() != null) {
      judged = judged.finish(response.finishReason().name());
    }
    Report report = gate.validate(judged).report();
    if (report.disposition() == Disposition.ACCEPTED) {
      return successWith(report.output());
    }
    var error = report.document().error();
    if (report.disposition() == Disposition.REFUSED || (error != null && !error.retryable())) {
      // Another attempt cannot help.
      return fatal("The output was " + report.disposition().word() + ".");
    }
    return reprompt(message(report), report.feedback());
  }

  private static String message(Report report) {
    return report.violations().isEmpty()
        ? "The output is partial."
        : report.violations().get(0).path() + ": " + report.violations().get(0).message();
  }
}
