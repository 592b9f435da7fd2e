"""What may be given to a gate, for the types of those who call it."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, Union

from ._evidence import Seen

if TYPE_CHECKING:
    from ._words import Observation

Contract = str | Mapping[str, Any] | os.PathLike[str]
"""A contract: its JSON text, the same as a dict, or (as a `pathlib.Path`) a file `NAME.contract.json`."""

Profile = str | Mapping[str, Any] | os.PathLike[str]
"""A profile: its JSON text, the same as a dict, or (as a `pathlib.Path`) a file `NAME.profile.json`."""

Output = str | bytes | bytearray | memoryview
"""The raw text that an agent produced, prose and fences included; or its bytes, of which nobody knows whether they are
UTF-8."""

Lists = Mapping[str, Iterable[str]]
"""The lists that a contract's `allow` names. One that is missing is a fault, unless its rule is optional."""

Evidence = Iterable[Union[Seen, "Observation", Mapping[str, Any]]]
"""What an agent saw, for claims to cite: as `observe` made it, as `Seen`, or as dicts; at most 1,000 of 4 MiB in
all."""

PartialDocument = dict[str, Any] | list[Any]
"""A document of which any part may still be missing, at any depth. Python cannot derive its type from that of the whole
document."""
