//! The exports of a core module: arguments are written to its memory and answers are read from it, as the canonical ABI
//! says (`abi.rs`). In the order of Wasmtime's own calls, so that a call takes the same fuel through its component.

use std::cell::OnceCell;

use wasmtime::{
    Error, Instance, Memory as Linear, Module, ModuleExport, Result, Store, TypedFunc, WasmParams, WasmResults,
};

use crate::{
    abi::{self, Lift, Lower, Reader, Room},
    engine::Clock,
    memory::Memory,
    request::Request,
    types::Observation,
};

/// A function of the module, and what takes its answer back.
pub(crate) struct Function {
    call: ModuleExport,
    done: Option<ModuleExport>,
}

/// The functions of the world `seamgate:harness/harness`: their places in a module.
macro_rules! functions {
    ($($name:ident: $package:literal $interface:literal $function:literal),* $(,)?) => {
        pub(crate) struct Functions {
            memory: ModuleExport,
            realloc: ModuleExport,
            $(pub(crate) $name: Function),*
        }

        impl Functions {
            /// # Errors
            ///
            /// The module lacks one.
            pub(crate) fn of(module: &Module) -> Result<Self> {
                Ok(Functions {
                    memory: export(module, "memory")?,
                    realloc: export(module, "cabi_realloc")?,
                    $($name: function(module, concat!(
                        "seamgate:", $package, "/", $interface, "@", env!("CARGO_PKG_VERSION"), "#", $function
                    ))?),*
                })
            }
        }
    };
}

functions! {
    validate: "validator" "validate" "validate",
    validate_with: "validator" "validate" "validate-with",
    register: "validator" "registry" "register",
    names: "validator" "registry" "names",
    contract: "validator" "registry" "contract",
    describe: "validator" "registry" "describe",
    lint: "validator" "registry" "lint",
    seal: "validator" "registry" "seal",
    is_sealed: "validator" "registry" "is-sealed",
    merge: "validator" "merge" "merge",
    open: "validator" "stream" "[static]session.open",
    push: "validator" "stream" "[method]session.push",
    finish: "validator" "stream" "[method]session.finish",
    call: "validator" "wire" "call",
    register_profile: "harness" "profiles" "register",
    profile_names: "harness" "profiles" "names",
    profile: "harness" "profiles" "profile",
    describe_profile: "harness" "profiles" "describe",
    lint_profile: "harness" "profiles" "lint",
    surface: "harness" "kernel" "surface",
    permit: "harness" "kernel" "permit",
    observe: "harness" "kernel" "observe",
    advance: "harness" "kernel" "advance",
    project: "harness" "kernel" "project",
}

fn export(module: &Module, name: &str) -> Result<ModuleExport> {
    module.get_export_index(name).ok_or_else(|| Error::msg(format!("the module has no export {name:?}")))
}

fn function(module: &Module, name: &str) -> Result<Function> {
    Ok(Function { call: export(module, name)?, done: module.get_export_index(&format!("cabi_post_{name}")) })
}

/// The arguments of a function, as the canonical ABI passes few of them.
pub(crate) trait Flat {
    type Params: WasmParams + Send + Sync;

    fn params(self) -> Self::Params;
}

macro_rules! flat {
    ($($length:literal: $($argument:ident)*;)*) => {
        $(impl Flat for [u32; $length] {
            type Params = ($(flat!(@ $argument),)*);

            fn params(self) -> Self::Params {
                let [$($argument),*] = self;
                ($($argument,)*)
            }
        })*
    };
    (@ $argument:ident) => { u32 };
}

impl Flat for [u32; 0] {
    type Params = ();

    fn params(self) {}
}

flat! {
    2: a b;
    3: a b c;
    4: a b c d;
    6: a b c d e f;
    7: a b c d e f g;
    8: a b c d e f g h;
    12: a b c d e f g h i j k l;
    14: a b c d e f g h i j k l m n;
}

type Validate = TypedFunc<<[u32; 12] as Flat>::Params, u32>;

/// The exports of an instance.
pub(crate) struct Exports<'i> {
    functions: &'i Functions,
    instance: Instance,
    memory: Linear,
    realloc: TypedFunc<(u32, u32, u32, u32), u32>,
    /// Looked up on first use: most instances answer by this one.
    validate: OnceCell<(Validate, TypedFunc<u32, ()>)>,
}

impl<'i> Exports<'i> {
    /// # Errors
    ///
    /// One of them has another type.
    pub(crate) fn new(functions: &'i Functions, instance: Instance, store: &mut Store<Memory>) -> Result<Self> {
        let memory = instance.get_module_export(&mut *store, &functions.memory).and_then(|found| found.into_memory());
        let memory = memory.ok_or_else(|| Error::msg("the memory is none"))?;
        let realloc = typed(instance, store, &functions.realloc)?;
        Ok(Exports { functions, instance, memory, realloc, validate: OnceCell::new() })
    }

    pub(crate) fn functions(&self) -> &'i Functions {
        self.functions
    }

    pub(crate) fn memory(&self) -> Linear {
        self.memory
    }
}

