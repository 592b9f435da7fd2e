"""Functions other than verdicts: merge on both backends; the retry loop, sessions, runs and bake on the native one."""

from __future__ import annotations

import asyncio
import dataclasses
import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from conftest import EXAMPLES, OUTPUTS, ROOT, fault, native_only, wasmtime_only
from jsonschema.validators import validator_for

import seamgate
from seamgate import BackendError, Gate, JournalError, Produced, RunJournal, bake

GREETER = {"agent": "greeter", "schema": {"required": ["greeting"]}, "retry": {"limit": 2}}
READER = {"agent": "reader", "tools": [{"name": "search", "effect": "read", "permit": "allow"}]}
STARTED = {"type": "started", "at": 1790000000000, "run": "r1", "principal": "anna", "nonce": "c0ffee00c0ffee00"}
CALL = {"type": "call", "at": 1790000001000, "tool": "search", "arguments": {"q": "x"}}
BAD, GOOD = '{"greting": "hi"}', '{"greeting": "hi"}'


@pytest.fixture
def greeter() -> Gate:
    gate = Gate()
    gate.register(GREETER)
    return gate


def test_every_name_of_the_package_is_there() -> None:
    for name in seamgate.__all__:
        assert getattr(seamgate, name) is not None, name
    assert set(seamgate.__all__) == {*seamgate._MODULES, "__version__", "backend", "validate"}
    with pytest.raises(AttributeError, match="has no attribute 'nothing'"):
        seamgate.nothing  # type: ignore[attr-defined] # noqa: B018


def test_attempts_are_put_together() -> None:
    gate = Gate()
    gate.register({"agent": "l", "schema": {"items": {"type": "integer"}}, "items": {"path": "$[*]"}})
    reports = [gate.validate("l", output).report for output in ('[1, "two", 3]', "[2]")]
    assert gate.merge(reports).report.output == [1, 2, 3]
    fault("bad_request", lambda: gate.merge([]))


@wasmtime_only
def test_what_only_the_native_backend_has_says_so(greeter: Gate, tmp_path: Path) -> None:
    for call in (
        lambda: greeter.run("greeter", lambda _: GOOD),
        lambda: asyncio.run(greeter.run_async("greeter", lambda _: asyncio.sleep(0, GOOD))),
        lambda: greeter.open(tmp_path),
        lambda: bake([GREETER]),
    ):
        with pytest.raises(BackendError, match="only the native one does"):
            call()


class TestSession:
    def test_the_verdict_is_that_on_the_whole_output(self, gate: Gate) -> None:
        for path in sorted(OUTPUTS.iterdir()):
            agent, output = path.name.split(".")[0], path.read_bytes()
            session = gate.session(agent)
            for at in range(0, len(output), 7):
                session.push(output[at : at + 7])
            verdict = session.finish()
            assert verdict.report == gate.validate(agent, output).report
            assert verdict.report.raw == output.decode()

    def test_items_are_told_as_they_come(self) -> None:
        gate = Gate()
        gate.register({"agent": "l", "schema": {"items": {"type": "integer"}}, "items": {"path": "$[*]"}})
        session = gate.session("l")
        assert [item.span for item in session.push("[1, 2").items] == [(1, 2)]
        assert session.push("2]").completeness == "soft_complete"
        assert session.finish("stop").report.output == [1, 22]
        fault("bad_request", lambda: session.push("3"))
        assert gate.session("l").push("no JSON").completeness == "in_flight"
        fault("unknown_agent", lambda: gate.session("nobody"))
        other = gate.session("l")
        fault("bad_request", lambda: other.finish("tired"))


