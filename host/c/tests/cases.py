"""Sends the cases and attacks of the repository through the C interface, and compares the answers.

    python3 host/c/tests/cases.py DRIVER REPOSITORY

DRIVER is the program of driver.c. Python's standard library reads the files, so that the C programs need no JSON library.
"""

import json
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(sys.argv[2])
CASES = ROOT / "tests/cases"
CALLS = ROOT / "tests/calls"
RUNS = ROOT / "tests/runs"
HOSTILE = ROOT / "tests/hostile"

ORDINARY = 'Here it is:\n```json\n{"list": [{"id": "a"}, {"id": 1}, {"id": "c"}]}\n```'


class Driver:
    """The C program, one command at a time."""

    def __init__(self) -> None:
        self.process = subprocess.Popen([sys.argv[1]], stdin=subprocess.PIPE, stdout=subprocess.PIPE)

    def ask(self, name: str, *arguments: str | bytes | None) -> tuple[str, str, int]:
        """Returns the status, the text and the fuel of a command."""
        texts = [text.encode() if isinstance(text, str) else text for text in arguments]
        lengths = ["-" if text is None else str(len(text)) for text in texts]
        assert self.process.stdin and self.process.stdout
        self.process.stdin.write(" ".join([name, *lengths]).encode() + b"\n" + b"".join(text or b"" for text in texts))
        self.process.stdin.flush()
        status, length, fuel = self.process.stdout.readline().decode().split()
        return status, self.process.stdout.read(int(length)).decode(), int(fuel)

    def gate(self) -> None:
        """Begins anew, with a gate in which nothing is registered."""
        self.get("gate_new", None, None)

    def get(self, name: str, *arguments: str | bytes | None) -> str:
        """Returns the text of a command that has no fault."""
        status, text, _ = self.ask(name, *arguments)
        assert status == "ok", f"{name}: {status}: {text:.300}"
        return text

    def close(self) -> None:
        assert self.process.stdin
        self.process.stdin.close()
        assert self.process.wait() == 0, "the driver fails at its end"


def compact(indented: str) -> str:
    """Returns JSON text without white space between its tokens."""
    return "".join(
        part if part.startswith('"') else re.sub(r"\s", "", part) for part in re.split(r'("(?:[^"\\]|\\.)*")', indented)
    )


def shared(case: Path, name: str) -> Path:
    """Returns a file of a case, or the one of its group. It may be missing."""
    return case / name if (case / name).exists() else case.parent / name


def folders(root: Path) -> list[Path]:
    return sorted(path for path in root.glob("*/*") if path.is_dir())


def same(what: str, expected: str, came: str) -> None:
    assert came == expected, f"{what}:\n{came:.1000}\nin place of\n{expected:.1000}"


