"""Contracts that are not registered by name. Each is compiled once and kept for the next output."""

from __future__ import annotations

import hashlib
import threading
from dataclasses import dataclass, field

from . import _json
from ._gate import Gate
from ._limits import Limits
from ._types import ContractInfo

# The most contracts that are kept. One more drops all of them, so that programs that keep generating schemas do not
# fill the memory.
_MOST = 256


@dataclass(frozen=True)
class Compiled:
    """A contract that is registered in a hidden gate."""

    gate: Gate
    info: ContractInfo


@dataclass
class _Shared:
    """A gate for contracts of different agents, and the contracts that are or will be registered in it, by agent."""

    gate: Gate
    agents: dict[str, str] = field(default_factory=dict)


@dataclass
class _Kept:
    gates: list[_Shared] = field(default_factory=list)
    contracts: dict[str, Compiled] = field(default_factory=dict)


# Never held while a contract is compiled. Reentrant, because a signal handler may run while this thread holds it.
_lock = threading.RLock()
_kept: dict[Limits, _Kept] = {}


def compiled(contract: str, limits: Limits) -> Compiled:
    """Compiles a contract that is JSON text, or returns it if it is already compiled.

    Raises:
        SeamgateFault: `bad_contract`; or a limit was exceeded.
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
        # The lock is not held here, so other threads continue while the gate is created.
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
    """Returns a gate that has no other contract for this agent yet."""
    with _lock:
        for shared in kept.gates:
            if shared.agents.setdefault(agent, contract) == contract:
                return shared
    return None


def contract_of(schema: str, policy: str = "") -> str:
    """Returns a contract for a schema, both as JSON text. The name of its agent is derived from the content.

    Args:
        schema: The schema.
        policy: Further members of the contract, as JSON text to put before the schema.
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
