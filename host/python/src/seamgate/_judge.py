"""Contracts made from types and schemas. Each is compiled once."""

from __future__ import annotations

import functools
import os
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from . import _arguments, _json
from ._aliases import Evidence, Lists, Output
from ._faults import SeamgateFault
from ._gate import Gate
from ._limits import Limits
from ._models import Model
from ._own import Items
from ._plain import plain
from ._requests import _contract_given, _is_path
from ._schemas import compiled, contract_of
from ._types import Finish
from ._verdict import Verdict


@dataclass(frozen=True)
class Judge:
    """A registered contract, and the type of its documents.

    Attributes:
        model: The type, if there is one.
        gate: The gate.
        agent: The name of the contract's agent in the gate.
        items: The items of the contract.
        described: The judge whose contract describes the output, if it is another one.
    """

    model: Model | None
    gate: Gate
    agent: str
    items: Items | None
    described: Judge | None = None

    def validate(self, by: Gate | None, *arguments: Any) -> Verdict:
        """Judges an output, and reports the verdict to the hook of the caller's gate.

        Args:
            by: The caller's gate.
            arguments: The output, why its producer stopped, lists and evidence.
        """
        output, finish, lists, evidence = arguments
        try:
            verdict = self.gate.validate(self.agent, output, finish=finish, lists=lists, evidence=evidence)
        except SeamgateFault as fault:
            self._tell(by, fault)
            raise
        self._tell(by, verdict)
        return verdict

    def take(
        self, by: Gate | None, output: Output, finish: str, lists: Lists | None, evidence: Evidence | None
    ) -> Verdict:
        """Judges an answer of a model's client, whose finish reason may be unknown."""
        try:
            return self.validate(by, output, finish, lists, evidence)
        except SeamgateFault as fault:
            of_finish = [each for each in fault.detail.get("violations", []) if each["pointer"] == "/finish"]
            if not of_finish:
                raise
        return self.validate(by, output, Finish.UNKNOWN, lists, evidence)

    def _tell(self, by: Gate | None, made: Verdict | SeamgateFault) -> None:
        if by is not None and by is not self.gate and by._on_verdict is not None:
            by._on_verdict(made)

    def wanted(self) -> str:
        """Returns text for a prompt that says what the output must be."""
        by = self.described or self
        return by.gate.describe(by.agent)


def of_contract(of: Any, gate: Gate | None) -> Judge:
    """Returns the judge for a contract, or for the name of a registered agent."""
    if isinstance(of, str):
        is_registered = gate is not None and gate.has(of)
        if is_registered or not (_is_path(of) or of.lstrip().startswith("{")):
            return registered(of, Gate() if gate is None else gate)
    text, model = _contract_given(of)
    return _made(text, Limits() if gate is None else gate.limits, model)


def registered(agent: str, gate: Gate) -> Judge:
    """Returns the judge for a registered agent."""
    held = gate._engine.contracts.get(agent)
    if held is None:
        return Judge(None, gate, agent, None)
    return Judge(held.model, gate, agent, None if held.model is None else _items(held.text))


def of_schema(of: Any, policy: Mapping[str, Any] | None, limits: Limits, type_first: bool, what: str) -> Judge:
    """Returns the judge for a type or a JSON Schema, with the policy of a contract.

    Args:
        of: The type, or the schema as a dict, a bool or JSON text.
        policy: Further members of the contract.
        limits: The limits of each call.
        type_first: If True, the type judges instead of its schema.
        what: The name of the argument `of`, for messages.
    """
    if policy is not None and not isinstance(policy, Mapping):
        raise _arguments.wrong("contract", "a dict with what a contract says beside its schema", policy)
    members = plain("contract", policy or {})
    if "schema" in members or "jtd" in members:
        raise TypeError(f"contract must have no schema: `{what}` is it")
    if isinstance(of, str):
        if not _json.is_json(of):
            raise TypeError(f"{what} is a str, and must be a JSON Schema as JSON text then")
        of = _json.parse(of)
    if isinstance(of, (Mapping, bool)):
        if type_first:
            raise TypeError(f"type_first goes with a type: `{what}` is a JSON Schema")
        return _made(_contract(_json.text(plain(what, of)), members), limits, None)
    written = _json.text(members)
    try:
        hash(of)
    except TypeError:
        return _of_type(of, written, limits, type_first, what)
    return _of_type_once(of, written, limits, type_first, what)


def _of_type(of: Any, written: str, limits: Limits, type_first: bool, what: str) -> Judge:
    model = Model(of, what)
    # Pydantic's own patterns use lookahead. They come from no producer, and this engine limits the steps as well.
    members = {"patterns": "backtracking", **_json.parse(written)}
    whole = _made(_contract(model.schema, members), limits, model)
    if not type_first:
        return whole
    if isinstance(members.get("items"), dict):
        members["items"] = {**members["items"], "schema": True}
    loose = _made(_contract("true", members), limits, model)
    return Judge(model, loose.gate, loose.agent, loose.items, whole)


_of_type_once = functools.lru_cache(maxsize=256)(_of_type)


def _contract(schema: str, members: dict[str, Any]) -> str:
    written = _json.text(members)[1:-1] + "," if members else ""
    return contract_of(schema, written) if "agent" not in members else f'{{{written}"schema":{schema}}}'


def _made(contract: str, limits: Limits, model: Model | None) -> Judge:
    made = compiled(contract, limits)
    return Judge(model, made.gate, made.info.agent, None if model is None else _items(contract))


_items = functools.lru_cache(maxsize=256)(Items.of)


def is_contract(of: object) -> bool:
    """Returns whether a value is a contract, the path of a contract, or the name of an agent, rather than a type."""
    return isinstance(of, (str, Mapping, os.PathLike))


def judge_of(of: Any, policy: Mapping[str, Any] | None, gate: Gate | None, type_first: bool) -> Judge:
    """Returns the judge for a type or a contract, as accepted by `ask`."""
    if not is_contract(of):
        return of_schema(of, policy, Limits() if gate is None else gate.limits, type_first, "of")
    if policy is not None:
        raise TypeError("`contract` goes with a type: a contract says everything itself")
    if type_first:
        raise TypeError("`type_first` goes with a type")
    return of_contract(of, gate)
