// Made by `cargo xtask generate` from `wit/` and `xtask/generate/`. Do not edit: run it again.

package dev.seamgate;

import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The verdict on one output. It is data, never an exception.
 *
 * @param disposition The outcome for the output.
 * @param agent The agent that produced the output.
 * @param schemaId The schema's {@code $id}, if it has one.
 * @param contract The digest of the contract: {@code sha256:} and 64 hexadecimal digits.
 * @param output The validated document as JSON text without optional white space. Numbers keep their digits. None if
 * nothing was accepted.
 * @param error The error. None unless violations rejected the output.
 * @param items The valid items, if the output is rejected, so that they are not lost. Empty otherwise.
 * @param quarantined At most 1,000 quarantined items, in the order of the items. {@code notes} says if there were more.
 * @param changes The changes that were made to the text before validation.
 * @param candidates The candidates that were found: the first 64 and the chosen one. {@code notes} says if there were
 * more.
 * @param notes Further information for the caller: limits that were reached, checks that never applied, the span of
 * each piece of the output that was left out as reasoning or as prose, and whether JSON was taken from prose.
 * @param reviewRequired True if a person should review the output before it is used, because it is partial.
 * @param feedback At most 2,048 bytes to send back to the producer: what was wrong and where. Empty if the output is
 * accepted. If some items were kept and others are still wanted, it requests only those, and {@code merge} combines the
 * answers.
 * @param wanted The content that {@code feedback} requests.
 * @param merged If {@code merge} made this report, the use that it made of each report after the base. Empty otherwise.
 */
public record ReportDocument(
    Disposition disposition,
    String agent,
    @Nullable String schemaId,
    String contract,
    @Nullable String output,
    @Nullable OutputError error,
    List<Item> items,
    List<Quarantined> quarantined,
    List<Change> changes,
    List<Candidate> candidates,
    List<String> notes,
    boolean reviewRequired,
    String feedback,
    Wanted wanted,
    List<MergeStep> merged) {
  /** Copies what could change. */
  public ReportDocument {
    items = List.copyOf(items);
    quarantined = List.copyOf(quarantined);
    changes = List.copyOf(changes);
    candidates = List.copyOf(candidates);
    notes = List.copyOf(notes);
    merged = List.copyOf(merged);
  }

  static ReportDocument read(Json json) {
    return new ReportDocument(
        json.need("disposition", Disposition::read),
        json.need("agent", Json::asText),
        json.find("schema_id", Json::asText),
        json.need("contract", Json::asText),
        json.find("output", Json::raw),
        json.find("error", OutputError::read),
        json.need("items", Json.list(Item::read)),
        json.need("quarantined", Json.list(Quarantined::read)),
        json.need("changes", Json.list(Change::read)),
        json.need("candidates", Json.list(Candidate::read)),
        json.need("notes", Json.list(Json::asText)),
        json.need("review_required", Json::asBoolean),
        json.need("feedback", Json::asText),
        json.need("wanted", Wanted::read),
        json.need("merged", Json.list(MergeStep::read)));
  }
}
