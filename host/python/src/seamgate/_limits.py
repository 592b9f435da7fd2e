"""Limits of a call, and its resource usage."""

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
    """Limits of one call into the sandbox. Exceeding one raises a `SeamgateFault`; there is no verdict.

    Attributes:
        fuel: Fuel for each call, about one unit per WebAssembly instruction. With the same version of Wasmtime, the
            same request uses the same fuel on every machine. Default: 100,000,000, plus 500 for each byte of output and
            contract, as JSON text.
        contract_fuel: Fuel for compiling one registered contract, in addition to `fuel`, because the author of a
            contract is trusted more than the author of an output. Does not apply to a contract that is passed with a
            call. Default: 500,000,000, plus 2,500 for each byte of the contract, as JSON text.
        memory: The most linear memory of one instance, in bytes. Default: 64 MiB.
        timeout_seconds: The wall-clock time of each call, enforced to within about 20 ms. It is the safety net for
            cases that fuel does not cover. Default: 5.
        output_bytes: The most bytes of an output, in UTF-8. Checked before the sandbox is entered. Default: 8 MiB.
        stack: The stack of an instance, in bytes, at most 4 MiB. The calling thread needs 256 KiB more than that.
            Default: 512 KiB, the only value that the native backend supports.

    Raises:
        TypeError: A limit is not a number.
        ValueError: A limit is out of range.
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
        """Returns the fuel for a call with this many bytes of output and contract."""
        return FUEL + FUEL_PER_BYTE * size if self.fuel is None else self.fuel

    def fuel_for_contract(self, size: int) -> int:
        """Returns the fuel for compiling a contract of this many bytes."""
        return CONTRACT_FUEL + CONTRACT_FUEL_PER_BYTE * size if self.contract_fuel is None else self.contract_fuel


def _whole(name: str, value: object, least: int, most: int) -> None:
    if isinstance(value, bool) or not isinstance(value, int):
        raise TypeError(f"{name} must be a whole number, not {type(value).__name__}")
    if not least <= value <= most:
        raise ValueError(f"{name} must be from {least} to {most}, not {value}")


@dataclass(frozen=True)
class Usage:
    """The resource usage of one call. It is kept beside the report, never inside it.

    Attributes:
        fuel: Fuel used.
        elapsed_seconds: Wall-clock time from entering the sandbox to leaving it.
        component: The component that ran: `sha256:` and the digest of its bytes. Only the fuel of calls of the same
            component can be compared.
        memory: The peak linear memory of the instance, in bytes. None with the backend `wasmtime`, which does not
            report it.
    """

    fuel: int
    elapsed_seconds: float
    component: str
    memory: int | None = None
