//! The engine seamgate's core in the process of the caller: the cost of seamgate without its sandbox.

use anyhow::{Result, anyhow};
use seamgate_bench_protocol::protocol::{self, Engine, Set};
use seamgate_core::{Contract, Disposition, Request};

fn main() -> Result<()> {
    protocol::serve(&protocol::plan()?, Core)
}

struct Core;

impl Engine for Core {
    type Compiled = Contract;

    fn compile(&mut self, set: &Set) -> Result<Contract> {
        let contract = std::fs::read_to_string(&set.contract)?;
        Contract::compile(&contract).map_err(|fault| anyhow!("{fault:?}"))
    }

    fn is_valid(&mut self, contract: &Contract, document: &[u8]) -> Result<bool> {
        // Output that is not UTF-8 is rejected before its text is read.
        let Ok(output) = std::str::from_utf8(document) else {
            return Ok(false);
        };
        let request = Request { output, ..Default::default() };
        let report = seamgate_core::validate(contract, &request).map_err(|fault| anyhow!("{fault:?}"))?;
        Ok(report.disposition == Disposition::Accepted)
    }
}
