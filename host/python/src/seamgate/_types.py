"""The types of `wit/` as Python has them.

Made by `cargo xtask generate` from `wit/` and `xtask/generate/`. Do not edit: run it again.
"""

from __future__ import annotations

import enum

from ._located import Located
from ._records import dataclass

# As in the package's `__init__`.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

Span = tuple[int, int]
"""A piece of the output, as byte offsets into the given UTF-8 text. In JSON, it is `[start,end]`."""


class Disposition(str, enum.Enum):
    """The outcome for an output."""

    ACCEPTED = "accepted"
    """The document is valid and is in `report.output`."""
    PARTIAL = "partial"
    """Some items were kept and others quarantined, the text was repaired, or another document in it was left out.
    Review it before use.
    """
    REJECTED = "rejected"
    """The output is not used. `report.error` says why."""
    REFUSED = "refused"
    """The producer declined to answer. This is a normal outcome, not a failure."""


class Finish(str, enum.Enum):
    """The reason for which the producer stopped, as its API reports it. In JSON and in the host libraries, the words of
    the common APIs are also accepted: `schemas/request.schema.json` has the table.
    """

    STOP = "stop"
    """It finished by itself."""
    LENGTH = "length"
    """It reached a length limit."""
    REFUSAL = "refusal"
    """It declined to answer."""
    CONTENT_FILTER = "content_filter"
    """A filter withheld its text."""
    TOOL_CALL = "tool_call"
    """It stopped to call a tool. Its text is judged as after `stop`."""
    UNKNOWN = "unknown"
    """Unknown. The default if a caller does not state the reason."""


class Confidence(str, enum.Enum):
    """The confidence in an observation."""

    LOW = "low"
    """Low: the observation is stale, or nothing else is known."""
    MEDIUM = "medium"
    """Medium: part of the result was seen."""
    HIGH = "high"
    """High: as reliable as its source."""


@dataclass(frozen=True)
class Violation(Located):
    """A requirement that is not met.

    Attributes:
        path: The location in the document as a JSONPath (RFC 9535) of names and indices: `$.citations[0].url`.
        keyword: The violated keyword of the schema (`type`, `required`, …), or the failed check of the gate:
            `json`, `utf8`, `extract`, `duplicate_member`, `lone_surrogate`, `number_range`, `caps.depth`, `caps.bytes`,
            `caps.string_bytes`, `caps.array_items`, `caps.object_members`, `allow`, `items` (no item is valid),
            `items.max`; or `evidence.claim` (a claim has no text or cites nothing), `evidence.id`, `evidence.quote`,
            `evidence.value` (the value at a pointer), `evidence.compute` (a figure computed from others),
            `evidence.number` (a figure of the claim), `evidence.confidence`, `evidence.limitations`,
            `evidence.absence`, `evidence.kind`.
        expected: A short description of what would be right.
        received: The received value, truncated to 256 bytes. Invisible characters are escaped as in JSON strings.
        message: One sentence for people.
        pointer: The same location as a JSON Pointer (RFC 6901). Empty for the whole document.
        schema_path: The location of the keyword in the schema as a JSON Pointer. If the keyword is in one of
            `resources`, a URI with a pointer as its fragment. Empty if no keyword is involved.
        span: The affected piece of the output, if there is one.
    """

    path: str
    keyword: str
    expected: str
    received: str
    message: str
    pointer: str
    schema_path: str
    span: Span | None

    def __str__(self) -> str:
        return f"{self.path} {self.message}"


class ErrorKind(str, enum.Enum):
    """The stage that rejected the output."""

    OUTPUT_VALIDATION_FAILED = "output_validation_failed"
    """The JSON was parsed, and does not match the contract."""
    EXTRACTION_FAILED = "extraction_failed"
    """No candidate was found, or several were found and the contract allows one."""
    MALFORMED_JSON = "malformed_json"
    """The candidate is invalid JSON. The violation says where."""


@dataclass(frozen=True)
class OutputError:
    """The error of a rejected output.

    Attributes:
        error: The stage that rejected it.
        schema_id: The schema's `$id`, if it has one.
        agent_id: The agent that produced the output.
        violations: At most 100 violations, in document order and then in schema order. `notes` says if there were
            more.
        raw_output: The output, truncated to 4,096 bytes at a character boundary. The end says how much was left
            out.
        retryable: True if another attempt by the same producer can help.
    """

    error: ErrorKind
    schema_id: str | None
    agent_id: str
    violations: tuple[Violation, ...]
    raw_output: str
    retryable: bool


