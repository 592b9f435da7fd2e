// Made by `cargo xtask generate` from `wit/` and `xtask/generate/`. Do not edit: run it again.

package dev.seamgate;

import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The verdict on one output. Data, never an exception.
 *
 * @param disposition What became of the output.
 * @param agent The agent whose output it is.
 * @param schemaId The schema's {@code $id}, where it has one.
 * @param contract The digest of the contract, {@code sha256:} and 64 hexadecimal digits.
 * @param output The validated document as JSON text without optional white space, numbers with the digits they were
 * written with. None unless something was accepted.
 * @param error None unless violations rejected the output.
 * @param items The items that are valid, where the output is rejected: nothing of worth is lost with it. Empty
 * otherwise.
 * @param quarantined At most 1,000, in the order of the items; {@code notes} says where there were more.
 * @param changes What was changed in the text before it was validated.
 * @param candidates Those found, chosen or not: the first 64 and the chosen one; {@code notes} says where there were
 * more.
 * @param notes What else a caller should know: limits that were reached, checks that were inert, the span of each piece
 * of the output that was left out as reasoning or as prose, and whether JSON was taken from prose.
 * @param reviewRequired Whether a person should look before the output is used: it is partial.
 * @param feedback At most 2,048 bytes to send back to the producer: what was wrong and where. Empty when accepted.
 * Where some items were kept and others are still wanted, it asks for those alone: {@code merge} puts the answers
 * together.
 * @param wanted What {@code feedback} asks for.
 * @param merged Where {@code merge} made this report: what it did with each report after the one that it built on.
 * Empty otherwise.
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
