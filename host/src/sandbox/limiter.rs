//! Limits the memory of an instance, and records its peak.

use wasmtime::ResourceLimiter;

use super::engine::TABLE;

/// The limiter of an instance, which denies memory and tables above their limits.
pub(crate) struct MemoryLimiter {
    limit: usize,
    /// The largest memory that the instance had, in bytes.
    pub(crate) peak: usize,
    /// `true` if the instance requested more than the limit.
    pub(crate) refused: bool,
    /// `true` if the guest runs on a stack of its own, and yields so that the host can check the clock.
    pub(crate) yields: bool,
}

impl MemoryLimiter {
    pub(crate) fn new(limit: usize) -> Self {
        MemoryLimiter { limit, peak: 0, refused: false, yields: false }
    }
}

impl ResourceLimiter for MemoryLimiter {
    fn memory_growing(&mut self, _: usize, desired: usize, _: Option<usize>) -> wasmtime::Result<bool> {
        if desired > self.limit {
            self.refused = true;
            // Terminate the instance here, because repeated requests take time and hardly any fuel.
            return Err(wasmtime::Error::msg("the instance has no memory left"));
        }
        self.peak = self.peak.max(desired);
        Ok(true)
    }

    fn table_growing(&mut self, _: usize, desired: usize, _: Option<usize>) -> wasmtime::Result<bool> {
        // The same limit as in the pool, for engines without a pool.
        Ok(desired <= TABLE)
    }
}
