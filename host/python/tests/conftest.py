"""Shared helpers of the tests."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from seamgate import FaultCode, Gate, SeamgateFault, backend

ROOT = Path(__file__).resolve().parents[3]
EXAMPLES = ROOT / "schemas/examples"
OUTPUTS = EXAMPLES / "outputs"

# What only one backend has. Components made of text have just what the one for `wasmtime` calls; the library in Rust is
# held to hostile components by tests of its own.
wasmtime_only = pytest.mark.skipif(backend != "wasmtime", reason="this is about the backend `wasmtime`")
# What `cargo xtask runtimes` asks the fallback, too, step by step. Each of its instances compiles its profile.
asked_elsewhere = pytest.mark.skipif(backend != "native", reason="`cargo xtask runtimes` asks this backend all of it")
native_only = pytest.mark.skipif(backend != "native", reason="this is about the native backend")

# A contract by which no output is ever judged to the end: it takes 2^40 steps.
ENDLESS: dict[str, Any] = {
    "agent": "endless",
    "schema": {
        "unevaluatedProperties": False,
        "$ref": "#/$defs/l40",
        "$defs": {
            "l0": {},
            **{f"l{n + 1}": {"allOf": [{"$ref": f"#/$defs/l{n}"}, {"$ref": f"#/$defs/l{n}"}]} for n in range(40)},
        },
    },
}

# The user's own cache is left alone. A folder that stays: the component is compiled once, and not for each run.
CACHE = ROOT / "target/python/cache"
os.environ["XDG_CACHE_HOME"] = str(CACHE)


@pytest.fixture(scope="session")
def gate() -> Gate:
    gate = Gate()
    for name in ("cited-answer", "tool-result", "triage"):
        gate.register(EXAMPLES / f"{name}.contract.json")
    return gate


def fault(code: FaultCode, call: Callable[[], object]) -> SeamgateFault:
    """The fault that a call must end in."""
    with pytest.raises(SeamgateFault) as raised:
        call()
    assert raised.value.code == code, raised.value
    return raised.value
