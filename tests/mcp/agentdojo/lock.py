"""Writes the lock files beside the profiles: the definitions of each suite's tools."""

import json
from pathlib import Path

from agentdojo.task_suite.load_suites import get_suite
from serve import BENCHMARK, SUITES, tools

for name in SUITES:
    lock = {"servers": {"": {"tools": tools(get_suite(BENCHMARK, name))}}}
    text = json.dumps(lock, indent=1, ensure_ascii=False)
    Path(__file__).with_name(f"{name}.lock.json").write_text(f"{text}\n")
