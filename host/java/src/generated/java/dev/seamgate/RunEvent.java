// Made by `cargo xtask generate` from `schemas/` and `xtask/generate/`. Do not edit: run it again.

package dev.seamgate;

/**
 * A fact from outside that {@code advance} applies. The host sets its time. An event that does not fit the run is
 * recorded, and changes nothing.
 */
public sealed interface RunEvent
    permits StartedEvent,
        ToolsListedEvent,
        ModelOutputEvent,
        ModelFailedEvent,
        CallEvent,
        ToolStartedEvent,
        ToolResultEvent,
        ToolFailedEvent,
        JobEvent,
        ApprovalEvent,
        InputEvent,
        UserMessageEvent,
        SaidEvent,
        StoresEvent,
        ContextEvent,
        ResolutionEvent,
        ModeEvent,
        ProfileEvent,
        ChildResultEvent,
        CallCancelledEvent,
        CancelledEvent,
        MessageEvent,
        TickEvent,
        ResumedEvent {
  /** Returns the event as JSON text. */
  String toJson();

  /** Reads one of JSON text. */
  static RunEvent of(String json) {
    return read(Json.parse(json));
  }

  private static RunEvent read(Json json) {
    String type = json.need("type", Json::asText);
    return switch (type) {
      case "started" -> StartedEvent.read(json);
      case "tools_listed" -> ToolsListedEvent.read(json);
      case "model_output" -> ModelOutputEvent.read(json);
      case "model_failed" -> ModelFailedEvent.read(json);
      case "call" -> CallEvent.read(json);
      case "tool_started" -> ToolStartedEvent.read(json);
      case "tool_result" -> ToolResultEvent.read(json);
      case "tool_failed" -> ToolFailedEvent.read(json);
      case "job" -> JobEvent.read(json);
      case "approval" -> ApprovalEvent.read(json);
      case "input" -> InputEvent.read(json);
      case "user_message" -> UserMessageEvent.read(json);
      case "said" -> SaidEvent.read(json);
      case "stores" -> StoresEvent.read(json);
      case "context" -> ContextEvent.read(json);
      case "resolution" -> ResolutionEvent.read(json);
      case "mode" -> ModeEvent.read(json);
      case "profile" -> ProfileEvent.read(json);
      case "child_result" -> ChildResultEvent.read(json);
      case "call_cancelled" -> CallCancelledEvent.read(json);
      case "cancelled" -> CancelledEvent.read(json);
      case "message" -> MessageEvent.read(json);
      case "tick" -> TickEvent.read(json);
      case "resumed" -> ResumedEvent.read(json);
      default -> throw new IllegalArgumentException(
          "the type " + type + " is unknown: the kernel is of another version");
    };
  }
}
