"""What a call costs: `calls.py` prints it for the example of a cited answer, next to validators in the same process.

Start is measured in processes of their own, the cold one without code that was made before. Each figure is the median;
the ratio is to `jsonschema` in the same run. The others are handed the JSON text alone: they do not look for it in an
output, and give no report.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median

from jsonschema.validators import validator_for  # type: ignore[import-untyped]
from pydantic import BaseModel, ConfigDict, Field, HttpUrl

from seamgate import Gate, read_contract

EXAMPLES = Path(__file__).resolve().parents[3] / "schemas/examples"
START = "import time; start = time.perf_counter(); import seamgate; seamgate.Gate(); print(time.perf_counter() - start)"


class Citation(BaseModel):
    """One passage, as the example's schema has it."""

    model_config = ConfigDict(extra="forbid", strict=True)
    source: int = Field(ge=0, le=99)
    url: HttpUrl = Field(max_length=2048)
    quote: str = Field(min_length=1, max_length=500)


class CitedAnswer(BaseModel):
    """The example's schema."""

    model_config = ConfigDict(extra="forbid", strict=True)
    answer: str = Field(min_length=1, max_length=4000)
    citations: list[Citation] = Field(min_length=1, max_length=20)


def start(cache: str) -> float:
    """Seconds to import the package and make a gate."""
    environment = {**os.environ, "XDG_CACHE_HOME": cache}
    command = [sys.executable, "-c", START]
    return float(subprocess.run(command, env=environment, check=True, capture_output=True, text=True).stdout)  # noqa: S603


def cost(call: Callable[[], object], seconds: float = 1.0) -> float:
    """The median of the calls that fit into so many seconds, in microseconds."""
    call()
    times = []
    end = time.perf_counter() + seconds
    while (begin := time.perf_counter()) < end:
        call()
        times.append(time.perf_counter() - begin)
    return median(times) * 1e6


def main() -> None:
    """Print all figures."""
    with tempfile.TemporaryDirectory() as cache:
        print(f"start, cold  {start(cache) * 1e3:8.0f} ms")
        print(f"start, warm  {median(start(cache) for _ in range(7)) * 1e3:8.0f} ms")
    gate = Gate()
    contract = json.loads(read_contract(EXAMPLES / "cited-answer.contract.json"))
    agent = gate.register(contract).agent
    output = (EXAMPLES / "outputs/cited-answer.good.txt").read_text()
    document = gate.validate(agent, output).report.output_json
    assert document is not None
    schema = contract["schema"]
    validator = validator_for(schema)(schema)
    with gate.instance() as instance:
        figures = {
            "seamgate, fresh instance": cost(lambda: gate.validate(agent, output)),
            "seamgate, warm instance": cost(lambda: instance.validate(agent, output)),
            "jsonschema": cost(lambda: validator.is_valid(json.loads(document))),
            "pydantic": cost(lambda: CitedAnswer.model_validate_json(document)),
        }
    print(f"\n{len(output.encode())} bytes of output, {len(document.encode())} of document")
    for what, figure in figures.items():
        print(f"{what:26}{figure:8.0f} us {figure / figures['jsonschema']:8.2f}")


if __name__ == "__main__":
    main()
