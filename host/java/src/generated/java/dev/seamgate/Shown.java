// Made by `cargo xtask generate` from `schemas/` and `xtask/generate/`. Do not edit: run it again.

package dev.seamgate;

/**
 * The truncation: the number of items or lines that are shown, and the total number.
 */
public record Shown(
    ShownUnit unit,
    long head,
    long tail,
    long of) {
  static Shown read(Json json) {
    return new Shown(
        json.need("unit", ShownUnit::read),
        json.need("head", Json::asLong),
        json.need("tail", Json::asLong),
        json.need("of", Json::asLong));
  }
}
