"""The plugin of pytest, in a run of its own."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

TESTS = """
from typing import Literal

import pytest
from pydantic import BaseModel, field_validator
from seamgate.pytest_plugin import AssertContract


class Order(BaseModel):
    sku: str
    count: int

    @field_validator("sku")
    @classmethod
    def in_stock(cls, sku: str) -> str:
        if sku == "C-1":
            raise ValueError("must be in stock")
        return sku


CONTRACT = {"agent": "order", "schema": {"required": ["sku"]}, "repair": "syntax"}


def test_good(assert_contract: AssertContract) -> None:
    order = assert_contract('Here:\\n```json\\n{"sku": "A-7", "count": 2}\\n```', Order)
    assert order.count == 2
    assert assert_contract('{"sku": 1}', CONTRACT) == {"sku": 1}
    assert assert_contract({"message": {"content": '{"sku": 1}'}, "done": True}, CONTRACT) == {"sku": 1}


def test_schema(assert_contract: AssertContract) -> None:
    assert_contract('Here:\\n```json\\n{"sku": "A-7",\\n "count": "tw\\u202eo"}\\n```', Order)


def test_validator(assert_contract: AssertContract) -> None:
    assert_contract('{"sku": "C-1", "count": 2}', Order)


def test_partial(assert_contract: AssertContract) -> None:
    assert_contract("{'sku': 1}", CONTRACT)


def test_prose(assert_contract: AssertContract) -> None:
    assert_contract("Which one?", CONTRACT)
"""


def test_failures_say_what_is_wrong_and_where(tmp_path: Path) -> None:
    (tmp_path / "test_agent.py").write_text(TESTS)
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--tb=short", "test_agent.py"]
    ran = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    said = ran.stdout
    assert "4 failed, 1 passed" in said, said + ran.stderr
    failures = {
        name: [line.removeprefix("E   ") for line in part.split("\n") if line.startswith("E   ")]
        for name, _, part in (each.partition(" ") for each in said.split("___ test_")[1:])
    }
    assert failures["schema"] == [
        "Failed: the output does not pass Order: rejected",
        "  $.count: must be integer, not string",
        '    line 4: "tw\\u202eo"',
        "    expected: integer",
    ], failures
    assert failures["validator"][1:] == [
        "  $.sku: Value error, must be in stock",
        '    received: "C-1"',
    ], failures
    assert failures["partial"][0].endswith("the output does not pass the contract of 'order': partial"), failures
    assert any("changed: " in line for line in failures["partial"]), failures
    assert any("JSON" in line for line in failures["prose"]), failures
