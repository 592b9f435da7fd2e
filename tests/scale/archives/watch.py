"""Watches the workers of an engine: the memory of each, and the outcome of a job when one is killed."""

from __future__ import annotations

import os
import signal
import threading
import uuid
from pathlib import Path

# A worker is killed when a job has written this many files.
MIDDLE = 4


class Watch:
    """Looks at the workers again and again, in a thread. In each job it kills one of them, in the middle."""

    def __init__(self, engine: str) -> None:
        self._is_worker = {"ray": _of_ray, "spark": _of_spark}[engine]
        # Every process of the run inherits it.
        self.mark = f"SEAMGATE_SCALE={uuid.uuid4()}"
        self._job: Path | None = None
        self._done = threading.Event()
        self._thread = threading.Thread(target=self._look, daemon=True)
        self.killed = 0
        self.memory: dict[int, int] = {}

    def __enter__(self) -> Watch:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._done.set()
        self._thread.join()

    def begin(self, to: Path) -> None:
        """A job begins, which writes into a folder."""
        self._job = to

    def end(self) -> None:
        """The job has ended. Whether a worker was killed in it shows in `killed`."""
        self._job = None

    def _look(self) -> None:
        while not self._done.wait(0.1):
            workers = [pid for pid in self._processes() if self._is_worker(pid)]
            for pid in workers:
                self.memory[pid] = max(self.memory.get(pid, 0), _memory(pid))
            job = self._job
            if job is not None and workers and len(list(job.rglob("*.parquet"))) >= MIDDLE:
                # The one that is busiest now.
                os.kill(max(workers, key=_ticks), signal.SIGKILL)
                self.killed += 1
                self._job = None

    def _processes(self) -> list[int]:
        """The processes of the run: those that have the mark, and those below. A worker of Ray writes its title over its
        own environment."""
        parents = {int(folder.name): _parent(int(folder.name)) for folder in Path("/proc").glob("[0-9]*")}
        ours = {pid for pid in parents if self.mark.encode() in _read(Path(f"/proc/{pid}/environ")).split(b"\0")}
        more = ours
        while more:
            more = {pid for pid, parent in parents.items() if parent in more} - ours
            ours = ours | more
        return list(ours)


def _of_ray(pid: int) -> bool:
    title = _read(Path(f"/proc/{pid}/cmdline"))
    return title.startswith(b"ray::MapWorker(") and b"_Worker" in title


def _of_spark(pid: int) -> bool:
    """A worker is a fork of the daemon."""
    return all(b"pyspark.daemon" in _read(Path(f"/proc/{one}/cmdline")) for one in (pid, _parent(pid)))


def _parent(pid: int) -> int:
    fields = _read(Path(f"/proc/{pid}/stat")).rpartition(b")")[2].split()
    return int(fields[1]) if fields else 0


def _memory(pid: int) -> int:
    """The most memory that a process had, in bytes."""
    for line in _read(Path(f"/proc/{pid}/status")).splitlines():
        if line.startswith(b"VmHWM:"):
            return int(line.split()[1]) * 1024
    return 0


def _ticks(pid: int) -> int:
    fields = _read(Path(f"/proc/{pid}/stat")).rpartition(b")")[2].split()
    return int(fields[11]) if fields else 0


def _read(path: Path) -> bytes:
    """A file of the system about a process, which may have ended."""
    try:
        return path.read_bytes()
    except OSError:
        return b""
