"""The scenarios of `@modelcontextprotocol/conformance` for clients: `seamgate mcp` with a server by its address.

The suite serves, and starts `drive.py` as the client. A check that does not pass must be in `clients.json`, with the
reason. Where a client must refuse a server, `clients.json` has what seamgate must say, because a client that does
nothing would pass.
"""

import json
import re
import subprocess
import sys
import tempfile
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import page
import suite

VERSIONS = ["2025-11-25", "2026-07-28"]
HERE = Path(__file__).parent
# A check of these takes a client that is 200 ms late for a wrong one. On a busy machine, any can be.
TIMED = {"sse-retry"}
TIMES = 3


def main() -> int:
    """Run all scenarios. Gives 1 if a check does not pass and has no reason, or has a reason and passes."""
    parser = suite.arguments()
    parser.add_argument("--only", help="a part of the names of the scenarios that are run")
    given = parser.parse_args()
    program = [str(given.node), str(suite.entry(given.modules))]
    known = json.loads((HERE / "clients.json").read_text())
    all_of_them = suite.scenarios(program, "client")
    chosen = [
        (version, name)
        for version in VERSIONS
        for name, versions in all_of_them
        if version in versions and (given.only or "") in name
    ]

    def run(one: tuple[str, str]) -> Outcome:
        for _ in range(TIMES if one[1] in TIMED else 1):
            outcome = Outcome(program, given.seamgate, *one, known["refusals"].get(one[1]))
            if not bad([outcome]):
                break
        return outcome

    # The suite serves on a port of its own each time, and waits most of the time.
    with ThreadPoolExecutor(2) as workers:
        outcomes = list(workers.map(run, chosen))
    excused = [reason for reason in known["exceptions"] if any(reason_of(one, [reason]) for one in bad(outcomes))]
    rows = []
    for version in VERSIONS:
        of_version = [outcome for outcome in outcomes if outcome.version == version]
        found = Counter(check["status"] for outcome in of_version for check in outcome.checks.values())
        rows.append((f"{version}, {len(of_version)} scenarios", found))
    text = suite.counts("", rows)
    text += "".join(f"\n{line}" for line in ["", *(shown(reason) for reason in excused)]) if excused else ""
    print(text)
    unexplained = [one for one in bad(outcomes) if not reason_of(one, known["exceptions"])]
    for version, scenario, name, why in unexplained:
        print(f"{version} {scenario}/{name}: {why}", file=sys.stderr)
    stale = [reason for reason in known["exceptions"] if reason not in excused and not given.only]
    for reason in stale:
        print(f"clients.json: remove this exception, because the check passes: {reason['check']}", file=sys.stderr)
    if given.write and not given.only:
        page.write(given.write, "conformance-clients", text)
    return int(bool(unexplained or stale))


class Outcome:
    """The verdicts of one scenario in one version of the protocol."""

    def __init__(self, program: list[str], seamgate: Path, version: str, scenario: str, refusal: str | None) -> None:
        self.version, self.scenario = version, scenario
        with tempfile.TemporaryDirectory() as results:
            command = f"{sys.executable} -B {HERE / 'drive.py'} --seamgate {seamgate}"
            words = ["client", "--command", command, "--scenario", scenario]
            words += ["--spec-version", version, "--output-dir", results]
            done = subprocess.run([*program, *words], capture_output=True, text=True, timeout=90, check=False)
            self.checks = dict(suite.verdicts(Path(results)))
            told = "".join(path.read_text() for path in Path(results).rglob("std*.txt"))
        if not self.checks:
            self.checks["suite"] = {"status": "FAILURE", "description": done.stderr}
        # The driver itself must have come to an end, and a server that is refused must be refused for the right reason.
        if "Traceback" in told or re.search("CLIENT (TIMED OUT|EXITED WITH ERROR)", done.stderr):
            self.checks["driver"] = {"status": "FAILURE", "description": told}
        if refusal and refusal not in told:
            self.checks["refusal"] = {"status": "FAILURE", "description": f"expected {refusal!r}: {told}"}


def bad(outcomes: list[Outcome]) -> list[tuple[str, str, str, str]]:
    """The checks that do not pass, each with what the suite says."""
    return [
        (outcome.version, outcome.scenario, name, check.get("errorMessage") or check["description"])
        for outcome in outcomes
        for name, check in outcome.checks.items()
        if check["status"] != "SUCCESS"
    ]


def reason_of(one: tuple[str, str, str, str], exceptions: list[dict]) -> str | None:
    """Returns the known reason why a check does not pass, if there is one."""
    version, scenario, name, _ = one
    found = [
        known["reason"]
        for known in exceptions
        if known["check"] == f"{scenario}/{name}" and version in known.get("versions", VERSIONS)
    ]
    return found[0] if found else None


def shown(exception: dict) -> str:
    """A line of the page."""
    versions = f" ({', '.join(exception['versions'])})" if "versions" in exception else ""
    return f"- `{exception['check']}`{versions}: {exception['reason']}"


if __name__ == "__main__":
    sys.exit(main())
