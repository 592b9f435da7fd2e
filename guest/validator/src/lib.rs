//! The small component: only `seamgate_core`, behind the WIT world `seamgate:validator/validator`.
#![allow(clippy::undocumented_unsafe_blocks, reason = "the macro that exports it")]
#![allow(missing_docs, reason = "the exports are documented in wit/")]

#[rustfmt::skip]
#[allow(unreachable_pub, reason = "generated")]
mod world;

/// The component without the kernel. Its `wire` interface has no further operations.
struct Validator;

impl seamgate_exports::Component for Validator {
    type Operations = ();

    fn with_operations<T>(run: impl FnOnce(&mut ()) -> T) -> T {
        run(&mut ())
    }
}

seamgate_exports::export_call!(Validator);
world::export!(Validator with_types_in seamgate_exports::bindings);