@native_only
class TestHarnessStep:
    def test_feedback_goes_back_until_it_is_accepted(self, greeter: Gate, tmp_path: Path) -> None:
        asked: list[str | None] = []
        outputs = iter([BAD, GOOD])

        def produce(feedback: str | None) -> Produced:
            asked.append(feedback)
            return Produced(next(outputs), "end_turn")

        journal = tmp_path / "journal.ndjson"
        outcome = greeter.run("greeter", produce, journal=journal)
        assert (outcome.stop, outcome.attempts, outcome.data) == ("accepted", 2, {"greeting": "hi"})
        assert outcome
        assert asked[0] is None
        assert 'must have member "greeting"' in str(asked[1])
        greeter.run("greeter", lambda _: BAD, journal=journal)
        lines = [json.loads(line) for line in journal.read_text().splitlines()]
        schema = json.loads((ROOT / "schemas/journal.schema.json").read_text())
        validator = validator_for(schema)(schema)
        for line in lines:
            validator.validate(line)
        assert [line["event"] for line in lines[:7]] == [
            "begin", "start", "attempt", "decision", "start", "attempt", "decision",
        ]  # fmt: skip
        assert {line["run"] for line in lines} == {1, 2}
        assert lines[-1]["decision"] == "repeated"

    def test_a_run_goes_on_where_it_was_stopped(self, greeter: Gate, tmp_path: Path) -> None:
        path = tmp_path / "journal.ndjson"
        outputs: list[str | Exception] = [BAD, RuntimeError("the model is away"), GOOD]

        def produce(feedback: str | None) -> str:
            given.append(feedback)
            output = outputs.pop(0)
            if isinstance(output, Exception):
                raise output
            return output

        given: list[str | None] = []
        journal = RunJournal(path, resume=True, keep_outputs=True, producer="a-model", prompt="Greet.")
        with pytest.raises(RuntimeError, match="the model is away"):
            greeter.run("greeter", produce, journal=journal)
        told = given[-1]
        assert told is not None
        outcome = greeter.run("greeter", produce, journal=journal)
        # Its first attempt is not made again.
        assert (outcome.stop, outcome.attempts, outcome.data) == ("accepted", 2, {"greeting": "hi"})
        assert given == [None, told, told]
        lines = [json.loads(line) for line in path.read_text().splitlines()]
        assert [line["message"] for line in lines if line["event"] == "failure"] == ["RuntimeError: the model is away"]
        assert {line["run"] for line in lines} == {1}
        assert len(list(tmp_path.iterdir())) > 2

        def asked_again(_: str | None) -> str:
            raise AssertionError

        # It is over: nobody is asked again.
        assert greeter.run("greeter", asked_again, journal=journal).report == outcome.report
        other = dataclasses.replace(journal, prompt="Say hello.")
        with pytest.raises(JournalError, match="its last run had another standard input"):
            greeter.run("greeter", asked_again, journal=other)
        path.write_text("no journal\n")
        with pytest.raises(JournalError, match="line 1 is not a line of a journal"):
            greeter.run("greeter", asked_again, journal=path)

    def test_a_run_that_fails_has_no_document(self, greeter: Gate) -> None:
        outcome = greeter.run("greeter", lambda _: BAD)
        assert not outcome
        assert (outcome.stop, outcome.data) == ("repeated", None)

        def broken(_: str | None) -> str:
            raise RuntimeError("no model")

        with pytest.raises(RuntimeError, match="no model"):
            greeter.run("greeter", broken)
        fault("unknown_agent", lambda: greeter.run("nobody", broken))

    def test_a_producer_may_be_awaited(self, greeter: Gate) -> None:
        async def produce(feedback: str | None) -> str:
            await asyncio.sleep(0)
            return BAD if feedback is None else GOOD

        async def several() -> list[str]:
            runs = (greeter.run_async("greeter", produce) for _ in range(5))
            return [outcome.stop for outcome in await asyncio.gather(*runs)]

        assert asyncio.run(several()) == ["accepted"] * 5


@native_only
def test_a_baked_component_has_its_contracts() -> None:
    baked = bake([EXAMPLES / "triage.contract.json", GREETER], profiles=[READER])
    gate = Gate(component=baked)
    assert gate.names() == ["greeter", "triage"]
    plain = Gate()
    plain.register(GREETER)
    assert gate.validate("greeter", BAD).report.json == plain.validate("greeter", BAD).report.json
    with gate.instance() as instance:
        assert instance.validate("greeter", GOOD).report.success
    assert gate.run("greeter", lambda _: GOOD)
    fault("sealed", lambda: gate.register(GREETER))
    fault("bad_contract", lambda: bake([{"agent": "a", "schema": {"type": "number of"}}]))


class Kept:
    """A journal in memory."""

    def __init__(self) -> None:
        self.kept: list[str] = []
        self.blobs: dict[tuple[str, str], str] = {}
        self.fails: Exception | None = None

    def count(self) -> int:
        return len(self.kept)

    def lines(self, start: int) -> Iterator[str]:
        return iter(self.kept[start:])

    def append(self, expected: int, lines: list[str]) -> bool:
        if self.fails:
            raise self.fails
        if len(self.kept) != expected:
            return False
        self.kept += lines
        return True

    def put(self, blob: str, digest: str, text: str) -> None:
        self.blobs[blob, digest] = text

    def get(self, blob: str, digest: str) -> str | None:
        return self.blobs.get((blob, digest))


