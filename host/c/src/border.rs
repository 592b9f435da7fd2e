//! The border to C: texts and handles come in, results go out, and no panic does.

use std::{
    ffi::c_char,
    mem::MaybeUninit,
    panic::{AssertUnwindSafe, catch_unwind},
    path::Path,
    slice,
    sync::{Mutex, PoisonError},
};

use crate::{
    failure::Failure,
    status::Status,
    value::{Made, Text, Usage},
};

/// Bytes that the caller passed. They are checked where they are read.
pub(crate) struct Given<'a> {
    name: &'static str,
    /// None for a null pointer.
    bytes: Option<&'a [u8]>,
    length: usize,
}

impl<'a> Given<'a> {
    /// # Safety
    ///
    /// The pointer is null, or points to as many bytes that stay as they are for `'a`.
    pub(crate) unsafe fn new(name: &'static str, data: *const c_char, length: usize) -> Self {
        let fits = !data.is_null() && isize::try_from(length).is_ok();
        // SAFETY: the caller promises the bytes, and a slice may have so many.
        let bytes = fits.then(|| unsafe { slice::from_raw_parts(data.cast::<u8>(), length) });
        Given { name, bytes, length }
    }

    /// Returns the bytes; a null pointer with the length 0 has none.
    pub(crate) fn bytes(&self) -> Result<&'a [u8], Failure> {
        let Given { name, bytes, length } = self;
        match bytes {
            Some(bytes) => Ok(bytes),
            None if *length == 0 => Ok(&[]),
            None => Err(Failure::argument(name, &format!("no memory has {length} bytes at this pointer"))),
        }
    }

    /// Returns the bytes as text.
    pub(crate) fn text(&self) -> Result<&'a str, Failure> {
        std::str::from_utf8(self.bytes()?)
            .map_err(|error| Failure::argument(self.name, &format!("not UTF-8 at byte {}", error.valid_up_to())))
    }

    /// Returns the text, or `None` if it is empty.
    pub(crate) fn optional_text(&self) -> Result<Option<&'a str>, Failure> {
        Ok(Some(self.text()?).filter(|text| !text.is_empty()))
    }

    /// Returns the text as the path of a file.
    pub(crate) fn path(&self) -> Result<&'a Path, Failure> {
        self.text().map(Path::new)
    }

    pub(crate) fn name(&self) -> &'static str {
        self.name
    }
}

/// Returns a handle that the caller passed.
///
/// # Safety
///
/// The pointer is null, or comes from [`Out::handle`] for this type and was not freed.
pub(crate) unsafe fn handle<'a, T>(name: &'static str, handle: *const T) -> Result<&'a T, Failure> {
    // SAFETY: the caller promises that it is null or valid. All that changes in handles is behind a lock.
    unsafe { handle.as_ref() }.ok_or_else(|| Failure::argument(name, "must not be null"))
}

/// Frees a handle, unless it is null. No panic gets out of it.
///
/// # Safety
///
/// The pointer is null, or comes from [`Out::handle`] for this type, was not freed, and nobody else uses it now or later.
pub(crate) unsafe fn free<T>(handle: *mut T) {
    if !handle.is_null() {
        // SAFETY: `Out::handle` made it of a box, and it is freed once.
        let owned = unsafe { Box::from_raw(handle) };
        if let Err(payload) = catch_unwind(AssertUnwindSafe(|| drop(owned))) {
            std::mem::forget(payload);
        }
    }
}

/// The places for the results of a call.
pub(crate) struct Out<'a> {
    text: Option<&'a mut MaybeUninit<Text>>,
    usage: Option<&'a mut MaybeUninit<Usage>>,
    /// The name of the text, if there must be one.
    needed: Option<&'static str>,
}

impl<'a> Out<'a> {
    /// For a text that the caller must take.
    ///
    /// # Safety
    ///
    /// Each pointer is null, or points to aligned memory that can be written and that nothing else uses for `'a`.
    pub(crate) unsafe fn needed(name: &'static str, text: *mut Text, usage: *mut Usage) -> Self {
        // SAFETY: the same as here.
        Out { needed: Some(name), ..unsafe { Out::optional(text, usage) } }
    }