def check_cases(driver: Driver) -> int:
    """Each output by its contract: fresh, registered, in a session cut into chunks, in an instance, and as attempts."""
    compared = 0
    for case in folders(CASES):
        contract = shared(case, "contract.json").read_bytes()
        members = json.loads(shared(case, "request.json").read_text()) if shared(case, "request.json").exists() else {}
        extras = json.dumps({name: members[name] for name in ("finish", "lists", "evidence") if name in members})
        finish = members.get("finish", "")
        further = sorted(case.glob("output-*.txt"), key=lambda path: (len(path.name), path.name))
        outputs = [path.read_bytes() for path in (shared(case, "output.txt"), *further)]
        driver.gate()
        if not (case / "report.json").exists():
            if members:
                continue  # A request with its own mistakes: `cargo xtask runtimes` sends it as it is.
            status, text, _ = driver.ask("validate_with", contract, outputs[0], None)
            fault = json.loads((case / "fault.json").read_text())
            assert json.loads(text) == fault and status == fault["fault"], f"{case}: {text}"
            compared += 1
            continue
        expected = compact((case / "report.json").read_text())
        agent = json.loads(driver.get("register", contract))["agent"]
        if len(outputs) == 1:
            output = outputs[0]
            same(f"{case}, fresh", expected, driver.get("validate_with", contract, output, extras))
            same(f"{case}, registered", expected, driver.get("validate", agent, output, extras))
            driver.get("instance_new")
            for _ in range(2):
                same(f"{case}, instance", expected, driver.get("instance_validate", agent, output, extras))
            if len(output) < 100_000:
                driver.get("session_new", agent, extras)
                size = max(1, len(output) // 7)
                for start in range(0, len(output), size):
                    driver.get("session_push", output[start : start + size])
                same(f"{case}, session", expected, driver.get("session_finish", finish))
        driver.get("attempts_new", agent, extras, b"")
        assert json.loads(driver.get("attempts_next")) == {"stop": None, "feedback": None, "attempt": 1}, case
        reports = [driver.get("attempts_judge", output, finish) for output in outputs]
        same(f"{case}, attempts", expected, driver.get("attempts_report"))
        step = json.loads(driver.get("attempts_next"))
        assert (step["stop"] is None) == bool(step["feedback"]), f"{case}: {step}"
        if len(outputs) > 1:
            same(f"{case}, merged", expected, driver.get("merge", "[" + ",".join(reports) + "]", extras))
        compared += 1
    return compared


def check_calls(driver: Driver) -> int:
    """Decisions, observations and surfaces, by profiles that are registered."""
    compared = 0
    for case in folders(CALLS):
        profile = shared(case, "profile.json").read_bytes()
        driver.gate()
        status, text, _ = driver.ask("register_profile", profile)
        if status == "ok":
            agent = json.loads(text)["agent"]
            facts = _facts(case)
            if (case / "listed.json").exists():
                status, text, _ = driver.ask("surface", agent, facts, (case / "listed.json").read_bytes())
            elif (case / "result.json").exists():
                call = shared(case, "call.json").read_bytes()
                status, text, _ = driver.ask("observe", agent, facts, call, (case / "result.json").read_bytes())
            else:
                status, text, _ = driver.ask("permit", agent, facts, shared(case, "call.json").read_bytes())
        if (case / "fault.json").exists():
            fault = json.loads((case / "fault.json").read_text())
            said = json.loads(text)
            assert (status, said["message"]) == (fault["fault"], fault["message"]), f"{case}: {text}"
        else:
            assert status == "ok", f"{case}: {text}"
            names = ("decision.json", "observation.json", "surface.json")
            (expected,) = [case / name for name in names if (case / name).exists()]
            same(f"{case}", compact(expected.read_text()), text)
        compared += 1
    return compared


def _facts(case: Path) -> str:
    """Returns the group's facts, with those of the case in their places; null takes one away."""
    group = case.parent / "facts.json"
    text = group.read_text() if group.exists() else "{}"
    own = case / "facts.json"
    if not own.exists():
        return text
    try:
        members = json.loads(own.read_text())
    except ValueError:
        return own.read_text()
    if not isinstance(members, dict):
        return own.read_text()
    whole = json.loads(text) | members
    kept = {name: value for name, value in whole.items() if value is not None or name not in members}
    return json.dumps(kept, ensure_ascii=False)


def written(text: object) -> str:
    """Writes out a text: a string is itself, a list its pieces, and `{"repeat": …, "times": N}` a text N times."""
    if isinstance(text, str):
        return text
    if isinstance(text, list):
        return "".join(written(piece) for piece in text)
    assert isinstance(text, dict)
    piece, times = written(text["repeat"]), text["times"]
    if "{n" not in piece:
        return piece * times
    return "".join(piece.replace("{n}", str(n)).replace("{n+1}", str(n + 1)) for n in range(times))


def _contract(path: Path) -> str:
    """Returns the contract of an attack as written: a reader of JSON would lose a member that stands twice."""
    source = path.read_text()
    start = re.search(r'^\s*"contract":\s*', source, re.MULTILINE)
    assert start, path
    value, length = json.JSONDecoder().raw_decode(source[start.end() :])
    is_plain = isinstance(value, dict) and "repeat" not in value
    return source[start.end() : start.end() + length] if is_plain else written(value)


def _outcome(driver: Driver, path: Path, attack: dict[str, object]) -> tuple[str, str]:
    """Returns what came of an attack, in the words of `must`, and the text."""
    if "request" in attack:
        status, text, _ = driver.ask("call", written(attack["request"]))
        answer = json.loads(text) if status == "ok" else {"fault": json.loads(text)}
    else:
        status, text, _ = driver.ask("validate_with", _contract(path), written(attack["output"]), None)
        answer = {"fault" if status != "ok" else "report": json.loads(text)}
    if "fault" in answer:
        violations = answer["fault"].get("detail", {}).get("violations", [])
        return answer["fault"]["fault"] + (": " + violations[0]["path"] if violations else ""), text
    if "report" in answer:
        error = answer["report"]["error"]
        return answer["report"]["disposition"] + (": " + error["violations"][0]["keyword"] if error else ""), text
    return "result", text


def check_attacks(driver: Driver) -> int:
    """Each attack twice, at default limits. After each, an ordinary output has the same verdict and fuel."""
    driver.gate()
    driver.get("register", (HOSTILE / "contract.json").read_bytes())
    before = driver.ask("validate", "lister", ORDINARY, None)
    assert before[0] == "ok", before
    attacks = sorted(HOSTILE.glob("*/*.json"))
    for path in attacks:
        attack = json.loads(path.read_text())
        came, text = _outcome(driver, path, attack)
        must = attack["must"]
        is_right = came == must or (": " not in must and came.split(": ")[0] == must)
        assert is_right, f"{path} must be {must}, is {came}"
        same(f"{path}, again", text, _outcome(driver, path, attack)[1])
        after = driver.ask("validate", "lister", ORDINARY, None)
        assert after == before, f"after {path}, the next verdict is another one"
    return len(attacks)


def main() -> None:
    # Answers nest deeper than Python's reader of JSON goes by default.
    sys.setrecursionlimit(20_000)
    for name, check, least in (
        ("cases", check_cases, 1000),
        ("calls", check_calls, 300),
        ("attacks", check_attacks, 200),
    ):
        driver = Driver()
        compared = check(driver)
        driver.close()
        assert compared >= least, f"only {compared} {name}"
        print(f"{compared} {name} have their answers through the C interface")


if __name__ == "__main__":
    main()
