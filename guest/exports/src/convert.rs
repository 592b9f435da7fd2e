//! Types of the bindings <-> types of the core: one function for each type and direction.
//!
//! Made by `cargo xtask generate` from `wit/` and `xtask/generate/`. Do not edit: run it again.

use seamgate_core as core;

use super::bindings::exports::seamgate::validator::{stream, types};

#[inline]
pub fn request(request: &types::Request) -> core::Request<'_> {
    core::Request {
        agent: request.agent.clone(),
        output: &request.output,
        finish: finish_back(request.finish),
        lists: each(request.lists.clone(), named_list_back),
        evidence: request.evidence.as_ref().map(|all| all.iter().cloned().map(observation_back).collect()),
        invalid_utf8: request.invalid_utf8,
    }
}

/// Most lists are empty: for those, nothing is called.
#[inline(always)]
fn each<A, B>(given: Vec<A>, convert: fn(A) -> B) -> Vec<B> {
    if given.is_empty() { Vec::new() } else { given.into_iter().map(convert).collect() }
}

#[inline]
fn span(given: core::Span) -> types::Span {
    types::Span { start: given.start, end: given.end }
}

#[inline]
fn disposition(given: core::Disposition) -> types::Disposition {
    match given {
        core::Disposition::Accepted => types::Disposition::Accepted,
        core::Disposition::Partial => types::Disposition::Partial,
        core::Disposition::Rejected => types::Disposition::Rejected,
        core::Disposition::Refused => types::Disposition::Refused,
    }
}

#[inline]
fn violation(given: core::Violation) -> types::Violation {
    types::Violation {
        path: given.path,
        keyword: given.keyword,
        expected: given.expected,
        received: given.received,
        message: given.message,
        pointer: given.pointer,
        schema_path: given.schema_path,
        span: given.span.map(span),
    }
}

#[inline]
fn error_kind(given: core::ErrorKind) -> types::ErrorKind {
    match given {
        core::ErrorKind::OutputValidationFailed => types::ErrorKind::OutputValidationFailed,
        core::ErrorKind::ExtractionFailed => types::ErrorKind::ExtractionFailed,
        core::ErrorKind::MalformedJson => types::ErrorKind::MalformedJson,
    }
}

#[inline]
fn output_error(given: core::OutputError) -> types::OutputError {
    types::OutputError {
        error: error_kind(given.error),
        schema_id: given.schema_id,
        agent_id: given.agent_id,
        violations: each(given.violations, violation),
        raw_output: given.raw_output,
        retryable: given.retryable,
    }
}

#[inline]
fn quarantine_reason(given: core::Reason) -> types::QuarantineReason {
    match given {
        core::Reason::Malformed => types::QuarantineReason::Malformed,
        core::Reason::Schema => types::QuarantineReason::Schema,
        core::Reason::Guardrail => types::QuarantineReason::Guardrail,
        core::Reason::AllowList => types::QuarantineReason::AllowList,
        core::Reason::Evidence => types::QuarantineReason::Evidence,
        core::Reason::OverLimit => types::QuarantineReason::OverLimit,
    }
}

#[inline]
fn quarantined(given: core::Quarantined) -> types::Quarantined {
    types::Quarantined {
        index: given.index,
        path: given.path,
        pointer: given.pointer,
        reason: quarantine_reason(given.reason),
        span: given.span.map(span),
        snippet: given.snippet,
        violations: each(given.violations, violation),
    }
}

#[inline]
fn item(given: core::Item) -> types::Item {
    types::Item { index: given.index, path: given.path, span: given.span.map(span), value: given.value }
}

#[inline]
fn change_kind(given: core::ChangeKind) -> types::ChangeKind {
    match given {
        core::ChangeKind::Closed => types::ChangeKind::Closed,
        core::ChangeKind::ClosedString => types::ChangeKind::ClosedString,
        core::ChangeKind::Dropped => types::ChangeKind::Dropped,
        core::ChangeKind::CommaAdded => types::ChangeKind::CommaAdded,
        core::ChangeKind::CommaRemoved => types::ChangeKind::CommaRemoved,
        core::ChangeKind::ColonAdded => types::ChangeKind::ColonAdded,
        core::ChangeKind::Comment => types::ChangeKind::Comment,
        core::ChangeKind::Space => types::ChangeKind::Space,
        core::ChangeKind::Quotes => types::ChangeKind::Quotes,
        core::ChangeKind::Quoted => types::ChangeKind::Quoted,
        core::ChangeKind::Escaped => types::ChangeKind::Escaped,
        core::ChangeKind::Literal => types::ChangeKind::Literal,
        core::ChangeKind::Punctuation => types::ChangeKind::Punctuation,
        core::ChangeKind::Unescaped => types::ChangeKind::Unescaped,
        core::ChangeKind::Wrapped => types::ChangeKind::Wrapped,
        core::ChangeKind::Stray => types::ChangeKind::Stray,
        core::ChangeKind::Around => types::ChangeKind::Around,
        core::ChangeKind::ItemRemoved => types::ChangeKind::ItemRemoved,
        core::ChangeKind::MemberRemoved => types::ChangeKind::MemberRemoved,
        core::ChangeKind::Stripped => types::ChangeKind::Stripped,
        core::ChangeKind::Coerced => types::ChangeKind::Coerced,
        core::ChangeKind::Unwrapped => types::ChangeKind::Unwrapped,
    }
}

