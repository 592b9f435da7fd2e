"""Nothing waits without a clock, and Ctrl-C ends what works or waits."""

from __future__ import annotations

import asyncio
import os
import resource
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from conftest import ENDLESS, fault, native_only

from seamgate import Call, Gate, Limits, Request, SeamgateFault, Session, _json, _schemas

pytestmark = native_only

CALL: Call = {"key": "1", "tool": "search", "arguments": {}}
LIST = {"agent": "l", "schema": {"type": "array", "items": {"type": "integer"}}, "items": {"path": "$[*]"}}
READER = {"agent": "reader", "tools": [{"name": "search", "effect": "read", "permit": "allow"}]}
STARTED = {"type": "started", "at": 1790000000000, "run": "r1", "principal": "anna", "nonce": "c0ffee00c0ffee00"}
TIMER = {"type": "timer", "at": 1790000000001}


@pytest.fixture
def lists() -> Gate:
    gate = Gate()
    gate.register(LIST)
    return gate


@pytest.fixture
def endless() -> Gate:
    gate = Gate(limits=Limits(timeout_seconds=60, fuel=2**60))
    gate.register(ENDLESS)
    return gate


def test_a_thousand_open_sessions_hold_up_no_verdict(lists: Gate) -> None:
    verdicts: list[bool] = []

    def judge() -> None:
        verdicts.extend(lists.validate("l", "[1, 2]").report.success for _ in range(2_500))

    threads = [threading.Thread(target=judge) for _ in range(4)]
    for thread in threads:
        thread.start()
    sessions = [lists.session("l") for _ in range(1_000)]
    for session in sessions:
        session.push("[1, 2")
    for thread in threads:
        thread.join()
    assert verdicts == [True] * 10_000
    assert [session.push("2]").items for session in sessions[:2]] == [sessions[2].push("2]").items] * 2
    assert sessions[0].finish().report.output == [1, 22]


def test_a_session_is_closed_by_with(lists: Gate) -> None:
    with lists.session("l") as session:
        session.push("[1]")
        assert session.finish().report.output == [1]
    with lists.session("l") as left:
        left.push("[1")
    for ended in (session, left):
        ended.close()
        fault("bad_request", lambda: ended.push("]"))  # noqa: B023 - it is called at once
        fault("bad_request", lambda: ended.finish())  # noqa: B023


def test_sessions_that_are_abandoned_are_freed(lists: Gate) -> None:
    for _ in range(5_000):
        lists.session("l").push("[1")


def test_streams_in_one_event_loop_hold_up_nothing(lists: Gate) -> None:
    async def stream() -> bool:
        with lists.session("l") as session:
            for chunk in ("[1", ", 2", "]"):
                session.push(chunk)
                await asyncio.sleep(0.01)
            return bool(session.finish())

    async def serve() -> list[bool]:
        health = asyncio.to_thread(lambda: bool(lists.validate("l", "[]")))
        return await asyncio.gather(*(stream() for _ in range(100)), health)

    assert asyncio.run(serve()) == [True] * 101


def test_one_session_too_many_is_a_fault_at_once(lists: Gate) -> None:
    sessions: list[Session] = []

    def fill() -> None:
        while len(sessions) < 5_000:
            sessions.append(lists.session("l"))

    with pytest.raises(SeamgateFault) as raised:
        fill()
    assert (raised.value.code, raised.value.detail["limit"]) == ("busy", 4096)
    assert lists.validate("l", "[]").report.success
    sessions[0].close()
    sessions[0] = lists.session("l")
    fault("busy", lambda: lists.instance().validate("l", "[]"))
    for session in sessions:
        session.close()
    assert lists.instance().validate("l", "[]").report.success


def test_instances_in_use_hold_up_no_verdict(lists: Gate) -> None:
    warm = [lists.instance() for _ in range(50)]
    for instance in warm:
        assert instance.validate("l", "[]").report.success
    assert lists.validate("l", "[]").report.success


def test_an_instance_is_closed_by_with_and_by_close_and_may_be_used_again(lists: Gate) -> None:
    with lists.instance() as instance:
        assert instance.validate("l", "[]")
    for _ in range(2):
        instance.close()
        assert instance.validate("l", "[]")
    closed = [lists.instance() for _ in range(5_000)]
    for instance in closed:
        assert instance.validate("l", "[]")
        instance.close()


