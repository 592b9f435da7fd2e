"""Types of the arguments of a gate, for use in callers' annotations."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, Union

from ._evidence import Seen

if TYPE_CHECKING:
    from ._words import Observation

Contract = str | Mapping[str, Any] | os.PathLike[str]
"""A contract as JSON text, as a dict, or as the `pathlib.Path` of a file `NAME.contract.json`."""

Profile = str | Mapping[str, Any] | os.PathLike[str]
"""A profile as JSON text, as a dict, or as the `pathlib.Path` of a file `NAME.profile.json`."""

Output = str | bytes | bytearray | memoryview
"""The raw text that an agent produced, prose and fences included; or its bytes, which need not be valid UTF-8."""

Lists = Mapping[str, Iterable[str]]
"""The lists that a contract's `allow` names. A missing list is a fault, unless its rule is optional."""

Evidence = Iterable[Union[Seen, "Observation", Mapping[str, Any]]]
"""The results that an agent saw and that its claims may cite: observations from `observe`, `Seen` objects, or dicts.
At most 1,000, with 4 MiB in all."""

PartialDocument = dict[str, Any] | list[Any]
"""A document in which any part may still be missing, at any depth. Python's type system cannot derive its type from
that of the whole document."""