@native_only
class TestRun:
    @pytest.fixture
    def reader(self) -> Gate:
        gate = Gate()
        gate.register_profile(READER)
        return gate

    @pytest.mark.parametrize("kind", ["folder", "object"])
    def test_a_run_goes_on_from_its_journal(self, reader: Gate, tmp_path: Path, kind: str) -> None:
        journal = Kept() if kind == "object" else tmp_path / "run"
        run, first = reader.start(journal, "reader", STARTED)
        assert first == ()
        (action,) = run.send(CALL)
        assert (action["type"], action["key"]) == ("execute", "r1/2/0")
        assert (run.id, run.agent, run.step) == ("r1", "reader", 2)
        (decision,) = run.records
        assert decision["type"] == "decision"
        assert decision["permit"] == "allow"
        again = reader.open(journal)
        assert again.state == run.state
        assert again.send({"type": "resumed", "at": 1790000002000})[0]["type"] == "execute"
        with pytest.raises(JournalError) as raised:
            run.send({"type": "resumed", "at": 1790000003000})
        assert raised.value.kind == "conflict"
        with pytest.raises(JournalError, match="it has a run already"):
            reader.start(journal, "reader", STARTED)

    def test_a_run_goes_on_from_its_snapshot(self, reader: Gate) -> None:
        journal = Kept()
        run, _ = reader.start(journal, "reader", STARTED)
        snapshot = run.snapshot
        journal.kept, lines = [], journal.kept
        again = reader.restore(journal, snapshot)
        assert (again.state, again.step, again.wake_at) == (run.state, run.step, run.wake_at)
        with pytest.raises(JournalError) as raised:
            again.send(CALL)
        assert raised.value.kind == "conflict"
        journal.kept = lines
        assert again.send(CALL)[0]["type"] == "execute"
        assert reader.open(journal).snapshot == again.snapshot
        with pytest.raises(JournalError, match="the state has another digest"):
            reader.restore(journal, snapshot.replace("r1", "r2"))

    def test_what_a_journal_raises_is_raised(self, reader: Gate) -> None:
        journal = Kept()
        run, _ = reader.start(journal, "reader", STARTED)
        journal.fails = OSError("the disk is full")
        with pytest.raises(OSError, match="the disk is full"):
            run.send(CALL)
        journal.fails = None
        assert run.send(CALL)
        fault("bad_request", lambda: run.send({"type": "nothing"}))


@native_only
class TestCommandLine:
    @staticmethod
    def command(*arguments: str | Path, given: str = "") -> subprocess.CompletedProcess[str]:
        program = [sys.executable, "-c", "from seamgate._command import main; main()", *arguments]
        return subprocess.run(program, input=given, capture_output=True, text=True, check=False)

    def test_it_is_the_command_line(self) -> None:
        contract = EXAMPLES / "triage.contract.json"
        good = self.command("check", "-c", contract, OUTPUTS / "triage.good.txt")
        assert (good.returncode, json.loads(good.stdout)["disposition"]) == (0, "accepted"), good.stderr
        bad = self.command("check", "-c", contract, given="[]")
        assert bad.returncode == 1
        wrong = self.command("check", "--nothing")
        assert wrong.returncode == 2
        assert "unexpected argument" in wrong.stderr
        assert self.command("--version").stdout == f"seamgate {seamgate.__version__}\n"

    def test_a_reader_that_ends_early_ends_it(self) -> None:
        program = f"{sys.executable} -c 'from seamgate._command import main; main()' --help | head -c 1"
        ended = subprocess.run(program, shell=True, capture_output=True, text=True, check=False)
        assert ended.stderr == ""

    def test_ctrl_c_ends_it(self) -> None:
        import signal
        import time

        program = [sys.executable, "-c", "from seamgate._command import main; main()"]
        arguments = ["check", "--ndjson", "-c", str(EXAMPLES / "triage.contract.json")]
        pipe = subprocess.PIPE
        with subprocess.Popen([*program, *arguments], stdin=pipe, stdout=pipe, stderr=pipe) as process:
            time.sleep(1)
            process.send_signal(signal.SIGINT)
            assert process.wait(10) in (-signal.SIGINT, 128 + signal.SIGINT)


@native_only
def test_a_second_interpreter_is_refused_clearly() -> None:
    script = """
try:
    import _interpreters as interpreters
except ImportError:
    import _xxsubinterpreters as interpreters
try:
    # Before Python 3.13 it is raised, and from then on returned.
    failed = interpreters.run_string(interpreters.create(), "import seamgate; seamgate.Gate()")
    print("no error" if failed is None else failed.formatted)
except Exception as error:
    print(error)
"""
    ran = subprocess.run([sys.executable, "-W", "ignore", "-c", script], capture_output=True, text=True, check=True)
    # From Python 3.12 on, Python refuses it itself.
    assert "not support loading in subinterpreters" in ran.stdout or "not support subinterpreters" in ran.stdout, (
        ran.stdout
    )
