"""Records are dataclasses to all who look: with members, signature, order, defaults, equality."""

from __future__ import annotations

import copy
import dataclasses
import inspect
import pickle
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest
from conftest import native_only

import seamgate
from seamgate import Disposition, Gate, Limits, Report, ReportDocument, Usage, Violation

VIOLATION = {
    "path": "$.a",
    "keyword": "type",
    "expected": "string",
    "received": "number",
    "message": "must be string",
    "pointer": "/a",
    "schema_path": "/type",
    "span": (1, 2),
}


def test_they_are_dataclasses() -> None:
    names = [field.name for field in dataclasses.fields(Violation)]
    assert names == list(VIOLATION) == list(Violation.__match_args__)
    violation = Violation(**VIOLATION)  # type: ignore[arg-type]
    assert dataclasses.is_dataclass(violation)
    assert dataclasses.asdict(violation) == VIOLATION
    other = dataclasses.replace(violation, path="$.b")
    assert (other.path, other.keyword) == ("$.b", "type")
    assert violation == Violation(*VIOLATION.values()) != other  # type: ignore[arg-type]
    assert len({violation, other, copy.deepcopy(violation)}) == 2
    assert pickle.loads(pickle.dumps(violation)) == violation
    assert repr(violation).startswith("Violation(path='$.a', keyword='type', expected='string', ")
    with pytest.raises(dataclasses.FrozenInstanceError, match="cannot assign to field 'path'"):
        violation.path = "$.c"  # type: ignore[misc]
    with pytest.raises(dataclasses.FrozenInstanceError, match="cannot delete field 'path'"):
        del violation.path
    match violation:
        case Violation(path, keyword):
            assert (path, keyword) == ("$.a", "type")


def test_members_have_defaults_and_are_in_order() -> None:
    assert str(inspect.signature(Usage)).startswith("(fuel: ")
    assert list(inspect.signature(Limits).parameters)[:2] == ["fuel", "memory"]
    assert Usage(1, 0.5, "sha256:0").memory is None
    assert Limits(5) == Limits(fuel=5) != Limits()
    for given, message in [
        ((1, 2.0), "lacks the argument 'component'"),
        ((1, 2.0, "", None, 5), "takes 4 arguments, not 5"),
    ]:
        with pytest.raises(TypeError, match=message):
            Usage(*given)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="multiple values for argument 'fuel'"):
        Usage(1, fuel=2, elapsed_seconds=0.0, component="")  # type: ignore[misc]
    with pytest.raises(TypeError, match="unexpected keyword argument 'speed'"):
        Usage(fuel=1, elapsed_seconds=0.0, component="", speed=2)  # type: ignore[call-arg]
    with pytest.raises(ValueError, match="memory must be from"):
        dataclasses.replace(Limits(), memory=1)


def test_a_report_has_the_members_of_its_base_first() -> None:
    base = [field.name for field in dataclasses.fields(ReportDocument)]
    fields = dataclasses.fields(Report)
    assert [field.name for field in fields] == [*base, "json", "output_json", "raw"]
    assert [field.compare for field in fields[-3:]] == [False, False, False]
    report = Gate().validate({"agent": "a", "schema": True}, "1").report
    assert report == Report.from_json(report.json)
    assert report != dataclasses.replace(report, disposition=Disposition.PARTIAL)
    assert "raw=" not in repr(report)


def test_one_may_build_on_them() -> None:
    @dataclass(frozen=True)
    class Priced(Usage):
        price: float = 0.0

    priced = Priced(1, 0.5, "sha256:0", price=2.0)
    assert (priced.fuel, priced.memory, priced.price) == (1, None, 2.0)
    assert [field.name for field in dataclasses.fields(Priced)][-2:] == ["memory", "price"]


@native_only
def test_the_first_gate_imports_little() -> None:
    # Without what an environment imports by itself.
    folder = Path(seamgate.__file__).parents[1]
    script = f"import sys; sys.path.append({str(folder)!r}); import seamgate; seamgate.Gate(); print(*sys.modules)"
    ran = subprocess.run([sys.executable, "-S", "-c", script], capture_output=True, text=True, check=True)
    imported = set(ran.stdout.split())
    assert "seamgate._native_engine" in imported
    assert not {"dataclasses", "inspect", "pathlib", "typing"} & imported


@native_only
def test_verdicts_are_of_the_package_that_was_imported_last() -> None:
    folder = Path(seamgate.__file__).parents[1]
    script = f"""import sys
sys.path.insert(0, {str(folder)!r})
for _ in range(3):
    for name in [name for name in sys.modules if name.startswith("seamgate")]:
        del sys.modules[name]
    import seamgate
    verdict = seamgate.Gate().validate({{"agent": "a", "schema": True}}, "[1]")
    assert isinstance(verdict, seamgate.Verdict), verdict
    assert isinstance(verdict.report, seamgate.Report)
    assert verdict.report.disposition is seamgate.Disposition.ACCEPTED
    assert (verdict.data, verdict.usage.component[:7]) == ([1], "sha256:")
"""
    subprocess.run([sys.executable, "-c", script], check=True)


def test_members_of_a_verdict_that_are_made_later_are_like_others(gate: Gate) -> None:
    verdict = gate.validate({"agent": "a", "schema": True}, "[1]")
    for made in (verdict, copy.copy(verdict), copy.deepcopy(verdict), pickle.loads(pickle.dumps(verdict))):
        assert made == verdict
        assert made.report.output == made.data == [1]
        assert made.report.output is made.report.output
        assert made.report.raw == "[1]"
        assert made.usage is made.usage
        assert not hasattr(made, "other")
        assert not hasattr(made.report, "other")
        with pytest.raises(dataclasses.FrozenInstanceError):
            made.report.output = 1  # type: ignore[misc]
    for name in (field.name for field in dataclasses.fields(Report)):
        with pytest.raises(AttributeError):
            getattr(object.__new__(Report), name)
