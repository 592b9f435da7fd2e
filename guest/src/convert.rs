//! Words of WIT <-> words of the core. One function a record, each member once.

use seamgate_core as core;

use super::bindings::exports::seamgate::validator::{stream, types};

pub(crate) fn request(request: &types::Request) -> core::Request<'_> {
    core::Request {
        agent: request.agent.clone(),
        output: &request.output,
        finish: finish(request.finish),
        lists: lists(request.lists.clone()),
        invalid_utf8: request.invalid_utf8,
    }
}

pub(crate) fn finish(finish: types::Finish) -> core::Finish {
    match finish {
        types::Finish::Stop => core::Finish::Stop,
        types::Finish::Length => core::Finish::Length,
        types::Finish::Refusal => core::Finish::Refusal,
        types::Finish::ContentFilter => core::Finish::ContentFilter,
        types::Finish::ToolCall => core::Finish::ToolCall,
        types::Finish::Unknown => core::Finish::Unknown,
    }
}

pub(crate) fn lists(lists: Vec<types::NamedList>) -> Vec<core::NamedList> {
    lists.into_iter().map(|list| core::NamedList { name: list.name, values: list.values }).collect()
}

pub(crate) fn progress(progress: core::Progress) -> stream::Progress {
    let item = |item: core::Completed| stream::Completed {
        candidate: item.candidate,
        index: item.index,
        span: span(item.span),
    };
    stream::Progress {
        completeness: completeness(progress.completeness),
        items: progress.items.into_iter().map(item).collect(),
        dead_end: progress.dead_end.map(|end| stream::DeadEnd {
            keyword: end.keyword.to_owned(),
            message: end.message,
            at: end.at,
        }),
    }
}

pub(crate) fn completeness(completeness: core::Completeness) -> stream::Completeness {
    match completeness {
        core::Completeness::InFlight => stream::Completeness::InFlight,
        core::Completeness::SoftComplete => stream::Completeness::SoftComplete,
        core::Completeness::HardComplete => stream::Completeness::HardComplete,
    }
}

pub(crate) fn report(report: core::Report) -> types::Report {
    types::Report {
        disposition: match report.disposition {
            core::Disposition::Accepted => types::Disposition::Accepted,
            core::Disposition::Partial => types::Disposition::Partial,
            core::Disposition::Rejected => types::Disposition::Rejected,
            core::Disposition::Refused => types::Disposition::Refused,
        },
        agent: report.agent,
        schema_id: report.schema_id,
        contract: report.contract,
        output: report.output,
        error: report.error.map(error),
        items: report.items.into_iter().map(item).collect(),
        quarantined: report.quarantined.into_iter().map(quarantined).collect(),
        changes: report.changes.into_iter().map(change).collect(),
        candidates: report.candidates.into_iter().map(candidate).collect(),
        notes: report.notes,
        review_required: report.review_required,
        feedback: report.feedback,
    }
}

fn error(error: core::OutputError) -> types::OutputError {
    types::OutputError {
        error: match error.error {
            core::ErrorKind::OutputValidationFailed => types::ErrorKind::OutputValidationFailed,
            core::ErrorKind::ExtractionFailed => types::ErrorKind::ExtractionFailed,
            core::ErrorKind::MalformedJson => types::ErrorKind::MalformedJson,
        },
        schema_id: error.schema_id,
        agent_id: error.agent_id,
        violations: error.violations.into_iter().map(violation).collect(),
        raw_output: error.raw_output,
        retryable: error.retryable,
    }
}

fn violation(violation: core::Violation) -> types::Violation {
    types::Violation {
        path: violation.path,
        keyword: violation.keyword,
        expected: violation.expected,
        received: violation.received,
        message: violation.message,
        pointer: violation.pointer,
        schema_path: violation.schema_path,
        span: violation.span.map(span),
    }
}

fn item(item: core::Item) -> types::Item {
    types::Item { index: item.index, path: item.path, span: item.span.map(span), value: item.value }
}

