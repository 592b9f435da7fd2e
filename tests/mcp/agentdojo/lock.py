"""Writes the lock files beside the profiles: the definitions of each suite's tools."""

import json
from pathlib import Path

from agentdojo.task_suite.load_suites import get_suite
from serve import BENCHMARK, SUITES, definition

for name in SUITES:
    tools = [definition(tool) for tool in get_suite(BENCHMARK, name).tools]
    lock = {"servers": {"": {"tools": tools}}}
    text = json.dumps(lock, indent=1, ensure_ascii=False)
    Path(__file__).with_name(f"{name}.lock.json").write_text(f"{text}\n")
