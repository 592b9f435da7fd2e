"""The scenarios of `@modelcontextprotocol/conformance`, and the verdicts that it leaves in a folder."""

import argparse
import json
import re
import subprocess
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import page

# The words of the suite that are no verdicts.
TOLD = {"INFO", "SKIPPED"}


def arguments() -> argparse.ArgumentParser:
    """A parser of the options that each script for the suite has."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--seamgate", type=Path, required=True)
    parser.add_argument("--node", type=Path, required=True, help="22 or later")
    parser.add_argument("--modules", type=Path, required=True)
    parser.add_argument("--write", type=Path, help="the page that gets the table")
    return parser


def entry(modules: Path) -> Path:
    """The suite's program, for Node."""
    return modules / "@modelcontextprotocol/conformance/dist/index.js"


def scenarios(program: list[str], kind: str) -> list[tuple[str, list[str]]]:
    """The scenarios for `server` or `client`, each with the versions of the protocol that have it."""
    listed = subprocess.run([*program, "list", f"--{kind}"], check=True, capture_output=True, text=True).stdout
    found = re.findall(r"^  - (\S+) \[(.*)\]", listed, re.MULTILINE)
    return [(name, versions.split(",")) for name, versions in found]


def verdicts(results: Path) -> Iterator[tuple[str, dict]]:
    """The checks of one scenario with a verdict, each with its name. Several checks of a scenario have the same id."""
    seen = Counter()
    for path in sorted(results.rglob("checks.json")):
        for check in json.loads(path.read_text()):
            if check["status"] not in TOLD:
                name = check["id"]
                seen[name] += 1
                yield f"{name} {seen[name]}" if seen[name] > 1 else name, check


def counts(head: str, rows: list[tuple[str, Counter]]) -> str:
    """A table of how many checks have each verdict."""
    words = ("SUCCESS", "WARNING", "FAILURE")
    table = [[head, "pass", "warn", "fail"], ["---", "---:", "---:", "---:"]]
    table += [[name, *(str(found[word]) for word in words)] for name, found in rows]
    return page.table(table)
