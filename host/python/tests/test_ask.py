"""The retry loop as one call. What is the same in each language is in tests/ask, as data."""

from __future__ import annotations

import asyncio
import json
import os
import threading
import time
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace
from typing import Annotated, Any, Literal

import attrs
import msgspec
import pytest
from conftest import EXAMPLES, OUTPUTS, ROOT, fault
from pydantic import AfterValidator, BaseModel, Field, field_validator, model_validator

from seamgate import (
    Accepted,
    AskResult,
    Attempt,
    Disposition,
    Finish,
    Gate,
    Limits,
    Messages,
    NotParsed,
    Partial,
    Refused,
    Rejected,
    Report,
    ResultParser,
    Seen,
    Violation,
    ask,
    ask_async,
)
from seamgate._feedback import feedback
from seamgate._schemas import compiled

CASES = sorted((ROOT / "tests/ask/cases").glob("*.json"))
FEEDBACK = sorted((ROOT / "tests/ask/feedback").glob("*.json"))


class Order(BaseModel):
    sku: str
    count: int = Field(ge=1)

    @field_validator("sku")
    @classmethod
    def in_stock(cls, value: str) -> str:
        if value != "A-7":
            raise ValueError(f"{value} is not in stock")
        return value


class Script:
    """In the place of a model: what it says, one after the other. It keeps what it was sent."""

    def __init__(self, *replies: object) -> None:
        self.replies = list(replies)
        self.sent: list[Messages] = []

    def __call__(self, messages: Messages) -> object:
        self.sent.append(messages)
        reply = self.replies[len(self.sent) - 1]
        if isinstance(reply, Exception):
            raise reply
        return reply

    async def later(self, messages: Messages) -> object:
        await asyncio.sleep(0)
        return self(messages)


def told(result: AskResult[Any], script: Script) -> dict[str, Any]:
    """Returns the members of a result that a case compares."""
    made: dict[str, Any] = {
        "disposition": result.disposition.value,
        "success": result.success,
        "stop": result.stop,
        "data": result.data,
        "report": result.report.output_json,
        "violations": [violation.path for violation in result.violations],
        "feedback": result.feedback,
        "attempts": [[attempt.report.disposition.value, attempt.feedback] for attempt in result.attempts],
        "messages": result.messages,
    }
    if isinstance(result, Refused):
        made["refusal"] = result.refusal
    # Each time the whole conversation is sent, and none knows what comes after it.
    for at, sent in enumerate(script.sent):
        assert sent == result.messages[: len(sent)], at
    return made


def bless(path: Path, case: dict[str, Any]) -> None:
    path.write_text(json.dumps(case, indent=2) + "\n")


@pytest.mark.parametrize("path", CASES, ids=lambda path: path.stem)
def test_cases(path: Path) -> None:
    case = json.loads(path.read_text())
    script, later = Script(*case["replies"]), Script(*case["replies"])
    result = ask(case["contract"], script, case["prompt"])
    awaited = asyncio.run(ask_async(case["contract"], later.later, case["prompt"]))
    made = told(result, script)
    assert told(awaited, later) == made
    assert len(script.sent) == len(case["replies"]) == len(result.attempts)
    assert bool(result) == (result.disposition is Disposition.ACCEPTED)
    if os.environ.get("BLESS"):
        bless(path, {**case, "result": made})
        return
    assert made == case["result"]


@pytest.mark.parametrize("path", FEEDBACK, ids=lambda path: path.stem)
def test_feedback(path: Path) -> None:
    case = json.loads(path.read_text())
    made = feedback(Violation(**each) for each in case["violations"])
    assert len(made.encode()) <= 2048
    assert all(line.isprintable() for line in made.split("\n"))
    if os.environ.get("BLESS"):
        bless(path, {**case, "feedback": made})
        return
    assert made == case["feedback"]


