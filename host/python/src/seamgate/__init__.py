"""seamgate: one verdict on what an untrusted producer hands to strict code, from a sandbox.

Language models and agents hand their output to strict code. seamgate is the gate at that seam: it takes the output of
an agent and a contract that says what the output must be, and returns one verdict, with the validated document or with
every reason for its rejection. A rejected output is data, a `Report`. If no verdict is possible, `SeamgateFault` is
raised.
"""

from __future__ import annotations

from ._backend import backend as backend

# Replaces `typing.TYPE_CHECKING`: importing `typing` takes longer than importing this whole module.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from ._aliases import Contract, Evidence, Lists, Output, PartialDocument, Profile
    from ._ask import ask, ask_async
    from ._ask_stream import (
        AnswerStream,
        AskEvent,
        AsyncAnswerStream,
        AttemptEvent,
        ProgressEvent,
        ResultEvent,
        ask_stream,
        ask_stream_async,
    )
    from ._asking import Accepted, AskResult, Attempt, Messages, Partial, Prompt, Refused, Rejected, Stop
    from ._bake import bake
    from ._contracts import read_contract
    from ._decisions import (
        Call,
        DisabledTool,
        Facts,
        HiddenTool,
        ProfileInfo,
        Step,
        Surface,
        SurfaceTool,
        ToolResult,
    )
    from ._fault_code import FaultCode
    from ._faults import (
        BackendError,
        BusyFault,
        FileError,
        InputTooLargeFault,
        InvalidDocumentFault,
        JournalError,
        LimitFault,
        LoadError,
        SeamgateError,
        SeamgateFault,
        TimeoutFault,
        UnknownAgentFault,
    )
    from ._gate import Answer, Gate, Instance, Request, Seen, Verdict
    from ._harness import Outcome, Produced, RunJournal
    from ._limits import Limits, Usage
    from ._loop import Loop
    from ._parser import ContractRegistry, NotParsed, Parsed, ParseResult, ResultParser
    from ._profiles import read_profile
    from ._receipt import ReceiptCheck, ReceiptReport, TimeStamp, Witness, verify_receipt
    from ._report import NotAcceptedError, Report
    from ._runs import Journal, Run
    from ._session import Completed, DeadEnd, Progress, Session
    from ._types import (
        Candidate,
        Change,
        ChangeKind,
        Confidence,
        ContractInfo,
        Disposition,
        ErrorKind,
        Finish,
        Item,
        LintWarning,
        MergeOutcome,
        MergeStep,
        OutputError,
        Quarantined,
        QuarantineReason,
        ReportDocument,
        Source,
        Span,
        Violation,
        Wanted,
    )
    from ._words import (
        Action,
        AllowedDecision,
        Approval,
        ApprovalDecision,
        Ask,
        AskApprovalAction,
        AskInputAction,
        AskModelAction,
        CancelAction,
        Decision,
        DelegateAction,
        DeniedDecision,
        ExecuteAction,
        FinishAction,
        Found,
        Freshness,
        Instruction,
        NamePlace,
        Observation,
        Proof,
        Provenance,
        Reason,
        RunEvent,
        RunRecord,
        Secret,
        Shown,
    )

__all__ = [
    "Accepted",
    "Action",
    "AllowedDecision",
    "Answer",
    "AnswerStream",
    "Approval",
    "ApprovalDecision",
    "Ask",
    "AskApprovalAction",
    "AskEvent",
    "AskInputAction",
    "AskModelAction",
    "AskResult",
    "AsyncAnswerStream",
    "Attempt",
    "AttemptEvent",
    "BackendError",
    "BusyFault",
    "Call",
    "CancelAction",
    "Candidate",
    "Change",
    "ChangeKind",
    "Completed",
    "Confidence",
    "Contract",
    "ContractInfo",
    "ContractRegistry",
    "DeadEnd",
    "Decision",
    "DelegateAction",
    "DeniedDecision",
    "DisabledTool",
    "Disposition",
    "ErrorKind",
    "Evidence",
    "ExecuteAction",
    "Facts",
    "FaultCode",
    "FileError",
    "Finish",
    "FinishAction",
    "Found",
    "Freshness",
    "Gate",
    "HiddenTool",
    "InputTooLargeFault",
    "Instance",
    "Instruction",
    "InvalidDocumentFault",
    "Item",
    "Journal",
    "JournalError",
    "LimitFault",
    "Limits",
    "LintWarning",
    "Lists",
    "LoadError",
    "Loop",
    "MergeOutcome",
    "MergeStep",
    "Messages",
    "NamePlace",
    "NotAcceptedError",
    "NotParsed",
    "Observation",
    "Outcome",
    "Output",
    "OutputError",
    "ParseResult",
    "Parsed",
    "Partial",
    "PartialDocument",
    "Produced",
    "Profile",
    "ProfileInfo",
    "Progress",
    "ProgressEvent",
    "Prompt",
    "Proof",
    "Provenance",
    "QuarantineReason",
    "Quarantined",
    "Reason",
    "ReceiptCheck",
    "ReceiptReport",
    "Refused",
    "Rejected",
    "Report",
    "ReportDocument",
    "Request",
    "ResultEvent",
    "ResultParser",
    "Run",
    "RunEvent",
    "RunJournal",
    "RunRecord",
    "SeamgateError",
    "SeamgateFault",
    "Secret",
    "Seen",
    "Session",
    "Shown",
    "Source",
    "Span",
    "Step",
    "Stop",
    "Surface",
    "SurfaceTool",
    "TimeStamp",
    "TimeoutFault",
    "ToolResult",
    "UnknownAgentFault",
    "Usage",
    "Verdict",
    "Violation",
    "Wanted",
    "Witness",
    "__version__",
    "ask",
    "ask_async",
    "ask_stream",
    "ask_stream_async",
    "backend",
    "bake",
    "read_contract",
    "read_profile",
    "validate",
    "verify_receipt",
]