    /// For a text that the caller may leave out.
    ///
    /// # Safety
    ///
    /// That of [`Out::needed`].
    pub(crate) unsafe fn optional(text: *mut Text, usage: *mut Usage) -> Self {
        // SAFETY: the caller promises that both are null or can be written; they need not be initialised.
        let (text, usage) =
            unsafe { (text.cast::<MaybeUninit<Text>>().as_mut(), usage.cast::<MaybeUninit<Usage>>().as_mut()) };
        Out { text, usage, needed: None }
    }

    /// Runs a call, and writes what it made, or its fault. Both places are written in any case.
    pub(crate) fn answer(self, call: impl FnOnce() -> Result<Made, Failure>) -> Status {
        let made = match (self.needed, &self.text) {
            (Some(name), None) => Err(Failure::argument(name, "must not be null")),
            _ => guarded(call),
        };
        let (status, made) = match made {
            Ok(made) => (Status::Ok, made),
            Err(failure) => (failure.status(), Made::from(failure.to_json())),
        };
        if let Some(usage) = self.usage {
            usage.write(made.usage);
        }
        if let Some(text) = self.text {
            text.write(Text::new(made.text));
        }
        status
    }

    /// Runs a call that makes a handle. The text is empty, unless there is a fault; then the handle is null.
    ///
    /// # Safety
    ///
    /// `to` is null, or points to aligned memory that can be written and that nothing else uses now.
    pub(crate) unsafe fn handle<T>(self, to: *mut *mut T, call: impl FnOnce() -> Result<T, Failure>) -> Status {
        // SAFETY: the caller promises that it is null or can be written.
        let to = unsafe { to.cast::<MaybeUninit<*mut T>>().as_mut() };
        let made = match to {
            Some(to) => {
                let to = to.write(std::ptr::null_mut());
                guarded(call).map(|made| *to = Box::into_raw(Box::new(made)))
            }
            None => Err(Failure::argument("the place of the handle", "must not be null")),
        };
        if let Some(text) = self.text {
            text.write(made.as_ref().map_or_else(|failure| Text::new(failure.to_json()), |()| Text::NONE));
        }
        made.map_or_else(|failure| failure.status(), |()| Status::Ok)
    }
}

/// Runs a call. A panic is the fault `internal`.
fn guarded<T>(call: impl FnOnce() -> Result<T, Failure>) -> Result<T, Failure> {
    // A panic may leave a value half changed. `Turns` drops it, so nothing reads it afterwards.
    catch_unwind(AssertUnwindSafe(call)).unwrap_or_else(|payload| Err(Failure::panicked(payload)))
}

/// A value that threads use one after the other, and that a panic or a fault can end.
pub(crate) struct Turns<T> {
    name: &'static str,
    value: Mutex<Option<T>>,
}

impl<T> Turns<T> {
    pub(crate) fn new(name: &'static str, value: T) -> Self {
        Turns { name, value: Mutex::new(Some(value)) }
    }

    /// Uses the value when it is this thread's turn. It is put back only if `call` returns it.
    pub(crate) fn with<R>(&self, call: impl FnOnce(T) -> (Option<T>, Result<R, Failure>)) -> Result<R, Failure> {
        let mut place = self.value.lock().unwrap_or_else(PoisonError::into_inner);
        let value = place
            .take()
            .ok_or_else(|| Failure::request(self.name, "it is over: it was finished, or a fault ended it"))?;
        let (value, result) = call(value);
        *place = value;
        result
    }
}

#[cfg(test)]
mod tests {
    use std::ptr;

    use super::{Given, Out, Turns, handle};
    use crate::{
        failure::Failure,
        status::Status,
        value::{Made, Text, Usage, seamgate_text_free},
    };

