"""Requests to a gate, and their JSON text."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping

from . import _json
from ._arguments import listed, wrong
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
    from ._models import Model
    from ._words import Observation


# The form of an agent's name.
_NAME = re.compile(r"[a-z][a-z0-9._-]{0,127}")


@dataclass(frozen=True)
class Request:
    """One output to judge, for `Gate.validate_all`: the arguments of `Gate.validate`.

    Attributes:
        contract: The name of an agent whose contract is registered, or a contract.
        output: The agent's output.
        finish: Why the agent stopped.
        lists: The lists that the contract's `allow` names.
        evidence: The results that the agent saw, if the contract has `evidence`.
    """

    contract: Contract
    output: Output
    finish: Finish | str | None = Finish.UNKNOWN
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


def _values(what: str, values: Iterable[str]) -> list[str]:
    if isinstance(values, (str, bytes)):
        raise wrong(what, "a list of str", values)
    return listed(what, str, values, "str")


def _observation(what: str, observation: Seen | Observation | Mapping[str, Any]) -> dict[str, Any]:
    if isinstance(observation, Mapping):
        return dict(observation)
    if isinstance(observation, (str, bytes)) or not hasattr(observation, "limitations"):
        raise wrong(what, "`Seen`, an `Observation` or a dict", observation)
    return {
        "id": observation.id,
        "text": observation.text,
        "kinds": _values(f"{what}.kinds", observation.kinds),
        "labels": _values(f"{what}.labels", observation.labels),
        "confidence": observation.confidence,
        "complete": observation.complete,
        "limitations": _values(f"{what}.limitations", observation.limitations),
    }


def _contract_text(contract: Contract) -> str:
    """Returns a contract as JSON text."""
    return _contract_given(contract)[0]


def _contract_given(contract: Contract) -> tuple[str, Model | None]:
    """Returns a contract as JSON text, and the type that is its schema, if any.

    Raises:
        TypeError: It is not a contract, or holds a value that is not JSON.
        FileError: The file cannot be read.
    """
    if isinstance(contract, os.PathLike) or _is_path(contract):
        from ._contracts import read_contract

        return read_contract(contract), None  # type: ignore[arg-type]
    if isinstance(contract, str):
        if _NAME.fullmatch(contract) and contract not in ("true", "false", "null"):
            message = (
                f"contract: {contract!r} is the name of an agent; a contract is JSON text, a dict or a path (.json)"
            )
            raise SeamgateFault("bad_contract", message)
        return _text_given("contract", contract, "bad_contract", ""), None
    if not isinstance(contract, Mapping):
        raise _no_document("contract", contract, ': a type may be its schema: {"agent": NAME, "schema": TYPE}')
    from ._plain import plain
    from ._type_kinds import is_type

    model = None
    if is_type(contract.get("schema")):
        from ._models import Model

        model = Model(contract["schema"], "contract: $.schema")
        # Pydantic's own patterns use lookahead. They come from no producer, and this engine limits the steps as well.
        contract = {"patterns": "backtracking", **contract, "schema": _json.parse(model.schema)}
    return _json.text(plain("contract", contract)), model


def _profile_text(profile: Profile) -> str:
    if isinstance(profile, os.PathLike) or _is_path(profile):
        from ._profiles import read_profile

        return read_profile(profile)  # type: ignore[arg-type]
    if isinstance(profile, Mapping):
        from ._plain import plain

        return _json.written(plain("profile", profile))
    if isinstance(profile, str):
        return _text_given("profile", profile, "bad_profile", "")
    raise _no_document("profile", profile)


def _is_path(given: object) -> bool:
    """Returns whether a text is a path: it ends in `.json`, and does not begin like a document."""
    return isinstance(given, str) and given.endswith(".json") and not given.lstrip().startswith("{")


def _no_document(what: str, given: object, advice: str = "") -> TypeError:
    from ._type_kinds import is_type, named

    more = advice if is_type(given) else ""
    return TypeError(f"{what} must be JSON text, a dict or a path of a file, not {named(given)}{more}")


def _text_of(what: str, document: str | Mapping[str, Any]) -> str:
    """Returns one of the documents that a decision depends on, as JSON text."""
    if isinstance(document, Mapping):
        return _json.written(dict(document))
    return _text_given(what, document, "bad_request", " or a dict")


def _text_given(what: str, text: object, code: FaultCode, otherwise: str) -> str:
    if not isinstance(text, str):
        from ._type_kinds import named

        raise TypeError(f"{what} must be JSON text{otherwise}, not {named(text)}")
    try:
        text.encode()
    except UnicodeEncodeError as error:
        message = f"{what}: half a surrogate pair at character {error.start}: it is no text"
        raise SeamgateFault(code, message) from None
    return text


def _size(text: str) -> int:
    return len(text) if text.isascii() else len(text.encode())


def _bytes_of(output: Output) -> bytes | str:
    """Returns the output as an immutable object.

    Raises:
        TypeError: It is neither text nor bytes.
    """
    if isinstance(output, (str, bytes)):
        return output
    if isinstance(output, (bytearray, memoryview)):
        return bytes(output)
    raise wrong("output", "str or bytes", output)


def _output_text(output: Output) -> tuple[str, int | None]:
    """Returns the output as text, and the position of the first ill-formed byte or character."""
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
    if not isinstance(lists, Mapping):
        raise wrong("lists", "a dict from names to lists of str", lists)
    for name in lists:
        if not isinstance(name, str):
            raise wrong("a name in lists", "a str", name)
    return {name: _values(f"lists[{name!r}]", values) for name, values in lists.items()}


def _evidence(evidence: Evidence) -> str:
    """Returns evidence as JSON text."""
    return _json.text(_observations(evidence))


def _observations(evidence: Evidence) -> list[dict[str, Any]]:
    if isinstance(evidence, (str, bytes, Mapping)):
        raise wrong("evidence", "a list of `Seen`, observations or dicts", evidence)
    seen: list[Any] = listed("evidence", object, evidence, "`Seen`, observations or dicts")
    return [_observation(f"evidence[{at}]", each) for at, each in enumerate(seen)]


def _finish_word(finish: Finish | str | None) -> str:
    """Returns the finish reason as one of the component's words or an API's own word."""
    if finish is None:
        return Finish.UNKNOWN.value
    if isinstance(finish, str):
        return finish.value if isinstance(finish, Finish) else finish
    raise wrong("finish", "`Finish`, a str or None", finish)
