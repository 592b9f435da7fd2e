"""Threads, signals, forks, and the cache of machine code."""

from __future__ import annotations

import contextlib
import os
import signal
import stat
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from components import component
from conftest import ENDLESS, OUTPUTS, wasmtime_only
from wasmtime.component import Component

from seamgate import Gate, Limits, Output, Request, SeamgateFault, Verdict, _cache, _sandbox

ANY = '{"agent":"any","schema":true}'
unix = pytest.mark.skipif(sys.platform == "win32", reason="Unix")


def test_many_threads_use_one_gate(gate: Gate) -> None:
    paths = sorted(OUTPUTS.iterdir())
    expected = [gate.validate(path.name.split(".")[0], path.read_bytes()).report.json for path in paths]

    def judge(_: int) -> list[str]:
        return [gate.validate(path.name.split(".")[0], path.read_bytes()).report.json for path in paths]

    with ThreadPoolExecutor(8) as pool:
        assert all(came == expected for came in pool.map(judge, range(16)))


def test_threads_register_and_judge_at_once() -> None:
    gate = Gate()

    def both(number: int) -> bool:
        gate.register({"agent": f"a{number % 4}", "schema": {"const": number % 4}})
        return gate.validate(f"a{number % 4}", str(number % 4)).report.success

    with ThreadPoolExecutor(8) as pool:
        assert all(pool.map(both, range(64)))
    assert gate.names() == ["a0", "a1", "a2", "a3"]


def test_batches_are_answered_in_order_with_faults_in_their_places(gate: Gate) -> None:
    requests = [Request({"agent": "a", "schema": {"const": n}}, str(n)) for n in range(40)]
    requests[7] = Request("nobody", "1")
    answers = gate.validate_all(iter(requests), threads=4)
    for number, answer in enumerate(answers):
        if number == 7:
            assert isinstance(answer, SeamgateFault)
            assert answer.code == "unknown_agent"
        else:
            assert isinstance(answer, Verdict)
            assert answer.report.output == number
    assert gate.validate_all([]) == []
    for ahead in (1, 3, 39, 40, 41, 1000):
        each = list(gate.validate_each(iter(requests), threads=4, ahead=ahead))
        assert [str(one) if isinstance(one, SeamgateFault) else one.report.json for one in each] == [
            str(one) if isinstance(one, SeamgateFault) else one.report.json for one in answers
        ]
    assert list(gate.validate_each([])) == []


@pytest.mark.parametrize(
    ("output", "ahead", "most"),
    [("7", 1, 1), ("7", 16, 16), (b"7", 16, 16), (" " * 3_000_000 + "7", 16, 2), (memoryview(b" " * 5_000_000), 16, 1)],
)
def test_requests_are_read_no_further_ahead_than_said(output: Output, ahead: int, most: int) -> None:
    gate = Gate()
    gate.register({"agent": "n", "schema": True})
    read = 0

    def without_end() -> Iterator[Request]:
        nonlocal read
        while True:
            read += 1
            yield Request("n", output)

    answers = gate.validate_each(without_end(), ahead=ahead)
    # Nothing is read before the first verdict is asked for.
    assert read == 0
    for number in range(2 * ahead):
        next(answers)
        assert read - number <= most


def test_other_threads_go_on_while_a_call_lasts() -> None:
    gate = Gate(limits=Limits(timeout_seconds=0.5, fuel=2**62))
    with ThreadPoolExecutor(2) as pool:
        calls = [pool.submit(gate.validate, ENDLESS, "{}") for _ in range(2)]
        counted, start = 0, time.monotonic()
        while not all(call.done() for call in calls):
            counted += 1
            time.sleep(0.001)
        assert counted > 20
        # Each had its own time, both at once.
        assert time.monotonic() - start < 5
        assert all(isinstance(call.exception(), SeamgateFault) for call in calls)


