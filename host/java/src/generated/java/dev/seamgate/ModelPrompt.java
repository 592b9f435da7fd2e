// Made by `cargo xtask generate` from `schemas/` and `xtask/generate/`. Do not edit: run it again.

package dev.seamgate;

import java.util.List;

/**
 * The request to the model.
 *
 * @param tools The surface: the tools that the model may call now.
 */
public record ModelPrompt(
    List<PromptMessage> messages,
    List<VisibleTool> tools) {
  /** Copies what could change. */
  public ModelPrompt {
    messages = List.copyOf(messages);
    tools = List.copyOf(tools);
  }

  static ModelPrompt read(Json json) {
    return new ModelPrompt(
        json.need("messages", Json.list(PromptMessage::read)),
        json.need("tools", Json.list(VisibleTool::read)));
  }
}
