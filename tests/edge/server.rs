//! `wasmtime serve`, started on a free port and ended with what started it.

use std::{
    fs,
    io::{BufRead, BufReader},
    net::SocketAddr,
    process::{Child, Command, Stdio},
    thread,
    time::Duration,
};

use anyhow::{Context, Result, ensure};

/// `cargo xtask edge` installs it here.
const WASMTIME: &str = "target/edge/wasmtime/bin/wasmtime";

/// The component that it serves.
pub(crate) const SERVED: &str = "target/edge/served.wasm";

/// A server that runs.
pub(crate) struct Server {
    process: Child,
    /// The address on which it listens.
    pub(crate) address: SocketAddr,
}

impl Server {
    /// Starts one with these flags, and waits until it listens.
    pub(crate) fn start(flags: &[&str]) -> Result<Self> {
        let mut command = Command::new(WASMTIME);
        command.args(["serve", "--addr", "127.0.0.1:0"]).args(flags).arg(SERVED);
        let mut process = command.stderr(Stdio::piped()).spawn().context(WASMTIME)?;
        let stderr = process.stderr.take().context("its standard error is piped")?;
        let mut lines = BufReader::new(stderr).lines();
        let mut said = String::new();
        let mut address = None;
        for line in lines.by_ref() {
            let line = line?;
            let listens = line.strip_prefix("Serving HTTP on http://").and_then(|rest| rest.strip_suffix('/'));
            address = listens.map(str::parse).transpose()?;
            if address.is_some() {
                break;
            }
            said.push_str(&line);
            said.push('\n');
        }
        // It reports each request that fails, and would wait for someone to read that.
        thread::spawn(move || lines.for_each(drop));
        let Some(address) = address else {
            let status = process.wait()?;
            anyhow::bail!("wasmtime serve {}: {status}\n{said}", flags.join(" "));
        };
        Ok(Server { process, address })
    }

    /// Returns the memory that it occupies, in KiB.
    pub(crate) fn memory(&self) -> Result<u64> {
        let status = fs::read_to_string(format!("/proc/{}/status", self.process.id()))?;
        let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).context("no VmRSS")?;
        Ok(line.trim().trim_end_matches(" kB").parse()?)
    }

    /// Returns the time that it has had on processors.
    pub(crate) fn cpu(&self) -> Result<Duration> {
        let stat = fs::read_to_string(format!("/proc/{}/stat", self.process.id()))?;
        // Its name may have spaces. Two of the fields after it are its own time, and that in the system, in hundredths of a second.
        let (_, fields) = stat.rsplit_once(')').context("no name")?;
        let ticks =
            fields.split_whitespace().skip(11).take(2).map(str::parse::<u64>).sum::<std::result::Result<u64, _>>()?;
        Ok(Duration::from_millis(ticks * 10))
    }

    /// Checks that it still runs, whatever was requested.
    pub(crate) fn runs(&mut self) -> Result<()> {
        let ended = self.process.try_wait()?;
        ensure!(ended.is_none(), "the server ended: {ended:?}");
        Ok(())
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}
