"""What one call may use."""

from __future__ import annotations

import math

from ._defaults import (
    CONTRACT_FUEL,
    CONTRACT_FUEL_PER_BYTE,
    FUEL,
    FUEL_PER_BYTE,
    MEMORY,
    OUTPUT_BYTES,
    STACK,
    TIMEOUT,
)
from ._records import dataclass


@dataclass(frozen=True)
class Limits:
    """Bounds on one call into the sandbox. Passing one is a `SeamgateFault`, never a verdict.

    Attributes:
        fuel: Fuel for each call, about one unit for each WebAssembly instruction. The same request takes the same fuel
            on every machine, by one version of Wasmtime. Default: 100,000,000, and 500 for each byte of output and
            contract, as JSON text.
        contract_fuel: Fuel for compiling one contract that is registered, beside that for the call: whoever wrote it is
            trusted more than who wrote the output. Not for one that comes with a call. Default: 500,000,000, and 2,500
            for each of its bytes, as JSON text.
        memory: Linear memory of one instance, in bytes. Default: 64 MiB.
        timeout_seconds: Wall clock for each call, kept to some 20 ms. The net under the fuel. Default: 5.
        output_bytes: Longest output, in bytes of UTF-8; looked at before the sandbox is entered. Default: 8 MiB.
        stack: The stack of an instance, in bytes; at most 4 MiB. The thread that calls must have as much and 256 KiB
            more. Default: 512 KiB. The native backend has no other.

    Raises:
        TypeError: A limit is not a number.
        ValueError: A limit is not one that can be kept.
    """

    fuel: int | None = None
    memory: int = MEMORY
    timeout_seconds: float = float(TIMEOUT)
    output_bytes: int = OUTPUT_BYTES
    stack: int = STACK
    contract_fuel: int | None = None

    def __post_init__(self) -> None:
        if self.fuel is not None:
            _whole("fuel", self.fuel, 1, 2**63)
        if self.contract_fuel is not None:
            _whole("contract_fuel", self.contract_fuel, 1, 2**63)
        _whole("memory", self.memory, 64 * 1024, 2**32)
        _whole("output_bytes", self.output_bytes, 0, 2**32 - 1)
        _whole("stack", self.stack, 64 * 1024, 4 * 1024 * 1024)
        if isinstance(self.timeout_seconds, bool) or not isinstance(self.timeout_seconds, (int, float)):
            raise TypeError(f"timeout_seconds must be a number of seconds, not {type(self.timeout_seconds).__name__}")
        if not (math.isfinite(self.timeout_seconds) and 0 < self.timeout_seconds <= 86_400):
            raise ValueError(f"timeout_seconds must be more than 0 and at most 86,400, not {self.timeout_seconds}")

    def fuel_for(self, size: int) -> int:
        """The fuel for a call on so many bytes of output and contract."""
        return FUEL + FUEL_PER_BYTE * size if self.fuel is None else self.fuel

    def fuel_for_contract(self, size: int) -> int:
        """The fuel for compiling a contract of so many bytes."""
        return CONTRACT_FUEL + CONTRACT_FUEL_PER_BYTE * size if self.contract_fuel is None else self.contract_fuel


def _whole(name: str, value: object, least: int, most: int) -> None:
    if isinstance(value, bool) or not isinstance(value, int):
        raise TypeError(f"{name} must be a whole number, not {type(value).__name__}")
    if not least <= value <= most:
        raise ValueError(f"{name} must be from {least} to {most}, not {value}")


@dataclass(frozen=True)
class Usage:
    """What one call used. Beside the report, never inside it.

    Attributes:
        fuel: Fuel used.
        elapsed_seconds: Wall clock from entering the sandbox to leaving it.
        component: Which component used it: `sha256:` and the digest of its bytes. Fuel is comparable only under the
            same one.
        memory: The most linear memory that the instance had, in bytes. None with the backend `wasmtime`, which does not
            say it.
    """

    fuel: int
    elapsed_seconds: float
    component: str
    memory: int | None = None
