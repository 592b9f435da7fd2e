// Made by `cargo xtask generate` from `schemas/` and `xtask/generate/`. Do not edit: run it again.

package dev.seamgate;

/**
 * The next action of the host. {@code advance} decides it, and the host performs it. Each action has its own key.
 */
public sealed interface Action
    permits AskModelAction,
        ExecuteAction,
        AskApprovalAction,
        AskInputAction,
        DelegateAction,
        CancelAction,
        FinishAction {
  /** Reads one of JSON text. */
  static Action of(String json) {
    return read(Json.parse(json));
  }

  private static Action read(Json json) {
    String type = json.need("type", Json::asText);
    return switch (type) {
      case "ask_model" -> AskModelAction.read(json);
      case "execute" -> ExecuteAction.read(json);
      case "ask_approval" -> AskApprovalAction.read(json);
      case "ask_input" -> AskInputAction.read(json);
      case "delegate" -> DelegateAction.read(json);
      case "cancel" -> CancelAction.read(json);
      case "finish" -> FinishAction.read(json);
      default -> throw new IllegalArgumentException(
          "the type " + type + " is unknown: the kernel is of another version");
    };
  }
}