def test_what_is_left_at_the_end_is_freed_in_silence() -> None:
    script = """
import seamgate
contract = {"agent": "a", "schema": True}
assert seamgate.validate(contract, "1").success
gate = seamgate.Gate()
gate.register(contract)
warm = gate.instance()
assert warm.validate("a", "1").report.success
held = [gate, warm, seamgate]
held.append(held)
"""
    ran = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert ran.stderr == ""


@wasmtime_only
def test_the_clock_runs_only_while_it_is_needed(gate: Gate) -> None:
    gate.validate(ANY, "1")
    assert _clocks() >= 1
    end = time.monotonic() + 10
    while _clocks() and time.monotonic() < end:
        time.sleep(0.02)
    assert _clocks() == 0


def _clocks() -> int:
    return sum(thread.name == "seamgate-clock" for thread in threading.enumerate())


@contextlib.contextmanager
def _run(script: str) -> Iterator[subprocess.Popen[str]]:
    here = Path(__file__).parent
    # A shell has it ignored for what runs in the background, and so have the children of that.
    script = f"import signal\nsignal.signal(signal.SIGINT, signal.default_int_handler)\n{script}"
    environment = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join([str(here), *filter(None, [os.environ.get("PYTHONPATH")])]),
    }
    command = [sys.executable, "-W", "ignore", "-u", "-c", script]
    pipe = subprocess.PIPE
    with subprocess.Popen(command, env=environment, stdout=pipe, stderr=pipe, text=True) as process:
        try:
            yield process
        finally:
            process.kill()


@unix
def test_ctrl_c_arrives_at_the_latest_with_the_limit() -> None:
    script = """
import conftest, time
from seamgate import Gate, Limits
gate = Gate(limits=Limits(timeout_seconds=2, fuel=2**62))
print("calls", flush=True)
start = time.monotonic()
try:
    gate.validate(conftest.ENDLESS, "{}")
except KeyboardInterrupt:
    print("interrupted", time.monotonic() - start < 10, gate.validate({"agent": "a", "schema": True}, "1").report.data)
"""
    with _run(script) as process:
        _interrupt(process)
        out, err = process.communicate(timeout=30)
        assert out == "interrupted True 1\n", err
        assert process.returncode == 0


@unix
def test_ctrl_c_ends_a_batch() -> None:
    script = """
import conftest, time
from seamgate import Gate, Limits, Request
gate = Gate(limits=Limits(timeout_seconds=1, fuel=2**62))
print("calls", flush=True)
start = time.monotonic()
try:
    gate.validate_all([Request(conftest.ENDLESS, "{}")] * 1000, threads=2)
except KeyboardInterrupt:
    print("interrupted", time.monotonic() - start < 10)
"""
    with _run(script) as process:
        _interrupt(process)
        out, err = process.communicate(timeout=30)
        assert out == "interrupted True\n", err


def _interrupt(process: subprocess.Popen[str]) -> None:
    assert process.stdout is not None
    assert process.stdout.readline() == "calls\n"
    time.sleep(0.5)
    process.send_signal(signal.SIGINT)


@unix
def test_a_process_that_was_forked_off_judges_too() -> None:
    script = """
import os, signal
from seamgate import Gate
contract = '{"agent":"a","schema":true}'
first = Gate(cache=False)
for again in (lambda: first, lambda: Gate(cache=False)):
    # The clock of the parent is running.
    assert first.validate(contract, "1").report.success
    child = os.fork()
    if child == 0:
        signal.alarm(60)
        os._exit(0 if again().validate(contract, "1").report.success else 1)
    print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
"""
    with _run(script) as process:
        out, err = process.communicate(timeout=120)
        assert out == "0\n0\n", err