SCARCE = """
import time
from seamgate import Gate, Limits, SeamgateFault
gate = Gate(limits=Limits(timeout_seconds=1))
gate.register({"agent": "l", "schema": {"type": "array"}})
sessions, begin = [], time.monotonic()
def busy(call):
    try:
        while True:
            sessions.append(call())
    except SeamgateFault as fault:
        return fault.code == "busy"
assert busy(lambda: gate.session("l")), "sessions"
assert len(sessions) in (%s), len(sessions)
if len(sessions) == 1 and %s:
    assert busy(lambda: gate.validate("l", "[]")), "a verdict"
else:
    assert gate.validate("l", "[]").report.success
sessions[0].close()
assert gate.validate("l", "[]").report.success
assert time.monotonic() - begin < 30
"""


@pytest.mark.parametrize(("gigabytes", "sessions", "is_one"), [(6, "1,", True), (16, "1, 2", False)])
def test_where_addresses_are_scarce_nothing_waits_for_ever_either(gigabytes: int, sessions: str, is_one: bool) -> None:
    limit = gigabytes * 10**9
    ran = subprocess.run(
        [sys.executable, "-c", SCARCE % (sessions, is_one)],
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (limit, limit)),
        stderr=subprocess.PIPE,
        timeout=120,
        check=False,
    )
    assert ran.returncode == 0, ran.stderr.decode()


def _interrupted(call: Callable[[], object]) -> float:
    """How long a call goes on after Ctrl-C."""
    at: list[float] = []

    def interrupt() -> None:
        at.append(time.monotonic())
        os.kill(os.getpid(), signal.SIGINT)

    timer = threading.Timer(0.3, interrupt)
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        call()
    timer.join()
    return time.monotonic() - at[0]


def _streamed(gate: Gate) -> None:
    with gate.session("endless") as session:
        session.push("{}")
        session.finish()


WORK: dict[str, Callable[[Gate], object]] = {
    "validate": lambda gate: gate.validate("endless", "{}"),
    "a contract that is not registered": lambda gate: gate.validate(ENDLESS, "{}"),
    "instance": lambda gate: gate.instance().validate("endless", "{}"),
    "validate_all": lambda gate: gate.validate_all([Request("endless", "{}")] * 20),
    "session": _streamed,
    "run": lambda gate: gate.run("endless", lambda _: "{}"),
    "call": lambda gate: gate._engine.once().answer('{"agent": "endless", "output": "{}"}', 40),
}


@pytest.mark.parametrize("work", WORK)
def test_ctrl_c_ends_what_works(endless: Gate, work: str) -> None:
    assert _interrupted(lambda: WORK[work](endless)) < 5
    endless.register(LIST)
    assert endless.validate("l", "[]").report.success


def _at_work(call: Callable[[], object], threads: int) -> list[threading.Thread]:
    def until_the_end() -> None:
        with pytest.raises(SeamgateFault):
            call()

    started = [threading.Thread(target=until_the_end, daemon=True) for _ in range(threads)]
    for thread in started:
        thread.start()
    time.sleep(0.3)
    return started


def test_ctrl_c_ends_what_waits_and_a_clock_does() -> None:
    gate = Gate(limits=Limits(timeout_seconds=3, fuel=2**60))
    gate.register(ENDLESS)
    # More than there are slots.
    threads = _at_work(lambda: gate.validate("endless", "{}"), 4 * (os.cpu_count() or 1) + 8)
    assert _interrupted(lambda: gate.validate("endless", "{}")) < 2
    begin = time.monotonic()
    with pytest.raises(SeamgateFault) as raised:
        gate.validate("endless", "{}")
    assert raised.value.code in ("busy", "timeout")
    for thread in threads:
        thread.join(20)
    assert time.monotonic() - begin < 20
    assert not any(thread.is_alive() for thread in threads)


