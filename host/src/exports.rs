//! What an instance exports, an interface at a time: to look up all of them for one call would cost more than the call.

use std::cell::OnceCell;

use wasmtime::{
    AsContextMut, Result,
    component::{Instance, InstancePre},
};

use crate::bindings::exports::seamgate::validator::{merge, registry, stream, validate, wire};

/// The interfaces of the world `seamgate:validator/validator`: where a component has them, and where an instance does.
macro_rules! interfaces {
    ($($interface:ident),*) => {
        /// Where a component has the interfaces.
        pub(crate) struct Interfaces {
            $($interface: $interface::GuestIndices),*
        }

        impl Interfaces {
            /// # Errors
            ///
            /// One of them is missing.
            pub(crate) fn of<T>(component: &InstancePre<T>) -> Result<Self> {
                Ok(Interfaces { $($interface: $interface::GuestIndices::new(component)?),* })
            }
        }

        /// The interfaces of an instance, each looked up when it is first used.
        pub(crate) struct Exports<'i> {
            interfaces: &'i Interfaces,
            instance: Instance,
            $($interface: OnceCell<$interface::Guest>),*
        }

        impl<'i> Exports<'i> {
            pub(crate) fn new(interfaces: &'i Interfaces, instance: Instance) -> Self {
                Exports { interfaces, instance, $($interface: OnceCell::new()),* }
            }

            /// # Errors
            ///
            /// A function of theirs has another type.
            pub(crate) fn look_up_all(&self, mut store: impl AsContextMut) -> Result<()> {
                $(self.$interface(&mut store)?;)*
                Ok(())
            }

            pub(crate) fn instance(&self) -> Instance {
                self.instance
            }

            $(pub(crate) fn $interface(&self, store: impl AsContextMut) -> Result<&$interface::Guest> {
                if let Some(guest) = self.$interface.get() {
                    return Ok(guest);
                }
                let guest = self.interfaces.$interface.load(store, &self.instance)?;
                Ok(self.$interface.get_or_init(|| guest))
            })*
        }
    };
}

interfaces!(validate, registry, stream, merge, wire);
