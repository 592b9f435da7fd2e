package dev.seamgate;

import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The result of applying one event to a run ({@code schemas/step.schema.json}).
 *
 * @param step the number of events that the run has had.
 * @param state the new state. Pass it to the next {@link Gate#advance}, unchanged. Null if the step has {@code need}.
 * @param records the decisions of this step.
 * @param actions the actions that the host must take next.
 * @param wakeAt the time of the next timeout, in milliseconds since 1970. Send a {@link TickEvent} then. Null if there
 *     is none.
 * @param need the digests of artifacts that the step needs. If there are any, all other components are empty: send the
 *     same event again, with its artifacts.
 * @param json the step as JSON text, the same bytes as in every other runtime.
 */
public record Step(
    long step,
    @Nullable String state,
    List<RunRecord> records,
    List<Action> actions,
    @Nullable Long wakeAt,
    List<String> need,
    String json) {
  static Step read(Json json) {
    Long step = json.find("step", Json::asLong);
    List<RunRecord> records = json.find("records", Json.list(record -> RunRecord.of(record.raw())));
    List<Action> actions = json.find("actions", Json.list(action -> Action.of(action.raw())));
    List<String> need = json.find("need", Json.list(Json::asText));
    return new Step(
        step == null ? 0 : step,
        json.find("state", Json::raw),
        records == null ? List.of() : records,
        actions == null ? List.of() : actions,
        json.find("wake_at", Json::asLong),
        need == null ? List.of() : need,
        json.raw());
  }
}
