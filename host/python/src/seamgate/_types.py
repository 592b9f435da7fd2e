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
"""A piece of the output, as byte offsets into the text as it was given, in UTF-8. In JSON it is `[start,end]`."""


class Disposition(str, enum.Enum):
    """What became of an output."""

    ACCEPTED = "accepted"
    """The document is valid: `report.output` is it."""
    PARTIAL = "partial"
    """Some items were kept and some quarantined, the text had to be repaired, or another document in it was left out:
    look before use.
    """
    REJECTED = "rejected"
    """Nothing is emitted: `report.error` says why."""
    REFUSED = "refused"
    """The producer declined to answer. A first-class outcome, not a failure."""


class Finish(str, enum.Enum):
    """Why the producer stopped, as its API said. On the wire and in the hosts' libraries, the words of the common APIs
    stand for these: `schemas/request.schema.json` has the table.
    """

    STOP = "stop"
    """It came to an end by itself."""
    LENGTH = "length"
    """It was cut off at a length limit."""
    REFUSAL = "refusal"
    """It declined."""
    CONTENT_FILTER = "content_filter"
    """A filter withheld its text."""
    TOOL_CALL = "tool_call"
    """It stopped to call a tool. Its text is judged as after `stop`."""
    UNKNOWN = "unknown"
    """Not known. The default where a caller has nothing to say."""


class Confidence(str, enum.Enum):
    """How sure one may be of what was seen."""

    LOW = "low"
    """Little: it is stale, or nobody says more."""
    MEDIUM = "medium"
    """Something: a part of it was seen."""
    HIGH = "high"
    """As sure as its source is."""


@dataclass(frozen=True)
class Violation(Located):
    """One thing that is wrong.

    Attributes:
        path: Where in the document, as a JSONPath (RFC 9535) of names and indices: `$.citations[0].url`.
        keyword: The keyword of the schema that is not met (`type`, `required`, …), or the check of the gate that is
            not: `json`, `utf8`, `extract`, `duplicate_member`, `lone_surrogate`, `number_range`, `caps.depth`,
            `caps.bytes`, `caps.string_bytes`, `caps.array_items`, `caps.object_members`, `allow`, `items` (none of them
            is valid), `items.max`; or `evidence.claim` (a claim has no text or cites nothing), `evidence.id`,
            `evidence.quote`, `evidence.value` (what stands at a pointer), `evidence.compute` (a figure that follows
            from others), `evidence.number` (a figure of the claim), `evidence.confidence`, `evidence.limitations`,
            `evidence.absence`, `evidence.kind`.
        expected: What would be right, short.
        received: What was there instead, cut to 256 bytes; what cannot be seen is escaped as JSON strings escape
            it.
        message: One sentence for a person.
        pointer: The same place as a JSON Pointer (RFC 6901); empty for the whole document.
        schema_path: The keyword's place in the schema as a JSON Pointer; as a URI with a pointer for its fragment
            where the keyword stands in one of `resources`. Empty where no keyword is concerned.
        span: The piece of the output concerned, where there is one.
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
    """Which of the three stages rejected the output."""

    OUTPUT_VALIDATION_FAILED = "output_validation_failed"
    """JSON was found and read, and is not what the contract asks for."""
    EXTRACTION_FAILED = "extraction_failed"
    """No candidate was found, or several where the contract allows one."""
    MALFORMED_JSON = "malformed_json"
    """A candidate was found that is not JSON; the violation says where it stops being so."""


@dataclass(frozen=True)
class OutputError:
    """The canonical error of a rejected output.

    Attributes:
        error: Which stage rejected it.
        schema_id: The schema's `$id`, where it has one.
        agent_id: The agent whose output it is.
        violations: At most 100, in document order, then in the order of the schema; `notes` says where there were
            more.
        raw_output: The output, cut to 4,096 bytes at a character boundary; the cut says how much is left out.
        retryable: Whether another attempt by the same producer can help.
    """

    error: ErrorKind
    schema_id: str | None
    agent_id: str
    violations: tuple[Violation, ...]
    raw_output: str
    retryable: bool


class QuarantineReason(str, enum.Enum):
    """Why an item is in quarantine: the first check that it failed, in this order."""

    MALFORMED = "malformed"
    """It is not JSON."""
    SCHEMA = "schema"
    """The schema does not allow it."""
    GUARDRAIL = "guardrail"
    """It passes a cap, has a member twice, or holds text that is not Unicode."""
    ALLOW_LIST = "allow_list"
    """A value is not in its list."""
    EVIDENCE = "evidence"
    """What it claims is not supported by what it cites."""
    OVER_LIMIT = "over_limit"
    """It is valid, and `items.max` others are kept."""


@dataclass(frozen=True)
class Quarantined(Located):
    """One item that was kept out of `output`.

    Attributes:
        index: Its place among the items as the producer wrote them, from 0.
        path: Where it stood in the document, as a JSONPath.
        pointer: The same place as a JSON Pointer (RFC 6901).
        reason: The first check that it failed.
        span: The piece of the output, where it stood in this one.
        snippet: Its text, cut to 256 bytes.
        violations: What is wrong by the check that it failed: at most 10, and 1,000 for all items together; `notes`
            says where there were more.
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
    """One item that is valid, of a document that is not.

    Attributes:
        index: Its place among the items as the producer wrote them, from 0.
        path: Where it stood in the document, as a JSONPath.
        span: The piece of the output.
        value: The item. JSON text without optional white space.
    """

    index: int
    path: str
    span: Span | None
    value: Any