def test_what_another_thread_uses_is_waited_for_with_a_clock() -> None:
    gate = Gate(limits=Limits(timeout_seconds=2, fuel=2**60))
    gate.register(ENDLESS)
    instance = gate.instance()
    threads = _at_work(lambda: instance.validate("endless", "{}"), 4)
    begin = time.monotonic()
    assert _interrupted(lambda: instance.validate("endless", "{}")) < 2
    for thread in threads:
        thread.join(20)
    assert not any(thread.is_alive() for thread in threads)
    assert time.monotonic() - begin < 15


def test_a_loop_that_another_thread_uses_is_waited_for_with_a_clock() -> None:
    gate = Gate(limits=Limits(timeout_seconds=0.5))
    gate.register_profile(READER)
    loop = gate.loop("reader", run="r1", principal="anna")
    begun, go_on = threading.Event(), threading.Event()

    class Slow:
        limits = gate.limits

        def permit(self, *_: object) -> Any:
            begun.set()
            go_on.wait(20)
            raise ValueError

    loop._gate, whole = Slow(), loop._gate  # type: ignore[assignment]

    def use() -> None:
        with pytest.raises(ValueError):  # noqa: PT011
            loop.permit(CALL)

    thread = threading.Thread(target=use)
    thread.start()
    begun.wait(20)
    calls: list[Callable[[], object]] = [lambda: loop.facts, lambda: loop.permit(CALL), lambda: loop.spend(tokens=1)]
    for call in calls:
        begin = time.monotonic()
        fault("busy", call)
        assert time.monotonic() - begin < 5
    go_on.set()
    thread.join()
    loop._gate = whole
    assert loop.permit(CALL)


def test_a_loop_that_is_called_from_inside_is_an_error_and_its_clock_may_read_it() -> None:
    gate = Gate()
    gate.register_profile(READER)
    times: list[object] = []

    def clock() -> float:
        times.append(loop.facts)
        return time.time()

    loop = gate.loop("reader", clock=clock, run="r1", principal="anna")
    assert loop.permit(CALL)
    assert len(times) == 1

    def handler(*_: object) -> None:
        loop.spend(tokens=1)

    before = signal.signal(signal.SIGUSR1, handler)
    try:
        with loop._turns, pytest.raises(RuntimeError, match="the loop is at work"):
            signal.raise_signal(signal.SIGUSR1)
    finally:
        signal.signal(signal.SIGUSR1, before)
    assert loop.permit({**CALL, "key": "2"})


def test_threads_that_ask_for_one_schema_share_a_gate() -> None:
    schema = {"agent": "shared", "schema": {"type": "integer", "maximum": 77}}
    limits = Limits(timeout_seconds=9)
    made: list[object] = []

    def compile_it() -> None:
        made.append(_schemas.compiled(_json.text(schema), limits).gate)

    threads = [threading.Thread(target=compile_it) for _ in range(16)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(made) == 16
    assert len(set(map(id, made))) == 1


class Calling:
    """A journal that calls its run."""

    def __init__(self) -> None:
        self.lines_: list[str] = []
        self.run: Any = None
        self.call: Callable[[Any], object] = lambda _: None

    def count(self) -> int:
        return len(self.lines_)

    def lines(self, start: int) -> Iterator[str]:
        return iter(self.lines_[start:])

    def append(self, expected: int, lines: list[str]) -> bool:
        if self.run is not None:
            self.call(self.run)
        self.lines_ += lines
        return expected + len(lines) == len(self.lines_)

    def put(self, kind: str, digest: str, text: str) -> None: ...

    def get(self, kind: str, digest: str) -> str | None: ...


@pytest.mark.parametrize("what", ["state", "step", "send"])
def test_a_journal_that_calls_its_run_is_an_error(what: str, tmp_path: Path) -> None:
    gate = Gate(limits=Limits(timeout_seconds=1))
    gate.register_profile(READER)
    journal = Calling()
    run, _ = gate.start(journal, "reader", STARTED)
    journal.run = run
    journal.call = (lambda run: run.send(TIMER)) if what == "send" else lambda run: getattr(run, what)
    with pytest.raises(RuntimeError, match="the run is at work"):
        run.send({"type": "call", "at": 1790000001000, "tool": "search", "arguments": {"q": "x"}})
    assert run.step == 1
