// Made by `cargo xtask generate` from `schemas/` and `xtask/generate/`. Do not edit: run it again.

package dev.seamgate;

import java.util.List;

/**
 * The reasons for which the call may not run, or needs approval.
 *
 * @param message The text for people.
 */
public record Reason(
    ReasonCode code,
    String message,
    List<Violation> violations) {
  /** Copies what could change. */
  public Reason {
    violations = List.copyOf(violations);
  }

  static Reason read(Json json) {
    return new Reason(
        json.need("code", ReasonCode::read),
        json.need("message", Json::asText),
        json.need("violations", Json.list(Violation::read)));
  }
}