    fn answer(call: impl FnOnce() -> Result<Made, Failure>) -> (Status, String) {
        let mut text = Text::NONE;
        // SAFETY: a place for a text, and none for the usage.
        let status = unsafe { Out::needed("report", &mut text, ptr::null_mut()) }.answer(call);
        // SAFETY: `answer` wrote the text, and a text has so many bytes.
        let said = unsafe { std::slice::from_raw_parts(text.data.cast::<u8>(), text.length + 1) };
        let (end, said) = said.split_last().expect("a byte at least");
        assert_eq!(*end, 0);
        let said = String::from_utf8(said.to_vec()).expect("UTF-8");
        for _ in 0..2 {
            // SAFETY: nothing else uses the text, and the first call leaves it empty, so that a second call frees nothing.
            unsafe { seamgate_text_free(&mut text) };
        }
        (status, said)
    }

    #[test]
    fn a_panic_is_the_fault_internal() {
        let (status, said) = answer(|| panic!("at {}", 7));
        assert_eq!(status, Status::Internal);
        assert_eq!(said, r#"{"fault":"internal","message":"the library has a bug: at 7","detail":{}}"#);
        let (status, _) = answer(|| std::panic::panic_any(7));
        assert_eq!(status, Status::Internal);
    }

    #[test]
    fn nothing_is_used_again_after_a_panic() {
        let turns = Turns::new("session", 7);
        assert_eq!(turns.with(|value| (Some(value + 1), Ok(()))).ok(), Some(()));
        let (status, _) = answer(|| turns.with(|value| panic!("with {value}")));
        assert_eq!(status, Status::Internal);
        let (status, said) = answer(|| turns.with(|_| unreachable!("it is over")));
        assert_eq!(status, Status::BadRequest);
        assert!(said.contains("session: it is over"), "{said}");
    }

    #[test]
    fn pointers_and_lengths_are_checked() {
        let given = |data: *const u8, length| {
            // SAFETY: null, or a text of this program, with its length or with one that no text has.
            let given = unsafe { Given::new("output", data.cast(), length) };
            given.bytes().map(<[u8]>::len).map_err(|failure| failure.to_json())
        };
        let text = "four";
        assert_eq!(given(text.as_ptr(), 4), Ok(4));
        assert_eq!(given(text.as_ptr(), 0), Ok(0));
        assert_eq!(given(ptr::null(), 0), Ok(0));
        for (data, length) in [(ptr::null(), 1), (ptr::null(), usize::MAX), (text.as_ptr(), usize::MAX)] {
            let said = given(data, length).expect_err("no memory");
            assert!(said.starts_with(r#"{"fault":"bad_argument","message":"output: "#), "{said}");
        }
        // SAFETY: bytes of this program.
        let given = unsafe { Given::new("agent", b"a\xff".as_ptr().cast(), 2) };
        assert!(given.text().is_err_and(|failure| failure.to_json().contains("agent: not UTF-8 at byte 1")));
        // SAFETY: null is allowed.
        assert!(unsafe { handle::<u8>("gate", ptr::null()) }.is_err());
    }

    #[test]
    fn results_without_a_place_are_a_fault_or_left_out() {
        let mut usage = Usage { fuel: 1, memory: 1, nanoseconds: 1 };
        // SAFETY: no place for a text, and one for the usage.
        let out = unsafe { Out::needed("report", ptr::null_mut(), &mut usage) };
        assert_eq!(out.answer(|| unreachable!("there is nowhere to put it")), Status::BadArgument);
        assert_eq!(usage, Usage::default());
        // SAFETY: no place for either.
        let out = unsafe { Out::optional(ptr::null_mut(), ptr::null_mut()) };
        assert_eq!(out.answer(|| Ok(Made::from("x".to_owned()))), Status::Ok);
        // SAFETY: no place for the handle.
        let out = unsafe { Out::optional(ptr::null_mut(), ptr::null_mut()) };
        // SAFETY: the same.
        assert_eq!(unsafe { out.handle(ptr::null_mut(), || Ok(7)) }, Status::BadArgument);
    }
}
