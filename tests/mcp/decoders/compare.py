"""Compares how decoders read the messages that the gate lets through, and what the servers behind it ran.

`cargo xtask mcp decoders` installs the decoders. A difference that `explained.json` does not explain is a failure.
"""

import argparse
import json
import math
import subprocess
import sys
import tempfile
import textwrap
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass, field
from itertools import zip_longest
from pathlib import Path
from typing import Any

import page
from serving import Server, serve

HERE = Path(__file__).resolve().parent

# The most differences that are shown, and the most characters of a value in one.
MOST_SHOWN = 20
MOST_CHARACTERS = 120

# The longest line of a page.
WIDTH = 100

# Stands for a part that a decoder did not read.
MISSING = ["missing"]

# Text of the message that is no Unicode.
UNREADABLE = ["?"]

# The paths at which parts of a message are compared.
PARTS = ("kind", "id", "method", "name", "arguments", "params", "result", "error")


@dataclass
class Reader:
    """A program that reads all lines, and the decoders in it: their names there and in the table."""

    name: str
    command: list[str]
    decoders: dict[str, str]
    folder: Path | None = None


@dataclass(eq=False)
class Difference:
    """A part of one message that a decoder read in another way."""

    place: tuple[str, ...]
    judged: Any
    read: Any

    def kind(self) -> str:
        """The word for it in `explained.json`."""
        if self.place == ("kind",):
            return f"{self.judged}_as_{self.read}"
        if self.judged == UNREADABLE:
            return "no_unicode"
        if self.read == MISSING:
            if self.place[-1] == "__proto__" and self.place != ("error", "__proto__"):
                return "prototype"
            return "null_is_absent" if self.judged is None else "dropped"
        if self.judged == MISSING:
            return "added"
        if is_number(self.judged) and is_number(self.read):
            if self.place == ("id",):
                return "id_rounded"
            wanted, got = nearest(self.judged), nearest(self.read)
            if math.isinf(got):
                return "infinite"
            return "last_digit" if math.isclose(wanted, got, rel_tol=1e-15, abs_tol=1e-300) else "number"
        return "other"


@dataclass
class Counts:
    """The results of one decoder for all messages."""

    alike: int = 0
    refused: int = 0
    explained: Counter[str] = field(default_factory=Counter)
    different: int = 0


def is_number(value: Any) -> bool:
    return isinstance(value, list) and value[0] in ("n", "i", "f")


def nearest(number: list[str]) -> float:
    """The double that is nearest to a number."""
    kind, text = number
    try:
        return float(int(text, 16)) if kind == "i" else float(text.replace("Infinity", "inf"))
    except OverflowError:
        return math.inf if not text.startswith("-") else -math.inf


def integer(number: list[str]) -> int | None:
    """The integer that a number is, as it is written or held."""
    kind, text = number
    if kind == "i":
        return int(text, 16)
    if kind == "n":
        try:
            return int(text)
        except ValueError:
            pass
    value = nearest(number)
    return int(value) if math.isfinite(value) and value == int(value) else None


def same_number(judged: list[str], read: list[str], *, exact: bool) -> bool:
    """Returns whether a number was read correctly, within the precision of its type."""
    if exact or read[0] == "i":
        one, other = integer(judged), integer(read)
        return one == other if one is not None or other is not None else nearest(judged) == nearest(read)
    # A number beyond all doubles has no nearest one.
    return nearest(judged) == nearest(read) and math.isfinite(nearest(read))


def differences(judged: Any, read: Any, place: tuple[str, ...]) -> Iterator[Difference]:
    """Each place in which a value was read in another way."""
    if judged == MISSING and read == MISSING:
        return
    if not isinstance(judged, list) or not isinstance(read, list):
        if judged != read or type(judged) is not type(read):
            yield Difference(place, judged, read)
    elif is_number(judged) and is_number(read):
        if not same_number(judged, read, exact=place == ("id",)):
            yield Difference(place, judged, read)
    elif judged[0] != read[0] or (judged[0] == "a" and len(judged) != len(read)):
        yield Difference(place, judged, read)
    elif judged[0] == "a":
        for index, (one, other) in enumerate(zip(judged[1:], read[1:], strict=True)):
            yield from differences(one, other, (*place, str(index)))
    elif judged[0] == "o":
        one, other = members(judged), members(read)
        for name in {**one, **other}:
            yield from differences(one.get(name, MISSING), other.get(name, MISSING), (*place, name))
    else:
        yield Difference(place, judged, read)


def members(noted: list[Any]) -> dict[str, Any]:
    return dict(zip(noted[1::2], noted[2::2], strict=True))


