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
    `approvals`. Of evidence from others: `time_stamp` or `witness`."""
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
    """The digest of the run's last component."""
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


@dataclass(frozen=True)
class TimeStamp:
    """A time stamp of a receipt, and the authority that made it (RFC 3161)."""

    file: bytes | str | os.PathLike[str]
    """The response of the authority, or the token in it: its bytes, or the path of the file."""
    authority: bytes | str | os.PathLike[str]
    """The certificates of the authority in PEM, its own first and the root certificate last: their bytes, or the path
    of the file. The authority must sign with ECDSA."""


@dataclass(frozen=True)
class Witness:
    """A statement of `seamgate receipt witness` about a receipt, and the keys that may have signed it."""

    file: bytes | str | os.PathLike[str]
    """The bytes of the statement, or the path of its file."""
    keys: Iterable[str] | None
    """Public keys as for `verify_receipt`. None accepts any key."""


def verify_receipt(
    receipt: bytes | str | os.PathLike[str],
    *,
    keys: Iterable[str] | None,
    profile: Profile | None = None,
    component: bytes | str | os.PathLike[str] | None = None,
    time_stamp: TimeStamp | None = None,
    witness: Witness | None = None,
) -> ReceiptReport:
    """Verify the receipt of a run: its signature, its digests, and every decision, which the component derives again.

    Args:
        receipt: The bytes of the file, or its path.
        keys: The trusted public keys, as base64url or OpenSSH lines. One of them must have signed the receipt. None
            accepts any key.
        profile: The profile that the run must have. Default: any profile.
        component: The component that the receipt names. Default: the built-in one.
        time_stamp: A time stamp that must fit the receipt.
        witness: A statement of a witness that must fit the receipt.

    Returns:
        The findings. An invalid receipt raises no exception: check `ok` and `checks`.

    Raises:
        ValueError: A key or a certificate is invalid.
        LoadError: The component cannot be loaded.
        OSError: A file cannot be read.
        BackendError: This platform has no native backend.
    """
    if _backend.backend != "native":
        raise BackendError("the backend `wasmtime` does not verify receipts: only the native one does, on Linux")
    from . import _native
    from ._raising import raising

    text = raising(
        _native.verify_receipt,
        _bytes(receipt),
        _keys(keys),
        None if profile is None else _profile_text(profile),
        _component(component),
        None if time_stamp is None else (_bytes(time_stamp.file), _bytes(time_stamp.authority)),
        None if witness is None else (_bytes(witness.file), _keys(witness.keys)),
    )
    return _report(json.loads(text))


def _bytes(file: bytes | str | os.PathLike[str]) -> bytes:
    return file if isinstance(file, bytes) else pathlib.Path(file).read_bytes()


def _keys(keys: Iterable[str] | None) -> list[str] | None:
    if isinstance(keys, str):
        raise TypeError("keys must be several keys, such as a list, or None")
    return None if keys is None else list(keys)


def _report(found: dict[str, Any]) -> ReceiptReport:
    withheld = tuple(one["step"] for one in found.pop("withheld", []))
    checks = tuple(ReceiptCheck(**check) for check in found.pop("checks"))
    return ReceiptReport(ended=found.pop("ended", None), checks=checks, withheld=withheld, **found)
