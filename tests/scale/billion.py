"""Computes the cost of a billion outputs of 2 KB: `billion.py SEAMGATE PAGE`. Other figures come from README.md."""

import json
import re
import resource
import subprocess
import sys
import tempfile
from pathlib import Path

OUTPUTS = 1_000_000_000

# The utilization of a service's processors. The rest is a reserve that keeps latencies stable.
USED = 0.6

# The number of outputs that are judged for the measurement.
SAMPLE = 20_000

HERE = Path(__file__).parent
EXAMPLES = HERE.parent.parent / "schemas/examples"
OUTPUT = (EXAMPLES / "outputs/triage.partial-one-broken.txt").read_text()


def part(name: str) -> str:
    """Reads the figures of a part of `cargo xtask scale`."""
    return (HERE / "README.md").read_text().split(f"<!-- {name} -->")[1].split(f"<!-- /{name} -->")[0]


def check(seamgate: str) -> float:
    """The time on processors that `seamgate check --ndjson` takes for an output, in ms."""
    request = json.dumps({"agent": "triage", "output": OUTPUT})
    with tempfile.NamedTemporaryFile("w") as requests:
        requests.write(f"{request}\n" * SAMPLE)
        requests.flush()
        command = [seamgate, "check", "--ndjson", "-c", EXAMPLES / "triage.contract.json", requests.name]
        # Its status is that of the worst answer.
        answers = subprocess.run(command, capture_output=True, text=True, check=False).stdout
    assert answers.count('"disposition":"partial"') == SAMPLE, answers[:1000]
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return (used.ru_utime + used.ru_stime) * 1e3 / SAMPLE


def rows(seamgate: str) -> list[tuple[str, float, float]]:
    """What judges, its ms on processors for an output, and how much of them is used."""
    alone = check(seamgate)
    made = [("`seamgate check --ndjson`", alone, 1.0)]
    ways = re.findall(r"^\| ([^|]+) \| [\d,]+ \| \d+ \| ([\d,]+) \|", part("archives"), re.MULTILINE)
    rates = {name.strip("`"): float(rate.replace(",", "")) for name, rate in ways}
    base = next((rate for name, rate in rates.items() if "check --ndjson" in name), 0.0)
    made += [(name, alone * base / rate, 1.0) for name, rate in rates.items() if base and "check" not in name]
    served = re.search(r"^\| 2 KB[^|]*\| ([\d.]+) ms \|", part("service").split("Cores for")[-1], re.MULTILINE)
    if served:
        made.append(("the gate over HTTP", float(served[1]), USED))
    return made


def table(seamgate: str) -> str:
    """The rows as a table."""
    size = len(OUTPUT.encode())
    lines = [
        f"{OUTPUTS:,} outputs of {size:,} bytes are {OUTPUTS * size / 1e12:.1f} TB.",
        "",
        "| what judges | processor for an output | used | core-hours | hours of 16 cores |",
        "| --- | ---: | ---: | ---: | ---: |",
    ]
    for what, ms, used in rows(seamgate):
        hours = OUTPUTS * ms / 1e3 / used / 3600
        lines.append(f"| {what} | {ms:.2f} ms | {used:.0%} | {hours:,.0f} | {hours / 16:,.1f} |")
    return "\n".join(lines)


seamgate, page = sys.argv[1], Path(sys.argv[2])
before, rest = page.read_text().split("<!-- billion -->")
_, after = rest.split("<!-- /billion -->")
page.write_text(f"{before}<!-- billion -->\n\n{table(seamgate)}\n\n<!-- /billion -->{after}")
