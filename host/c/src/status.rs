//! Statuses, and the version.

use std::ffi::{CStr, c_char, c_int};

use seamgate::Fault;

/// The outcome of a call: a result, or a kind of fault. The numbers stay as they are in all versions; later versions can add further ones.
///
/// `SEAMGATE_STATUS_OK` says that there is a result, which may be the report of a rejected output. Any other status is a fault: there is no
/// result, and no part of the output was accepted. Its text is JSON: `{"fault":"out_of_fuel","message":"…","detail":{…}}`.
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Status {
    /// There is a result.
    Ok = 0,
    /// The request is invalid, or lacks a list or the evidence that the contract needs.
    BadRequest = 1,
    /// The contract is invalid, or the agent has another one already.
    BadContract = 2,
    /// The profile is invalid, or the agent has another one already.
    BadProfile = 3,
    /// No contract, or no profile, is registered for the agent.
    UnknownAgent = 4,
    /// The component is baked: it takes no further contracts and profiles.
    Sealed = 5,
    /// The call used all its fuel.
    OutOfFuel = 6,
    /// The call used all its memory.
    OutOfMemory = 7,
    /// The call used all its stack.
    StackOverflow = 8,
    /// The call took too long.
    Timeout = 9,
    /// No instance became free in time, or too many sessions and instances are open.
    Busy = 10,
    /// The output is longer than the limit.
    InputTooLarge = 11,
    /// The component failed: it has a bug.
    Trap = 12,
    /// The caller passed a null pointer where there must be none, a length that cannot be, or a text that is not UTF-8.
    BadArgument = 13,
    /// The gate could not be made: the engine does not run here, or the component is not a validator.
    LoadError = 14,
    /// A file cannot be read.
    FileError = 15,
    /// The library panicked: it has a bug. What the call was for is unusable if it was a session, an instance or attempts.
    Internal = 16,
}

/// Every status, in the order of its number.
const ALL: [(Status, &CStr); 17] = [
    (Status::Ok, c"ok"),
    (Status::BadRequest, c"bad_request"),
    (Status::BadContract, c"bad_contract"),
    (Status::BadProfile, c"bad_profile"),
    (Status::UnknownAgent, c"unknown_agent"),
    (Status::Sealed, c"sealed"),
    (Status::OutOfFuel, c"out_of_fuel"),
    (Status::OutOfMemory, c"out_of_memory"),
    (Status::StackOverflow, c"stack_overflow"),
    (Status::Timeout, c"timeout"),
    (Status::Busy, c"busy"),
    (Status::InputTooLarge, c"input_too_large"),
    (Status::Trap, c"trap"),
    (Status::BadArgument, c"bad_argument"),
    (Status::LoadError, c"load_error"),
    (Status::FileError, c"file_error"),
    (Status::Internal, c"internal"),
];

impl Status {
    /// Returns the status of a fault. A kind of fault that this file does not know is a bug here.
    pub(crate) fn of(fault: &Fault) -> Self {
        let code = fault.code();
        ALL.iter().find(|(_, name)| name.to_bytes() == code.as_bytes()).map_or(Status::Internal, |(status, _)| *status)
    }

    /// Returns the code in the JSON text of a fault.
    pub(crate) fn code(self) -> &'static str {
        let name = ALL.iter().find(|(status, _)| *status == self);
        name.and_then(|(_, name)| name.to_str().ok()).unwrap_or("internal")
    }
}

/// Returns the code of a status, such as `"out_of_fuel"`; `"ok"` for `SEAMGATE_STATUS_OK`; null for a number that is no status. The
/// text ends in a NUL byte. Nobody frees it.
#[unsafe(no_mangle)]
pub extern "C" fn seamgate_status_name(status: c_int) -> *const c_char {
    let name = usize::try_from(status).ok().and_then(|at| ALL.get(at));
    name.map_or(std::ptr::null(), |(_, name)| name.as_ptr())
}

/// Returns the version of the library, such as `"0.1.0"`. The text ends in a NUL byte. Nobody frees it.
#[unsafe(no_mangle)]
pub extern "C" fn seamgate_version() -> *const c_char {
    const VERSION: &str = concat!(env!("CARGO_PKG_VERSION"), "\0");
    VERSION.as_ptr().cast()
}

#[cfg(test)]
mod tests {
    use std::{collections::BTreeSet, ffi::CStr};

    use super::{ALL, seamgate_status_name};

    #[test]
    fn each_status_has_its_number_and_a_name_of_its_own() {
        let names: BTreeSet<_> = ALL.iter().map(|(_, name)| *name).collect();
        assert_eq!(names.len(), ALL.len());
        for (at, (status, name)) in ALL.into_iter().enumerate() {
            assert_eq!(status as usize, at);
            // SAFETY: the function returns a pointer to a text that ends in a NUL byte.
            assert_eq!(unsafe { CStr::from_ptr(seamgate_status_name(status as i32)) }, name);
        }
        assert!(seamgate_status_name(-1).is_null() && seamgate_status_name(i32::MAX).is_null());
    }

    /// The package for Python has a generated list of them.
    #[test]
    fn each_code_of_a_fault_is_a_status() {
        let listed = include_str!("../../python/src/seamgate/_fault_code.py");
        let codes: Vec<&str> =
            listed.lines().filter_map(|line| line.strip_prefix("    \"")?.strip_suffix("\",")).collect();
        assert!(codes.contains(&"bad_request") && codes.contains(&"input_too_large"), "{codes:?}");
        for code in codes {
            assert!(ALL.iter().any(|(_, name)| name.to_bytes() == code.as_bytes()), "{code}");
        }
    }
}
