package dev.seamgate.recipes;

import dev.seamgate.Gate;
import dev.seamgate.Outcome;
import dev.seamgate.Produced;
import dev.seamgate.Request;
import java.util.ArrayList;
import java.util.List;
import org.springframework.ai.chat.client.ChatClientRequest;
import org.springframework.ai.chat.client.ChatClientResponse;
import org.springframework.ai.chat.client.advisor.api.CallAdvisor;
import org.springframework.ai.chat.client.advisor.api.CallAdvisorChain;
import org.springframework.ai.chat.messages.AssistantMessage;
import org.springframework.ai.chat.messages.Message;
import org.springframework.ai.chat.messages.UserMessage;
import org.springframework.ai.chat.model.ChatResponse;
import org.springframework.ai.chat.model.Generation;

/**
 * The gate as an advisor of Spring AI's chat client. It asks the model again with the gate's feedback, as often as the
 * contract's {@code retry.limit} says. The client gets the validated document, and nothing around it.
 */
public final class SpringAiAdvisor implements CallAdvisor {
  private final Gate gate;
  private final String agent;

  /** Judges by the contract of an agent, which is registered. */
  public SpringAiAdvisor(Gate gate, String agent) {
    this.gate = gate;
    this.agent = agent;
  }

  @Override
  public ChatClientResponse adviseCall(ChatClientRequest request, CallAdvisorChain chain) {
    List<Message> messages = new ArrayList<>(request.prompt().getInstructions());
    Outcome outcome = gate.run(Request.of(agent), false, (feedback, attempt) -> {
      if (attempt > 1) {
        messages.add(new UserMessage(feedback));
      }
      var prompt = request.prompt().mutate().messages(List.copyOf(messages)).build();
      var again = request.mutate().prompt(prompt).build();
      // Each attempt goes through the advisors after this one.
      Generation answer = chain.copy(this).nextCall(again).chatResponse().getResult();
      messages.add(answer.getOutput());
      String text = answer.getOutput().getText();
      return new Produced(text == null ? "" : text, answer.getMetadata().getFinishReason());
    });
    if (!outcome.isUsable()) {
      throw new IllegalStateException("no valid output (" + outcome.stop().word() + "): " + outcome.report().feedback());
    }
    var document = new AssistantMessage(outcome.report().output());
    var response = new ChatResponse(List.of(new Generation(document)));
    return new ChatClientResponse(response, request.context());
  }

  @Override
  public String getName() {
    return "seamgate";
  }

  @Override
  public int getOrder() {
    return 0;
  }
}
