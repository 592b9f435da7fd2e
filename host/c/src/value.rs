//! The results of a call: texts, and the resources that it used.

use std::{ffi::c_char, ptr, slice};

/// A text that the library gave. The caller owns it, and frees it with `seamgate_text_free`.
#[repr(C)]
#[derive(Debug)]
pub struct Text {
    /// The bytes, in UTF-8. A NUL byte follows them, which `length` does not count. Null if there is no text.
    pub data: *mut c_char,
    /// The number of bytes.
    pub length: usize,
}

impl Text {
    /// No text. There is nothing to free.
    pub(crate) const NONE: Text = Text { data: ptr::null_mut(), length: 0 };

    pub(crate) fn new(text: String) -> Self {
        let length = text.len();
        let mut bytes = text.into_bytes();
        bytes.push(0);
        Text { data: Box::into_raw(bytes.into_boxed_slice()).cast(), length }
    }
}

/// Frees a text, and makes it empty, so that to free it again does nothing. Null is allowed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn seamgate_text_free(text: *mut Text) {
    // SAFETY: by the rules in the crate's documentation, the pointer is null or nothing else uses the text now.
    let Some(text) = (unsafe { text.as_mut() }) else { return };
    let Text { data, length } = std::mem::replace(text, Text::NONE);
    if !data.is_null() {
        // SAFETY: the caller got the text from this library, where `Text::new` made it of a box of one byte more.
        drop(unsafe { Box::from_raw(ptr::from_mut(slice::from_raw_parts_mut(data.cast::<u8>(), length + 1))) });
    }
}

/// The resources that a call used. They are no part of the report.
#[repr(C)]
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Usage {
    /// The fuel. The same request takes the same fuel everywhere, with the same component.
    pub fuel: u64,
    /// The most memory that the instance had, in bytes.
    pub memory: u64,
    /// The time inside the sandbox, in nanoseconds.
    pub nanoseconds: u64,
}

impl From<&seamgate::Usage> for Usage {
    fn from(usage: &seamgate::Usage) -> Self {
        Usage {
            fuel: usage.fuel,
            memory: usage.memory as u64,
            nanoseconds: u64::try_from(usage.elapsed.as_nanos()).unwrap_or(u64::MAX),
        }
    }
}

/// A result on its way to C.
pub(crate) struct Made {
    pub(crate) text: String,
    pub(crate) usage: Usage,
}

impl Made {
    /// Returns JSON text of a value that cannot fail to be written.
    pub(crate) fn json(value: &impl serde::Serialize) -> Self {
        serde_json::to_string(value).unwrap_or_default().into()
    }
}

impl From<String> for Made {
    fn from(text: String) -> Self {
        Made { text, usage: Usage::default() }
    }
}

impl From<seamgate::Verdict> for Made {
    fn from(verdict: seamgate::Verdict) -> Self {
        Made { text: verdict.report.to_json(), usage: Usage::from(&verdict.usage) }
    }
}

impl From<seamgate::Answer> for Made {
    fn from(answer: seamgate::Answer) -> Self {
        Made { text: answer.json, usage: Usage::from(&answer.usage) }
    }
}