class ChangeKind(str, enum.Enum):
    """What a change did: first what puts right what is only syntax, then what leaves out what could not be put right,
    then what the contract asks for.
    """

    CLOSED = "closed"
    """Brackets that were missing were added."""
    CLOSED_STRING = "closed_string"
    """The missing quote was added to a text that was cut off, where the contract's `keep_cut_off` names it."""
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
    r"""White space that is not JSON's was replaced, such as a literal `\n` between values."""
    QUOTES = "quotes"
    """Quotes were made double."""
    QUOTED = "quoted"
    """Quotes were put around a member name."""
    ESCAPED = "escaped"
    """A character that must be escaped in a string was escaped, or a backslash that JSON does not know there was
    removed.
    """
    LITERAL = "literal"
    """A literal of Python's was made JSON's."""
    PUNCTUATION = "punctuation"
    """A full-width comma or colon between values was made JSON's."""
    UNESCAPED = "unescaped"
    """A backslash was removed from JSON that was escaped once too often."""
    WRAPPED = "wrapped"
    """Documents in a row were put into a list."""
    STRAY = "stray"
    """Brackets and marks that belong to nothing were removed."""
    AROUND = "around"
    """Text around the JSON was removed."""
    ITEM_REMOVED = "item_removed"
    """An item was removed: it is in quarantine."""
    MEMBER_REMOVED = "member_removed"
    """A member that could not be put right was removed."""
    STRIPPED = "stripped"
    """A member that the schema forbids was removed, as the contract asks."""
    COERCED = "coerced"
    """A value was written as the schema wants it, as the contract asks: what a string holds, a word in another case, or
    nothing in place of `null`.
    """
    UNWRAPPED = "unwrapped"
    """The envelope around the document was removed, or the one that it lacked was added, as the contract asks."""


@dataclass(frozen=True)
class Change(Located):
    """One change that was made to the text before it was validated. Applied in order to the candidate that was chosen,
    the changes give exactly the text that was validated; they do not overlap, and several may insert at one place.

    Attributes:
        kind: What it did.
        path: The innermost value concerned, as far as it is there.
        span: The piece of the output concerned.
        before: What stood there, cut to 256 bytes.
        after: What stands there instead, whole.
    """

    kind: ChangeKind
    path: str
    span: Span | None
    before: str
    after: str


class Source(str, enum.Enum):
    """How a candidate was found."""

    BLOCK = "block"
    """In a fenced block with one of the contract's markers, or, where there is none, without an info string."""
    RAW = "raw"
    """As the whole output, or one of its documents with the text around it."""
    EMBEDDED = "embedded"
    """As a bare object or array in prose."""


