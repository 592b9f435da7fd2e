//! The exports of a core module. Arguments are written to its memory and answers are read from it, following the
//! canonical ABI (`abi.rs`). The steps have the same order as in Wasmtime's own calls, so that a call takes the same
//! fuel as through the component.

use std::cell::OnceCell;

use wasmtime::{
    Error, ExternType, Func, Instance, Memory, Module, ModuleExport, Result, Store, TypedFunc, ValRaw, ValType,
    WasmParams, WasmResults,
};

use crate::{
    sandbox::{engine::Clock, limiter::MemoryLimiter},
    types::{
        self, Candidate, Disposition, Observation, Report, Source, Span, Wanted,
        abi::{self, Lift, Lower, Reader, Room},
        document::Document,
        request::Request,
    },
};

/// A function of the module, and the function that frees its answer.
pub(crate) struct Function {
    call: ModuleExport,
    done: Option<ModuleExport>,
}

/// The functions of the world `seamgate:harness/harness`, as exports of a module.
macro_rules! functions {
    ($($name:ident: $package:literal $interface:literal $function:literal),* $(,)?) => {
        pub(crate) struct Functions {
            memory: ModuleExport,
            realloc: ModuleExport,
            fast_allocate: Numeric<1>,
            fast_validate: Numeric<4>,
            $(pub(crate) $name: Function),*
        }

        impl Functions {
            /// # Errors
            ///
            /// The module lacks a function.
            pub(crate) fn of(module: &Module) -> Result<Self> {
                Ok(Functions {
                    memory: export(module, "memory")?,
                    realloc: export(module, "cabi_realloc")?,
                    fast_allocate: Numeric::of(module, "fast_allocate")?,
                    fast_validate: Numeric::of(module, "fast_validate")?,
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

/// A function of the module that takes `N` numbers and returns one.
// The type is checked once for the module, because checking it for each instance updates counters that all threads
// share.
struct Numeric<const N: usize>(ModuleExport);

impl<const N: usize> Numeric<N> {
    /// # Errors
    ///
    /// The module lacks the function, or the function has another type.
    fn of(module: &Module, name: &str) -> Result<Self> {
        let is_number = |ty: ValType| matches!(ty, ValType::I32);
        match module.get_export(name) {
            Some(ExternType::Func(ty))
                if ty.params().len() == N
                    && ty.params().all(is_number)
                    && ty.results().len() == 1
                    && ty.results().all(is_number) =>
            {
                export(module, name).map(Numeric)
            }
            _ => Err(Error::msg(format!("the module has no function {name:?} of {N} numbers"))),
        }
    }
}

/// The arguments of a function, as the canonical ABI passes a small number of them.
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

/// The exports of an instance.
pub(crate) struct ModuleExports<'i> {
    functions: &'i Functions,
    handles: Handles,
}

/// The handles for calling an instance.
pub(crate) struct Handles {
    instance: Instance,
    pub(crate) memory: Memory,
    /// Looked up on first use, because the fast functions suffice for most instances.
    realloc: OnceCell<TypedFunc<(u32, u32, u32, u32), u32>>,
    fast_allocate: Func,
    fast_validate: Func,
}

/// An output that `fast_validate` accepts (`guest/src/fast_path.rs`).
struct Accepted {
    agent: String,
    schema_id: Option<String>,
    contract: String,
    marker: Option<String>,
    notes: Vec<String>,
    span: Span,
    source: Source,
}

abi::record!(Accepted {
    agent: String,
    schema_id: Option<String>,
    contract: String,
    marker: Option<String>,
    notes: Vec<String>,
    span: Span,
    source: Source,
});

impl Accepted {
    /// Returns the report on an output whose document is one of its pieces.
    ///
    /// # Errors
    ///
    /// The output has no such piece.
    fn report(self, output: &str) -> Result<Report> {
        let Accepted { agent, schema_id, contract, marker, notes, span, source } = self;
        let piece = output.get(span.start as usize..span.end as usize);
        let piece =
            piece.ok_or_else(|| Error::msg("the instance gave an invalid value: a span outside of the output"))?;
        Ok(Report {
            disposition: Disposition::Accepted,
            agent,
            schema_id,
            contract,
            output: Some(Document::of(piece)),
            error: None,
            items: Vec::new(),
            quarantined: Vec::new(),
            changes: Vec::new(),
            candidates: vec![Candidate { source, marker, span, chosen: true }],
            notes,
            review_required: false,
            feedback: String::new(),
            wanted: Wanted::Nothing,
            merged: Vec::new(),
        })
    }
}

impl<'i> ModuleExports<'i> {
    /// # Errors
    ///
    /// An export has another type.
    pub(crate) fn new(functions: &'i Functions, instance: Instance, store: &mut Store<MemoryLimiter>) -> Result<Self> {
        let memory = instance.get_module_export(&mut *store, &functions.memory).and_then(|found| found.into_memory());
        let memory = memory.ok_or_else(|| Error::msg("the memory is none"))?;
        let fast_allocate = func(instance, store, &functions.fast_allocate.0)?;
        let fast_validate = func(instance, store, &functions.fast_validate.0)?;
        let handles = Handles { instance, memory, realloc: OnceCell::new(), fast_allocate, fast_validate };
        Ok(ModuleExports { functions, handles })
    }

    /// Returns the exports of an instance that was called before.
    pub(crate) fn again(functions: &'i Functions, handles: Handles) -> Self {
        ModuleExports { functions, handles }
    }

    pub(crate) fn into_handles(self) -> Handles {
        self.handles
    }

    pub(crate) fn functions(&self) -> &'i Functions {
        self.functions
    }

    pub(crate) fn memory(&self) -> Memory {
        self.handles.memory
    }
}

fn func(instance: Instance, store: &mut Store<MemoryLimiter>, export: &ModuleExport) -> Result<Func> {
    let function = instance.get_module_export(&mut *store, export).and_then(|found| found.into_func());
    function.ok_or_else(|| Error::msg("an export is no function"))
}

fn typed<P: WasmParams, R: WasmResults>(
    instance: Instance,
    store: &mut Store<MemoryLimiter>,
    export: &ModuleExport,
) -> Result<TypedFunc<P, R>> {
    func(instance, store, export)?.typed(&*store)
}

/// A call into an instance.
pub(crate) struct Guest<'g, 'i> {
    exports: &'g ModuleExports<'i>,
    store: &'g mut Store<MemoryLimiter>,
    clock: Clock,
}

impl Room for Guest<'_, '_> {
    fn room(&mut self, align: usize, size: usize) -> Result<u32> {
        let (align, size) = (u32::try_from(align)?, u32::try_from(size)?);
        let exports = self.exports;
        let realloc = match exports.handles.realloc.get() {
            Some(found) => found,
            None => {
                let found = typed(exports.handles.instance, self.store, &exports.functions.realloc)?;
                exports.handles.realloc.get_or_init(|| found)
            }
        };
        let at = self.invoke(realloc, (0, 0, align, size))?;
        if !at.is_multiple_of(align) {
            return Err(Error::msg("the instance gave room that is not aligned"));
        }
        Ok(at)
    }

    fn write(&mut self, at: usize, bytes: &[u8]) -> Result<()> {
        Ok(self.exports.handles.memory.write(&mut *self.store, at, bytes)?)
    }
}

impl<'g, 'i> Guest<'g, 'i> {
    pub(crate) fn new(exports: &'g ModuleExports<'i>, store: &'g mut Store<MemoryLimiter>, clock: Clock) -> Self {
        Guest { exports, store, clock }
    }

    /// Calls a function whose answer needs more than one number, and reads the answer.
    pub(crate) fn call<P: Flat, T: Lift>(&mut self, function: &Function, params: P) -> Result<T> {
        let called: TypedFunc<P::Params, u32> = typed(self.exports.handles.instance, self.store, &function.call)?;
        let at = self.invoke(&called, params.params())?;
        let answer = self.read(at)?;
        self.done(function, at)?;
        Ok(answer)
    }

    /// Calls a function whose answer is one number, or nothing.
    pub(crate) fn simple<P: Flat, R: WasmResults + Sync>(&mut self, function: &Function, params: P) -> Result<R> {
        let called: TypedFunc<P::Params, R> = typed(self.exports.handles.instance, self.store, &function.call)?;
        self.invoke(&called, params.params())
    }

    /// Judges an output. Calls the fast function if the request has only an agent and an output.
    pub(crate) fn validate(&mut self, request: &Request) -> Result<Result<Box<Report>, types::WitFault>> {
        let validate = &self.exports.functions.validate;
        if !request.is_plain() {
            let params = self.request(request)?;
            return self.call(validate, params);
        }
        let (agent, output) = (request.agent().as_bytes(), request.output().as_bytes());
        let (agent_length, length) = (u32::try_from(agent.len())?, u32::try_from(agent.len() + output.len())?);
        let exports = self.exports;
        let at = self.number(exports.handles.fast_allocate, (length,), [ValRaw::u32(length)])?;
        self.write(at as usize, agent)?;
        self.write(at as usize + agent.len(), output)?;
        let params = (at, agent_length, length, request.why_finished() as u32);
        let raw = [params.0, params.1, params.2, params.3].map(ValRaw::u32);
        let at = self.number(exports.handles.fast_validate, params, raw)?;
        match self.read::<Result<Accepted, u32>>(at)? {
            Ok(accepted) => Ok(Ok(Box::new(accepted.report(request.output())?))),
            Err(at) => {
                let answer = self.read(at)?;
                self.done(validate, at)?;
                Ok(answer)
            }
        }
    }

    /// Calls a [`Numeric`] function. The caller passes the numbers in both forms.
    fn number<P: WasmParams + Send + Sync, const N: usize>(
        &mut self,
        function: Func,
        params: P,
        mut raw: [ValRaw; N],
    ) -> Result<u32> {
        if self.store.data().yields {
            let function: TypedFunc<P, u32> = function.typed(&*self.store)?;
            return self.clock.run(function.call_async(&mut *self.store, params));
        }
        // SAFETY: `Numeric::of` has checked that the function takes `N` numbers and returns one, for the module that
        // this instance belongs to. The numbers are in `raw`, which also has space for the result. No number is a
        // reference. The store does not check the clock, so it need not run on a stack of its own; and nothing else
        // runs in this store now, because it is borrowed.
        unsafe { function.call_unchecked(&mut *self.store, &raw mut raw)? };
        Ok(raw[0].get_u32())
    }

    /// Has a function free its answer.
    fn done(&mut self, function: &Function, at: u32) -> Result<()> {
        let Some(done) = &function.done else {
            return Ok(());
        };
        let done: TypedFunc<u32, ()> = typed(self.exports.handles.instance, self.store, done)?;
        self.invoke(&done, at)
    }

    fn read<T: Lift>(&self, at: u32) -> Result<T> {
        Reader::new(self.exports.handles.memory.data(&*self.store)).read(at)
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

/// Returns an optional number as two numbers.
pub(crate) fn optional(number: Option<u32>) -> [u32; 2] {
    number.map_or([0; 2], |number| [1, number])
}