#[inline]
fn change(given: core::Change) -> types::Change {
    types::Change {
        kind: change_kind(given.kind),
        path: given.path,
        span: given.span.map(span),
        before: given.before,
        after: given.after,
    }
}

#[inline]
pub fn source(given: core::Source) -> types::Source {
    match given {
        core::Source::Block => types::Source::Block,
        core::Source::Raw => types::Source::Raw,
        core::Source::Embedded => types::Source::Embedded,
    }
}

#[inline]
fn candidate(given: core::JudgedCandidate) -> types::Candidate {
    types::Candidate {
        source: source(given.source),
        marker: given.marker,
        span: span(given.span),
        chosen: given.chosen,
    }
}

#[inline]
fn wanted(given: core::Wanted) -> types::Wanted {
    match given {
        core::Wanted::Nothing => types::Wanted::Nothing,
        core::Wanted::Items => types::Wanted::Items,
        core::Wanted::Whole => types::Wanted::Whole,
    }
}

#[inline]
fn merge_outcome(given: core::MergeOutcome) -> types::MergeOutcome {
    match given {
        core::MergeOutcome::Replaced => types::MergeOutcome::Replaced,
        core::MergeOutcome::GaveItems => types::MergeOutcome::GaveItems,
        core::MergeOutcome::GaveNone => types::MergeOutcome::GaveNone,
        core::MergeOutcome::Unused => types::MergeOutcome::Unused,
        core::MergeOutcome::Invalid => types::MergeOutcome::Invalid,
    }
}

#[inline]
fn merge_step(given: core::MergeStep) -> types::MergeStep {
    types::MergeStep {
        report: given.report,
        outcome: merge_outcome(given.outcome),
        items: given.items,
        unknown: given.unknown,
    }
}

#[inline]
pub fn report(given: core::Report) -> types::Report {
    types::Report {
        disposition: disposition(given.disposition),
        agent: given.agent,
        schema_id: given.schema_id,
        contract: given.contract,
        output: given.output,
        error: given.error.map(output_error),
        items: each(given.items, item),
        quarantined: each(given.quarantined, quarantined),
        changes: each(given.changes, change),
        candidates: each(given.candidates, candidate),
        notes: given.notes,
        review_required: given.review_required,
        feedback: given.feedback,
        wanted: wanted(given.wanted),
        merged: each(given.merged, merge_step),
    }
}

#[inline]
fn fault_code(given: core::FaultCode) -> types::FaultCode {
    match given {
        core::FaultCode::BadRequest => types::FaultCode::BadRequest,
        core::FaultCode::BadContract => types::FaultCode::BadContract,
        core::FaultCode::BadProfile => types::FaultCode::BadProfile,
        core::FaultCode::UnknownAgent => types::FaultCode::UnknownAgent,
        core::FaultCode::Sealed => types::FaultCode::Sealed,
    }
}

#[inline]
pub fn fault(given: core::Fault) -> types::Fault {
    types::Fault {
        code: fault_code(given.code),
        message: given.message,
        violations: each(given.violations, violation),
        agents: given.agents,
    }
}

#[inline]
pub fn contract_info(given: core::ContractInfo) -> types::ContractInfo {
    types::ContractInfo {
        agent: given.agent,
        version: given.version,
        schema_id: given.schema_id,
        contract: given.contract,
        retry_limit: given.retry_limit,
        lists: given.lists,
    }
}

#[inline]
fn level(given: core::Level) -> types::Level {
    match given {
        core::Level::Error => types::Level::Error,
        core::Level::Warning => types::Level::Warning,
        core::Level::Hint => types::Level::Hint,
    }
}

#[inline]
pub fn warning(given: core::Warning) -> types::Warning {
    types::Warning {
        path: given.path,
        code: given.code,
        message: given.message,
        pointer: given.pointer,
        level: level(given.level),
        span: given.span.map(span),
    }
}