fn typed<P: WasmParams, R: WasmResults>(
    instance: Instance,
    store: &mut Store<Memory>,
    export: &ModuleExport,
) -> Result<TypedFunc<P, R>> {
    let function = instance.get_module_export(&mut *store, export).and_then(|found| found.into_func());
    function.ok_or_else(|| Error::msg("an export is no function"))?.typed(&*store)
}

/// A call of an instance.
pub(crate) struct Guest<'g, 'i> {
    exports: &'g Exports<'i>,
    store: &'g mut Store<Memory>,
    clock: Clock,
}

impl Room for Guest<'_, '_> {
    fn room(&mut self, align: usize, size: usize) -> Result<u32> {
        let (align, size) = (u32::try_from(align)?, u32::try_from(size)?);
        let at = self.invoke(&self.exports.realloc, (0, 0, align, size))?;
        if !at.is_multiple_of(align) {
            return Err(Error::msg("the instance gave room that is not aligned"));
        }
        Ok(at)
    }

    fn write(&mut self, at: usize, bytes: &[u8]) -> Result<()> {
        Ok(self.exports.memory.write(&mut *self.store, at, bytes)?)
    }
}

impl<'g, 'i> Guest<'g, 'i> {
    pub(crate) fn new(exports: &'g Exports<'i>, store: &'g mut Store<Memory>, clock: Clock) -> Self {
        Guest { exports, store, clock }
    }

    /// Call a function whose answer takes more than a number, and read it.
    pub(crate) fn call<P: Flat, T: Lift>(&mut self, function: &Function, params: P) -> Result<T> {
        let called: TypedFunc<P::Params, u32> = typed(self.exports.instance, self.store, &function.call)?;
        let at = self.invoke(&called, params.params())?;
        let answer = self.read(at)?;
        if let Some(done) = &function.done {
            let done: TypedFunc<u32, ()> = typed(self.exports.instance, self.store, done)?;
            self.invoke(&done, at)?;
        }
        Ok(answer)
    }

    /// Call a function whose answer is a number, if there is any.
    pub(crate) fn simple<P: Flat, R: WasmResults + Sync>(&mut self, function: &Function, params: P) -> Result<R> {
        let called: TypedFunc<P::Params, R> = typed(self.exports.instance, self.store, &function.call)?;
        self.invoke(&called, params.params())
    }

    /// The same as [`call`](Guest::call) for `validate`.
    pub(crate) fn validate<T: Lift>(&mut self, request: [u32; 12]) -> Result<T> {
        let exports = self.exports;
        let function = &exports.functions.validate;
        let (called, done) = match exports.validate.get() {
            Some(found) => found,
            None => {
                let done = function.done.as_ref().ok_or_else(|| Error::msg("nothing takes a report back"))?;
                let called = typed(exports.instance, self.store, &function.call)?;
                let done = typed(exports.instance, self.store, done)?;
                exports.validate.get_or_init(|| (called, done))
            }
        };
        let at = self.invoke(called, request.params())?;
        let answer = self.read(at)?;
        self.invoke(done, at)?;
        Ok(answer)
    }

    fn read<T: Lift>(&self, at: u32) -> Result<T> {
        Reader::new(self.exports.memory.data(&*self.store)).read(at)
    }

    fn invoke<P: WasmParams + Send + Sync, R: WasmResults + Sync>(
        &mut self,
        function: &TypedFunc<P, R>,
        params: P,
    ) -> Result<R> {
        match self.store.data().yields {
            true => self.clock.run(function.call_async(&mut *self.store, params)),
            false => function.call(&mut *self.store, params),
        }
    }

    pub(crate) fn text(&mut self, text: &str) -> Result<[u32; 2]> {
        let (at, length) = abi::text(self, text)?;
        Ok([at, length])
    }

    pub(crate) fn optional_text(&mut self, text: Option<&str>) -> Result<[u32; 3]> {
        Ok(match text {
            Some(text) => {
                let (at, length) = abi::text(self, text)?;
                [1, at, length]
            }
            None => [0; 3],
        })
    }

    pub(crate) fn list<T: Lower>(&mut self, items: &[T]) -> Result<[u32; 2]> {
        let (at, length) = abi::list(self, items)?;
        Ok([at, length])
    }

    pub(crate) fn evidence(&mut self, observations: Option<&[Observation]>) -> Result<[u32; 3]> {
        Ok(match observations {
            Some(observations) => {
                let (at, length) = abi::list(self, observations)?;
                [1, at, length]
            }
            None => [0; 3],
        })
    }

    pub(crate) fn request(&mut self, request: &Request) -> Result<[u32; 12]> {
        let [agent, agent_length] = self.text(request.agent())?;
        let [output, output_length] = self.text(request.output())?;
        let [lists, lists_length] = self.list(request.lists())?;
        let [is_some, evidence, evidence_length] = self.evidence(request.observations())?;
        let [is_invalid, at] = optional(request.first_invalid());
        let finish = request.why_finished() as u32;
        Ok([
            agent,
            agent_length,
            output,
            output_length,
            finish,
            lists,
            lists_length,
            is_some,
            evidence,
            evidence_length,
            is_invalid,
            at,
        ])
    }
}

/// A number that may be missing.
pub(crate) fn optional(number: Option<u32>) -> [u32; 2] {
    number.map_or([0; 2], |number| [1, number])
}
