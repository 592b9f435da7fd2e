"""Checks the types of results: mypy and pyright check this file, and it also runs."""

from __future__ import annotations

from typing import Any, Literal

import pytest
from pydantic import BaseModel
from typing_extensions import assert_never, assert_type

from seamgate import (
    Accepted,
    AllowedDecision,
    ApprovalDecision,
    Ask,
    AskResult,
    Call,
    Decision,
    DeniedDecision,
    Gate,
    NotAcceptedError,
    NotParsed,
    Parsed,
    Partial,
    Refused,
    Rejected,
    ResultParser,
    ask,
)


class Order(BaseModel):
    sku: str


PROFILE: dict[str, Any] = {
    "agent": "ops",
    "approvers": {"oncall": [{"principal": "mia"}]},
    "tools": [
        {"name": "allow", "effect": "read", "permit": "allow"},
        {"name": "deny", "effect": "effectful", "permit": "deny"},
        {"name": "approval", "effect": "effectful", "permit": {"approval": {"by": ["oncall"], "ttl_s": 60}}},
    ],
}


def by_truth(decision: Decision) -> str:
    if decision:
        assert_type(decision, AllowedDecision)
        return decision.arguments
    assert_type(decision, DeniedDecision | ApprovalDecision)
    return decision.message


def by_permit(decision: Decision) -> str | Ask:
    if decision.permit == "allow":
        assert_type(decision, AllowedDecision)
        assert_type(decision.arguments, str)
        return decision.arguments
    if decision.permit == "approval":
        assert_type(decision, ApprovalDecision)
        assert_type(decision.ask, Ask)
        return decision.ask
    assert_type(decision, DeniedDecision)
    return decision.message


def by_class(decision: Decision) -> str:
    match decision:
        case AllowedDecision():
            return decision.arguments
        case ApprovalDecision():
            return decision.ask.key
        case DeniedDecision():
            return decision.message
        case _:
            assert_never(decision)


@pytest.mark.parametrize("permit", ["allow", "deny", "approval"])
def test_a_decision_is_true_only_where_the_call_may_run_now(permit: Literal["allow", "deny", "approval"]) -> None:
    gate = Gate()
    gate.register_profile(PROFILE)
    loop = gate.loop("ops", run="r1", principal="anna")
    call: Call = {"key": "1", "tool": permit, "arguments": {"a": 1}}
    ran: list[str] = []
    if decision := loop.permit(call):
        ran.append(decision.arguments)
    assert ran == (['{"a":1}'] if permit == "allow" else [])
    assert decision.permit == permit
    assert bool(decision) == (permit == "allow")
    assert by_truth(decision) == (ran[0] if ran else decision.message)
    assert by_permit(decision)
    assert by_class(decision)
    for other in (
        gate.permit("ops", loop.facts, {**call, "key": "2"}),
        gate.instance().permit("ops", loop.facts, call),
    ):
        assert bool(other) == (permit == "allow")


def data_of(answer: AskResult[Order]) -> Order | None:
    if answer:
        assert_type(answer, Accepted[Order])
        assert_type(answer.data, Order)
        assert_type(answer.unwrap(), Order)
        return answer.data
    assert_type(answer, Partial[Order] | Refused | Rejected)
    return answer.data


def test_answers_and_parsed_outputs() -> None:
    assert data_of(ask(Order, lambda _: '{"sku":"a"}')) == Order(sku="a")
    assert data_of(ask(Order, lambda _: "{}")) is None
    for output in ('{"sku":"a"}', "{}"):
        parsed = ResultParser().parse_with_schema(Order, output)
        if parsed:
            assert_type(parsed, Parsed[Order])
            assert_type(parsed.unwrap(), Order)
        else:
            assert_type(parsed, NotParsed[Order])
            assert_type(parsed.data, Order | None)
            with pytest.raises(
                NotAcceptedError, match=r"^the output is rejected: \$ must have member \"sku\""
            ) as raised:
                parsed.unwrap()
            assert raised.value.feedback == parsed.feedback
            assert raised.value.violations == parsed.violations
