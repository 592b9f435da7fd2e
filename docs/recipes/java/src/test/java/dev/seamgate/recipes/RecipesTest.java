package dev.seamgate.recipes;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.langchain4j.data.message.AiMessage;
import dev.langchain4j.data.message.UserMessage;
import dev.langchain4j.guardrail.OutputGuardrailException;
import dev.langchain4j.guardrail.config.OutputGuardrailsConfig;
import dev.langchain4j.model.chat.request.ChatRequest;
import dev.langchain4j.service.AiServices;
import dev.seamgate.Contract;
import dev.seamgate.Gate;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.springframework.ai.chat.client.ChatClient;
import org.springframework.ai.chat.messages.AssistantMessage;
import org.springframework.ai.chat.model.ChatModel;
import org.springframework.ai.chat.model.ChatResponse;
import org.springframework.ai.chat.model.Generation;

/** Runs the recipes with a script in the place of a model. */
class RecipesTest {
  private static final String SCHEMA =
      """
      {"type":"object","required":["id","count"],"properties":{
        "id":{"type":"string"},"count":{"type":"integer","minimum":1}}}""";
  private static final String VALID = "{\"id\":\"A-7\",\"count\":2}";
  private static final String INVALID = "{\"id\":\"A-7\",\"count\":0}";
  private static final String FENCED = "Here it is:\n```json\n" + VALID + "\n```\n";

  private static Gate gate;

  @BeforeAll
  static void open() {
    gate = Gate.create();
    gate.register(Contract.of("orders", SCHEMA, Map.of("retry", "{\"limit\":2}")));
  }

  @AfterAll
  static void close() {
    gate.close();
  }

  /** A model with scripted answers, which keeps its last prompt. */
  private static final class Script {
    private final List<String> says;
    private final List<String> told = new ArrayList<>();

    Script(String... says) {
      this.says = List.of(says);
    }

    String next(String last) {
      told.add(last);
      return says.get(Math.min(told.size(), says.size()) - 1);
    }
  }

  interface Orders {
    String order(String question);
  }

  private static Orders langChain4j(Script script) {
    var model =
        new dev.langchain4j.model.chat.ChatModel() {
          @Override
          public dev.langchain4j.model.chat.response.ChatResponse doChat(ChatRequest request) {
            var messages = request.messages();
            var last = (UserMessage) messages.get(messages.size() - 1);
            var answer = AiMessage.from(script.next(last.singleText()));
            return dev.langchain4j.model.chat.response.ChatResponse.builder().aiMessage(answer).build();
          }
        };
    return AiServices.builder(Orders.class)
        .chatModel(model)
        .outputGuardrails(new LangChain4jGuardrail(gate, "orders"))
        .outputGuardrailsConfig(OutputGuardrailsConfig.builder().maxRetries(2).build())
        .build();
  }

  @Test
  void langChain4jAsksAgainWithTheFeedback() {
    var script = new Script(INVALID, FENCED);
    assertEquals(VALID, langChain4j(script).order("an order"));
    assertEquals(2, script.told.size());
    assertTrue(script.told.get(1).contains("$.count"), script.told.get(1));
  }

  @Test
  void langChain4jGivesUp() {
    var script = new Script(INVALID);
    assertThrows(OutputGuardrailException.class, () -> langChain4j(script).order("an order"));
    assertTrue(script.told.size() <= 3, script.told.toString());
  }

  private static ChatClient springAi(Script script) {
    ChatModel model =
        prompt -> {
          var messages = prompt.getInstructions();
          var answer = new AssistantMessage(script.next(messages.get(messages.size() - 1).getText()));
          return new ChatResponse(List.of(new Generation(answer)));
        };
    return ChatClient.builder(model).defaultAdvisors(new SpringAiAdvisor(gate, "orders")).build();
  }

  @Test
  void springAiAsksAgainWithTheFeedback() {
    var script = new Script(INVALID, FENCED);
    assertEquals(VALID, springAi(script).prompt("an order").call().content());
    assertEquals(2, script.told.size());
    assertTrue(script.told.get(1).contains("$.count"), script.told.get(1));
  }

  @Test
  void springAiGivesUp() {
    var script = new Script(INVALID);
    var call = springAi(script).prompt("an order").call();
    assertThrows(IllegalStateException.class, call::content);
    assertEquals(2, script.told.size());
  }

  @Test
  void springAiConvertsAValidAnswer() {
    record Order(String json) {}
    var converter = new SpringAiConverter<Order>(gate, "orders", Order::new);
    assertTrue(converter.getFormat().contains("count"));
    assertEquals(new Order(VALID), converter.convert(FENCED));
    assertThrows(IllegalStateException.class, () -> converter.convert(INVALID));
    var script = new Script(VALID);
    assertEquals(new Order(VALID), springAi(script).prompt("an order").call().entity(converter));
    assertTrue(script.told.get(0).contains("count"), script.told.get(0));
  }
}
