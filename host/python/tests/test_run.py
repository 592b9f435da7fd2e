"""Runs: the journals of `tests/runs`, event by event."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from conftest import ROOT, asked_elsewhere

from seamgate import Gate, SeamgateFault

if TYPE_CHECKING:
    from collections.abc import Mapping


def _is_whole(case: Path) -> bool:
    """Returns whether the journal is complete: long lines are truncated, and a changed state is not an event."""
    events = [json.loads(line) for line in (case / "events.ndjson").read_text().splitlines() if line.strip()]
    return "bytes, sha256:" not in (case / "journal.ndjson").read_text() and not any("state" in one for one in events)


RUNS = sorted(path.parent for path in (ROOT / "tests/runs").glob("*/*/journal.ndjson") if _is_whole(path.parent))


def _sha256(text: str) -> str:
    return f"sha256:{hashlib.sha256(text.encode()).hexdigest()}"


def _profile(case: Path) -> str:
    own, patch = case / "profile.json", case / "patch.json"
    text = (own if own.exists() else case.parent / "profile.json").read_text()
    if not patch.exists():
        return text
    whole = _merged(json.loads(text), json.loads(patch.read_text()))
    return json.dumps(whole, sort_keys=True, ensure_ascii=False)


def _merged(whole: Any, patch: Any) -> Any:
    """RFC 7396."""
    if not isinstance(patch, dict):
        return patch
    members = dict(whole) if isinstance(whole, dict) else {}
    for name, value in patch.items():
        if value is None:
            members.pop(name, None)
        else:
            members[name] = _merged(members.get(name), value)
    return members


def _without_prompt(action: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in action.items() if name != "prompt"}


@asked_elsewhere
def test_every_run_leads_to_the_same_states() -> None:
    steps = 0
    for case in RUNS:
        gate = Gate()
        agent = gate.register_profile(_profile(case)).agent
        instance, state, made = gate.instance(), None, []
        for text in (case / "journal.ndjson").read_text().split("\n")[:-1]:
            line = json.loads(text)
            if "event" in line:
                # As it is written: numbers keep their digits.
                step = instance.advance(agent, state, text[len('{"event":') : -1])
                made = [*step.records, *map(_without_prompt, step.actions)]
                state = step.state
                steps += 1
            elif "state" in line:
                assert state is not None, case
                assert not made, case
                assert _sha256(state) == line["state"]["digest"], case
                assert step.wake_at == line["state"]["wake_at"], case
            elif "record" in line or "action" in line:
                assert made.pop(0) == _without_prompt(line.get("record") or line["action"]), case
    assert steps > len(RUNS) > 5


def test_a_step_needs_the_state_of_the_step_before() -> None:
    gate = Gate()
    gate.register_profile({"agent": "a", "tools": [{"name": "t", "effect": "read", "permit": "allow"}]})
    event = {"type": "started", "at": 1, "run": "r", "principal": "p", "nonce": "c0ffee00c0ffee00"}
    step = gate.advance("a", None, event)
    assert step.step == 1
    assert step.state is not None
    assert json.loads(step.json)["step"] == 1
    for state in [None, "{}", step.state.replace('"format":1', '"format":2')]:
        with pytest.raises(SeamgateFault) as raised:
            gate.advance("a", state, {"type": "tick", "at": 2})
        assert raised.value.code == "bad_request"
    call = {"type": "call", "at": 2, "tool": "t", "arguments": {}}
    assert [action["type"] for action in gate.advance("a", step.state, call).actions] == ["execute"]


def test_an_audience_without_a_view_sees_nothing() -> None:
    gate = Gate()
    gate.register_profile({"agent": "a", "tools": [], "projections": {"audit": {}}})
    line = {"event": {"type": "tick", "at": 2}}
    assert gate.project("a", line, "audit") == {"type": "tick", "at": 2}
    assert gate.project("a", line, "user") is None