# The module of each public name. A module is imported on the first use of one of its names, because importing all of
# them takes longer than creating a gate.
_MODULES = {
    name: module
    for module, names in {
        "_aliases": ["Contract", "Evidence", "Lists", "Output", "PartialDocument", "Profile"],
        "_ask": ["ask", "ask_async"],
        "_ask_stream": [
            "AnswerStream",
            "AskEvent",
            "AsyncAnswerStream",
            "AttemptEvent",
            "ProgressEvent",
            "ResultEvent",
            "ask_stream",
            "ask_stream_async",
        ],
        "_asking": [
            "Accepted",
            "AskResult",
            "Attempt",
            "Messages",
            "Partial",
            "Prompt",
            "Refused",
            "Rejected",
            "Stop",
        ],
        "_bake": ["bake"],
        "_contracts": ["read_contract"],
        "_decisions": [
            "Call",
            "DisabledTool",
            "Facts",
            "HiddenTool",
            "ProfileInfo",
            "Step",
            "Surface",
            "SurfaceTool",
            "ToolResult",
        ],
        "_faults": [
            "BackendError",
            "BusyFault",
            "FileError",
            "InputTooLargeFault",
            "InvalidDocumentFault",
            "JournalError",
            "LimitFault",
            "LoadError",
            "SeamgateError",
            "SeamgateFault",
            "TimeoutFault",
            "UnknownAgentFault",
        ],
        "_fault_code": ["FaultCode"],
        "_gate": ["Answer", "Gate", "Instance", "Request", "Seen", "Verdict"],
        "_harness": ["Outcome", "Produced", "RunJournal"],
        "_limits": ["Limits", "Usage"],
        "_loop": ["Loop"],
        "_parser": ["ContractRegistry", "NotParsed", "ParseResult", "Parsed", "ResultParser"],
        "_profiles": ["read_profile"],
        "_receipt": ["ReceiptCheck", "ReceiptReport", "TimeStamp", "Witness", "verify_receipt"],
        "_report": ["NotAcceptedError", "Report"],
        "_runs": ["Journal", "Run"],
        "_session": ["Completed", "DeadEnd", "Progress", "Session"],
        "_types": [
            "Candidate",
            "Change",
            "ChangeKind",
            "Confidence",
            "ContractInfo",
            "Disposition",
            "ErrorKind",
            "Finish",
            "Item",
            "LintWarning",
            "MergeOutcome",
            "MergeStep",
            "OutputError",
            "QuarantineReason",
            "Quarantined",
            "ReportDocument",
            "Source",
            "Span",
            "Violation",
            "Wanted",
        ],
        "_words": [
            "Action",
            "AllowedDecision",
            "Approval",
            "ApprovalDecision",
            "Ask",
            "AskApprovalAction",
            "AskInputAction",
            "AskModelAction",
            "CancelAction",
            "Decision",
            "DelegateAction",
            "DeniedDecision",
            "ExecuteAction",
            "FinishAction",
            "Found",
            "Freshness",
            "Instruction",
            "NamePlace",
            "Observation",
            "Proof",
            "Provenance",
            "Reason",
            "RunEvent",
            "RunRecord",
            "Secret",
            "Shown",
        ],
    }.items()
    for name in names
}

if not TYPE_CHECKING:

    def __getattr__(name: str) -> Any:
        """Imports a name of this package on its first use."""
        if name == "__version__":
            from importlib import metadata

            value = metadata.version("seamgate")
        elif name in _MODULES:
            from importlib import import_module

            value = getattr(import_module(f"{__name__}.{_MODULES[name]}"), name)
        else:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        globals()[name] = value
        return value


def __dir__() -> list[str]:
    return __all__


__version__: str


_gates: list[Gate] = []


def _shared() -> Gate:
    if not _gates:
        from ._gate import Gate

        _gates.append(Gate())
    return _gates[0]


def validate(
    contract: Contract,
    output: Output,
    *,
    finish: Finish | str = "unknown",
    lists: Lists | None = None,
    evidence: Evidence | None = None,
) -> Report:
    """Judge one output by a contract, with a gate that all calls of this function share.

    Args and errors are those of `Gate.validate`.

    Raises:
        LoadError: The gate cannot be created.
    """
    return _shared().validate(contract, output, finish=finish, lists=lists, evidence=evidence).report