@unix
class TestCache:
    @pytest.fixture(autouse=True)
    def folder(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
        monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
        monkeypatch.setattr(sys, "platform", "linux")
        return tmp_path / "seamgate"

    @staticmethod
    def load() -> bytes | None:
        return _cache.load("key", Path.read_bytes)

    @wasmtime_only
    def test_the_code_of_a_component_is_made_once(self, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        wasm = component()
        assert Gate(component=wasm).names() == ["a"]
        (file,) = folder.iterdir()
        assert stat.S_IMODE(folder.stat().st_mode) == 0o700
        assert stat.S_IMODE(file.stat().st_mode) == 0o600

        class NoCompiler(Component):
            def __init__(self, *_: object) -> None:
                raise AssertionError("compiled again")

        monkeypatch.setattr(_sandbox, "Component", NoCompiler)
        assert Gate(component=wasm).names() == ["a"]
        with pytest.raises(AssertionError):
            Gate(component=wasm, cache=False)

    def test_what_is_kept_is_loaded(self) -> None:
        assert self.load() is None
        _cache.keep("key", b"code")
        content = self.load()
        assert content is not None
        assert content.startswith(b"code")
        assert _cache.load("another", Path.read_bytes) is None

    @pytest.mark.parametrize("mode", [0o770, 0o707, 0o777])
    def test_a_folder_that_others_may_write_to_is_not_used(
        self, folder: Path, mode: int, caplog: pytest.LogCaptureFixture
    ) -> None:
        _cache.keep("key", b"code")
        folder.chmod(mode)
        assert self.load() is None
        assert "is not this user's alone" in caplog.text
        caplog.clear()
        _cache.keep("key", b"code")
        assert "cannot be kept for the next time" in caplog.text

    def test_a_file_that_others_may_write_to_is_not_used(self, folder: Path) -> None:
        _cache.keep("key", b"code")
        (folder / "key.cwasm").chmod(0o620)
        assert self.load() is None

    def test_links_are_not_followed(self, folder: Path, tmp_path: Path) -> None:
        _cache.keep("key", b"code")
        (folder / "key.cwasm").rename(tmp_path / "elsewhere")
        (folder / "key.cwasm").symlink_to(tmp_path / "elsewhere")
        assert self.load() is None
        (folder / "key.cwasm").unlink()
        folder.rename(tmp_path / "folder")
        folder.symlink_to(tmp_path / "folder")
        assert self.load() is None

    def test_another_users_file_is_not_used(self, monkeypatch: pytest.MonkeyPatch) -> None:
        _cache.keep("key", b"code")
        monkeypatch.setattr(os, "geteuid", lambda: 12345)
        assert self.load() is None

    def test_a_damaged_file_is_not_used(self, folder: Path, caplog: pytest.LogCaptureFixture) -> None:
        _cache.keep("key", b"code" * 100)
        content = (folder / "key.cwasm").read_bytes()
        for damaged in (
            content[:-1],
            b"x" + content[1:],
            content + b"x",
            b"",
            content.replace(b"seamgate-01", b"seamgate-02"),
        ):
            (folder / "key.cwasm").write_bytes(damaged)
            caplog.clear()
            assert self.load() is None
            assert "the file is damaged" in caplog.text
        # A file of another component in this one's place.
        _cache.keep("another", b"code")
        (folder / "another.cwasm").rename(folder / "key.cwasm")
        assert self.load() is None

    @wasmtime_only
    def test_what_the_engine_does_not_take_is_made_anew(self, folder: Path) -> None:
        wasm = component()
        Gate(component=wasm)
        (file,) = folder.iterdir()
        _cache.keep(file.stem, b"no code")
        assert Gate(component=wasm).names() == ["a"]
        assert len(file.read_bytes()) > 1000

    def test_only_so_many_files_are_kept(self, folder: Path) -> None:
        for number in range(20):
            _cache.keep(str(number), b"code")
        assert len(list(folder.iterdir())) == 16

    @wasmtime_only
    def test_where_nothing_can_be_kept_it_is_said(
        self, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, caplog: pytest.LogCaptureFixture
    ) -> None:
        (tmp_path / "file").write_text("")
        monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
        assert Gate(component=component()).names() == ["a"]
        assert "cannot be kept for the next time" in caplog.text