class QuarantineReason(str, enum.Enum):
    """The reason for which an item is in quarantine: the first check that it failed, in this order."""

    MALFORMED = "malformed"
    """It is invalid JSON."""
    SCHEMA = "schema"
    """The schema does not allow it."""
    GUARDRAIL = "guardrail"
    """It exceeds a cap, has a duplicate member, or contains text that is not Unicode."""
    ALLOW_LIST = "allow_list"
    """A value is not on its list."""
    EVIDENCE = "evidence"
    """Its claims are not supported by what they cite."""
    OVER_LIMIT = "over_limit"
    """It is valid, but `items.max` other items are already kept."""


@dataclass(frozen=True)
class Quarantined(Located):
    """An item that was left out of `output`.

    Attributes:
        index: The index among the items as the producer wrote them, from 0.
        path: The item's location in the document, as a JSONPath.
        pointer: The same location as a JSON Pointer (RFC 6901).
        reason: The first check that it failed.
        span: The piece of the output, if the item is in this output.
        snippet: The item's text, truncated to 256 bytes.
        violations: The violations of the failed check: at most 10, and 1,000 for all items together. `notes` says
            if there were more.
    """

    index: int
    path: str
    pointer: str
    reason: QuarantineReason
    span: Span | None
    snippet: str
    violations: tuple[Violation, ...]


@dataclass(frozen=True)
class Item(Located):
    """A valid item of an invalid document.

    Attributes:
        index: The index among the items as the producer wrote them, from 0.
        path: The item's location in the document, as a JSONPath.
        span: The piece of the output.
        value: The item as JSON text without optional white space.
    """

    index: int
    path: str
    span: Span | None
    value: Any


class ChangeKind(str, enum.Enum):
    """The kind of a change. Kinds that repair syntax come first, then kinds that remove what could not be repaired,
    then kinds that the contract asks for.
    """

    CLOSED = "closed"
    """Missing brackets were added."""
    CLOSED_STRING = "closed_string"
    """The missing quote was added to a string that was cut off. The contract's `keep_cut_off` names it."""
    DROPPED = "dropped"
    """The unfinished end of a text that was cut off was removed: a name without a value, or part of a string, a number,
    a literal or an escape.
    """
    COMMA_ADDED = "comma_added"
    """A comma was added."""
    COMMA_REMOVED = "comma_removed"
    """A comma was removed."""
    COLON_ADDED = "colon_added"
    """A colon was added."""
    COMMENT = "comment"
    """A comment was removed."""
    SPACE = "space"
    """White space that JSON does not allow was replaced, such as a literal ` ` between values."""
    QUOTES = "quotes"
    """Other quotes were replaced with double quotes."""
    QUOTED = "quoted"
    """Quotes were added around a member name."""
    ESCAPED = "escaped"
    """A character in a string was escaped because JSON requires it, or a backslash that begins no JSON escape was
    removed.
    """
    LITERAL = "literal"
    """A Python literal was replaced with the JSON literal."""
    PUNCTUATION = "punctuation"
    """A full-width comma or colon between values was replaced with the JSON character."""
    UNESCAPED = "unescaped"
    """A backslash was removed from JSON that was escaped once too often."""
    WRAPPED = "wrapped"
    """Consecutive documents were put into a list."""
    STRAY = "stray"
    """Brackets and marks that belong to nothing were removed."""
    AROUND = "around"
    """Text around the JSON was removed."""
    ITEM_REMOVED = "item_removed"
    """An item was removed: it is in quarantine."""
    MEMBER_REMOVED = "member_removed"
    """A member that could not be repaired was removed."""
    STRIPPED = "stripped"
    """A member that the schema forbids was removed, because the contract asks for it."""
    COERCED = "coerced"
    """A value was rewritten to match the schema, because the contract asks for it: the value inside a string, a word in
    another case, or a removed `null`.
    """
    UNWRAPPED = "unwrapped"
    """The envelope around the document was removed, or a missing envelope was added, because the contract asks for it.
    """


@dataclass(frozen=True)
class Change(Located):
    """One change that was made to the text before validation. Applied in order to the chosen candidate, the changes
    produce exactly the text that was validated. They do not overlap, and several may insert text at the same
    position.

    Attributes:
        kind: The kind of the change.
        path: The path of the innermost affected value, as far as it exists.
        span: The affected piece of the output.
        before: The replaced text, truncated to 256 bytes.
        after: The complete replacement.
    """

    kind: ChangeKind
    path: str
    span: Span | None
    before: str
    after: str


class Source(str, enum.Enum):
    """The way in which a candidate was found."""

    BLOCK = "block"
    """In a fenced block with one of the contract's markers or, without such a block, in one without an info string."""
    RAW = "raw"
    """As the whole output, or as one of its documents with the text around it."""
    EMBEDDED = "embedded"
    """As a bare object or array in prose."""