#[inline]
pub fn completeness(given: core::Completeness) -> stream::Completeness {
    match given {
        core::Completeness::InFlight => stream::Completeness::InFlight,
        core::Completeness::SoftComplete => stream::Completeness::SoftComplete,
        core::Completeness::HardComplete => stream::Completeness::HardComplete,
    }
}

#[inline]
fn completed(given: core::Completed) -> stream::Completed {
    stream::Completed { candidate: given.candidate, index: given.index, span: span(given.span) }
}

#[inline]
fn dead_end(given: core::DeadEnd) -> stream::DeadEnd {
    stream::DeadEnd { keyword: given.keyword.to_owned(), message: given.message, at: given.at }
}

#[inline]
pub fn progress(given: core::Progress) -> stream::Progress {
    stream::Progress {
        completeness: completeness(given.completeness),
        items: each(given.items, completed),
        dead_end: given.dead_end.map(dead_end),
    }
}

#[inline]
fn span_back(given: types::Span) -> core::Span {
    core::Span { start: given.start, end: given.end }
}

#[inline]
fn disposition_back(given: types::Disposition) -> core::Disposition {
    match given {
        types::Disposition::Accepted => core::Disposition::Accepted,
        types::Disposition::Partial => core::Disposition::Partial,
        types::Disposition::Rejected => core::Disposition::Rejected,
        types::Disposition::Refused => core::Disposition::Refused,
    }
}

#[inline]
pub fn finish_back(given: types::Finish) -> core::Finish {
    match given {
        types::Finish::Stop => core::Finish::Stop,
        types::Finish::Length => core::Finish::Length,
        types::Finish::Refusal => core::Finish::Refusal,
        types::Finish::ContentFilter => core::Finish::ContentFilter,
        types::Finish::ToolCall => core::Finish::ToolCall,
        types::Finish::Unknown => core::Finish::Unknown,
    }
}

#[inline]
pub fn named_list_back(given: types::NamedList) -> core::NamedList {
    core::NamedList { name: given.name, values: given.values }
}

#[inline]
fn confidence_back(given: types::Confidence) -> core::Confidence {
    match given {
        types::Confidence::Low => core::Confidence::Low,
        types::Confidence::Medium => core::Confidence::Medium,
        types::Confidence::High => core::Confidence::High,
    }
}

#[inline]
pub fn observation_back(given: types::Observation) -> core::Observation {
    core::Observation {
        id: given.id,
        kinds: given.kinds,
        text: given.text,
        labels: given.labels,
        confidence: confidence_back(given.confidence),
        complete: given.complete,
        limitations: given.limitations,
    }
}

#[inline]
fn violation_back(given: types::Violation) -> core::Violation {
    core::Violation {
        path: given.path,
        keyword: given.keyword,
        expected: given.expected,
        received: given.received,
        message: given.message,
        pointer: given.pointer,
        schema_path: given.schema_path,
        span: given.span.map(span_back),
    }
}

#[inline]
fn error_kind_back(given: types::ErrorKind) -> core::ErrorKind {
    match given {
        types::ErrorKind::OutputValidationFailed => core::ErrorKind::OutputValidationFailed,
        types::ErrorKind::ExtractionFailed => core::ErrorKind::ExtractionFailed,
        types::ErrorKind::MalformedJson => core::ErrorKind::MalformedJson,
    }
}

#[inline]
fn output_error_back(given: types::OutputError) -> core::OutputError {
    core::OutputError {
        error: error_kind_back(given.error),
        schema_id: given.schema_id,
        agent_id: given.agent_id,
        violations: each(given.violations, violation_back),
        raw_output: given.raw_output,
        retryable: given.retryable,
    }
}

#[inline]
fn quarantine_reason_back(given: types::QuarantineReason) -> core::Reason {
    match given {
        types::QuarantineReason::Malformed => core::Reason::Malformed,
        types::QuarantineReason::Schema => core::Reason::Schema,
        types::QuarantineReason::Guardrail => core::Reason::Guardrail,
        types::QuarantineReason::AllowList => core::Reason::AllowList,
        types::QuarantineReason::Evidence => core::Reason::Evidence,
        types::QuarantineReason::OverLimit => core::Reason::OverLimit,
    }
}

#[inline]
fn quarantined_back(given: types::Quarantined) -> core::Quarantined {
    core::Quarantined {
        index: given.index,
        path: given.path,
        pointer: given.pointer,
        reason: quarantine_reason_back(given.reason),
        span: given.span.map(span_back),
        snippet: given.snippet,
        violations: each(given.violations, violation_back),
    }
}

