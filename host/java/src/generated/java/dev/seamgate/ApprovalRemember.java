// Made by `cargo xtask generate` from `schemas/` and `xtask/generate/`. Do not edit: run it again.

package dev.seamgate;

import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The approval also covers further calls of this run: those of the same tool with the same arguments except some, as
 * long as they need approval for no other reason. Not allowed with a token.
 *
 * @param any The names of the arguments that may differ or be missing.
 * @param times The number of further calls that it covers.
 * @param ttlS The time for which it is valid, in seconds from now.
 */
public record ApprovalRemember(
    @Nullable List<String> any,
    @Nullable Long times,
    @Nullable Long ttlS) {
  /** Copies what could change. */
  public ApprovalRemember {
    any = any == null ? null : List.copyOf(any);
  }

  /** Returns one with what it must have. */
  public static ApprovalRemember of() {
    return new ApprovalRemember(null, null, null);
  }

  /** Returns the same with another {@code any}. */
  public ApprovalRemember withAny(List<String> any) {
    return new ApprovalRemember(any, times, ttlS);
  }

  /** Returns the same with another {@code times}. */
  public ApprovalRemember withTimes(Long times) {
    return new ApprovalRemember(any, times, ttlS);
  }

  /** Returns the same with another {@code ttlS}. */
  public ApprovalRemember withTtlS(Long ttlS) {
    return new ApprovalRemember(any, times, ttlS);
  }

  static ApprovalRemember read(Json json) {
    return new ApprovalRemember(
        json.find("any", Json.list(Json::asText)),
        json.find("times", Json::asLong),
        json.find("ttl_s", Json::asLong));
  }

  static void write(JsonWriter to, ApprovalRemember value) {
    to.object(value::members);
  }

  private void members(JsonWriter to) {
    to.member("any", any, JsonWriter.list(JsonWriter::text));
    to.member("times", times, JsonWriter::number);
    to.member("ttl_s", ttlS, JsonWriter::number);
  }
}
