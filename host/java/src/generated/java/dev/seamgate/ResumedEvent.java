// Made by `cargo xtask generate` from `schemas/` and `xtask/generate/`. Do not edit: run it again.

package dev.seamgate;

import org.jspecify.annotations.Nullable;

/**
 * The host restarts after an interruption.
 *
 * @param at when, in milliseconds since 1970.
 * @param listed The tools that servers list now, as in {@code tools_listed}.
 */
public record ResumedEvent(
    long at,
    @Nullable String listed) implements RunEvent {
  /** Returns one with what it must have. */
  public static ResumedEvent of(long at) {
    return new ResumedEvent(at, null);
  }

  /** Returns the same with another {@code listed}. */
  public ResumedEvent withListed(String listed) {
    return new ResumedEvent(at, listed);
  }

  static ResumedEvent read(Json json) {
    return new ResumedEvent(
        json.need("at", Json::asLong),
        json.find("listed", Json::raw));
  }

  @Override
  public String toJson() {
    return JsonWriter.written(this::members);
  }

  private void members(JsonWriter to) {
    to.member("type", "resumed", JsonWriter::text);
    to.member("at", at, JsonWriter::number);
    to.member("listed", listed, JsonWriter::raw);
  }
}
