// Made by `cargo xtask generate` from `wit/` and `xtask/generate/`. Do not edit: run it again.

export const FUEL = 100_000_000;
export const FUEL_PER_BYTE = 500;
export const CONTRACT_FUEL = 500_000_000;
export const CONTRACT_FUEL_PER_BYTE = 2_500;
export const MEMORY = 67_108_864;
export const OUTPUT_BYTES = 8_388_608;
