"""What is asked of a gate, and its JSON text."""

from __future__ import annotations

import os
from collections.abc import Mapping

from . import _json
from ._evidence import Seen
from ._faults import SeamgateFault
from ._records import dataclass
from ._types import Finish

# As in the package's `__init__`.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any

    from ._aliases import Contract, Evidence, Lists, Output, Profile
    from ._fault_code import FaultCode
    from ._words import Observation


@dataclass(frozen=True)
class Request:
    """One output to judge, for `Gate.validate_all`: what `Gate.validate` takes.

    Attributes:
        contract: The name of an agent whose contract is registered, or a contract.
        output: What the agent produced.
        finish: Why it stopped.
        lists: Lists that the contract's `allow` names.
        evidence: What the agent saw, where the contract has `evidence`.
    """

    contract: Contract
    output: Output
    finish: Finish | str = Finish.UNKNOWN
    lists: Lists | None = None
    evidence: Evidence | None = None


def _request(
    agents: list[str],
    contract: str | None,
    output: str,
    finish: Finish | str,
    lists: Lists | None,
    evidence: str | None,
    invalid_utf8: int | None,
) -> str:
    members = [f'"agent":{_json.text(agent)}' for agent in agents]
    if contract is not None:
        members.append(f'"contract":{contract}')
    members.append(f'"output":{_json.quoted(output)}')
    if finish != Finish.UNKNOWN:
        members.append(f'"finish":{_json.text(finish)}')
    if lists:
        members.append(f'"lists":{_json.text(_lists(lists))}')
    if evidence is not None:
        members.append(f'"evidence":{evidence}')
    if invalid_utf8 is not None:
        members.append(f'"invalid_utf8":{invalid_utf8}')
    return "{" + ",".join(members) + "}"


def _values(name: str, values: Iterable[str]) -> list[str]:
    if isinstance(values, (str, bytes)):
        raise TypeError(f"the list {name!r} must be a list of str, not {type(values).__name__}")
    return list(values)


def _observation(observation: Seen | Observation | Mapping[str, Any]) -> dict[str, Any]:
    if isinstance(observation, Mapping):
        return dict(observation)
    of_id = f"of the observation {observation.id!r}"
    return {
        "id": observation.id,
        "text": observation.text,
        "kinds": _values(f"kinds {of_id}", observation.kinds),
        "labels": _values(f"labels {of_id}", observation.labels),
        "confidence": observation.confidence,
        "complete": observation.complete,
        "limitations": _values(f"limitations {of_id}", observation.limitations),
    }


def _contract_text(contract: Contract) -> str:
    if isinstance(contract, os.PathLike):
        from ._contracts import read_contract

        return read_contract(contract)
    if isinstance(contract, str):
        return _text_given("contract", contract, "bad_contract", "")
    from ._plain import advice, of_type, plain

    if isinstance(contract, Mapping):
        return _json.text(plain("contract", contract))
    named = of_type(contract)
    if named is not None:
        raise TypeError(
            f"a contract must be JSON text, a dict or a pathlib.Path, not {named}: its `schema` says what \
the output must be; for that, {advice(contract, named)}"
        )
    return _text_given("contract", contract, "bad_contract", ", a dict or a pathlib.Path")


def _profile_text(profile: Profile) -> str:
    if isinstance(profile, os.PathLike):
        from ._profiles import read_profile

        return read_profile(profile)
    if isinstance(profile, Mapping):
        from ._plain import plain

        return _json.written(plain("profile", profile))
    return _text_given("profile", profile, "bad_profile", ", a dict or a pathlib.Path")


def _text_of(what: str, document: str | Mapping[str, Any]) -> str:
    """One of the documents that a decision depends on, as JSON text."""
    if isinstance(document, Mapping):
        return _json.written(dict(document))
    return _text_given(what, document, "bad_request", " or a dict")


def _text_given(what: str, text: object, code: FaultCode, otherwise: str) -> str:
    if not isinstance(text, str):
        raise TypeError(f"a {what} must be JSON text{otherwise}, not {type(text).__name__}")
    try:
        text.encode()
    except UnicodeEncodeError as error:
        message = f"{what}: half a surrogate pair at character {error.start}: it is no text"
        raise SeamgateFault(code, message) from None
    return text


def _size(text: str) -> int:
    return len(text) if text.isascii() else len(text.encode())


def _bytes_of(output: Output) -> bytes | str:
    """The output as an object that never changes.

    Raises:
        TypeError: It is neither text nor bytes.
    """
    if isinstance(output, (str, bytes)):
        return output
    if isinstance(output, (bytearray, memoryview)):
        return bytes(output)
    raise TypeError(f"an output must be str or bytes, not {type(output).__name__}")


def _output_text(output: Output) -> tuple[str, int | None]:
    """The output as text, and where it first is not well-formed."""
    output = _bytes_of(output)
    if isinstance(output, str):
        try:
            output.encode()
            return output, None
        except UnicodeEncodeError:
            output = output.encode("utf-8", "surrogatepass")
    try:
        return output.decode(), None
    except UnicodeDecodeError as error:
        return output.decode(errors="replace"), error.start


def _lists(lists: Lists) -> dict[str, list[str]]:
    return {name: _values(name, values) for name, values in lists.items()}


def _evidence(evidence: Evidence) -> str:
    """Evidence as JSON text."""
    return _json.text([_observation(observation) for observation in evidence])
