//! Work off the thread of JavaScript.

use napi::{
    Env, Task,
    bindgen_prelude::{AsyncTask, ToNapiValue, TypeName, Uint8Array},
};

use crate::{
    error::{self, Result},
    verdict::{Judged, NativeOutcome},
};

/// A value made on another thread, and its conversion to JavaScript.
pub trait Made: ToNapiValue + TypeName + Sized + 'static {
    /// The type that crosses threads.
    type From: Send + 'static;

    /// Converts the value to JavaScript.
    fn of(made: Self::From) -> Self;
}

impl Made for Uint8Array {
    type From = Vec<u8>;

    fn of(made: Vec<u8>) -> Self {
        made.into()
    }
}

impl Made for Judged {
    type From = Judged;

    fn of(made: Judged) -> Self {
        made
    }
}

impl Made for Vec<NativeOutcome> {
    type From = Vec<NativeOutcome>;

    fn of(made: Vec<NativeOutcome>) -> Self {
        made
    }
}

impl Made for String {
    type From = String;

    fn of(made: String) -> Self {
        made
    }
}

type Work<T> = Box<dyn FnOnce() -> Result<T> + Send>;

/// Work that returns a promise.
pub struct Later<T: Made>(Option<Work<T::From>>);

impl<T: Made> Later<T> {
    pub(crate) fn new(work: impl FnOnce() -> Result<T::From> + Send + 'static) -> AsyncTask<Self> {
        AsyncTask::new(Later(Some(Box::new(work))))
    }
}

impl<T: Made> Task for Later<T> {
    type Output = T::From;
    type JsValue = T;

    fn compute(&mut self) -> napi::Result<T::From> {
        match self.0.take() {
            Some(work) => work().map_err(error::told),
            None => Err(napi::Error::from_reason("the work is done already")),
        }
    }

    fn resolve(&mut self, _env: Env, output: T::From) -> napi::Result<T> {
        Ok(T::of(output))
    }
}
