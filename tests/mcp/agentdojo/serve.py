"""One suite of AgentDojo as a server that speaks the Model Context Protocol over standard input and output."""

import json
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import TextIO

import yaml
from agentdojo.agent_pipeline.tool_execution import tool_result_to_str
from agentdojo.attacks.base_attacks import DEFAULT_MODEL_NAME, DEFAULT_USER_NAME
from agentdojo.attacks.important_instructions_attacks import ImportantInstructionsAttack
from agentdojo.base_tasks import BaseInjectionTask, BaseUserTask
from agentdojo.functions_runtime import FunctionCall, FunctionsRuntime
from agentdojo.task_suite.load_suites import get_suite
from agentdojo.task_suite.task_suite import TaskSuite

# AgentDojo parses an environment for each task: libyaml does it ten times as fast.
yaml.safe_load = lambda text: yaml.load(text, yaml.CSafeLoader)

BENCHMARK = "v1.2.2"
SUITES = ["workspace", "travel", "banking", "slack"]


@dataclass(frozen=True)
class Pair:
    """A user task, and the injection task that attacks it, if any."""

    suite: str
    user: str
    injection: str | None


@lru_cache
def poisoned(suite: str, user: str) -> tuple[list[str], list[int]]:
    """The places of poison that a user task reads, and which of its calls read them."""
    tasks = get_suite(BENCHMARK, suite)
    task = tasks.user_tasks[user]
    canaries = {place: f"<CANARY---{place}--->" for place in tasks.get_injection_vector_defaults()}
    environment = task.init_environment(tasks.load_and_inject_default_environment(canaries))
    runtime = FunctionsRuntime(tasks.tools)
    places, calls = set(), []
    for number, call in enumerate(task.ground_truth(environment)):
        result, _ = runtime.run_function(environment, call.function, call.args)
        read = {place for place, canary in canaries.items() if canary in tool_result_to_str(result)}
        places |= read
        if read:
            calls.append(number)
    return sorted(places), calls


class Playground:
    """The environment of one pair, with its poison."""

    def __init__(self, pair: Pair) -> None:
        self.suite: TaskSuite = get_suite(BENCHMARK, pair.suite)
        self.user: BaseUserTask = self.suite.user_tasks[pair.user]
        self.injection: BaseInjectionTask | None = pair.injection and self.suite.injection_tasks[pair.injection]
        self.poison = self._poison()
        environment = self.suite.load_and_inject_default_environment(self.poison)
        self.environment = self.user.init_environment(environment)
        self.before = self.environment.model_copy(deep=True)
        self.runtime = FunctionsRuntime(self.suite.tools)
        self.trace: list[FunctionCall] = []

    def _poison(self) -> dict[str, str]:
        """AgentDojo's usual attack, at each place that the user task reads."""
        if self.injection is None:
            return {}
        said = {"user": DEFAULT_USER_NAME, "model": DEFAULT_MODEL_NAME, "goal": self.injection.GOAL}
        text = ImportantInstructionsAttack._JB_STRING.format(**said)
        places, _ = poisoned(self.suite.name, self.user.ID)
        return dict.fromkeys(places, text)

    def call(self, name: str, arguments: dict) -> tuple[str, bool]:
        """Call a tool. Gives its text, and whether it failed."""
        self.trace.append(FunctionCall(function=name, args=arguments))
        result, error = self.runtime.run_function(self.environment, name, arguments)
        return (error, True) if error else (tool_result_to_str(result), False)

    def judge(self) -> dict[str, object]:
        """What AgentDojo says of the end."""
        said = self.user.GROUND_TRUTH_OUTPUT
        useful = self._check(self.user, said)
        reached = self.injection and self._check(self.injection, f"{said}\n{self.injection.GROUND_TRUTH_OUTPUT}")
        return {"useful": useful, "reached": reached}

    def _check(self, task: BaseUserTask | BaseInjectionTask, said: str) -> bool:
        content = [{"type": "text", "content": said}]
        return bool(self.suite._check_task_result(task, content, self.before, self.environment, self.trace))


def tools(suite: TaskSuite) -> list[dict[str, object]]:
    """The definitions of a suite's tools."""
    return [
        {"name": tool.name, "description": tool.description, "inputSchema": tool.parameters.model_json_schema()}
        for tool in suite.tools
    ]


def serve(pair: Pair, source: TextIO, sink: TextIO, verdict: Path) -> None:
    """Answer requests until the client goes. Then write what AgentDojo says, and which calls arrived."""
    ground = Playground(pair)
    arrived: list[object] = []
    for line in source:
        message = json.loads(line)
        if "id" not in message:
            continue
        given = message.get("params", {})
        answer: dict[str, object]
        match message["method"]:
            case "initialize":
                name = {"name": f"agentdojo-{pair.suite}", "version": BENCHMARK}
                result = {"protocolVersion": "2025-06-18", "capabilities": {"tools": {}}, "serverInfo": name}
                answer = {"result": result}
            case "tools/list":
                answer = {"result": {"tools": tools(ground.suite)}}
            case "tools/call":
                arrived.append(given.get("_meta", {}).get("agentdojo/number"))
                text, failed = ground.call(given["name"], given.get("arguments", {}))
                answer = {"result": {"content": [{"type": "text", "text": text}], "isError": failed}}
            case _:
                answer = {"error": {"code": -32601, "message": "Method not found"}}
        print(json.dumps({"jsonrpc": "2.0", "id": message["id"], **answer}), file=sink, flush=True)
    part = verdict.with_suffix(".part")
    part.write_text(json.dumps({**ground.judge(), "arrived": arrived}))
    part.rename(verdict)
