"""Defaults of limits.

Made by `cargo xtask generate` from `wit/` and `xtask/generate/`. Do not edit: run it again.
"""

FUEL = 100_000_000
FUEL_PER_BYTE = 500
CONTRACT_FUEL = 500_000_000
CONTRACT_FUEL_PER_BYTE = 2_500
MEMORY = 67_108_864
TIMEOUT = 5
OUTPUT_BYTES = 8_388_608
STACK = 524_288
