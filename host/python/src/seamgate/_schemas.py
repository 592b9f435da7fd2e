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
class _Kept:
    gates: list[Gate] = field(default_factory=list)
    contracts: dict[str, Compiled] = field(default_factory=dict)


_lock = threading.Lock()
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
    # An agent has one contract in a gate. That it is one is seen in a gate with nothing else.
    agent = _agent(contract)
    with _lock:
        known = kept.contracts.get(contract)
        if known is not None:
            return known
        gate = next((gate for gate in kept.gates if not gate.has(agent)), None)
        if gate is None:
            gate = Gate(limits=limits)
            kept.gates.append(gate)
        made = Compiled(gate, gate.register(contract))
        kept.contracts[contract] = made
    return made


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