def test_a_model_is_instantiated_and_its_own_validators_are_told() -> None:
    script = Script('{"sku":"A-7","count":0}', '{"sku":"B\\u202e","count":1}', '{"sku":"A-7","count":2}')
    result = ask(Order, script, "Which order?", contract={"retry": {"limit": 2}})
    assert isinstance(result, Accepted)
    assert result.data == Order(sku="A-7", count=2)
    assert "must be >= 1" in script.sent[1][-1]["content"]
    said = script.sent[2][-1]["content"].split("\n")
    assert said == [
        "The output does not match what was asked for.",
        '- at $.sku: Value error, B\\u202e is not in stock. Received: "\\"B\\\\u202e\\""',
        "Send the whole corrected output again.",
    ]
    assert result.attempts[1].report.success
    assert [violation.path for violation in result.attempts[1].violations] == ["$.sku"]


def test_a_model_that_rejects_to_the_end_rejects() -> None:
    result = ask(Order, Script('{"sku":"B","count":1}', '{"sku":"C","count":1}'))
    assert isinstance(result, Rejected)
    assert not result
    assert result.data is None
    assert result.stop == "limit"
    assert result.report.success
    assert result.violations[0].message == "Value error, C is not in stock"
    assert "C is not in stock" in result.feedback
    same = ask(Order, Script('{"sku":"B","count":1}', '{"sku":"B","count":1}'), contract={"retry": {"limit": 9}})
    assert same.stop == "repeated"


class Review(BaseModel):
    findings: list[Annotated[Order, Field()]]

    @model_validator(mode="after")
    def any(self) -> Review:
        if len(self.findings) > 2:
            raise ValueError("at most two")
        return self


def test_partial_results_are_instances_too() -> None:
    policy = {"items": {"path": "$.findings[*]"}, "retry": {"limit": 1}}
    good, bad = '{"sku":"A-7","count":2}', '{"sku":"A-7","count":0}'
    part = ask(Review, Script(*[f'{{"findings":[{good},{bad}]}}'] * 2), contract=policy)
    assert isinstance(part, Partial)
    assert part.data.findings == [Order(sku="A-7", count=2)]
    assert not part
    assert [violation.path for violation in part.violations] == ["$.findings[1].count"]
    script = Script(f'{{"findings":[{good},{bad}]}}', f'{{"findings":[{good.replace("2", "3")}]}}')
    whole = ask(Review, script, contract=policy)
    assert isinstance(whole, Accepted)
    assert [order.count for order in whole.data.findings] == [2, 3]
    # A document that the model rejects is asked for again as a whole, and earlier valid items are not kept.
    script = Script(f'{{"findings":[{good},{good},{good},{bad}]}}', f'{{"findings":[{good}]}}')
    again = ask(Review, script, contract=policy)
    assert isinstance(again, Accepted)
    assert len(again.data.findings) == 1
    told = script.sent[1][-1]["content"]
    assert "at most two" in told
    assert "$.findings[3].count" in told
    assert told.endswith("Send the whole corrected output again.")


class Level(BaseModel):
    """A type whose validators change what the model writes, and have a mistake."""

    id: str
    level: Literal["low", "high"]

    @field_validator("level", mode="before")
    @classmethod
    def lower(cls, level: object) -> object:
        return level.lower() if isinstance(level, str) else level

    @field_validator("id")
    @classmethod
    def known(cls, value: str) -> str:
        if value.startswith("x"):
            raise ValueError(f"{value} is not known")
        return f"{1 // (value != 'zero')}{value}"[1:]


class Levels(BaseModel):
    about: dict[str, list[Level]]
    last: str = ""

    @model_validator(mode="after")
    def whole(self) -> Levels:
        if self.last == "never":
            raise ValueError("never is no end")
        return self


ITEMS: dict[str, Any] = {"items": {"path": "$.about['the levels'][*]", "key": "id"}, "retry": {"limit": 3}}


def levels(*ids: str, last: str = "") -> str:
    listed = [{"id": each, "level": "low"} for each in ids]
    return json.dumps({"about": {"the levels": listed, "more": []}, "last": last})


