// Made by `cargo xtask generate` from `schemas/` and `xtask/generate/`. Do not edit: run it again.

package dev.seamgate;

/**
 * How much was used when the run ended.
 *
 * @param steps How often the model was asked.
 * @param budgets The use of budgets: see facts.schema.json.
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
