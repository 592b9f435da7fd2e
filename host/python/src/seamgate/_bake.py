"""Contracts and profiles compiled into a component."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from . import _arguments, _backend
from ._aliases import Contract, Profile
from ._faults import BackendError
from ._gate import _component
from ._limits import Limits
from ._requests import _contract_text, _profile_text

if TYPE_CHECKING:
    from typing import Any


def bake(
    contracts: Iterable[Contract] = (),
    *,
    profiles: Iterable[Profile] = (),
    component: bytes | str | os.PathLike[str] | None = None,
    limits: Limits | None = None,
) -> bytes:
    """Make a component with compiled contracts and profiles inside. Its gates start with them at no cost, and accept no
    others. Baking takes seconds. It requires the native backend, or the command `seamgate bake`.

    Args:
        contracts: Contracts, as `Gate.register` takes them.
        profiles: Profiles, as `Gate.register_profile` takes them.
        component: The component to bake them into. Default: the built-in component.
        limits: The limits for compiling each contract.

    Returns:
        The component's bytes, for `Gate(component=...)`, or to be saved for any runtime of WebAssembly components.

    Raises:
        SeamgateFault: `bad_contract` or `bad_profile` if one is invalid, or two belong to the same agent.
        LoadError: The component accepts no contracts or profiles.
        FileError: A file cannot be read.
        BackendError: This platform has no native backend.
    """
    if _backend.backend != "native":
        raise BackendError("the backend `wasmtime` does not bake: only the native one does, on Linux")
    from . import _native
    from ._raising import limits_of, raising

    given: tuple[Any, ...] = (
        _component(component),
        [_contract_text(contract) for contract in _several("contracts", contracts)],
        [_profile_text(profile) for profile in _several("profiles", profiles)],
        limits_of(_arguments.limits(limits)),
    )
    return raising(_native.bake, *given)


def _several(what: str, given: Iterable[Any]) -> list[Any]:
    if isinstance(given, (str, Mapping, os.PathLike)):
        raise TypeError(f"{what} must be a list of {what}: put the one into a list")
    return _arguments.listed(what, object, given, what)