def test_an_item_that_a_validator_rejects_is_in_quarantine_and_asked_for_alone() -> None:
    script = Script(levels("a", "x1", "c"), levels("b"))
    result = ask(Levels, script, "Which levels?", contract={**ITEMS, "items": {"path": ITEMS["items"]["path"]}})
    assert [each.id for each in result.unwrap().about["the levels"]] == ["a", "b", "c"]
    assert script.sent[1][-1]["content"].split("\n") == [
        "Not all items of the output could be used.",
        "- at $.about['the levels'][1].id: Value error, x1 is not known. Received: " + r'"\"x1\""',
        "Send only the item named above again, corrected: the same document, with nothing but it in "
        "$.about['the levels']. The other items are kept.",
    ]
    first = result.attempts[0].report
    assert (first.disposition, first.wanted.value, first.review_required) == (Disposition.PARTIAL, "items", True)
    assert first.output["about"]["the levels"] == [{"id": "a", "level": "low"}, {"id": "c", "level": "low"}]
    (item,) = first.quarantined
    assert (item.index, item.pointer, item.reason.value) == (1, "/about/the levels/1", "schema")
    assert item.snippet == '{"id":"x1","level":"low"}'
    assert [each.pointer for each in result.attempts[0].violations] == ["/about/the levels/1/id"]
    assert Report.from_json(first.json).json == first.json


@pytest.mark.parametrize(
    ("replies", "kept", "quarantined"),
    [
        # Each list is what the model says; `!` is an item that the schema rejects, `x…` one that a validator does.
        ([["a", "x1"], ["x1"], ["x1"]], ["a"], [1]),
        ([["x1", "!", "b", "x2"], ["!", "x1", "x2"]], ["b"], [0, 1, 3]),
        ([["x1", "!", "b"], ["x1"], ["a", "c"]], None, None),
        ([["x1", "x2"], ["x1"]], [], []),
        ([["x1"], ["a"]], ["a"], None),
        ([["a", "x1"], ["a", "b"]], ["a", "b"], None),
    ],
)
def test_items_of_the_schema_and_of_validators_stand_beside_each_other(
    replies: list[list[str]], kept: list[str] | None, quarantined: list[int] | None
) -> None:
    texts = [levels(*ids).replace('"id": "!"', '"id": 1') for ids in replies]
    policy = {"items": {"path": ITEMS["items"]["path"]}, "retry": {"limit": len(texts) - 1}}
    result = ask(Levels, Script(*texts), contract=policy)
    if kept is not None:
        found = [each.id for each in result.data.about["the levels"]] if result.data else []
        assert found == kept, result
        assert bool(result) == (quarantined is None)
        if quarantined:
            assert isinstance(result, Partial)
            assert [item.index for item in result.report.quarantined] == quarantined
            assert len(result.violations) == len(quarantined)
            assert all(each.pointer.startswith("/about/the levels/") for each in result.violations)
    for attempt in result.attempts:
        again = Report.from_json(attempt.report.json)
        assert again.json == attempt.report.json
        assert len(attempt.report.feedback.encode()) <= 2048


def test_what_is_wrong_outside_of_items_rejects_the_whole() -> None:
    result = ask(Levels, Script(levels("a", "b", last="never"), levels("a")), contract=ITEMS)
    assert [each.id for each in result.unwrap().about["the levels"]] == ["a"]
    assert result.attempts[0].feedback.endswith("Send the whole corrected output again.")
    alone = ask(Levels, Script(levels("x1", "b", last="never")), contract={**ITEMS, "retry": {"limit": 0}})
    assert isinstance(alone, Rejected)
    assert alone.violations[0].message == "Value error, never is no end"


def test_a_list_of_many_items_that_validators_reject_has_bounded_feedback() -> None:
    ids = [f"x{'é' * 40}{at}" if at % 2 else f"a{at}" for at in range(900)]
    result = ask(Levels, Script(levels(*ids)), contract={**ITEMS, "retry": {"limit": 0}})
    assert isinstance(result, Partial)
    assert [each.id for each in result.data.about["the levels"]] == ids[::2]
    assert [item.index for item in result.report.quarantined] == list(range(1, 900, 2))
    assert len(result.feedback.encode()) <= 2048
    assert "items named above again, corrected, in the order of their numbers" in result.feedback


def test_validators_run_once_for_an_answer_that_stands_alone() -> None:
    ran: list[str] = []

    class Counted(BaseModel):
        id: str

        @field_validator("id")
        @classmethod
        def count(cls, value: str) -> str:
            ran.append(value)
            return value

    assert ask(list[Counted], Script('[{"id":"a"},{"id":"b"}]'), contract={"items": {"path": "$[*]"}})
    assert ran == ["a", "b"]


