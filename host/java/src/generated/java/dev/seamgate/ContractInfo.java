// Made by `cargo xtask generate` from `wit/` and `xtask/generate/`. Do not edit: run it again.

package dev.seamgate;

import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A registered contract.
 *
 * @param agent The agent whose outputs it judges.
 * @param version The version of the contract.
 * @param schemaId The schema's {@code $id}, if it has one.
 * @param contract See {@code report.contract}.
 * @param retryLimit The number of times that the producer may be asked again.
 * @param lists The lists that its {@code allow} names, in ascending order of their bytes.
 */
public record ContractInfo(
    String agent,
    String version,
    @Nullable String schemaId,
    String contract,
    long retryLimit,
    List<String> lists) {
  /** Copies what could change. */
  public ContractInfo {
    lists = List.copyOf(lists);
  }

  static ContractInfo read(Json json) {
    return new ContractInfo(
        json.need("agent", Json::asText),
        json.need("version", Json::asText),
        json.find("schema_id", Json::asText),
        json.need("contract", Json::asText),
        json.need("retry_limit", Json::asLong),
        json.need("lists", Json.list(Json::asText)));
  }
}
