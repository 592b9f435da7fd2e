// Made by `cargo xtask generate` from `schemas/` and `xtask/generate/`. Do not edit: run it again.

package dev.seamgate;

/**
 * The profile was edited. Until the run ends, a call must satisfy both the edited profile and the one with which the
 * run started. A later event of this kind replaces the edited profile.
 *
 * @param at when, in milliseconds since 1970.
 * @param profile The edited profile: see profile.schema.json.
 */
public record ProfileEvent(
    long at,
    String profile) implements RunEvent {
  static ProfileEvent read(Json json) {
    return new ProfileEvent(
        json.need("at", Json::asLong),
        json.need("profile", Json::raw));
  }

  @Override
  public String toJson() {
    return JsonWriter.written(this::members);
  }

  private void members(JsonWriter to) {
    to.member("type", "profile", JsonWriter::text);
    to.member("at", at, JsonWriter::number);
    to.member("profile", profile, JsonWriter::raw);
  }
}