def test_the_parser_puts_items_in_quarantine_too() -> None:
    parser = ResultParser()
    part = parser.parse_with_schema(Levels, levels("a", "x1"), contract=ITEMS)
    assert isinstance(part, NotParsed)
    assert part.data is not None
    assert [each.id for each in part.data.about["the levels"]] == ["a"]
    assert [item.index for item in part.report.quarantined] == [1]
    assert part.feedback == part.report.feedback
    gate = Gate()
    gate.register({"agent": "levels", "schema": Levels, **ITEMS})
    same = ResultParser(gate).parse("levels", levels("a", "x1"))
    assert isinstance(same, NotParsed)
    assert (same.data, same.feedback) == (part.data, part.feedback)
    # The gate itself has no validators of types: it is the sandbox.
    assert gate.validate("levels", levels("a", "x1"))


@pytest.mark.parametrize("items", [{}, ITEMS], ids=["whole", "items"])
def test_a_mistake_of_a_validator_is_raised_and_not_told(items: dict[str, Any]) -> None:
    script = Script(levels("zero"))
    with pytest.raises(ZeroDivisionError):
        ask(Levels, script, contract=items)
    assert len(script.sent) == 1
    with pytest.raises(ZeroDivisionError):
        asyncio.run(ask_async(Levels, Script(levels("zero")).later, contract=items))
    with pytest.raises(ZeroDivisionError):
        ResultParser().parse_with_schema(Levels, levels("zero"), contract=items)


class Struct(msgspec.Struct):
    id: str

    def __post_init__(self) -> None:
        if self.id == "bad":
            raise ValueError("bad is not allowed")
        if self.id == "type":
            raise TypeError("a mistake")
        assert 1 // (self.id != "zero")


@attrs.define
class Attrs:
    id: str = attrs.field()

    @id.validator
    def check(self, _: object, value: str) -> None:
        if value == "bad":
            raise ValueError("bad is not allowed")
        if value == "type":
            raise TypeError("a mistake")
        assert 1 // (value != "zero")


@pytest.mark.parametrize("of", [Struct, Attrs])
def test_validators_of_msgspec_and_attrs_take_part_too(of: type) -> None:
    policy = {"items": {"path": "$[*]", "key": "id"}, "retry": {"limit": 1}}
    script = Script('[{"id":"a"},{"id":"bad"},{"id":"b"},{"id":"bad"}]', '[{"id":"c"},{"id":"d"}]')
    result = ask(list[of], script, contract={**policy, "items": {"path": "$[*]"}})  # type: ignore[valid-type]
    assert [item.index for item in result.attempts[0].report.quarantined] == [1, 3]
    assert "bad is not allowed" in script.sent[1][-1]["content"]
    assert result.attempts[0].report.output == [{"id": "a"}, {"id": "b"}]
    for word, error in (("type", TypeError), ("zero", ZeroDivisionError)):
        with pytest.raises(error):
            ask(list[of], Script(f'[{{"id":"a"}},{{"id":"{word}"}}]'), contract=policy)  # type: ignore[valid-type]


def test_before_validators_can_run_first() -> None:
    text = '{"about":{"the levels":[{"id":"a","level":"HIGH"},{"id":"x","level":"Low"},{"id":"b","level":"?"}]}}'
    assert not ask(Levels, Script(text), contract={"retry": {"limit": 0}})
    policy = {**ITEMS, "retry": {"limit": 0}}
    result = ask(Levels, Script(f"Sure:\n```json\n{text}\n```"), contract=policy, type_first=True)
    assert isinstance(result, Partial)
    assert [(each.id, each.level) for each in result.data.about["the levels"]] == [("a", "high")]
    assert [item.index for item in result.report.quarantined] == [1, 2]
    parsed = ResultParser().parse_with_schema(Level, '{"id":"a","level":"HIGH"}', type_first=True)
    assert parsed.unwrap() == Level(id="a", level="high")
    script = Script('{"id":1,"level":"?"}', '{"id":"a","level":"LOW"}')
    assert ask(Level, script, type_first=True).unwrap().level == "low"
    # The prompts are the same.
    assert '"low"' in script.sent[0][0]["content"]
    assert "$.level" in script.sent[1][-1]["content"]
    with pytest.raises(TypeError, match="type_first"):
        ask({"agent": "a", "schema": True}, Script("1"), type_first=True)
    with pytest.raises(TypeError, match="type_first"):
        ResultParser().parse_with_schema({}, "1", type_first=True)


