"""The words of a run: events, actions and records as dicts, decisions and observations as classes.

Made by `cargo xtask generate` from `schemas/` and `xtask/generate/`. Do not edit: run it again.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal, TypedDict

from ._records import dataclass, field
from ._types import Span, Violation

ResultStatus = Literal["ok", "error"]

PossibleEffect = Literal["none", "unknown"]

ApprovalAnswer = Literal["approved", "rejected", "edited"]

ResolutionOutcome = Literal["done", "not_done"]

RunStatus = Literal["final", "final_partial", "failed", "cancelled"]

Party = Literal["client", "server"]

Purpose = Literal["frame", "step", "final"]

Role = Literal["system", "user", "assistant", "tool"]

Effect = Literal["read", "idempotent", "effectful"]

Permit = Literal["allow", "deny", "approval"]

StopCode = Literal[
    "budget",
    "same_call",
    "same_denial",
    "rejected",
    "surface",
    "unresolved",
    "no_answer",
    "prompt",
    "state_bytes",
    "cancelled",
    "task",
    "context",
    "model",
]

IgnoredCode = Literal[
    "finished",
    "repeated",
    "started",
    "loop",
    "no_loop",
    "late",
    "not_dispatched",
    "not_under_way",
    "not_uncertain",
    "no_ask",
    "before_ask",
    "digest",
    "approver",
    "arguments",
    "token",
    "not_asked",
    "mode",
]

LeftOutWhat = Literal["context", "output"]

LeftOutCode = Literal["undeclared", "invalid", "too_large"]

HiddenToolCode = Literal["absent", "changed", "unknown", "permit", "deny", "mode", "parent", "invalid_definition"]

OutputKind = Literal["answer", "no_answer", "question", "plan", "refusal", "task", "no_task", "calls", "failure"]

ReasonCode = Literal[
    "unknown_tool",
    "ambiguous_tool",
    "mode",
    "parent",
    "surface",
    "malformed",
    "too_large",
    "definition",
    "arguments",
    "deny",
    "mark",
    "secret",
    "scope",
    "origin",
    "flow",
    "budget",
    "same_call",
    "rate",
    "state_bytes",
    "permit",
    "rejected",
    "expired",
    "approver",
    "digest",
    "before_ask",
    "invalid_definition",
]

ObservationStatus = Literal["ok", "error", "invalid"]

Limitation = Literal[
    "contradictory",
    "error",
    "format",
    "invalid",
    "invalid_items",
    "partial",
    "sampled",
    "stale",
    "truncated",
    "undated",
    "unchecked",
]

SettledCode = Literal["expired", "not_sent", "rejected", "cancelled", "uncertain"]

CutFrom = Literal["prompt", "state"]

ShownUnit = Literal["items", "lines", "members", "bytes", "parts"]

FinishWord = Literal["stop", "length", "refusal", "content_filter", "tool_call", "unknown"]

ConfidenceWord = Literal["low", "medium", "high"]


class _ParentRules(TypedDict):
    profile: Mapping[str, Any]


class ParentRules(_ParentRules, total=False):
    """The rules of one agent above a child.

    Attributes:
        profile: The part of its profile that judges calls of the tools that were handed on: see
            profile.schema.json.
        task: Its task, if a scope or an origin names it. The child's model does not see it.
        context: The values of its context that a scope or an origin names. The child's model does not see them.
        lists: The lists that a scope or an origin names.
        said: What people said to it, if an origin needs it. The child's model does not see it.
        observed: Values of its results that an origin names: see facts.schema.json. The child's model does not see
            them.
        calls: How often each call was permitted in its run and below it before the child started, where its budget
            has `same_call`. A call that waits for approval counts.
        recent: When the last calls of each tool with a `rate` were permitted in its run and below it before the
            child started.
        reserved: How often other children, which run at the same time, may make each call that does more than read.
    """

    task: Any
    context: Mapping[str, Any]
    lists: Mapping[str, list[str]]
    said: list[str]
    observed: list[Mapping[str, Any]]
    calls: Mapping[str, int]
    recent: Mapping[str, list[int]]
    reserved: int


class ChildBudget(TypedDict, total=False):
    """What the child may use."""

    steps: int
    tool_calls: int
    tokens: int
    ms: int
    same_call: int
    state_bytes: int


class _Bounds(TypedDict):
    run: str
    call: str
    tools: list[str]
    rules: list[ParentRules]
    budget: ChildBudget


class Bounds(_Bounds, total=False):
    """The bounds of a child.

    Attributes:
        call: The key of a call, as its action has it.
        tools: The tools that were handed on.
        rules: The rules of the agents above, the parent's first. Each call of the child is judged by all of them,
            and by its own profile.
        labels: What the parent has read.
        budget: What the child may use.
        deadline: When, in milliseconds since 1970. The run's time is the greatest one seen.
        edited: Whether the last of the rules is the run's own profile after an edit. Without a parent it is the
            only one.
    """

    labels: list[str]
    deadline: int
    edited: bool


class _ModelCall(TypedDict):
    tool: str
    arguments: Any


class ModelCall(_ModelCall, total=False):
    """A part of a word.

    Attributes:
        id: The model's own id. It may repeat.
        arguments: An object, or the text as the model wrote it.
    """

    id: str
    server: str


class TokenUsage(TypedDict, total=False):
    """Tokens. Without it they are estimated from bytes."""

    input: int
    output: int


class ApprovalRemember(TypedDict, total=False):
    """The approval covers further calls of this run, too: those of the same tool with the same arguments but for some,
    as long as they need approval for no other reason. Not with a token.

    Attributes:
        any: The names of the arguments that may differ or be missing.
        times: How many further calls it covers.
        ttl_s: How long it holds, in seconds from now.
    """

    any: list[str]
    times: int
    ttl_s: int


class _Stored(TypedDict):
    store: str
    labels: list[str]


class Stored(_Stored, total=False):
    """The labels of the data below one key of a store.

    Attributes:
        store: The name of the store.
        key: The key. Without it: the whole store.
    """

    key: str


class ChildUse(TypedDict, total=False):
    """What it used. A member that is missing is nothing; without this, it used all that it had.

    Attributes:
        calls: How often each call was permitted. The parent counts them as its own.
        recent: When the last calls of each tool with a `rate` were permitted. The parent counts them as its own.
    """

    steps: int
    tool_calls: int
    tokens: int
    ms: int
    calls: Mapping[str, int]
    recent: Mapping[str, list[int]]


class _UncertainCall(TypedDict):
    call: str
    tool: str
    arguments: str


class UncertainCall(_UncertainCall, total=False):
    """A part of a word.

    Attributes:
        run: The child's, where a child made it.
        call: The key of a call, as its action has it.
        server: Where it runs.
        tool: Its name there.
        arguments: What was sent; of a child's, cut to 1 KiB.
    """

    run: str
    server: str


class _RequestedCall(TypedDict):
    call: str
    tool: str
    arguments: str


class RequestedCall(_RequestedCall, total=False):
    """A call that the model asked for.

    Attributes:
        call: The run's own key of a call: c1, c2, ….
        id: The model's own id.
        server: Where it runs.
        tool: As the model gave it.
        arguments: The text as the model wrote it.
    """

    id: str
    server: str


class _PromptMessage(TypedDict):
    role: Role
    text: str


class PromptMessage(_PromptMessage, total=False):
    """One message. Messages stand in a fixed order: role, rules, task, context, what was said and what came of it, and
    last what to answer.

    Attributes:
        text: What it says. Data from outside stands between marks that it cannot know.
        calls: The calls of an assistant's message.
        call: The call that a tool's message answers.
        id: The model's own id of it.
        message: The provider's message, unchanged.
    """

    calls: list[RequestedCall]
    call: str
    id: str
    message: Mapping[str, Any]


class _VisibleTool(TypedDict):
    tool: str
    effect: Effect
    permit: Permit


class VisibleTool(_VisibleTool, total=False):
    """A tool that the model sees.

    Attributes:
        server: Where it runs.
        tool: Its name.
        definition: As its server lists it, cleaned.
    """

    server: str
    definition: Mapping[str, Any]


class ModelPrompt(TypedDict):
    """What the model is asked.

    Attributes:
        tools: The surface: the tools that it may call now.
    """

    messages: list[PromptMessage]
    tools: list[VisibleTool]


class _ApprovalDict(TypedDict):
    principal: str
    at: int


class ApprovalDict(_ApprovalDict, total=False):
    """The approval that it uses.

    Attributes:
        principal: Who approved.
        at: In milliseconds since 1970.
        remembered: True if a person gave it for another call of the run, and it covers this one, too.
    """

    remembered: bool


class SecretDict(TypedDict):
    """A secret whose value the host puts in place of a reference when it sends the call.

    Attributes:
        at: A JSON Pointer into the arguments. The value there is the text `secret:NAME`.
        name: Its name.
    """

    at: str
    name: str


class _AskDict(TypedDict):
    key: str
    digest: str
    by: list[str]
    expires: int
    view: str


class AskDict(_AskDict, total=False):
    """What a person is asked.

    Attributes:
        key: The run's own key of a call: c1, c2, ….
        digest: Of the action: what is approved is this, and nothing else.
        by: The principals who may decide: one of them is enough.
        keys: The public keys of those who have one: their decision counts only with a token that one of these keys
            signed, whoever's profile has it. Where the profiles of a child and of the agents above it have different
            keys for one principal, the list is empty, and the principal cannot decide.
        expires: From then on, neither the ask nor an approval holds.
        view: What would be sent, whole, with what cannot be seen escaped, and equal calls that ran before.
    """

    keys: Mapping[str, list[str]]


class StopReason(TypedDict):
    """Why the run has to end.

    Attributes:
        message: For people.
    """

    code: StopCode
    message: str


class _RunUse(TypedDict):
    steps: int
    tool_calls: int
    tokens: int


class RunUse(_RunUse, total=False):
    """How much was used.

    Attributes:
        calls: How often each call was permitted, by a digest of the call: for the parent of a child.
        recent: When the last calls of each tool with a `rate` were permitted: for the parent of a child.
    """

    calls: Mapping[str, int]
    recent: Mapping[str, list[int]]


class ContextRequest(TypedDict):
    """What a child asked of its parent's context, and was denied.

    Attributes:
        reason: Why it asked, as it says.
        packet: Of the task that it was given.
        tools: The tools that its profile names.
    """

    reason: str
    packet: str
    tools: list[str]


class _HiddenName(TypedDict):
    tool: str
    code: HiddenToolCode


class HiddenName(_HiddenName, total=False):
    """A tool that it does not see.

    Attributes:
        tool: NAME or SERVER/NAME.
        message: What is wrong with its definition, and where.
    """

    message: str


class ReasonDict(TypedDict):
    """Why it may not run, or needs approval.

    Attributes:
        message: For people.
    """

    code: ReasonCode
    message: str
    violations: list[Mapping[str, Any]]


class _NamePlaceDict(TypedDict):
    origin: str


class NamePlaceDict(_NamePlaceDict, total=False):
    """Where the name of its item stands.

    Attributes:
        origin: `user` or `task`.
        message: The number of the text among those that people said, from 1.
        at: A JSON Pointer into the task.
        span: A part of the text there, in bytes: the first byte, and the one after the last.
    """

    message: int
    at: str
    span: list[int]


class _ProofDict(TypedDict):
    pointer: str


class ProofDict(_ProofDict, total=False):
    """Where a value of a call comes from, or where it was looked for.

    Attributes:
        pointer: A JSON Pointer into the arguments.
        origin: `user`, `task`, `context.NAME`, `list NAME`, `TOOL at PATH`, `secret NAME` and others, as the rule
            has it.
        message: The number of the text among those that people said, from 1.
        call: The call whose result has it.
        at: A JSON Pointer into the task, the value of the context, the list or the result.
        span: A part of the text there, in bytes: the first byte, and the one after the last.
        named: Where the name of its item stands.
        sought: Where a value without an origin was looked for.
    """

    origin: str
    message: int
    call: str
    at: str
    span: list[int]
    named: NamePlaceDict
    sought: list[str]


class InstructionDict(TypedDict):
    """A part of a word.

    Attributes:
        path: Its place in the result.
        span: Where it is in the text there: the first byte, and the one after the last.
    """

    kind: str
    path: str
    span: list[int]


class FoundDict(TypedDict):
    """What was found in the whole result, and what was done about it.

    Attributes:
        defanged: How many links and images are defanged.
        escaped: How many hidden characters of each kind are escaped.
        instructions: Passages that read like an instruction. They stay.
        instructions_left_out: How many more there are.
        redacted: How many secrets of each kind are left out.
    """

    defanged: int
    escaped: Mapping[str, int]
    instructions: list[InstructionDict]
    instructions_left_out: int
    redacted: Mapping[str, int]


class _BudgetUse(TypedDict):
    tool_calls: int
    tokens: int
    ms: int
    calls: Mapping[str, int]


class BudgetUse(_BudgetUse, total=False):
    """The use of budgets: see facts.schema.json.

    Attributes:
        calls: How often each call was permitted, by a digest of the call.
        recent: When the last calls of each tool with a `rate` were permitted.
    """

    recent: Mapping[str, list[int]]


class ShownDict(TypedDict):
    """Where it was cut: how many items or lines of how many are shown."""

    unit: ShownUnit
    head: int
    tail: int
    of: int


class ProvenanceDict(TypedDict, total=False):
    """A part of a word."""

    source: str
    query: str
    time_range: str
    cached: bool


class _FreshnessDict(TypedDict):
    lag_s: int
    stale: bool


class FreshnessDict(_FreshnessDict, total=False):
    """A part of a word.

    Attributes:
        until: Until when the data goes, in milliseconds since 1970.
    """

    until: int


class _StartedEvent(TypedDict):
    type: Literal["started"]
    at: int
    run: str
    principal: str
    nonce: str


class StartedEvent(_StartedEvent, total=False):
    """A run starts. It is the first event, and the only one of its kind.

    Attributes:
        run: The run's id.
        principal: For whom the agent works.
        nonce: A secret of the run, random. The marks around data from outside are made from it.
        mode: One of the profile's modes. Default: its first.
        task: The task. Free text where the profile says `frame`.
        context: Values by the names that the profile's `context` has.
        lists: Lists that `scope` names.
        listed: What servers list now, as `tools_listed` has it. Without it, all tools of the profile are there.
        labels: Labels of data that the client has read before, in other runs.
        parent: What a parent allows, as its action `delegate` has it.
    """

    session: str
    turn: str
    mode: str
    task: Any
    context: Mapping[str, Any]
    lists: Mapping[str, list[str]]
    listed: Mapping[str, Any]
    labels: list[str]
    parent: Bounds


class ToolsListedEvent(TypedDict):
    """What servers list now.

    Attributes:
        listed: In the format of lock files, see lock.schema.json.
    """

    type: Literal["tools_listed"]
    at: int
    listed: Mapping[str, Any]


class _ModelOutputEvent(TypedDict):
    type: Literal["model_output"]
    at: int
    key: str


class ModelOutputEvent(_ModelOutputEvent, total=False):
    """What the model wrote.

    Attributes:
        key: The key of the action `ask_model` that it answers.
        calls: The calls that the model asks for, in its order.
        message: The provider's message. It comes back unchanged in later prompts.
        finish: Why the model stopped.
        usage: Tokens. Without it they are estimated from bytes.
        artifacts: The artifacts that the step asked for under `need`: texts by their digests.
    """

    text: str
    calls: list[ModelCall]
    message: Mapping[str, Any]
    finish: FinishWord
    usage: TokenUsage
    artifacts: Mapping[str, str]


class _ModelFailedEvent(TypedDict):
    type: Literal["model_failed"]
    at: int
    key: str
    message: str


class ModelFailedEvent(_ModelFailedEvent, total=False):
    """The model gave no output.

    Attributes:
        key: The key of a call, as its action has it.
        retry: Whether another attempt may help. Default: no, it failed for good.
    """

    retry: bool


class _CallEvent(TypedDict):
    type: Literal["call"]
    at: int
    tool: str
    arguments: Any


class CallEvent(_CallEvent, total=False):
    """One call from outside of a loop, for profiles that have none.

    Attributes:
        joinable: Digests of calls that an equal call may join, as `same` of their decisions has them. A call that
            joins one is not decided.
    """

    id: str
    server: str
    joinable: list[str]


class ToolStartedEvent(TypedDict):
    """The host is about to send a call. It journals this before it sends.

    Attributes:
        call: The key of a call, as its action has it.
    """

    type: Literal["tool_started"]
    at: int
    call: str


class _ToolResultEvent(TypedDict):
    type: Literal["tool_result"]
    at: int
    call: str


class ToolResultEvent(_ToolResultEvent, total=False):
    """What a tool returned: see result.schema.json.

    Attributes:
        call: The key of a call, as its action has it.
        status: `error`: the tool says that it failed. Then the result is cleaned, and not held to the schema.
        result: Any JSON.
        returned: A result of the Model Context Protocol, whole. It says itself whether the tool failed. Its
            `structuredContent` is held to the schema, or without one its only text.
        text: Text. Where the profile has a schema or items for the result, it is read as JSON.
        head: The beginning of a text that is too large.
        tail: Its end.
        length: Its length in bytes.
        digest: The digest of the whole, under which the host keeps it. Beside `returned` it is the host's word.
    """

    duration_ms: int
    status: ResultStatus
    result: Any
    returned: Mapping[str, Any]
    text: str
    head: str
    tail: str
    length: int
    digest: str


class _ToolFailedEvent(TypedDict):
    type: Literal["tool_failed"]
    at: int
    call: str
    message: str


class ToolFailedEvent(_ToolFailedEvent, total=False):
    """A call came to no result.

    Attributes:
        call: The key of a call, as its action has it.
        effect: Whether the call may have had an effect. Default: unknown, where it was started.
    """

    effect: PossibleEffect


class _JobEvent(TypedDict):
    type: Literal["job"]
    at: int
    call: str


class JobEvent(_JobEvent, total=False):
    """A call goes on elsewhere. Its result comes later.

    Attributes:
        call: The key of a call, as its action has it.
        ttl_s: Until then, at most, in seconds from now.
    """

    ttl_s: int


class _ApprovalEvent(TypedDict):
    type: Literal["approval"]
    at: int
    key: str
    digest: str
    decision: ApprovalAnswer
    principal: str


class ApprovalEvent(_ApprovalEvent, total=False):
    """What a person decided about one ask. `edited` puts `arguments` in place of those of the call, which is then
    judged again: if it needs approval, that is a new ask.

    Attributes:
        key: The key of a call, as its action has it.
        arguments: The new arguments as they would be sent: the text of a JSON object. Only with `edited`, and only
            in a loop.
        remember: The approval covers further calls of this run, too: those of the same tool with the same arguments
            but for some, as long as they need approval for no other reason. Not with a token.
        reason: Why, in the person's words. The model reads it if the call is rejected or edited.
        token: What the host verified before it appended this.
    """

    arguments: str
    remember: ApprovalRemember
    reason: str
    token: str


class _InputEvent(TypedDict):
    type: Literal["input"]
    at: int
    key: str
    text: str


class InputEvent(_InputEvent, total=False):
    """What a person answered.

    Attributes:
        key: The key of the action `ask_input`.
    """

    principal: str


class _UserMessageEvent(TypedDict):
    type: Literal["user_message"]
    at: int
    text: str


class UserMessageEvent(_UserMessageEvent, total=False):
    """What a person says by themselves."""

    principal: str
    turn: str


class _SaidEvent(TypedDict):
    type: Literal["said"]
    at: int
    text: str


class SaidEvent(_SaidEvent, total=False):
    """What a person said elsewhere, by which `origins` are proven. The model is not told it."""

    principal: str


class StoresEvent(TypedDict):
    """Labels that other runs gave to data in stores. They add to those that the run knows."""

    type: Literal["stores"]
    at: int
    stores: list[Stored]


class ContextEvent(TypedDict):
    """A declared value changed."""

    type: Literal["context"]
    at: int
    name: str
    value: Any


class _ResolutionEvent(TypedDict):
    type: Literal["resolution"]
    at: int
    call: str
    outcome: ResolutionOutcome
    principal: str


class ResolutionEvent(_ResolutionEvent, total=False):
    """A person says what became of an uncertain call.

    Attributes:
        call: The key of a call, as its action has it.
    """

    text: str


class ModeEvent(TypedDict):
    """A person changes the mode."""

    type: Literal["mode"]
    at: int
    mode: str
    principal: str


class ProfileEvent(TypedDict):
    """The profile was edited. Until the run ends, a call must pass the edited profile as well as the one with which the
    run started; a later event of this kind replaces the edited one.

    Attributes:
        profile: The edited profile: see profile.schema.json.
    """

    type: Literal["profile"]
    at: int
    profile: Mapping[str, Any]


class _ChildResultEvent(TypedDict):
    type: Literal["child_result"]
    at: int
    call: str
    status: RunStatus


class ChildResultEvent(_ChildResultEvent, total=False):
    """How a child ended, as its action `finish` has it.

    Attributes:
        call: The key of a call, as its action has it.
        used: What it used. A member that is missing is nothing; without this, it used all that it had.
        requests: What it asked of the parent's context, and was denied.
        uncertain: Calls of which nobody knows whether they had their effect.
    """

    document: Any
    kinds: list[str]
    labels: list[str]
    confidence: ConfidenceWord
    used: ChildUse
    requests: list[Mapping[str, Any]]
    uncertain: list[UncertainCall]


class _CallCancelledEvent(TypedDict):
    type: Literal["call_cancelled"]
    at: int
    call: str


class CallCancelledEvent(_CallCancelledEvent, total=False):
    """The host cancelled a call.

    Attributes:
        call: The key of a call, as its action has it.
        effect: Whether the call may have had an effect. Default: unknown, where it was started.
    """

    effect: PossibleEffect


class _CancelledEvent(TypedDict):
    type: Literal["cancelled"]
    at: int


class CancelledEvent(_CancelledEvent, total=False):
    """A person ends the run."""

    principal: str
    reason: str


_MessageEventFrom = TypedDict("_MessageEventFrom", {"from": "Party"})


class _MessageEvent(_MessageEventFrom):
    type: Literal["message"]
    at: int
    method: str


class MessageEvent(_MessageEvent, total=False):
    """A message between a client and a server of tools that is no call of a tool.

    Attributes:
        id: Tells equal messages apart.
        method: Its method, or that of the request that it answers.
        document: What it says. Without it, only whether the method exists is decided.
    """

    id: str
    server: str
    document: Any


class TickEvent(TypedDict):
    """Time has passed."""

    type: Literal["tick"]
    at: int


class _ResumedEvent(TypedDict):
    type: Literal["resumed"]
    at: int


class ResumedEvent(_ResumedEvent, total=False):
    """The host starts again after it was interrupted.

    Attributes:
        listed: What servers list now, as `tools_listed` has it.
    """

    listed: Mapping[str, Any]


RunEvent = (
    StartedEvent
    | ToolsListedEvent
    | ModelOutputEvent
    | ModelFailedEvent
    | CallEvent
    | ToolStartedEvent
    | ToolResultEvent
    | ToolFailedEvent
    | JobEvent
    | ApprovalEvent
    | InputEvent
    | UserMessageEvent
    | SaidEvent
    | StoresEvent
    | ContextEvent
    | ResolutionEvent
    | ModeEvent
    | ProfileEvent
    | ChildResultEvent
    | CallCancelledEvent
    | CancelledEvent
    | MessageEvent
    | TickEvent
    | ResumedEvent
)
"""A fact from outside that `advance` takes. Its time is the host's. An event that does not fit the run is recorded, and
changes nothing.
"""


class AskModelAction(TypedDict):
    """Ask the model, and send what it writes as `model_output`.

    Attributes:
        key: RUN/STEP/N: the N-th action of a step.
        purpose: `frame`: make a task of free text. `step`: go on. `final`: answer, without tools.
        prompt: What the model is asked.
        expires: Later answers do not count.
    """

    type: Literal["ask_model"]
    key: str
    purpose: Purpose
    prompt: ModelPrompt
    expires: int


class _ExecuteAction(TypedDict):
    type: Literal["execute"]
    key: str
    call: str
    tool: str
    effect: Effect
    arguments: str
    idempotency_key: str
    expires: int


class ExecuteAction(_ExecuteAction, total=False):
    """Send a call. Append `tool_started` before it is sent; if that event is ignored, do not send it.

    Attributes:
        key: RUN/STEP/N: the N-th action of a step.
        call: The run's own key of a call: c1, c2, ….
        server: Where it runs. None: the host itself.
        tool: Its name there.
        arguments: Exactly the text to be sent.
        digest: Of the action.
        idempotency_key: The same one however often the call is sent.
        expires: Later results of a read do not count; an effect is then uncertain.
        approval: The approval that it uses.
        secrets: The secrets whose values the host puts into the arguments, in the order of the arguments. A host
            that has no secrets must not send the call.
    """

    server: str
    digest: str
    approval: ApprovalDict
    secrets: list[SecretDict]


class AskApprovalAction(TypedDict):
    """Ask a person, and send the decision as `approval`.

    Attributes:
        key: RUN/STEP/N: the N-th action of a step.
        call: The run's own key of a call: c1, c2, ….
        ask: What a person is asked.
    """

    type: Literal["ask_approval"]
    key: str
    call: str
    ask: AskDict


class _AskInputAction(TypedDict):
    type: Literal["ask_input"]
    key: str
    question: str
    expires: int


class AskInputAction(_AskInputAction, total=False):
    """Ask a person, and send the answer as `input`; about an uncertain call, as `resolution`.

    Attributes:
        key: RUN/STEP/N: the N-th action of a step.
        question: Without what cannot be seen.
        call: The uncertain call of which somebody must say what became.
        expires: In milliseconds since 1970.
    """

    call: str


class DelegateAction(TypedDict):
    """Start the run of another agent, or go on with it: its run has one name. Append `tool_started` before.

    Attributes:
        key: RUN/STEP/N: the N-th action of a step.
        call: The run's own key of a call: c1, c2, ….
        run: The child's run.
        agent: Its agent.
        profile: Of its profile.
        reason: Why, as the model says.
        task: All that it is given.
        digest: Of the task as it stands here.
        parent: What the parent allows. It goes into the child's event `started` as `parent`, as it is: see
            event.schema.json.
    """

    type: Literal["delegate"]
    key: str
    call: str
    run: str
    agent: str
    profile: str
    reason: str
    task: Mapping[str, Any]
    digest: str
    parent: Bounds


class CancelAction(TypedDict):
    """Cancel a call that was sent or is about to be.

    Attributes:
        key: RUN/STEP/N: the N-th action of a step.
        call: The run's own key of a call: c1, c2, ….
    """

    type: Literal["cancel"]
    key: str
    call: str


class _FinishAction(TypedDict):
    type: Literal["finish"]
    key: str
    status: RunStatus
    reasons: list[StopReason]
    missing: list[str]
    uncertain: list[UncertainCall]
    kinds: list[str]
    labels: list[str]
    used: RunUse
    requests: list[ContextRequest]


class FinishAction(_FinishAction, total=False):
    """The run has ended.

    Attributes:
        key: RUN/STEP/N: the N-th action of a step.
        document: The final answer, or what a partial one is made of: `asked`, `found`, `missing`, `why`, `plan`.
        reasons: Why it had to end. Empty where the answer is final.
        missing: The kinds of evidence that are missing.
        uncertain: Effects of which nobody knows.
        kinds: The kinds of evidence that were found.
        labels: Of all that the model has read.
        confidence: The weakest of all observations.
        used: How much was used.
    """

    document: Any
    confidence: ConfidenceWord


Action = (
    AskModelAction | ExecuteAction | AskApprovalAction | AskInputAction | DelegateAction | CancelAction | FinishAction
)
"""What the host must do next: decided by `advance`, done by the host. Each has a key of its own."""


class IgnoredRecord(TypedDict):
    """An event that does not fit the run. It changed nothing.

    Attributes:
        message: For people.
    """

    type: Literal["ignored"]
    code: IgnoredCode
    message: str


class LeftOutRecord(TypedDict):
    """Something from outside that the model does not get, or not whole.

    Attributes:
        name: Of the value.
        message: For people.
    """

    type: Literal["left_out"]
    what: LeftOutWhat
    name: str
    code: LeftOutCode
    message: str


class SurfaceRecord(TypedDict):
    """What servers list now.

    Attributes:
        tools: Those that the model may see.
    """

    type: Literal["surface"]
    tools: list[str]
    hidden: list[HiddenName]


class OutputRecord(TypedDict):
    """What the model's output was. An output with calls has a decision for each instead.

    Attributes:
        message: What the model is told, or what it asked.
    """

    type: Literal["output"]
    kind: OutputKind
    message: str


class _DecisionRecord(TypedDict):
    type: Literal["decision"]
    call: str
    permit: Permit
    tool: str
    arguments: str
    arguments_digest: str
    same: str
    message: str
    reasons: list[ReasonDict]


class DecisionRecord(_DecisionRecord, total=False):
    """Whether a call may run. See decision.schema.json.

    Attributes:
        call: The run's own key of a call: c1, c2, ….
        server: Where it runs.
        tool: As the model gave it, cut.
        digest: Of the action.
        arguments: As the model wrote them, cut to 4 KiB.
        arguments_digest: Of the whole.
        same: The digest that equal calls share: calls of the same tool with equal arguments, however these are
            written.
        message: What the model is told.
        approval: The approval that it uses.
        origins: Where values of the arguments come from. See decision.schema.json.
        secrets: The secrets that the call takes. See decision.schema.json.
    """

    server: str
    effect: Effect
    digest: str
    approval: ApprovalDict
    origins: list[ProofDict]
    secrets: list[SecretDict]


class JoinedRecord(TypedDict):
    """A call that equals a call of the event's `joinable`. It was not decided: the host answers it by the other one's
    result.

    Attributes:
        same: The digest that equal calls share: calls of the same tool with equal arguments, however these are
            written.
    """

    type: Literal["joined"]
    same: str


class _ObservationRecord(TypedDict):
    type: Literal["observation"]
    call: str
    tool: str
    status: ObservationStatus
    id: str
    message: str
    kinds: list[str]
    labels: list[str]
    confidence: ConfidenceWord
    complete: bool
    limitations: list[Limitation]
    artifact: str
    bytes: int
    found: FoundDict
    arguments_digest: str


class ObservationRecord(_ObservationRecord, total=False):
    """What the model may read of a result. See observation.schema.json.

    Attributes:
        call: The run's own key of a call: c1, c2, ….
        server: Where it ran.
        tool: Its name there.
        id: What claims cite.
        message: What goes into the prompt.
        kinds: The kinds of evidence that it is.
        labels: What is known of the data by where it came from.
        complete: Whether it is everything that there is.
        returned: The result to hand on in place of one of the Model Context Protocol. Without it, that is handed on
            as it is.
        artifact: Of the whole result.
        bytes: Its length.
        found: What was found in the whole result, and what was done about it.
        duration_ms: As the host says.
        ui: What `ui` is shown.
        user: What `user` is shown.
    """

    server: str
    returned: Mapping[str, Any]
    duration_ms: int
    ui: str
    user: str


class SettledRecord(TypedDict):
    """A call that came to no result.

    Attributes:
        call: The run's own key of a call: c1, c2, ….
        tool: Its name, cut.
        message: For people.
    """

    type: Literal["settled"]
    call: str
    tool: str
    code: SettledCode
    message: str


_CutRecordFrom = TypedDict("_CutRecordFrom", {"from": "CutFrom"})


class CutRecord(_CutRecordFrom):
    """What left the prompt or the state, so that it fits.

    Attributes:
        calls: Calls whose observations lost their text.
        entries: How many of the oldest messages were left out.
    """

    type: Literal["cut"]
    calls: list[str]
    entries: int


class StopRecord(TypedDict):
    """Why the run ended.

    Attributes:
        message: For people.
    """

    type: Literal["stop"]
    code: StopCode
    message: str


class ContextRequestRecord(TypedDict):
    """A child asked for its parent's context, and was denied: in its own run, and in its parent's.

    Attributes:
        call: The run's own key of a call: c1, c2, ….
        request: In the run of the parent: as the child's end has it.
    """

    type: Literal["context_request"]
    call: str
    request: Mapping[str, Any]


class UsedRecord(TypedDict):
    """How much was used when the run ended.

    Attributes:
        steps: How often the model was asked.
        budgets: The use of budgets: see facts.schema.json.
    """

    type: Literal["used"]
    steps: int
    budgets: BudgetUse


_MessageRecordFrom = TypedDict("_MessageRecordFrom", {"from": "Party"})


class _MessageRecord(_MessageRecordFrom):
    type: Literal["message"]
    server: str
    method: str
    permit: Permit
    found: FoundDict


class MessageRecord(_MessageRecord, total=False):
    """Whether a message between a client and a server may pass, and as what.

    Attributes:
        document: What it says, cleaned. Without it, it passes as it is.
        found: What was found in it, and what was done about it.
    """

    document: Any


RunRecord = (
    IgnoredRecord
    | LeftOutRecord
    | SurfaceRecord
    | OutputRecord
    | DecisionRecord
    | JoinedRecord
    | ObservationRecord
    | SettledRecord
    | CutRecord
    | StopRecord
    | ContextRequestRecord
    | UsedRecord
    | MessageRecord
)
"""What a step decided. It goes into the journal beside the event."""


@dataclass(frozen=True)
class Approval:
    """The approval that it uses.

    Attributes:
        principal: Who approved.
        at: In milliseconds since 1970.
        remembered: True if a person gave it for another call of the run, and it covers this one, too.
    """

    principal: str
    at: int
    remembered: bool | None = None


@dataclass(frozen=True)
class Secret:
    """A secret whose value the host puts in place of a reference when it sends the call.

    Attributes:
        at: A JSON Pointer into the arguments. The value there is the text `secret:NAME`.
        name: Its name.
    """

    at: str
    name: str


@dataclass(frozen=True)
class Ask:
    """What a person is asked.

    Attributes:
        key: The run's own key of a call: c1, c2, ….
        digest: Of the action: what is approved is this, and nothing else.
        by: The principals who may decide: one of them is enough.
        expires: From then on, neither the ask nor an approval holds.
        view: What would be sent, whole, with what cannot be seen escaped, and equal calls that ran before.
        keys: The public keys of those who have one: their decision counts only with a token that one of these keys
            signed, whoever's profile has it. Where the profiles of a child and of the agents above it have different
            keys for one principal, the list is empty, and the principal cannot decide.
    """

    key: str
    digest: str
    by: tuple[str, ...]
    expires: int
    view: str
    keys: dict[str, tuple[str, ...]] | None = None


@dataclass(frozen=True)
class Reason:
    """Why it may not run, or needs approval.

    Attributes:
        message: For people.
    """

    code: ReasonCode
    message: str
    violations: tuple[Violation, ...]


@dataclass(frozen=True)
class NamePlace:
    """Where the name of its item stands.

    Attributes:
        origin: `user` or `task`.
        message: The number of the text among those that people said, from 1.
        at: A JSON Pointer into the task.
        span: A part of the text there, in bytes: the first byte, and the one after the last.
    """

    origin: str
    message: int | None = None
    at: str | None = None
    span: Span | None = None


@dataclass(frozen=True)
class Proof:
    """Where a value of a call comes from, or where it was looked for.

    Attributes:
        pointer: A JSON Pointer into the arguments.
        origin: `user`, `task`, `context.NAME`, `list NAME`, `TOOL at PATH`, `secret NAME` and others, as the rule
            has it.
        message: The number of the text among those that people said, from 1.
        call: The call whose result has it.
        at: A JSON Pointer into the task, the value of the context, the list or the result.
        span: A part of the text there, in bytes: the first byte, and the one after the last.
        named: Where the name of its item stands.
        sought: Where a value without an origin was looked for.
    """

    pointer: str
    origin: str | None = None
    message: int | None = None
    call: str | None = None
    at: str | None = None
    span: Span | None = None
    named: NamePlace | None = None
    sought: tuple[str, ...] | None = None


@dataclass(frozen=True)
class Instruction:
    """A part of a word.

    Attributes:
        path: Its place in the result.
        span: Where it is in the text there: the first byte, and the one after the last.
    """

    kind: str
    path: str
    span: Span


@dataclass(frozen=True)
class Found:
    """What was found in the whole result, and what was done about it.

    Attributes:
        defanged: How many links and images are defanged.
        escaped: How many hidden characters of each kind are escaped.
        instructions: Passages that read like an instruction. They stay.
        instructions_left_out: How many more there are.
        redacted: How many secrets of each kind are left out.
    """

    defanged: int
    escaped: dict[str, int]
    instructions: tuple[Instruction, ...]
    instructions_left_out: int
    redacted: dict[str, int]


@dataclass(frozen=True)
class Shown:
    """Where it was cut: how many items or lines of how many are shown."""

    unit: ShownUnit
    head: int
    tail: int
    of: int


@dataclass(frozen=True)
class Provenance:
    """A part of a word."""

    source: str | None = None
    query: str | None = None
    time_range: str | None = None
    cached: bool | None = None


@dataclass(frozen=True)
class Freshness:
    """A part of a word.

    Attributes:
        until: Until when the data goes, in milliseconds since 1970.
    """

    lag_s: int
    stale: bool
    until: int | None = None


@dataclass(frozen=True)
class Observation:
    """What the model may read of a result.

    Attributes:
        id: What claims cite: the tool's name, `#`, and the key of the call.
        status: `error`: the tool says that it failed. `invalid`: the result is not what its schema asks for, and
            none of it is shown.
        message: What goes into the prompt: where the data comes from, what is wrong with it, and the text between
            marks.
        text: The data: cut, cleaned, at most `max_bytes` of the profile.
        kinds: The kinds of evidence that it is.
        complete: Whether it is everything that there is.
        artifact: The digest of the whole result, under which the host keeps it.
        bytes: The length of the whole result.
        found: What was found in the whole result, and what was done about it.
        violations: Where it does not match its schema.
        facts: The members of the facts that changed.
        returned: The result to hand on in place of one of the Model Context Protocol. Without it, that is handed on
            as it is.
        shown: Where it was cut: how many items or lines of how many are shown.
    """

    id: str
    tool: str
    status: ObservationStatus
    message: str
    text: str
    kinds: tuple[str, ...]
    labels: tuple[str, ...]
    confidence: ConfidenceWord
    complete: bool
    limitations: tuple[Limitation, ...]
    artifact: str
    bytes: int
    provenance: Provenance
    found: Found
    violations: tuple[Violation, ...]
    facts: dict[str, Any]
    server: str | None = None
    returned: dict[str, Any] | None = None
    shown: Shown | None = None
    freshness: Freshness | None = None
    json: str = field(default="", repr=False, compare=False)
    """The document as JSON text, the same bytes as in every other runtime."""


@dataclass(frozen=True)
class AllowedDecision:
    """The call may run.

    Attributes:
        arguments: The text to send, byte for byte. None where the call is denied.
        digest: The digest of the action: what is approved is this, and nothing else.
        message: What the model may be told. Empty where the call may run.
        reasons: Why it may not run, or needs approval.
        facts: The members of the facts that changed.
        approval: The approval that the call uses.
        origins: Where the values come from that the `origins` of the tool hold: those without an origin first. At
            most 64 of them are listed.
        secrets: The secrets that the call takes, in the order of its arguments. A host that has no secrets must not
            send such a call.
    """

    permit: Literal["allow"]
    key: str
    tool: str
    effect: Effect
    arguments: str
    digest: str
    message: str
    reasons: tuple[Reason, ...]
    facts: dict[str, Any]
    server: str | None = None
    approval: Approval | None = None
    origins: tuple[Proof, ...] | None = None
    secrets: tuple[Secret, ...] | None = None
    json: str = field(default="", repr=False, compare=False)
    """The document as JSON text, the same bytes as in every other runtime."""

    def __bool__(self) -> Literal[True]:
        return True


@dataclass(frozen=True)
class DeniedDecision:
    """The call must not run.

    Attributes:
        message: What the model may be told. Empty where the call may run.
        reasons: Why it may not run, or needs approval.
        allowed: Where it is denied: the tools that are not.
        facts: The members of the facts that changed.
        digest: The digest of the action: what is approved is this, and nothing else.
        origins: Where the values come from that the `origins` of the tool hold: those without an origin first. At
            most 64 of them are listed.
    """

    permit: Literal["deny"]
    key: str
    tool: str
    message: str
    reasons: tuple[Reason, ...]
    allowed: tuple[str, ...]
    facts: dict[str, Any]
    server: str | None = None
    effect: Effect | None = None
    digest: str | None = None
    origins: tuple[Proof, ...] | None = None
    json: str = field(default="", repr=False, compare=False)
    """The document as JSON text, the same bytes as in every other runtime."""

    def __bool__(self) -> Literal[False]:
        return False


@dataclass(frozen=True)
class ApprovalDecision:
    """A person must decide first. Then ask again, with the approval in the facts.

    Attributes:
        arguments: The text to send, byte for byte. None where the call is denied.
        digest: The digest of the action: what is approved is this, and nothing else.
        message: What the model may be told. Empty where the call may run.
        reasons: Why it may not run, or needs approval.
        ask: What a person is asked.
        facts: The members of the facts that changed.
        origins: Where the values come from that the `origins` of the tool hold: those without an origin first. At
            most 64 of them are listed.
        secrets: The secrets that the call takes, in the order of its arguments. A host that has no secrets must not
            send such a call.
    """

    permit: Literal["approval"]
    key: str
    tool: str
    effect: Effect
    arguments: str
    digest: str
    message: str
    reasons: tuple[Reason, ...]
    ask: Ask
    facts: dict[str, Any]
    server: str | None = None
    origins: tuple[Proof, ...] | None = None
    secrets: tuple[Secret, ...] | None = None
    json: str = field(default="", repr=False, compare=False)
    """The document as JSON text, the same bytes as in every other runtime."""

    def __bool__(self) -> Literal[False]:
        return False


Decision = AllowedDecision | DeniedDecision | ApprovalDecision
"""Whether a call may run. It is true if the call may run now."""