#[inline]
fn item_back(given: types::Item) -> core::Item {
    core::Item { index: given.index, path: given.path, span: given.span.map(span_back), value: given.value }
}

#[inline]
fn change_kind_back(given: types::ChangeKind) -> core::ChangeKind {
    match given {
        types::ChangeKind::Closed => core::ChangeKind::Closed,
        types::ChangeKind::ClosedString => core::ChangeKind::ClosedString,
        types::ChangeKind::Dropped => core::ChangeKind::Dropped,
        types::ChangeKind::CommaAdded => core::ChangeKind::CommaAdded,
        types::ChangeKind::CommaRemoved => core::ChangeKind::CommaRemoved,
        types::ChangeKind::ColonAdded => core::ChangeKind::ColonAdded,
        types::ChangeKind::Comment => core::ChangeKind::Comment,
        types::ChangeKind::Space => core::ChangeKind::Space,
        types::ChangeKind::Quotes => core::ChangeKind::Quotes,
        types::ChangeKind::Quoted => core::ChangeKind::Quoted,
        types::ChangeKind::Escaped => core::ChangeKind::Escaped,
        types::ChangeKind::Literal => core::ChangeKind::Literal,
        types::ChangeKind::Punctuation => core::ChangeKind::Punctuation,
        types::ChangeKind::Unescaped => core::ChangeKind::Unescaped,
        types::ChangeKind::Wrapped => core::ChangeKind::Wrapped,
        types::ChangeKind::Stray => core::ChangeKind::Stray,
        types::ChangeKind::Around => core::ChangeKind::Around,
        types::ChangeKind::ItemRemoved => core::ChangeKind::ItemRemoved,
        types::ChangeKind::MemberRemoved => core::ChangeKind::MemberRemoved,
        types::ChangeKind::Stripped => core::ChangeKind::Stripped,
        types::ChangeKind::Coerced => core::ChangeKind::Coerced,
        types::ChangeKind::Unwrapped => core::ChangeKind::Unwrapped,
    }
}

#[inline]
fn change_back(given: types::Change) -> core::Change {
    core::Change {
        kind: change_kind_back(given.kind),
        path: given.path,
        span: given.span.map(span_back),
        before: given.before,
        after: given.after,
    }
}

#[inline]
fn source_back(given: types::Source) -> core::Source {
    match given {
        types::Source::Block => core::Source::Block,
        types::Source::Raw => core::Source::Raw,
        types::Source::Embedded => core::Source::Embedded,
    }
}

#[inline]
fn candidate_back(given: types::Candidate) -> core::JudgedCandidate {
    core::JudgedCandidate {
        source: source_back(given.source),
        marker: given.marker,
        span: span_back(given.span),
        chosen: given.chosen,
    }
}

#[inline]
fn wanted_back(given: types::Wanted) -> core::Wanted {
    match given {
        types::Wanted::Nothing => core::Wanted::Nothing,
        types::Wanted::Items => core::Wanted::Items,
        types::Wanted::Whole => core::Wanted::Whole,
    }
}

#[inline]
fn merge_outcome_back(given: types::MergeOutcome) -> core::MergeOutcome {
    match given {
        types::MergeOutcome::Replaced => core::MergeOutcome::Replaced,
        types::MergeOutcome::GaveItems => core::MergeOutcome::GaveItems,
        types::MergeOutcome::GaveNone => core::MergeOutcome::GaveNone,
        types::MergeOutcome::Unused => core::MergeOutcome::Unused,
        types::MergeOutcome::Invalid => core::MergeOutcome::Invalid,
    }
}

#[inline]
fn merge_step_back(given: types::MergeStep) -> core::MergeStep {
    core::MergeStep {
        report: given.report,
        outcome: merge_outcome_back(given.outcome),
        items: given.items,
        unknown: given.unknown,
    }
}

#[inline]
pub fn report_back(given: types::Report) -> core::Report {
    core::Report {
        disposition: disposition_back(given.disposition),
        agent: given.agent,
        schema_id: given.schema_id,
        contract: given.contract,
        output: given.output,
        error: given.error.map(output_error_back),
        items: each(given.items, item_back),
        quarantined: each(given.quarantined, quarantined_back),
        changes: each(given.changes, change_back),
        candidates: each(given.candidates, candidate_back),
        notes: given.notes,
        review_required: given.review_required,
        feedback: given.feedback,
        wanted: wanted_back(given.wanted),
        merged: each(given.merged, merge_step_back),
    }
}