def test_coerce_is_one_argument() -> None:
    text = '{"id":"a","level":"HIGH"}'
    policy = {"coerce": "lossless"}
    assert ask(Level, Script(text), contract=policy).unwrap() == Level(id="a", level="high")
    assert ResultParser().parse_with_schema(Level, text, contract=policy).unwrap().level == "high"
    assert ResultParser().parse_with_schema({"type": "integer"}, '"12"', contract=policy).unwrap() == 12


@dataclass
class Point:
    x: int
    y: float


def test_any_type_that_pydantic_knows() -> None:
    assert ask(Point, Script('{"x":1,"y":2}')).data == Point(1, 2.0)
    assert ask(list[int], Script("[1]")).data == [1]
    assert ask(Literal["a", "b"], Script('"a"')).data == "a"


def test_places_are_those_of_the_document() -> None:
    class Holder(BaseModel):
        of: Order | Annotated[str, AfterValidator(str.strip)] | list[Order]
        by: dict[int, Order]

    document = '{"of":[{"sku":"B","count":1}],"by":{"3":{"sku":"C\'","count":1}}}'
    result = ask(Holder, Script(document), contract={"retry": {"limit": 0}})
    paths = {violation.path: violation.received for violation in result.violations}
    assert paths["$.of[0].sku"] == '"B"'
    assert paths["$.by['3'].sku"] == '"C\'"'
    assert "$.of" in paths


def test_contracts_of_files_agents_lists_and_evidence(gate: Gate) -> None:
    good = (OUTPUTS / "triage.good.txt").read_text()
    assert ask(EXAMPLES / "triage.contract.json", Script(good)).success
    assert ask("triage", Script(good), gate=gate).success
    fault("unknown_agent", lambda: ask("nobody", Script(good)))
    allowed = {"agent": "a", "schema": True, "allow": [{"path": "$", "list": "names"}]}
    result = ask(allowed, Script('"joe"', '"ann"'), lists={"names": iter(["ann"])})
    assert result.data == "ann"
    claims = {
        "agent": "c",
        "schema": {"type": "object"},
        "items": {"path": "$.claims[*]"},
        "evidence": {"claims": [{"path": "$.claims[*]", "text": "text", "cites": "cites"}]},
    }
    fault("bad_contract", lambda: ask({**claims, "evidence": 1}, Script()))


def test_lists_and_evidence_hold_for_what_is_put_together() -> None:
    contract = {
        "agent": "a",
        "schema": {"type": "array", "items": {"type": "object", "required": ["id", "who"]}},
        "items": {"path": "$[*]", "key": "id"},
        "allow": [{"path": "$[*].who", "list": "names"}],
    }
    script = Script('[{"id":"1","who":"ann"},{"id":"2","who":"joe"}]', '[{"id":"2","who":"bob"}]')
    seen: list[Seen | dict[str, str]] = [Seen("o1", "text"), {"id": "o2", "text": "more"}]
    result = ask(contract, script, lists={"names": ["ann", "bob"]}, evidence=iter(seen))
    assert result.data == [{"id": "1", "who": "ann"}, {"id": "2", "who": "bob"}]


def test_errors_of_the_client_pass_through() -> None:
    error = ConnectionError("no network")
    for replies in ([error], ["no JSON", error]):
        with pytest.raises(ConnectionError) as raised:
            ask(Order, Script(*replies))
        assert raised.value is error
        with pytest.raises(ConnectionError):
            asyncio.run(ask_async(Order, Script(*replies).later))


@pytest.mark.parametrize("reply", [None, 1, {}, {"choices": []}, ("a", 1), ("a", "stop", "b"), SimpleNamespace(text=1)])
def test_what_cannot_be_read_says_what_can(reply: object) -> None:
    with pytest.raises(TypeError, match=r"^call_llm must return the model's text, .*, not \w+$"):
        ask(Order, Script(reply))


@pytest.mark.filterwarnings("error")
def test_an_asynchronous_client_needs_ask_async() -> None:
    with pytest.raises(TypeError, match="await ask_async"):
        ask(Order, Script('{"sku":"A-7","count":1}').later)


