"""Measures the memory after many calls, gates and streams: `python benchmarks/memory.py`, on Linux.

Each line has the resident memory in MB at even distances. It should stay flat after the first figure.
"""

from __future__ import annotations

import gc
import os
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from calls import CONTRACT, Cited, document

import seamgate
from seamgate import Gate, ResultParser, ask_stream

# How many figures a line has.
_FIGURES = 6


def resident() -> float:
    """Resident memory of this process, in MB."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 1e6


def measured(what: str, count: int, call: Callable[[], object]) -> None:
    """Prints the memory while something is done many times."""
    begin, figures = time.perf_counter(), []
    for _ in range(_FIGURES):
        for _ in range(count // _FIGURES):
            call()
        gc.collect()
        figures.append(f"{resident():.1f}")
    seconds = time.perf_counter() - begin
    print(f"| {count:,} {what} | {' '.join(figures)} | {seconds:.1f} s |", flush=True)


def main() -> None:
    """Print all figures."""
    scale = float(sys.argv[1]) if len(sys.argv) > 1 else 1.0
    print(f"Backend {seamgate.backend}, Python {sys.version.split()[0]}\n")
    print("| what | resident MB | time |\n| --- | --- | ---: |")
    text = document(500)
    gate, parser = Gate(), ResultParser()
    agent = gate.register(CONTRACT).agent

    def one_gate() -> None:
        made = Gate()
        made.register(CONTRACT)
        assert made.validate(agent, text)

    def one_session() -> None:
        with gate.session(agent) as session:
            for progress in session.read(pieces()):
                assert progress.dead_end is None
            assert session.partial is not None

    def pieces() -> Iterator[str]:
        return (text[at : at + 100] for at in range(0, len(text), 100))

    measured("verdicts", int(1_000_000 * scale), lambda: gate.validate(agent, text).report.output)
    measured("calls of parse_with_schema", int(200_000 * scale), lambda: parser.parse_with_schema(Cited, text))
    measured("gates, each with a contract and a verdict", int(1_000 * scale), one_gate)
    measured("sessions", int(20_000 * scale), one_session)
    measured("questions, streamed", int(5_000 * scale), lambda: ask_stream(Cited, lambda _: pieces()).result())


if __name__ == "__main__":
    main()
