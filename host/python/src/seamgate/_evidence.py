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
    """A result as an agent saw it, which claims can cite. The defaults are the strictest values.

    Attributes:
        id: The unique id by which claims cite it: 1 to 256 bytes.
        text: The text that the agent saw, character for character: at most 1 MiB.
        kinds: The kinds of evidence that the result counts as.
        labels: Labels of the result. `stale`, `sampled`, `partial`, `truncated` and `empty` have a meaning.
        confidence: The highest confidence that a claim citing it may state.
        complete: True if the agent saw the whole result, so that absence from it proves absence.
        limitations: Codes of its limitations. Each claim that cites it must repeat them.
    """

    id: str
    text: str
    kinds: Iterable[str] = ()
    labels: Iterable[str] = ()
    confidence: Confidence | str = Confidence.LOW
    complete: bool = False
    limitations: Iterable[str] = ()