def test_texts_bytes_and_finish_reasons() -> None:
    whole = b'{"sku":"A-7","count":1}'
    for reply in (whole, bytearray(whole), (whole.decode(), "end_turn"), (whole, None), (whole, Finish.STOP)):
        assert ask(Order, Script(reply)).success, reply
    assert ask(Order, Script((whole[:9], "MAX_TOKENS"))).stop == "not_retryable"
    assert isinstance(ask(Order, Script((None, "refusal"))), Refused)
    assert ask(Order, Script(b"\xff", whole)).success


def test_objects_are_read_as_their_json_is() -> None:
    def of(value: Any) -> Any:
        if isinstance(value, dict):
            return SimpleNamespace(**{name: of(each) for name, each in value.items()})
        return [of(each) for each in value] if isinstance(value, list) else value

    for path in CASES:
        case = json.loads(path.read_text())
        script = Script(*[of(reply) for reply in case["replies"]])
        assert told(ask(case["contract"], script, case["prompt"]), script) == case["result"]


def test_langchain_messages() -> None:
    def message(content: Any, **more: Any) -> Any:
        return SimpleNamespace(type="ai", content=content, **{"response_metadata": {}, **more})

    whole = '{"sku":"A-7","count":1}'
    assert ask(Order, Script(message(whole))).success
    assert ask(Order, Script(message([{"type": "text", "text": whole}, {"type": "tool_use"}]))).success
    cut = message(whole[:9], response_metadata={"finish_reason": "length"})
    assert ask(Order, Script(cut)).stop == "not_retryable"
    assert isinstance(ask(Order, Script(message("", additional_kwargs={"refusal": "no"}))), Refused)


def test_prompts_are_not_changed() -> None:
    prompt = [{"role": "user", "content": "Which order?"}]
    script = Script('{"sku":"A-7","count":1}')
    ask(Order, script, prompt)
    assert prompt == [{"role": "user", "content": "Which order?"}]
    assert script.sent[0][0]["content"].startswith("Which order?\n\nAnswer with one JSON document")


def test_a_contract_beside_a_contract_is_an_error() -> None:
    with pytest.raises(TypeError, match="goes with a type"):
        ask({"agent": "a", "schema": True}, Script(), contract={})
    with pytest.raises(TypeError, match="must have no schema"):
        ask(Order, Script(), contract={"schema": {}})
    fault("bad_contract", lambda: ask(Order, Script(), contract={"retries": 3}))
    assert ask(Order, Script("1", "2"), contract={"agent": "orders"}).report.agent == "orders"


def test_what_is_kept_is_bounded() -> None:
    limits = Limits(output_bytes=4000)
    result = ask(
        {"agent": "a", "schema": {"type": "integer"}, "retry": {"limit": 100}},
        Script(*[f"{'[' * (n % 2)}{'x' * 400}" for n in range(100)]),
        gate=Gate(limits=limits),
    )
    assert result.stop == "limit"
    assert len(result.attempts) < 5
    fault("input_too_large", lambda: ask(Order, Script("x" * 4001), gate=Gate(limits=limits)))


def test_schemas_are_compiled_once(monkeypatch: pytest.MonkeyPatch) -> None:
    registered: list[object] = []
    real = Gate.register

    def register(self: Gate, contract: Any) -> Any:
        registered.append(contract)
        return real(self, contract)

    monkeypatch.setattr(Gate, "register", register)

    class Own(BaseModel):
        a: Literal["test_schemas_are_compiled_once"]

    parser = ResultParser()
    for _ in range(3):
        ask(Own, Script("1", "2"))
        parser.parse_with_schema(Own, "1")
        parser.parse_with_schema({"const": "test_schemas_are_compiled_once"}, "1")
    assert len(registered) == 2
    assert parser.registry.list() == []


def test_contracts_of_one_agent_do_not_meet() -> None:
    limits = Limits(timeout_seconds=4.5)
    one = compiled('{"agent":"a","schema":true}', limits)
    other = compiled('{"agent":"a","schema":false}', limits)
    third = compiled('{"agent":"b","schema":false}', limits)
    assert one.gate is not other.gate
    assert third.gate is one.gate
    assert compiled('{"agent":"a","schema":true}', limits) is one
    fault("bad_contract", lambda: compiled("{", limits))
    fault("bad_contract", lambda: compiled("[]", limits))


