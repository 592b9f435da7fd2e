// Made by `cargo xtask generate` from `schemas/` and `xtask/generate/`. Do not edit: run it again.

package dev.seamgate;

/**
 * A decision of a step. It is in the journal beside the event.
 */
public sealed interface RunRecord
    permits IgnoredRecord,
        LeftOutRecord,
        SurfaceRecord,
        OutputRecord,
        DecisionRecord,
        JoinedRecord,
        ObservationRecord,
        SettledRecord,
        CutRecord,
        StopRecord,
        ContextRequestRecord,
        UsedRecord,
        MessageRecord {
  /** Reads one of JSON text. */
  static RunRecord of(String json) {
    return read(Json.parse(json));
  }

  private static RunRecord read(Json json) {
    String type = json.need("type", Json::asText);
    return switch (type) {
      case "ignored" -> IgnoredRecord.read(json);
      case "left_out" -> LeftOutRecord.read(json);
      case "surface" -> SurfaceRecord.read(json);
      case "output" -> OutputRecord.read(json);
      case "decision" -> DecisionRecord.read(json);
      case "joined" -> JoinedRecord.read(json);
      case "observation" -> ObservationRecord.read(json);
      case "settled" -> SettledRecord.read(json);
      case "cut" -> CutRecord.read(json);
      case "stop" -> StopRecord.read(json);
      case "context_request" -> ContextRequestRecord.read(json);
      case "used" -> UsedRecord.read(json);
      case "message" -> MessageRecord.read(json);
      default -> throw new IllegalArgumentException(
          "the type " + type + " is unknown: the kernel is of another version");
    };
  }
}