@dataclass(frozen=True)
class Candidate(Located):
    """A piece of the output that could be the requested JSON.

    Attributes:
        source: The way in which it was found.
        marker: The contract's marker on the block. None for a block without an info string, and for other sources.
        span: The piece of the output.
        chosen: True if this candidate was judged.
    """

    source: Source
    marker: str | None
    span: Span
    chosen: bool


class Wanted(str, enum.Enum):
    """The content that the feedback requests from the producer."""

    NOTHING = "nothing"
    """Nothing: the output is accepted, the producer declined, or the syntax was repaired and nothing is missing."""
    ITEMS = "items"
    """Only the items that it names. `merge` puts them in their places."""
    WHOLE = "whole"
    """The whole output again."""


class MergeOutcome(str, enum.Enum):
    """The use that `merge` made of a report."""

    REPLACED = "replaced"
    """It replaced the document before it."""
    GAVE_ITEMS = "gave_items"
    """It provided items."""
    GAVE_NONE = "gave_none"
    """None of its items was used."""
    UNUSED = "unused"
    """It is not used, because it was not needed or has no items."""
    INVALID = "invalid"
    """It is not used, because the merged document would be invalid."""


@dataclass(frozen=True)
class MergeStep:
    """The outcome for one merged report.

    Attributes:
        report: The index in the list that `merge` received, from 0.
        outcome: The use that `merge` made of the report.
        items: The numbers of the items that it provided.
        unknown: The numbers of its items that match no requested item. They are not used.
    """

    report: int
    outcome: MergeOutcome
    items: tuple[int, ...]
    unknown: tuple[int, ...]


@dataclass(frozen=True)
class ReportDocument:
    """The verdict on one output. It is data, never an exception.

    Attributes:
        disposition: The outcome for the output.
        agent: The agent that produced the output.
        schema_id: The schema's `$id`, if it has one.
        contract: The digest of the contract: `sha256:` and 64 hexadecimal digits.
        output: The validated document as JSON text without optional white space. Numbers keep their digits. None if
            nothing was accepted.
        error: The error. None unless violations rejected the output.
        items: The valid items, if the output is rejected, so that they are not lost. Empty otherwise.
        quarantined: At most 1,000 quarantined items, in the order of the items. `notes` says if there were more.
        changes: The changes that were made to the text before validation.
        candidates: The candidates that were found: the first 64 and the chosen one. `notes` says if there were
            more.
        notes: Further information for the caller: limits that were reached, checks that never applied, the span of
            each piece of the output that was left out as reasoning or as prose, and whether JSON was taken from prose.
        review_required: True if a person should review the output before it is used, because it is partial.
        feedback: At most 2,048 bytes to send back to the producer: what was wrong and where. Empty if the output is
            accepted. If some items were kept and others are still wanted, it requests only those, and `merge` combines
            the answers.
        wanted: The content that `feedback` requests.
        merged: If `merge` made this report, the use that it made of each report after the base. Empty otherwise.
    """

    disposition: Disposition
    agent: str
    schema_id: str | None
    contract: str
    output: Any
    error: OutputError | None
    items: tuple[Item, ...]
    quarantined: tuple[Quarantined, ...]
    changes: tuple[Change, ...]
    candidates: tuple[Candidate, ...]
    notes: tuple[str, ...]
    review_required: bool
    feedback: str
    wanted: Wanted
    merged: tuple[MergeStep, ...]


@dataclass(frozen=True)
class ContractInfo:
    """A registered contract.

    Attributes:
        agent: The agent whose outputs it judges.
        version: The version of the contract.
        schema_id: The schema's `$id`, if it has one.
        contract: See `report.contract`.
        retry_limit: The number of times that the producer may be asked again.
        lists: The lists that its `allow` names, in ascending order of their bytes.
    """

    agent: str
    version: str
    schema_id: str | None
    contract: str
    retry_limit: int
    lists: tuple[str, ...]


class Level(str, enum.Enum):
    """The severity of a warning."""

    ERROR = "error"
    """Something does not do what it says: a keyword is misspelled, limits contradict each other, or a member is both
    required and forbidden.
    """
    WARNING = "warning"
    """It works, but is probably a mistake."""
    HINT = "hint"
    """A matter of style: something could be narrower, or described."""


@dataclass(frozen=True)
class LintWarning(Located):
    """A likely mistake in a valid contract.

    Attributes:
        path: The location in the contract, as a JSONPath.
        code: The kind of warning, as a word that programs can compare.
        message: The likely mistake, and how to correct it.
        pointer: The same location as a JSON Pointer (RFC 6901).
        level: The severity, which is the same for all warnings with this code.
        span: The affected piece of the contract, if there is one. For an unknown keyword, its name.
    """

    path: str
    code: str
    message: str
    pointer: str
    level: Level
    span: Span | None
