"""Evidence for the claims of an output."""

from __future__ import annotations

from ._records import dataclass
from ._types import Confidence

# As in the package's `__init__`.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable


@dataclass(frozen=True)
class Seen:
    """A result as an agent saw it, for claims to cite. The defaults are the strictest.

    Attributes:
        id: What claims cite it by: 1 to 256 bytes, and no other has it.
        text: What the agent saw of it, character for character: at most 1 MiB.
        kinds: The kinds of evidence that it is.
        labels: What is known of it: `stale`, `sampled`, `partial`, `truncated` and `empty` have a meaning.
        confidence: The most that its source allows a claim to state.
        complete: Whether all of the result was seen, so that what is not in it is not there.
        limitations: Codes of what limits it. Each claim that cites it must repeat them.
    """

    id: str
    text: str
    kinds: Iterable[str] = ()
    labels: Iterable[str] = ()
    confidence: Confidence | str = Confidence.LOW
    complete: bool = False
    limitations: Iterable[str] = ()
