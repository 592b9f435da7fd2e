// Made by `cargo xtask generate` from `schemas/` and `xtask/generate/`. Do not edit: run it again.

package dev.seamgate;

/**
 * The used budget when the run ended.
 *
 * @param steps The number of calls of the model.
 * @param budgets The used budget: see facts.schema.json.
 */
public record UsedRecord(
    long steps,
    BudgetUse budgets) implements RunRecord {
  static UsedRecord read(Json json) {
    return new UsedRecord(
        json.need("steps", Json::asLong),
        json.need("budgets", BudgetUse::read));
  }
}