def of_message(judged: dict[str, Any], read: dict[str, Any]) -> list[Difference]:
    """The differences between a message as it was judged and as a decoder read it."""
    found: list[Difference] = []
    for part in PARTS:
        # The gate chooses the other members of a call's parameters.
        if part == "params" and "name" in judged:
            continue
        # Only a call has these.
        if part in ("name", "arguments") and "name" not in judged:
            continue
        if found and found[0].place == ("kind",):
            # All else follows from this.
            break
        found.extend(differences(judged.get(part, MISSING), read.get(part, MISSING), (part,)))
    return found


class Explained:
    """The differences that are known, with their reasons."""

    def __init__(self) -> None:
        self.entries = json.loads((HERE / "explained.json").read_text())
        # The number of messages that each entry explains, for any decoder.
        self.used = [0] * len(self.entries)

    def find(self, decoder: str, difference: Difference) -> int | None:
        for index, entry in enumerate(self.entries):
            is_kind = entry["kind"] == difference.kind() and difference.place[0] in entry["at"]
            if is_kind and (decoder in entry["decoders"] or entry["decoders"] == ["*"]):
                return index
        return None

    def count(self, entries: set[int]) -> None:
        for index in entries:
            self.used[index] += 1

    def unused(self) -> Iterator[str]:
        for entry, count in zip(self.entries, self.used, strict=True):
            if not count:
                yield f"{entry['kind']} at {', '.join(entry['at'])}"

    def lines(self) -> str:
        lines = []
        for entry, count in zip(self.entries, self.used, strict=True):
            places = ", ".join(f"`{place}`" for place in entry["at"])
            line = f"- `{entry['kind']}` at {places}, {count:,} messages: {entry['reason']}"
            lines.append(textwrap.fill(line, WIDTH, subsequent_indent="  ", break_on_hyphens=False))
        return "\n".join(lines)


def shown(value: Any) -> str:
    return json.dumps(value)[:MOST_CHARACTERS]


def run_reader(reader: Reader, lines: Path, folder: Path) -> Path:
    path = folder / f"{reader.name}.ndjson"
    with lines.open("rb") as stdin, path.open("wb") as stdout:
        subprocess.run(reader.command, stdin=stdin, stdout=stdout, cwd=reader.folder, check=True)
    return path


def compare(options: argparse.Namespace, folder: Path) -> tuple[str, int]:
    """The table of all decoders, and how many differences nobody explained."""
    made, lines = folder / "made.ndjson", folder / "lines.txt"
    with made.open("wb") as stdout:
        command = [options.decoders, "make", str(options.count), str(options.seed)]
        subprocess.run(command, stdout=stdout, check=True)
    with made.open() as source, lines.open("w") as out:
        for text in source:
            message = json.loads(text)
            if "out" in message:
                out.write(message["out"] + "\n")
    readers = all_readers(options)
    with ThreadPoolExecutor(2) as pool:
        outputs = list(pool.map(lambda reader: run_reader(reader, lines, folder), readers))

    explained = Explained()
    refusals: dict[str, int] = {}
    counts: dict[str, Counts] = {}
    unexplained: Counter[tuple[str, str, str]] = Counter()
    passed = 0
    with ExitStack() as stack:
        files = [stack.enter_context(path.open()) for path in [made, *outputs]]
        for first, *texts in zip_longest(*files):
            message = json.loads(first) if first else {}
            if "made" in message:
                refusals = message
                continue
            if first is None or None in texts:
                sys.exit("decoders: a reader found another number of lines than the gate wrote")
            passed += 1
            reasons: set[int] = set()
            for decoder, read in read_by(readers, texts):
                count = counts.setdefault(decoder, Counts())
                if "refused" in read:
                    count.refused += 1
                    continue
                found = of_message(message["judged"], read)
                entries = {difference: explained.find(decoder, difference) for difference in found}
                unknown = [difference for difference, entry in entries.items() if entry is None]
                if unknown:
                    if count.different < MOST_SHOWN:
                        report(message, decoder, unknown)
                    count.different += 1
                    unexplained.update((decoder, one.kind(), one.place[0]) for one in unknown)
                elif found:
                    count.explained.update({explained.entries[entry]["kind"] for entry in entries.values()})
                    reasons.update(entries.values())
                else:
                    count.alike += 1
            explained.count(reasons)
    for (decoder, kind, at), number in sorted(unexplained.items()):
        print(f"decoders: {number} times, {decoder} differs by {kind} at {at}")
    failures = sum(count.different for count in counts.values())
    if options.write:
        for entry in explained.unused():
            print(f"decoders: explained.json: {entry} explains nothing: remove it")
            failures += 1
    summary = (
        f"Of {refusals['made']:,} messages, the gate refuses {refusals['malformed']:,}, the profile denies "
        f"{refusals['denied']:,} calls, and {passed:,} pass."
    )
    return f"{summary}\n\n{decoder_table(counts)}\n\n{explained.lines()}", failures


