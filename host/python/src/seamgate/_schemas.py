"""Contracts that nobody registers, each compiled once and kept for the next output."""

from __future__ import annotations

import hashlib
import threading
from dataclasses import dataclass, field

from . import _json
from ._gate import Gate
from ._limits import Limits
from ._types import ContractInfo

# So many are kept. With one more, all are forgotten: programs that make schemas without end do not fill the memory.
_MOST = 256


@dataclass(frozen=True)
class Compiled:
    """A contract that is registered in a gate, out of sight of its author."""

    gate: Gate
    info: ContractInfo


@dataclass
class _Shared:
    """A gate for contracts of different agents, and the contract of each agent that it has or is about to get."""

    gate: Gate
    agents: dict[str, str] = field(default_factory=dict)


@dataclass
class _Kept:
    gates: list[_Shared] = field(default_factory=list)
    contracts: dict[str, Compiled] = field(default_factory=dict)


# Held for a moment, and never while something is compiled. A handler of a signal may come while this thread holds it.
_lock = threading.RLock()
_kept: dict[Limits, _Kept] = {}


def compiled(contract: str, limits: Limits) -> Compiled:
    """Compile a contract that is JSON text, unless that was done before.

    Raises:
        SeamgateFault: `bad_contract`; or a limit was passed.
    """
    with _lock:
        kept = _kept.get(limits)
        known = None if kept is None else kept.contracts.get(contract)
        if known is not None:
            return known
        if sum(len(each.contracts) for each in _kept.values()) >= _MOST:
            _kept.clear()
        kept = _kept.setdefault(limits, _Kept())
    agent = _agent(contract)
    shared = _room(kept, agent, contract)
    if shared is None:
        # Other threads go on while a gate is made.
        gate = Gate(limits=limits)
        with _lock:
            shared = _room(kept, agent, contract)
            if shared is None:
                shared = _Shared(gate, {agent: contract})
                kept.gates.append(shared)
    try:
        made = Compiled(shared.gate, shared.gate.register(contract))
    except BaseException:
        with _lock:
            if not shared.gate.has(agent):
                shared.agents.pop(agent, None)
        raise
    with _lock:
        return kept.contracts.setdefault(contract, made)


def _room(kept: _Kept, agent: str, contract: str) -> _Shared | None:
    """Returns a gate with room for a contract, which holds one per agent."""
    with _lock:
        for shared in kept.gates:
            if shared.agents.setdefault(agent, contract) == contract:
                return shared
    return None


def contract_of(schema: str, policy: str = "") -> str:
    """A contract that is nothing but a schema, both as JSON text. Its agent is named by what the schema says.

    Args:
        schema: The schema.
        policy: Further members of the contract, as they stand in JSON text before the schema.
    """
    digest = hashlib.sha256((policy + schema).encode()).hexdigest()
    return f'{{"agent":"schema-{digest[:16]}",{policy}"schema":{schema}}}'


def _agent(contract: str) -> str:
    try:
        members = {name: value for name, value, _ in _json.members(contract)}
    except ValueError:
        return ""
    agent = members.get("agent")
    return agent if isinstance(agent, str) else ""
