//! Constant bytes in place of randomness for the hash maps of libraries. The component imports nothing, and the same
//! request must produce the same report. Text from a producer is never the key of a map whose order or speed depends on
//! this.

/// Fills a region with a constant. `getrandom` calls this on this target, through its `custom` backend.
///
/// # Safety
///
/// `getrandom` passes a region of `length` bytes that it owns and that may be written.
#[unsafe(no_mangle)]
unsafe extern "Rust" fn __getrandom_v03_custom(destination: *mut u8, length: usize) -> Result<(), getrandom::Error> {
    // SAFETY: see above: the region is valid for writes of `length` bytes.
    unsafe { std::ptr::write_bytes(destination, 0x5e, length) };
    Ok(())
}
