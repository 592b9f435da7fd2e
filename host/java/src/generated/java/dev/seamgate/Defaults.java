// Made by `cargo xtask generate` from `wit/` and `xtask/generate/`. Do not edit: run it again.

package dev.seamgate;

/** Defaults of limits. */
final class Defaults {
  static final long FUEL = 100_000_000L;

  static final long FUEL_PER_BYTE = 500L;

  static final long CONTRACT_FUEL = 500_000_000L;

  static final long CONTRACT_FUEL_PER_BYTE = 2_500L;

  static final long MEMORY = 67_108_864L;

  static final long TIMEOUT = 5L;

  static final long OUTPUT_BYTES = 8_388_608L;

  private Defaults() {}
}
