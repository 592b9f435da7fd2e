"""Receipts of runs: what the command line signs verifies here, and what was changed does not."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from seamgate import Gate, TimeStamp, Witness, backend, verify_receipt

pytestmark = pytest.mark.skipif(backend != "native", reason="only the native backend verifies receipts")

PROFILE = """{"agent": "reader", "tools": [
    {"name": "search", "effect": "read", "permit": "allow"},
    {"name": "drop", "effect": "effectful", "permit": "deny"}]}"""


def _seamgate(*arguments: object) -> str:
    command = [sys.executable, "-m", "seamgate", *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    """A receipt, and the key that signed it."""
    folder = tmp_path_factory.mktemp("receipt")
    gate = Gate()
    gate.register_profile(PROFILE)
    started = {"type": "started", "at": 1790000000000, "run": "r1", "principal": "anna", "nonce": "c0ffee00c0ffee00"}
    run, _ = gate.start(folder / "run", "reader", started)
    for number, tool in enumerate(["search", "drop"], 1):
        run.send(json.dumps({"type": "call", "at": 1790000000000 + number, "tool": tool, "arguments": {"q": "x"}}))
    del run
    (folder / "reader.profile.json").write_text(PROFILE)
    key = _seamgate("approve", "--new-key", folder / "key.pem").strip()
    receipt = folder / "run.receipt"
    _seamgate(
        "receipt", folder / "run", "-o", receipt, "--key-file", folder / "key.pem", "-p", folder / "reader.profile.json"
    )
    return receipt, key


def test_a_receipt_verifies(made: tuple[Path, str]) -> None:
    receipt, key = made
    report = verify_receipt(receipt, keys=[key])
    assert report.ok
    assert report.whole
    assert report.key == key
    assert (report.run, report.agent, report.issuer, report.withheld) == ("r1", "reader", key, ())
    assert (report.counts["derived"], report.counts["allowed"], report.counts["denied"]) == (3, 1, 1)
    assert [check.check for check in report.checks] == [
        "encoding",
        "signature",
        "key",
        "lines",
        "profile",
        "component",
        "steps",
        "approvals",
    ]
    assert verify_receipt(receipt.read_bytes(), keys=None, profile=receipt.with_name("reader.profile.json")).ok
    other = verify_receipt(receipt, keys=None, profile=json.loads(PROFILE.replace("deny", "allow")))
    assert not other.ok
    assert other.checks[-1].check == "profile"


def test_what_was_changed_does_not_verify(made: tuple[Path, str]) -> None:
    receipt, key = made
    file = receipt.read_bytes()
    for at in range(0, len(file), 101):
        report = verify_receipt(file[:at] + bytes([file[at] ^ 1]) + file[at + 1 :], keys=[key])
        assert not report.ok
        assert not report.checks[-1].ok


def test_keys(made: tuple[Path, str]) -> None:
    receipt, _ = made
    report = verify_receipt(receipt, keys=["D0rOfX0gS2nYk1nH0m6tq3l1Q6iXg0qj5Vd0S2lPp1A"])
    assert not report.ok
    assert report.checks[-1].check == "key"
    with pytest.raises(ValueError, match="no Ed25519 key"):
        verify_receipt(receipt, keys=["short"])
    with pytest.raises(TypeError, match="several keys"):
        verify_receipt(receipt, keys="short")


def test_the_statement_of_a_witness(made: tuple[Path, str]) -> None:
    receipt, key = made
    statement = receipt.with_name("run.witness")
    log, signer = receipt.with_name("log.txt"), receipt.with_name("key.pem")
    _seamgate("receipt", "witness", receipt, "--log", log, "-o", statement, "--key-file", signer)
    report = verify_receipt(receipt, keys=[key], witness=Witness(statement, [key]))
    assert report.ok
    assert (report.checks[-1].check, report.checks[-1].detail[:14]) == ("witness", "entry 1 of 1 i")
    assert verify_receipt(receipt, keys=None, witness=Witness(statement.read_bytes(), None)).ok
    for witness in [
        Witness(statement, ["D0rOfX0gS2nYk1nH0m6tq3l1Q6iXg0qj5Vd0S2lPp1A"]),
        Witness(statement.read_bytes()[:-1], [key]),
        Witness(b"", None),
    ]:
        report = verify_receipt(receipt, keys=[key], witness=witness)
        assert not report.ok
        assert report.checks[-1].check == "witness"


def test_the_time_stamp_of_another_file(made: tuple[Path, str]) -> None:
    receipt, key = made
    folder = Path(__file__).resolve().parents[3] / "tests/receipts/time-stamp"
    report = verify_receipt(receipt, keys=[key], time_stamp=TimeStamp(folder / "file.tsr", folder / "authority.pem"))
    assert not report.ok
    check = report.checks[-1]
    assert (check.check, check.detail) == ("time_stamp", "it is the stamp of another file")
    with pytest.raises(ValueError, match="the authority: it has 0"):
        verify_receipt(receipt, keys=[key], time_stamp=TimeStamp(b"", b""))
