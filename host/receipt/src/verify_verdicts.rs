//! Verifies receipts of verdicts: that of a whole batch against its rows, and that of one row by its proof and by
//! judging it again.

use data_encoding::BASE64URL_NOPAD;
use seamgate::Gate;
use serde::Serialize;

use crate::{
    journal::digests,
    signed::Signed,
    verdicts::{Batch, Row, RowTree, VERSION, VerdictsStatement},
    verify::{Check, Expected, Failed, around, cut, signer},
};

/// The result of a verification.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct VerdictsReport {
    /// `true` if every check passed.
    pub ok: bool,
    /// The digest of the component that judged.
    pub component: String,
    /// The public key of the signer (base64url).
    pub key: String,
    /// The issuer, as the signer names it.
    pub issuer: String,
    /// The time of the signature, in seconds since 1970, according to the signer.
    pub issued_at: u64,
    /// The number of rows that were signed.
    pub rows: u64,
    /// The number of the row, from 1. `None` for a batch.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub row: Option<u64>,
    /// All checks that were made, in order. The first failed check ends them.
    pub checks: Vec<Check>,
}

/// Verifies the receipt of a batch against all its rows.
pub fn verify_batch(file: &[u8], tree: &RowTree, expected: &Expected) -> VerdictsReport {
    let mut report = VerdictsReport::default();
    let checked = (|| {
        let batch = Batch::read(file).map_err(|error| Failed::of("encoding", error.to_string()))?;
        let statement = statement(&batch.signed, expected, &mut report)?;
        let (count, root) = (tree.count(), tree.root());
        if (count, &root) != (statement.rows, &statement.root) {
            let VerdictsStatement { rows, root: signed, .. } = &statement;
            let detail = format!("{count} rows with the root {root}; what is signed has {rows} and {signed}");
            return Err(Failed::of("rows", detail));
        }
        report.passed("rows", &format!("{count} rows, each as it was signed"));
        Ok(())
    })();
    report.ended(checked)
}

/// Verifies the receipt of a row. `judge` returns the gate's answer to a request, as `seamgate check --ndjson` prints
/// it.
pub fn verify_row(
    file: &[u8],
    mut gate: Gate,
    judge: impl Fn(&Gate, &str) -> String,
    expected: &Expected,
) -> VerdictsReport {
    let mut report = VerdictsReport::default();
    let checked = (|| {
        let row = Row::read(file).map_err(|error| Failed::of("encoding", error.to_string()))?;
        let statement = statement(&row.signed, expected, &mut report)?;
        if row.size != statement.rows || row.root().as_ref() != Some(&statement.root) {
            return Err(Failed::of("proof", "the row, or its number, is not one that was signed"));
        }
        report.row = Some(row.index + 1);
        report.passed("proof", &format!("row {} of {}", row.index + 1, row.size));
        let digests = digests(&row.contracts);
        if digests != statement.contracts {
            return Err(Failed::of("contracts", "a contract was changed, added or removed"));
        }
        let found = gate.component().digest().to_owned();
        if found != statement.component {
            let needed = &statement.component;
            let detail = format!("the row has {needed}, and this one is {found}: give that one with --component FILE");
            return Err(Failed::of("component", detail));
        }
        report.passed("component", &found);
        for contract in &row.contracts {
            gate.register(contract)
                .map_err(|fault| Failed::of("contracts", format!("the component does not take one: {fault}")))?;
        }
        report.passed("contracts", &digests.join(", "));
        let answer = judge(&gate, &row.request);
        if answer != row.answer {
            let (signed, judged) = around(&row.answer, &answer);
            return Err(Failed::of("verdict", format!("the receipt has {signed}, and the verdict is {judged}")));
        }
        report.passed("verdict", "judged again, with the same answer and fuel");
        Ok(())
    })();
    report.ended(checked)
}

/// Checks the signer, and parses the statement.
fn statement(signed: &Signed, expected: &Expected, report: &mut VerdictsReport) -> Result<VerdictsStatement, Failed> {
    report.issuer = cut(&signed.issuer);
    report.issued_at = signed.issued_at;
    report.key = BASE64URL_NOPAD.encode(&signed.key);
    signer(signed, expected, &mut report.checks)?;
    let statement: VerdictsStatement = serde_json::from_slice(&signed.statement)
        .map_err(|_| Failed::of("statement", "it is no statement about verdicts that this version reads"))?;
    let is_normal = serde_json::to_vec(&statement).ok().as_deref() == Some(&signed.statement[..]);
    if statement.verdicts != VERSION || !is_normal || signed.subject != statement.root {
        return Err(Failed::of("statement", "it is no statement about verdicts that this version reads"));
    }
    report.component.clone_from(&statement.component);
    report.rows = statement.rows;
    Ok(statement)
}

impl VerdictsReport {
    fn passed(&mut self, check: &'static str, detail: &str) {
        self.checks.push(Check::passed(check, detail));
    }

    fn ended(mut self, checked: Result<(), Failed>) -> Self {
        match checked {
            Ok(()) => self.ok = true,
            Err(failed) => self.checks.push(failed.check()),
        }
        self
    }
}
