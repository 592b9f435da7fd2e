"""What the tests share."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from seamgate import FaultCode, Gate, SeamgateFault

ROOT = Path(__file__).resolve().parents[3]
EXAMPLES = ROOT / "schemas/examples"
OUTPUTS = EXAMPLES / "outputs"

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