fn quarantined(item: core::Quarantined) -> types::Quarantined {
    types::Quarantined {
        index: item.index,
        path: item.path,
        reason: match item.reason {
            core::Reason::Malformed => types::QuarantineReason::Malformed,
            core::Reason::Schema => types::QuarantineReason::Schema,
            core::Reason::Guardrail => types::QuarantineReason::Guardrail,
            core::Reason::AllowList => types::QuarantineReason::AllowList,
            core::Reason::OverLimit => types::QuarantineReason::OverLimit,
        },
        span: item.span.map(span),
        snippet: item.snippet,
        violations: item.violations.into_iter().map(violation).collect(),
    }
}

fn change(change: core::Change) -> types::Change {
    types::Change {
        kind: change.kind.into_owned(),
        path: change.path,
        span: change.span.map(span),
        before: change.before,
        after: change.after,
    }
}

fn span(span: core::Span) -> types::Span {
    types::Span { start: span.start, end: span.end }
}

fn candidate(candidate: core::JudgedCandidate) -> types::Candidate {
    types::Candidate {
        source: match candidate.source {
            core::Source::Block => types::Source::Block,
            core::Source::Raw => types::Source::Raw,
            core::Source::Embedded => types::Source::Embedded,
        },
        marker: candidate.marker,
        span: span(candidate.span),
        chosen: candidate.chosen,
    }
}

pub(crate) fn fault(fault: core::Fault) -> types::Fault {
    types::Fault {
        code: match fault.code {
            core::FaultCode::BadRequest => types::FaultCode::BadRequest,
            core::FaultCode::BadContract => types::FaultCode::BadContract,
            core::FaultCode::UnknownAgent => types::FaultCode::UnknownAgent,
            core::FaultCode::Sealed => types::FaultCode::Sealed,
        },
        message: fault.message,
        violations: fault.violations.into_iter().map(violation).collect(),
        agents: fault.agents,
    }
}

pub(crate) fn info(info: core::ContractInfo) -> types::ContractInfo {
    types::ContractInfo {
        agent: info.agent,
        version: info.version,
        schema_id: info.schema_id,
        contract: info.contract,
        retry_limit: info.retry_limit,
        lists: info.lists,
    }
}

pub(crate) fn warning(warning: core::Warning) -> types::Warning {
    types::Warning { path: warning.path, code: warning.code, message: warning.message, pointer: warning.pointer }
}

/// A report that comes back, as far as it is merged.
pub(crate) fn attempt(report: &types::Report) -> core::Attempt {
    core::Attempt {
        agent: report.agent.clone(),
        contract: report.contract.clone(),
        is_accepted: report.disposition == types::Disposition::Accepted,
        output: report.output.clone(),
        items: report.items.iter().map(|item| (item.index, item.value.clone())).collect(),
        quarantined: report.quarantined.iter().cloned().map(quarantined_back).collect(),
        changes: report.changes.iter().cloned().map(change_back).collect(),
        notes: report.notes.clone(),
    }
}

fn violation_back(violation: types::Violation) -> core::Violation {
    core::Violation {
        path: violation.path,
        keyword: violation.keyword,
        expected: violation.expected,
        received: violation.received,
        message: violation.message,
        pointer: violation.pointer,
        schema_path: violation.schema_path,
        span: None,
    }
}

fn quarantined_back(item: types::Quarantined) -> core::Quarantined {
    core::Quarantined {
        index: item.index,
        path: item.path,
        reason: match item.reason {
            types::QuarantineReason::Malformed => core::Reason::Malformed,
            types::QuarantineReason::Schema => core::Reason::Schema,
            types::QuarantineReason::Guardrail => core::Reason::Guardrail,
            types::QuarantineReason::AllowList => core::Reason::AllowList,
            types::QuarantineReason::OverLimit => core::Reason::OverLimit,
        },
        span: None,
        snippet: item.snippet,
        violations: item.violations.into_iter().map(violation_back).collect(),
    }
}

fn change_back(change: types::Change) -> core::Change {
    core::Change { kind: change.kind.into(), path: change.path, span: None, before: change.before, after: change.after }
}
