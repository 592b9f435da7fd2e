"""Measures how long a message takes through `seamgate hook claude`, beside `seamgate --version`.

    python3 tests/hook/time.py [MESSAGES]

Sends so many messages (10,000 by default), in sessions of 150, with commands of `ordinary.txt`, under the profile of the tests.
After each message it starts `seamgate --version` once, so that other work on the machine slows down both. Needs
`target/release/seamgate` (`cargo xtask build`). Prints a table, and writes nothing that stays.
"""

import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
PROGRAM = HERE.parent.parent / "target/release/seamgate"
SESSION = 150


def run(arguments, text=b""):
    """Runs the program, and returns its output and how many milliseconds it took."""
    start = time.perf_counter()
    done = subprocess.run([PROGRAM, *arguments], input=text, capture_output=True, check=False)
    took = (time.perf_counter() - start) * 1000
    if done.returncode != 0:
        sys.exit(f"{arguments}: {done.stderr.decode()}")
    return done.stdout, took


def main():
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 10_000
    commands = (HERE / "ordinary.txt").read_text().splitlines()
    hook, version, answers = [], [], {}
    with tempfile.TemporaryDirectory() as journal:
        arguments = ["hook", "claude", "-p", HERE / "code.profile.json", "--journal", journal]
        for number in range(count):
            message = {
                "session_id": f"s{number // SESSION}",
                "cwd": "/work/app",
                "hook_event_name": "PreToolUse",
                "tool_name": "Bash",
                "tool_use_id": f"t{number}",
                "tool_input": {"command": commands[number % len(commands)]},
            }
            output, took = run(arguments, json.dumps(message).encode())
            answer = json.loads(output)["hookSpecificOutput"]["permissionDecision"]
            answers[answer] = answers.get(answer, 0) + 1
            hook.append(took)
            version.append(run(["--version"])[1])
    print(f"{count} messages in sessions of {SESSION}, {os.cpu_count()} processors; answers: {answers}")
    print("| program | p50 | p90 | p99 | most |")
    print("| --- | ---: | ---: | ---: | ---: |")
    for name, times in [("seamgate hook claude", hook), ("seamgate --version", version)]:
        times.sort()
        at = [times[min(len(times) - 1, int(len(times) * part))] for part in (0.5, 0.9, 0.99, 1)]
        print(f"| `{name}` | " + " | ".join(f"{one:.1f} ms" for one in at) + " |")


main()
