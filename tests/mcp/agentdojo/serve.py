"""One suite of AgentDojo as a server that speaks the Model Context Protocol over standard input and output."""

import json
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from types import NoneType
from typing import TextIO

import yaml
from agentdojo.agent_pipeline.tool_execution import tool_result_to_str
from agentdojo.attacks.base_attacks import DEFAULT_MODEL_NAME, DEFAULT_USER_NAME
from agentdojo.attacks.important_instructions_attacks import ImportantInstructionsAttack
from agentdojo.base_tasks import BaseInjectionTask, BaseUserTask
from agentdojo.functions_runtime import Function, FunctionCall, FunctionsRuntime, TaskEnvironment
from agentdojo.task_suite.load_suites import get_suite
from agentdojo.task_suite.task_suite import TaskSuite
from pydantic import TypeAdapter

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

    def __init__(self, pair: Pair, kept: tuple | None = None) -> None:
        self.suite: TaskSuite = get_suite(BENCHMARK, pair.suite)
        self.user: BaseUserTask = self.suite.user_tasks[pair.user]
        self.injection: BaseInjectionTask | None = pair.injection and self.suite.injection_tasks[pair.injection]
        self.environment, self.before, self.trace = kept or self._fresh()
        self.tools: list[Function] = self.suite.tools
        self.runtime = FunctionsRuntime(self.tools)

    def _fresh(self) -> tuple[TaskEnvironment, TaskEnvironment, list[FunctionCall]]:
        """A new environment, a copy of it from before the first call, and no calls."""
        environment = self.suite.load_and_inject_default_environment(self._poison())
        environment = self.user.init_environment(environment)
        return environment, environment.model_copy(deep=True), []

    def _poison(self) -> dict[str, str]:
        """AgentDojo's usual attack, at each place that the user task reads."""
        if self.injection is None:
            return {}
        said = {"user": DEFAULT_USER_NAME, "model": DEFAULT_MODEL_NAME, "goal": self.injection.GOAL}
        text = ImportantInstructionsAttack._JB_STRING.format(**said)
        places, _ = poisoned(self.suite.name, self.user.ID)
        return dict.fromkeys(places, text)

    def call(self, name: str, arguments: dict) -> dict[str, object]:
        """Call a tool, and return the result of the protocol."""
        self.trace.append(FunctionCall(function=name, args=arguments))
        result, error = self.runtime.run_function(self.environment, name, arguments)
        text = error or tool_result_to_str(result)
        answer = {"content": [{"type": "text", "text": text}], "isError": bool(error)}
        if not error and (form := result_form(self.tools, name)):
            answer["structuredContent"] = form.structured(result)
        return answer

    def judge(self) -> dict[str, object]:
        """Returns AgentDojo's evaluation of the final state."""
        said = self.user.GROUND_TRUTH_OUTPUT
        useful = self._check(self.user, said)
        reached = self.injection and self._check(self.injection, f"{said}\n{self.injection.GROUND_TRUTH_OUTPUT}")
        return {"useful": useful, "reached": reached}

    def _check(self, task: BaseUserTask | BaseInjectionTask, said: str) -> bool:
        content = [{"type": "text", "content": said}]
        return bool(self.suite._check_task_result(task, content, self.before, self.environment, self.trace))


@dataclass(frozen=True)
class ResultForm:
    """Writes a tool's results as structured content, as the SDK for Python does."""

    adapter: TypeAdapter
    is_object: bool

    def structured(self, result: object) -> object:
        """Return a result as structured content."""
        value = self.adapter.dump_python(result, mode="json")
        return value if self.is_object else {"result": value}

    def schema(self) -> dict[str, object]:
        """Return the schema of structured content."""
        schema = self.adapter.json_schema(mode="serialization")
        if self.is_object:
            return schema
        shared = {"$defs": schema.pop("$defs")} if "$defs" in schema else {}
        return {"type": "object", "properties": {"result": schema}, "required": ["result"], **shared}


def form_of(tool: Function) -> ResultForm | None:
    """Return the form of a tool's results, unless it returns nothing."""
    if tool.return_type in (None, NoneType):
        return None
    adapter = TypeAdapter(tool.return_type)
    return ResultForm(adapter, adapter.json_schema(mode="serialization").get("type") == "object")


def result_form(tools: list[Function], name: str) -> ResultForm | None:
    """Return the form of the results of the tool with this name."""
    return form_of(next(tool for tool in tools if tool.name == name))


def definition(tool: Function) -> dict[str, object]:
    """Return the definition of a tool."""
    known = {"name": tool.name, "description": tool.description, "inputSchema": tool.parameters.model_json_schema()}
    return {**known, "outputSchema": form.schema()} if (form := form_of(tool)) else known


def serve(ground: Playground, source: TextIO, sink: TextIO) -> dict[str, object]:
    """Answer requests until the client goes. Return what AgentDojo says, and which calls arrived."""
    arrived: list[object] = []
    for line in source:
        message = json.loads(line)
        if "id" not in message:
            continue
        given = message.get("params", {})
        answer: dict[str, object]
        match message["method"]:
            case "initialize":
                name = {"name": f"agentdojo-{ground.suite.name}", "version": BENCHMARK}
                result = {"protocolVersion": "2025-06-18", "capabilities": {"tools": {}}, "serverInfo": name}
                answer = {"result": result}
            case "tools/list":
                answer = {"result": {"tools": [definition(tool) for tool in ground.tools]}}
            case "tools/call":
                arrived.append(given.get("_meta", {}).get("agentdojo/number"))
                answer = {"result": ground.call(given["name"], given.get("arguments", {}))}
            case _:
                answer = {"error": {"code": -32601, "message": "Method not found"}}
        print(json.dumps({"jsonrpc": "2.0", "id": message["id"], **answer}), file=sink, flush=True)
    return {**ground.judge(), "arrived": arrived}


def write_verdict(path: Path, verdict: dict[str, object]) -> None:
    """Write a verdict, so that a reader sees all of it or nothing."""
    part = path.with_suffix(".part")
    part.write_text(json.dumps(verdict))
    part.rename(path)
