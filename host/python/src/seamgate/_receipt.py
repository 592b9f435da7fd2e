"""Verifies receipts of runs: their signature, and that each decision follows from the events."""

from __future__ import annotations

import json
import os
import pathlib
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from . import _backend
from ._aliases import Profile
from ._faults import BackendError
from ._gate import _component
from ._requests import _profile_text

if TYPE_CHECKING:
    from typing import Any


@dataclass(frozen=True)
class ReceiptCheck:
    """One check of a receipt."""

    check: str
    """`encoding`, `signature`, `key`, `statement`, `lines`, `profile`, `component`, `steps`, `artifacts` or
    `approvals`."""
    ok: bool
    """True if it passed."""
    detail: str
    """The finding. It may contain text from the run, truncated."""
    step: int | None = None
    """The number of the step that fails, from 1."""
    line: int | None = None
    """The number of the line that fails, from 0."""


@dataclass(frozen=True)
class ReceiptReport:
    """The result of a verification."""

    ok: bool
    """True if every check passed."""
    whole: bool
    """True if every step was derived again, because none is withheld."""
    run: str
    """The run's id."""
    agent: str
    """The run's agent."""
    profile: str
    """The digest of the run's profile."""
    component: str
    """The digest of the run's component."""
    head: str
    """The digest of the journal's last line."""
    key: str
    """The public key that signed the receipt, as base64url."""
    issuer: str
    """The issuer, as the signer names it."""
    issued_at: int
    """The time of signing, in seconds since 1970, as the signer states it."""
    ended: str | None
    """How the run ended. None if it has not ended, or if the end is withheld."""
    counts: dict[str, int]
    """The numbers of steps, decisions and approvals."""
    checks: tuple[ReceiptCheck, ...]
    """The checks that ran, in order. The first failure ends the verification."""
    withheld: tuple[int, ...]
    """The steps that could not be derived again."""


def verify_receipt(
    receipt: bytes | str | os.PathLike[str],
    *,
    keys: Iterable[str] | None,
    profile: Profile | None = None,
    component: bytes | str | os.PathLike[str] | None = None,
) -> ReceiptReport:
    """Verify the receipt of a run: its signature, its digests, and every decision, which the component derives again.

    Args:
        receipt: The bytes of the file, or its path.
        keys: The trusted public keys, as base64url or OpenSSH lines. One of them must have signed the receipt. None
            accepts any key.
        profile: The profile that the run must have. Default: any profile.
        component: The component that the receipt names. Default: the built-in one.

    Returns:
        The findings. An invalid receipt raises no exception: check `ok` and `checks`.

    Raises:
        ValueError: A key is invalid.
        LoadError: The component cannot be loaded.
        OSError: A file cannot be read.
        BackendError: This platform has no native backend.
    """
    if _backend.backend != "native":
        raise BackendError("the backend `wasmtime` does not verify receipts: only the native one does, on Linux")
    if isinstance(keys, str):
        raise TypeError("keys must be several keys, such as a list, or None")
    from . import _native
    from ._raising import raising

    file = receipt if isinstance(receipt, bytes) else pathlib.Path(receipt).read_bytes()
    text = raising(
        _native.verify_receipt,
        file,
        None if keys is None else list(keys),
        None if profile is None else _profile_text(profile),
        _component(component),
    )
    return _report(json.loads(text))


def _report(found: dict[str, Any]) -> ReceiptReport:
    withheld = tuple(one["step"] for one in found.pop("withheld", []))
    checks = tuple(ReceiptCheck(**check) for check in found.pop("checks"))
    return ReceiptReport(ended=found.pop("ended", None), checks=checks, withheld=withheld, **found)