def read_by(readers: list[Reader], texts: list[str]) -> Iterator[tuple[str, dict[str, Any]]]:
    """Returns how each decoder read one line."""
    for reader, text in zip(readers, texts, strict=True):
        read = json.loads(text)
        for own, decoder in reader.decoders.items():
            yield decoder, read[own]


def decoder_table(counts: dict[str, Counts]) -> str:
    rows = [["decoder", "read alike", "refused", "explained", "**different**"], ["---", *["---:"] * 4]]
    for decoder, count in counts.items():
        explained = ", ".join(f"{number:,} `{kind}`" for kind, number in sorted(count.explained.items())) or "0"
        rows.append([decoder, f"{count.alike:,}", f"{count.refused:,}", explained, f"{count.different:,}"])
    return page.table(rows)


def report(message: dict[str, Any], decoder: str, found: list[Difference]) -> None:
    print(f"decoders: {decoder} reads message {message['number']} in another way than the gate")
    print(f"  in    {message['in'][:500]!r}")
    print(f"  out   {message['out'][:500]!r}")
    for difference in found[:5]:
        place = "/".join(difference.place)
        print(f"  {difference.kind()} at {place}: judged {shown(difference.judged)}, read {shown(difference.read)}")


def all_readers(options: argparse.Namespace) -> list[Reader]:
    script = str(HERE / "read.py")
    readers = [
        Reader(
            "python",
            [str(options.clients / "python"), "-B", script],
            {"plain": "Python's `json`", "sdk": "PyPI's `mcp` 2"},
        ),
        Reader(
            "node",
            [options.node, "--stack-size=6000", "read.mjs"],
            {
                "plain": "`JSON.parse`",
                "sdk1": "npm's `@modelcontextprotocol/sdk` 1",
                "sdk2": "npm's `@modelcontextprotocol/server` 2",
            },
            options.modules.parent,
        ),
        Reader("serde", [str(options.serde)], {"plain": "`serde_json`", "typed": "`serde_json`, derived types"}),
    ]
    if options.sqlite:
        command = [str(options.sqlite / "python"), "-B", script]
        readers.append(Reader("python-1", command, {"sdk": "PyPI's `mcp` 1"}))
    if options.go:
        decoders = {"plain": "Go's `encoding/json`", "mcp-go": "`mark3labs/mcp-go`", "go-sdk": "Go's official SDK"}
        readers.append(Reader("go", [str(options.go), "read"], decoders))
    return readers


def all_servers(options: argparse.Namespace) -> list[Server]:
    servers = [
        Server("PyPI's `mcp` 2", [str(options.clients / "python"), "-B", str(HERE / "serve.py")], is_exact=True),
        Server(
            "npm's `@modelcontextprotocol/sdk` 1",
            [options.node, str(options.modules.parent / "serve.mjs")],
            drops_prototypes=True,
        ),
    ]
    if options.go:
        servers += [
            Server("`mark3labs/mcp-go`", [str(options.go), "serve", "mcp-go"]),
            Server("Go's official SDK", [str(options.go), "serve", "go-sdk"]),
        ]
    return servers


def main() -> None:
    # Messages have longer numbers and more levels than Python expects.
    sys.set_int_max_str_digits(0)
    sys.setrecursionlimit(50_000)
    parser = argparse.ArgumentParser(description=__doc__)
    for name in ("seamgate", "decoders", "serde", "clients", "modules"):
        parser.add_argument(f"--{name}", type=Path, required=True)
    parser.add_argument("--node", default="node")
    for name in ("sqlite", "go", "write"):
        parser.add_argument(f"--{name}", type=Path)
    parser.add_argument("--count", type=int, default=200_000)
    parser.add_argument("--calls", type=int, default=3_000)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        decoders, failures = compare(options, Path(folder))
        servers, more = serve(options, all_servers(options), Path(folder), HERE / "note.profile.json")
    print(f"{decoders}\n\n{servers}")
    if options.write:
        page.write(options.write, "decoders", f"{decoders}\n\n{servers}")
    if failures + more:
        sys.exit(f"decoders: {failures + more} differences that explained.json does not explain")


if __name__ == "__main__":
    main()
