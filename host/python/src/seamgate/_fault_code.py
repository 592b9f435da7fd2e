"""The words for faults.

Made by `cargo xtask generate` from `wit/` and `xtask/generate/`. Do not edit: run it again.
"""

from __future__ import annotations

from typing import Literal

FaultCode = Literal[
    "bad_request",
    "bad_contract",
    "bad_profile",
    "unknown_agent",
    "sealed",
    "out_of_fuel",
    "out_of_memory",
    "stack_overflow",
    "timeout",
    "busy",
    "input_too_large",
    "trap",
]
"""The word for a fault, the same in every language."""
