"""seamgate: one verdict on what an untrusted producer hands to strict code, from a sandbox.

Language models and agents hand their output to strict code. seamgate is the gate at that seam: it takes what an agent
wrote and a contract that says what it must be, and gives one verdict, with the validated document or with every reason
why there is none. A rejected output is data, a `Report`; where no verdict can be given, `SeamgateFault` is raised.
"""

from __future__ import annotations

import functools

from ._backend import backend
from ._contracts import read_contract
from ._decisions import (
    Approval,
    Ask,
    Call,
    Decision,
    Facts,
    Found,
    Freshness,
    HiddenTool,
    Instruction,
    Observation,
    ProfileInfo,
    Provenance,
    Reason,
    Shown,
    Step,
    Surface,
    SurfaceTool,
    ToolResult,
)
from ._faults import FileError, LoadError, SeamgateError, SeamgateFault
from ._gate import Answer, Contract, Evidence, Gate, Instance, Lists, Output, Profile, Request, Seen, Verdict
from ._limits import Limits, Usage
from ._loop import Loop
from ._parser import ContractRegistry, ParseResult, ResultParser
from ._profiles import read_profile
from ._report import Report
from ._types import (
    Candidate,
    Change,
    ChangeKind,
    Confidence,
    ContractInfo,
    Disposition,
    ErrorKind,
    FaultCode,
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

__all__ = [
    "Answer",
    "Approval",
    "Ask",
    "Call",
    "Candidate",
    "Change",
    "ChangeKind",
    "Confidence",
    "Contract",
    "ContractInfo",
    "ContractRegistry",
    "Decision",
    "Disposition",
    "ErrorKind",
    "Evidence",
    "Facts",
    "FaultCode",
    "FileError",
    "Finish",
    "Found",
    "Freshness",
    "Gate",
    "HiddenTool",
    "Instance",
    "Instruction",
    "Item",
    "Limits",
    "LintWarning",
    "Lists",
    "LoadError",
    "Loop",
    "MergeOutcome",
    "MergeStep",
    "Observation",
    "Output",
    "OutputError",
    "ParseResult",
    "Profile",
    "ProfileInfo",
    "Provenance",
    "QuarantineReason",
    "Quarantined",
    "Reason",
    "Report",
    "ReportDocument",
    "Request",
    "ResultParser",
    "SeamgateError",
    "SeamgateFault",
    "Seen",
    "Shown",
    "Source",
    "Span",
    "Step",
    "Surface",
    "SurfaceTool",
    "ToolResult",
    "Usage",
    "Verdict",
    "Violation",
    "Wanted",
    "backend",
    "read_contract",
    "read_profile",
    "validate",
]


@functools.cache
def _gate() -> Gate:
    return Gate()


def validate(
    contract: Contract,
    output: Output,
    *,
    finish: Finish | str = Finish.UNKNOWN,
    lists: Lists | None = None,
    evidence: Evidence | None = None,
) -> Report:
    """Judge one output by a contract, with a gate that all calls of this function share.

    Args and errors are those of `Gate.validate`.

    Raises:
        LoadError: The gate cannot be made.
    """
    return _gate().validate(contract, output, finish=finish, lists=lists, evidence=evidence).report