@dataclass(frozen=True)
class Candidate(Located):
    """A piece of the output that could be the JSON asked for.

    Attributes:
        source: How it was found.
        marker: The contract's marker that the block bears; none for a block without an info string, and for other
            sources.
        span: The piece of the output.
        chosen: Whether this one was judged.
    """

    source: Source
    marker: str | None
    span: Span
    chosen: bool


class Wanted(str, enum.Enum):
    """What the feedback asks the producer for."""

    NOTHING = "nothing"
    """Nothing: the output is accepted, the producer declined, or nothing is missing of an output whose syntax was
    repaired.
    """
    ITEMS = "items"
    """The items that it names, and nothing else: `merge` puts them in their places."""
    WHOLE = "whole"
    """The whole output again."""


class MergeOutcome(str, enum.Enum):
    """What `merge` did with a report."""

    REPLACED = "replaced"
    """It took the place of what was before it."""
    GAVE_ITEMS = "gave_items"
    """It gave items."""
    GAVE_NONE = "gave_none"
    """None of its items was used."""
    UNUSED = "unused"
    """It was not needed, or has no items: it is not used."""
    INVALID = "invalid"
    """It is not used: with it, the whole would not be valid."""


@dataclass(frozen=True)
class MergeStep:
    """What became of one report that was put together with those before it.

    Attributes:
        report: Its place in the list that `merge` was given, from 0.
        outcome: What was done with it.
        items: The numbers of the items that it gave.
        unknown: The numbers of its own items that match no item that was asked for: they are not used.
    """

    report: int
    outcome: MergeOutcome
    items: tuple[int, ...]
    unknown: tuple[int, ...]


@dataclass(frozen=True)
class ReportDocument:
    """The verdict on one output. Data, never an exception.

    Attributes:
        disposition: What became of the output.
        agent: The agent whose output it is.
        schema_id: The schema's `$id`, where it has one.
        contract: The digest of the contract, `sha256:` and 64 hexadecimal digits.
        output: The validated document as JSON text without optional white space, numbers with the digits they were
            written with. None unless something was accepted.
        error: None unless violations rejected the output.
        items: The items that are valid, where the output is rejected: nothing of worth is lost with it. Empty
            otherwise.
        quarantined: At most 1,000, in the order of the items; `notes` says where there were more.
        changes: What was changed in the text before it was validated.
        candidates: Those found, chosen or not: the first 64 and the chosen one; `notes` says where there were more.
        notes: What else a caller should know: limits that were reached, checks that were inert, the span of each
            piece of the output that was left out as reasoning or as prose, and whether JSON was taken from prose.
        review_required: Whether a person should look before the output is used: it is partial.
        feedback: At most 2,048 bytes to send back to the producer: what was wrong and where. Empty when accepted.
            Where some items were kept and others are still wanted, it asks for those alone: `merge` puts the answers
            together.
        wanted: What `feedback` asks for.
        merged: Where `merge` made this report: what it did with each report after the one that it built on. Empty
            otherwise.
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
        version: Its version.
        schema_id: The schema's `$id`, where it has one.
        contract: As in `report.contract`.
        retry_limit: How often the producer may be asked again.
        lists: The lists that its `allow` names, in ascending order of their bytes.
    """

    agent: str
    version: str
    schema_id: str | None
    contract: str
    retry_limit: int
    lists: tuple[str, ...]


class Level(str, enum.Enum):
    """How bad it is what `lint` found."""

    ERROR = "error"
    """It does not do what it says: a keyword is misspelled, limits contradict each other, a member is required and
    forbidden.
    """
    WARNING = "warning"
    """It works, and is likely a mistake."""
    HINT = "hint"
    """A matter of style: what could be said more narrowly, or described."""


@dataclass(frozen=True)
class LintWarning(Located):
    """Something in a contract that can be used and is likely a mistake.

    Attributes:
        path: Where in the contract, as a JSONPath.
        code: Which kind: a word that a program can compare.
        message: What to do about it.
        pointer: The same place as a JSON Pointer (RFC 6901).
        level: How bad it is. The same for all of a code.
        span: The piece of the contract concerned, where there is one: of a keyword that is not known, its name.
    """

    path: str
    code: str
    message: str
    pointer: str
    level: Level
    span: Span | None