def test_threads_share_what_is_compiled() -> None:
    results: list[bool] = []
    threads = [
        threading.Thread(target=lambda: results.append(ask(Order, Script('{"sku":"A-7","count":1}')).success))
        for _ in range(8)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert results == [True] * 8


def test_a_report_that_is_not_accepted_is_false() -> None:
    gate = Gate()
    contract = {"agent": "a", "schema": {"type": "integer"}}
    assert gate.validate(contract, "1")
    assert gate.validate(contract, "1").report
    assert not gate.validate(contract, "x")
    assert not gate.validate(contract, "x").report
    assert ResultParser().parse_with_schema(int, "1")
    assert not ResultParser().parse_with_schema(int, "x")


def test_the_time_for_all_attempts_is_bounded() -> None:
    said: list[int] = []

    def slow(_: Messages) -> str:
        said.append(1)
        time.sleep(0.15)
        return f"{'[' * len(said)}"

    policy = {"retry": {"limit": 50}}
    result = ask(Order, slow, contract=policy, timeout_seconds=0.4)
    assert result.stop == "timeout"
    assert isinstance(result, Rejected)
    assert 2 <= len(said) <= 4
    assert len(result.attempts) == len(said)
    assert result.attempts[-1].feedback == ""
    assert result.messages[-1]["role"] == "assistant"
    # An answer that arrives in time counts, even if it is the last one.
    said.clear()
    assert ask(list, slow, contract={"repair": "syntax"}, timeout_seconds=0.05).data == []


def test_a_call_that_is_under_way_is_cancelled_when_the_time_is_over() -> None:
    cancelled: list[bool] = []

    async def hangs(messages: Messages) -> str:
        if len(messages) == 1 and not at_once:
            return "no JSON"
        try:
            await asyncio.sleep(60)
        except asyncio.CancelledError:
            cancelled.append(True)
            raise
        return ""

    at_once = True
    begin = time.monotonic()
    with pytest.raises(TimeoutError, match=r"no answer within 0\.1 s \(timeout_seconds\)"):
        asyncio.run(ask_async(Order, hangs, timeout_seconds=0.1))
    at_once = False
    result = asyncio.run(ask_async(Order, hangs, timeout_seconds=0.3))
    assert isinstance(result, Rejected)
    assert (result.stop, len(result.attempts), cancelled) == ("timeout", 1, [True, True])
    assert time.monotonic() - begin < 10

    async def impatient(_: Messages) -> str:
        raise TimeoutError("the client's own")

    with pytest.raises(TimeoutError, match="the client's own"):
        asyncio.run(ask_async(Order, impatient, timeout_seconds=30))


def test_on_attempt_is_told_of_each_attempt() -> None:
    script = Script("no JSON", '{"sku":"B","count":1}', '{"sku":"A-7","count":1}')
    told: list[Attempt] = []
    result = ask(Order, script, contract={"retry": {"limit": 3}}, on_attempt=told.append)
    assert tuple(told) == result.attempts
    assert [bool(attempt.violations) for attempt in told] == [True, True, False]
    again: list[Attempt] = []
    threads: set[int] = set()

    def hook(attempt: Attempt) -> None:
        again.append(attempt)
        threads.add(threading.get_ident())

    asyncio.run(ask_async(Order, Script(*script.replies).later, contract={"retry": {"limit": 3}}, on_attempt=hook))
    assert [attempt.violations for attempt in again] == [attempt.violations for attempt in told]
    assert threads == {threading.get_ident()}

    async def later(attempt: Attempt) -> None:
        await asyncio.sleep(0)
        again.append(attempt)

    again.clear()
    asyncio.run(ask_async(Order, Script(*script.replies).later, contract={"retry": {"limit": 3}}, on_attempt=later))
    assert len(again) == 3
    with pytest.raises(TypeError, match="on_attempt is asynchronous: `ask_async` awaits it"):
        ask(Order, Script("no JSON"), on_attempt=later)

    def fails(_: Attempt) -> None:
        raise LookupError("the hook's own")

    with pytest.raises(LookupError, match="the hook's own"):
        ask(Order, Script("no JSON", "no JSON"), on_attempt=fails)
