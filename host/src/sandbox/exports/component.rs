//! The exports of a component. Each interface is looked up on its own, because looking up all of them for one call
//! costs more than the call.

use std::cell::OnceCell;

use wasmtime::{
    AsContextMut, Result,
    component::{Instance, InstancePre},
};

use crate::bindings::exports::seamgate::{
    harness::{kernel, profiles},
    validator::{merge, registry, stream, validate, wire},
};

/// The interfaces of the world `seamgate:harness/harness`: their indices in a component, and their exports in an
/// instance. A component of the world `seamgate:validator/validator` lacks the optional ones.
macro_rules! interfaces {
    ($($interface:ident),*; optional $($optional:ident),*) => {
        /// The indices of the interfaces in a component.
        pub(crate) struct Interfaces {
            $($interface: $interface::GuestIndices,)*
            $($optional: Option<$optional::GuestIndices>),*
        }

        impl Interfaces {
            /// # Errors
            ///
            /// The component lacks an interface.
            pub(crate) fn of<T>(component: &InstancePre<T>) -> Result<Self> {
                Ok(Interfaces {
                    $($interface: $interface::GuestIndices::new(component)?,)*
                    $($optional: $optional::GuestIndices::new(component).ok()),*
                })
            }
        }

        /// The interfaces of an instance, each looked up on first use.
        pub(crate) struct ComponentExports<'i> {
            interfaces: &'i Interfaces,
            instance: Instance,
            $($interface: OnceCell<$interface::Guest>,)*
            $($optional: OnceCell<$optional::Guest>),*
        }

        impl<'i> ComponentExports<'i> {
            pub(crate) fn new(interfaces: &'i Interfaces, instance: Instance) -> Self {
                ComponentExports {
                    interfaces,
                    instance,
                    $($interface: OnceCell::new(),)*
                    $($optional: OnceCell::new()),*
                }
            }

            /// # Errors
            ///
            /// A function does not have the expected type.
            pub(crate) fn look_up_all(&self, mut store: impl AsContextMut) -> Result<()> {
                $(self.$interface(&mut store)?;)*
                $(if self.interfaces.$optional.is_some() {
                    self.$optional(&mut store)?;
                })*
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

            /// # Errors
            ///
            /// The component lacks the interface.
            $(pub(crate) fn $optional(&self, store: impl AsContextMut) -> Result<&$optional::Guest> {
                if let Some(guest) = self.$optional.get() {
                    return Ok(guest);
                }
                let name = concat!("the component has no seamgate:harness/", stringify!($optional));
                let indices = self.interfaces.$optional.as_ref().ok_or_else(|| wasmtime::Error::msg(name))?;
                let guest = indices.load(store, &self.instance)?;
                Ok(self.$optional.get_or_init(|| guest))
            })*
        }
    };
}

interfaces!(validate, registry, stream, merge, wire; optional profiles, kernel);

impl Interfaces {
    /// Returns whether the component has the interfaces of the kernel.
    pub(crate) fn has_kernel(&self) -> bool {
        self.profiles.is_some() && self.kernel.is_some()
    }
}
