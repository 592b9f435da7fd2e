"""The cases and attacks of the project have the verdicts that they have in Rust."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from conftest import ROOT

import seamgate
from seamgate import Gate, SeamgateFault, _json

CASES = sorted(path for path in (ROOT / "tests/cases").glob("*/*") if path.is_dir())
HOSTILE = ROOT / "tests/hostile"


def _compact(indented: str) -> str:
    """JSON text without the white space between its words."""
    return "".join(
        part if part.startswith('"') else re.sub(r"\s", "", part) for part in re.split(r'("(?:[^"\\]|\\.)*")', indented)
    )


def _own_or_shared(case: Path, name: str) -> Path:
    """Returns a file of a case, or the one that its group shares. It may be missing."""
    own = case / name
    return own if own.exists() else case.parent / name


def _members(case: Path) -> dict[str, Any]:
    """Returns the members of a case's request other than the output."""
    request = _own_or_shared(case, "request.json")
    members: dict[str, Any] = json.loads(request.read_text()) if request.exists() else {}
    return members


def _contract(case: Path) -> str:
    return _own_or_shared(case, "contract.json").read_text()


def test_all_reports_of_cases_are_the_same_bytes(gate: Gate) -> None:
    compared = 0
    for case in CASES:
        expected = case / "report.json"
        if not expected.exists() or (case / "output-2.txt").exists():
            continue
        members = _members(case)
        asked = {name: members[name] for name in ("finish", "lists", "evidence") if name in members}
        verdict = gate.validate(_contract(case), _own_or_shared(case, "output.txt").read_bytes(), **asked)
        assert verdict.report.json == _compact(expected.read_text()), case
        compared += 1
    assert compared > 500


def test_all_faults_of_contracts_are_the_same() -> None:
    gate, compared = Gate(), 0
    for case in CASES:
        expected = case / "fault.json"
        if not expected.exists() or _members(case):
            continue
        contract, output = _contract(case), _own_or_shared(case, "output.txt").read_bytes()
        # Text that does not begin like an object would be read as the name of an agent.
        is_object = contract.lstrip().startswith("{")
        with pytest.raises(SeamgateFault) as raised:
            gate.validate(contract, output) if is_object else gate.register(contract)
        wanted = json.loads(expected.read_text())
        fault = raised.value
        assert {"fault": fault.code, "message": fault.message, "detail": fault.detail} == wanted, case
        compared += 1
    assert compared > 40


def test_attempts_are_put_together_through_a_raw_call(gate: Gate) -> None:
    compared = 0
    for case in CASES:
        if not (case / "output-2.txt").exists() or not (case / "report.json").exists():
            continue
        members = _members(case)
        lists = {name: members[name] for name in ("lists", "evidence") if name in members}
        own = Gate()
        agent = own.register(_contract(case)).agent
        further = sorted(case.glob("output-*.txt"), key=lambda path: (len(path.name), path.name))
        outputs = [_own_or_shared(case, "output.txt"), *further]
        finish = members.get("finish", "unknown")
        reports = [own.validate(agent, output.read_bytes(), finish=finish, **lists).report.json for output in outputs]
        beside = "".join(f',"{name}":{json.dumps(value)}' for name, value in lists.items())
        answer = own.call(f'{{"op":"merge","agent":"{agent}","reports":[{",".join(reports)}]{beside}}}').json
        assert answer == f'{{"id":null,"report":{_compact((case / "report.json").read_text())}}}', case
        compared += 1
    assert compared > 10


# A request is JSON text for the backend `wasmtime`, which takes fuel and memory that a call from Rust does not: these
# end in a fault in place of the verdict that they have there.
SHORT_OF = (
    {}
    if seamgate.backend == "native"
    else {
        "size/output-over-its-cap": "out_of_memory",
    }
)


def _text(written: Any) -> str:
    if isinstance(written, str):
        return written
    if isinstance(written, list):
        return "".join(_text(piece) for piece in written)
    repeated, times = _text(written["repeat"]), int(written["times"])
    if "{n" not in repeated:
        return repeated * times
    return "".join(repeated.replace("{n}", str(n)).replace("{n+1}", str(n + 1)) for n in range(times))


def _came(gate: Gate, members: dict[str, tuple[Any, str]]) -> Iterator[str]:
    """Returns the outcome of an attack, without and with its position."""
    try:
        if "request" in members:
            answer = json.loads(gate.call(_text(members["request"][0])).json)
            if "result" in answer:
                yield "result"
            elif "fault" in answer:
                fault = answer["fault"]
                raise SeamgateFault(fault["fault"], fault["message"], fault["detail"])
            else:
                report = answer["report"]
                yield report["disposition"]
                if report["error"]:
                    yield f"{report['disposition']}: {report['error']['violations'][0]['keyword']}"
            return
        contract, source = members["contract"]
        whole = source if isinstance(contract, dict) and "repeat" not in contract else _text(contract)
        if not whole.lstrip().startswith("{"):
            gate.register(whole)
        verdict = gate.validate(whole, _text(members["output"][0])).report
        yield verdict.disposition.value
        if verdict.error:
            yield f"{verdict.disposition.value}: {verdict.error.violations[0].keyword}"
    except SeamgateFault as fault:
        yield fault.code
        if fault.violations:
            yield f"{fault.code}: {fault.violations[0].path}"


def test_all_attacks_have_the_outcome_they_must_have() -> None:
    gate = Gate()
    gate.register((HOSTILE / "contract.json").read_text())
    neighbour = gate.validate('{"agent":"n","schema":{"type":"array"}}', "[1]")
    failed, attacks = [], sorted(HOSTILE.glob("*/*.json"))
    for attack in attacks:
        name = f"{attack.parent.name}/{attack.stem}"
        members = {member: (value, source) for member, value, source in _json.members(attack.read_text())}
        must = SHORT_OF.get(name, members["must"][0])
        came = list(_came(gate, members))
        if must not in came:
            failed.append(f"{name}: must end as {must}, not as {came}")
        again = gate.validate('{"agent":"n","schema":{"type":"array"}}', "[1]")
        assert (again.report, again.usage.fuel) == (neighbour.report, neighbour.usage.fuel), name
    assert not failed, "\n".join(failed)
    assert len(attacks) > 200
