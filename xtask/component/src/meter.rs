//! A step budget inside the module, for hosts without fuel: browsers, Node, and runtimes of core modules.
//!
//! This rewrites the module of the component. The result counts its steps as Wasmtime counts fuel. It checks the budget where
//! Wasmtime does: at the start of a function or of a loop's body, and before a bulk copy. So the same request takes the same
//! fuel, and ends by the same limit, in every runtime. The module exports two globals:
//!
//! - `fuel` (`i64`): what is left. A host sets it before each call. With nothing left, the module executes `unreachable`.
//! - `memory_refused` (`i32`): 1 after the module asked for memory in vain. It has at most [`MEMORY`] bytes.
//!
//! A variant asks the host for more instead of ending: see [`Shape::Pausing`].

use std::convert::Infallible;

use anyhow::{Context, Result, anyhow, bail, ensure};
use sha2::{Digest, Sha256};
use wasm_encoder::{
    BlockType, CodeSection, Component, ConstExpr, CustomSection, Encode, EntityType, ExportKind, ExportSection,
    Function, FunctionSection, GlobalSection, GlobalType, ImportSection, Instruction, MemoryType, Module, Section,
    TypeSection, ValType,
    reencode::{self, Reencode, ReencodeComponent},
};
use wasmparser::{
    CodeSectionReader, CustomSectionReader, Encoding, Export, ExportSectionReader, FunctionBody, FunctionSectionReader,
    GlobalSectionReader, ImportSectionReader, Operator, Parser, Payload, TypeRef, TypeSectionReader,
};

/// The default memory limit of an instance: 64 MiB.
const MEMORY: u64 = 64 * 1024 * 1024;

/// Bytes in a page of memory.
const PAGE: u64 = 64 * 1024;

/// The exports that a core module keeps, by prefix (`guest/exports/src/abi.rs`).
const EXPORTS: [&str; 2] = ["memory", "seamgate_"];

/// The exports that a pausing module keeps, by the beginning and the end of their names, and what it calls them:
/// `wire.call` by the canonical ABI, as hosts of components call it.
const PAUSING_EXPORTS: [(&str, &str, &str); 4] = [
    ("memory", "", "memory"),
    ("cabi_realloc", "", "allocate"),
    ("seamgate:validator/wire@", "#call", "call"),
    ("cabi_post_seamgate:validator/wire@", "#call", "call_post"),
];

/// The custom section of a pausing module with the digest of the code that it was made of: [`code_digest`].
const CODE: &str = "seamgate-code";

/// The index of the function `refuel`.
const REFUEL: u32 = 0;

/// The imports and exports of a module, and the end of a call that has no fuel left.
#[derive(Clone, Copy, PartialEq)]
enum Shape {
    /// Keeps its place in a component.
    InComponent,
    /// Imports nothing, and exports [`EXPORTS`].
    Alone,
    /// Exports [`PAUSING_EXPORTS`], and imports the function `refuel` of the module `seamgate`. With nothing left it
    /// calls that, and continues if the host has set `fuel`. So a host ends a call at a step of its choice, and pays
    /// nothing between.
    Pausing,
}

/// Returns the component with its module metered.
pub(super) fn component(component: &[u8]) -> Result<Vec<u8>> {
    let mut metered = Component::new();
    let mut meter = Components { metered: 0 };
    meter
        .parse_component(&mut metered, Parser::new(0), component)
        .map_err(|error| anyhow!("cannot meter the component: {error}"))?;
    ensure!(meter.metered == 1, "expected one module with a memory in the component, not {}", meter.metered);
    Ok(metered.finish())
}

/// Returns the metered module of the component. It imports nothing, and passes bytes by address
/// (`guest/exports/src/abi.rs`).
///
/// The module in the component imports functions for resources. Only a component needs those, so here they trap.
pub(super) fn module(component: &[u8]) -> Result<Vec<u8>> {
    metered(inner_module(component)?, Shape::Alone)
}

/// Does the same, for hosts that end a call in the middle.
///
/// A baked component has the same code and other data. So that such a host can recognize the code, a custom section has
/// its digest.
pub(super) fn pausing(component: &[u8]) -> Result<Vec<u8>> {
    let module = inner_module(component)?;
    let mut pausing = metered(module, Shape::Pausing)?;
    for payload in Parser::new(0).parse_all(&pausing) {
        if let Payload::ExportSection(section) = payload? {
            let expected = PAUSING_EXPORTS.len() + 2;
            ensure!(section.count() as usize == expected, "expected {expected} exports, not {}", section.count());
        }
    }
    let digest = code_digest(module)?;
    let section = CustomSection { name: CODE.into(), data: digest.as_slice().into() };
    pausing.push(section.id());
    section.encode(&mut pausing);
    Ok(pausing)
}

/// Returns the SHA-256 of all sections of a module that baking leaves as they are, each after its number and its length
/// in four bytes.
fn code_digest(module: &[u8]) -> Result<[u8; 32]> {
    let mut digest = Sha256::new();
    for payload in Parser::new(0).parse_all(module) {
        let payload = payload?;
        match &payload {
            Payload::MemorySection(_) | Payload::GlobalSection(_) | Payload::DataSection(_) => continue,
            Payload::DataCountSection { .. } | Payload::CustomSection(_) => continue,
            _ => {}
        }
        let Some((id, range)) = payload.as_section() else { continue };
        let [start, end] = [range.start, range.end].map(usize::try_from);
        let section = module.get(start?..end?).context("a section lies outside the module")?;
        digest.update([id]);
        digest.update(u32::try_from(section.len())?.to_le_bytes());
        digest.update(section);
    }
    Ok(digest.finalize().into())
}

/// Returns the one module of the component that has a memory.
fn inner_module(component: &[u8]) -> Result<&[u8]> {
    for payload in Parser::new(0).parse_all(component) {
        if let Payload::ModuleSection { unchecked_range, .. } = payload? {
            let [start, end] = [unchecked_range.start, unchecked_range.end].map(usize::try_from);
            let module = component.get(start?..end?).context("a module lies outside the component")?;
            if has_memory(module)? {
                return Ok(module);
            }
        }
    }
    bail!("no module of the component has a memory")
}

/// Returns whether a module has a memory of its own. Other modules only forward calls.
fn has_memory(module: &[u8]) -> Result<bool> {
    for payload in Parser::new(0).parse_all(module) {
        if let Payload::MemorySection(section) = payload? {
            return Ok(section.count() > 0);
        }
    }
    Ok(false)
}

fn metered(module: &[u8], shape: Shape) -> Result<Vec<u8>> {
    let mut meter = Meter::new(module, shape)?;
    let mut metered = Module::new();
    meter.parse_core_module(&mut metered, Parser::new(0), module).context("cannot meter the module")?;
    Ok(metered.finish())
}

/// Rewrites a component.
struct Components {
    /// The number of its modules that were metered.
    metered: usize,
}

impl Reencode for Components {
    type Error = anyhow::Error;
}

impl ReencodeComponent for Components {
    fn parse_component_submodule(
        &mut self,
        component: &mut Component,
        _: Parser,
        module: &[u8],
    ) -> Result<(), reencode::Error<Self::Error>> {
        let failed = reencode::Error::UserError;
        if has_memory(module).map_err(failed)? {
            self.metered += 1;
            let module = metered(module, Shape::InComponent).map_err(failed)?;
            component.section(&wasm_encoder::RawSection { id: MODULE, data: &module });
        } else {
            component.section(&wasm_encoder::RawSection { id: MODULE, data: module });
        }
        Ok(())
    }
}

/// The section of a component that is a module.
const MODULE: u8 = wasm_encoder::ComponentSectionId::CoreModule as u8;

/// Rewrites a module.
struct Meter {
    /// The indices of the new globals.
    fuel: u32,
    memory_refused: u32,
    /// The types of the imported functions.
    imported: Vec<u32>,
    /// The number of parameters of each defined function.
    parameters: Vec<u32>,
    /// The number of functions written.
    written: usize,
    shape: Shape,
    /// The number of the module's own types.
    types: u32,
}

impl Meter {
    fn new(module: &[u8], shape: Shape) -> Result<Meter> {
        let mut mutable = 0_usize;
        let (mut globals, mut imported, mut types, mut functions) = (0, Vec::new(), Vec::new(), Vec::new());
        for payload in Parser::new(0).parse_all(module) {
            match payload? {
                Payload::Version { encoding, .. } => ensure!(encoding == Encoding::Module, "not a module"),
                Payload::TypeSection(section) => {
                    for ty in section.into_iter_err_on_gc_types() {
                        types.push(u32::try_from(ty?.params().len())?);
                    }
                }
                Payload::ImportSection(section) => {
                    for import in section.into_imports() {
                        match import?.ty {
                            TypeRef::Func(ty) => imported.push(ty),
                            other => bail!("the module must import only functions, not {other:?}"),
                        }
                    }
                }
                Payload::FunctionSection(section) => {
                    for ty in section {
                        let ty = usize::try_from(ty?)?;
                        functions.push(*types.get(ty).context("a function has an unknown type")?);
                    }
                }
                Payload::GlobalSection(section) => {
                    globals = section.count();
                    for global in section {
                        mutable += usize::from(global?.ty.mutable);
                    }
                }
                Payload::CodeSectionEntry(body) => {
                    for operator in body.get_operators_reader()? {
                        let operator = operator?;
                        // A host renews an instance by its memory, so nothing else may outlast a call.
                        ensure!(seamgate::stays_in_memory(&operator), "{operator:?} changes what is not in memory");
                    }
                }
                Payload::StartSection { .. } => bail!("a start function would run before the budget is set"),
                _ => {}
            }
        }
        // That one is the stack pointer. After each call it is back where it was.
        ensure!(mutable <= 1, "{mutable} globals change, and hosts that renew an instance know of one");
        let types = u32::try_from(types.len())?;
        let (fuel, memory_refused) = (globals, globals + 1);
        Ok(Meter { fuel, memory_refused, imported, parameters: functions, written: 0, shape, types })
    }

    /// Returns the name that an export keeps or gets. `None` drops it.
    fn exported<'e>(&self, export: &'e str) -> Option<&'e str> {
        match self.shape {
            Shape::InComponent => Some(export),
            Shape::Alone => EXPORTS.iter().any(|prefix| export.starts_with(prefix)).then_some(export),
            Shape::Pausing => PAUSING_EXPORTS.iter().find_map(|(start, end, name)| {
                let is_it =
                    if end.is_empty() { export == *start } else { export.starts_with(start) && export.ends_with(end) };
                is_it.then_some(*name)
            }),
        }
    }
}

/// Returns the cost of an operator, as in Wasmtime. It is free if it emits no code, or only directs control.
fn cost(operator: &Operator) -> i64 {
    match operator {
        Operator::Nop
        | Operator::Drop
        | Operator::Block { .. }
        | Operator::Loop { .. }
        | Operator::Unreachable
        | Operator::Return
        | Operator::Else
        | Operator::End => 0,
        _ => 1,
    }
}

/// Returns whether control may leave or arrive here. If so, the budget must pay for the steps so far.
fn ends_block(operator: &Operator) -> bool {
    matches!(
        operator,
        Operator::Unreachable
            | Operator::Return
            | Operator::Call { .. }
            | Operator::CallIndirect { .. }
            | Operator::ReturnCall { .. }
            | Operator::ReturnCallIndirect { .. }
            | Operator::Loop { .. }
            | Operator::If { .. }
            | Operator::Else
            | Operator::End
            | Operator::Br { .. }
            | Operator::BrIf { .. }
            | Operator::BrTable { .. }
    )
}

/// A function as it is written.
struct Body {
    function: Function,
    fuel: u32,
    /// The instruction that ends the call, or asks the host whether it ends.
    empty: Instruction<'static>,
    /// The steps that are not paid yet.
    pending: i64,
}

impl Body {
    /// Pays for the steps so far.
    fn take(&mut self) {
        let pending = std::mem::take(&mut self.pending);
        if pending != 0 {
            self.function
                .instruction(&Instruction::GlobalGet(self.fuel))
                .instruction(&Instruction::I64Const(pending))
                .instruction(&Instruction::I64Sub)
                .instruction(&Instruction::GlobalSet(self.fuel));
        }
    }

    /// Pays for a length, which is on the stack and in a local.
    fn take_length(&mut self, length: u32) {
        self.function
            .instruction(&Instruction::GlobalGet(self.fuel))
            .instruction(&Instruction::LocalGet(length))
            .instruction(&Instruction::I64ExtendI32U)
            .instruction(&Instruction::I64Sub)
            .instruction(&Instruction::GlobalSet(self.fuel));
    }

    /// Traps if nothing is left, or asks for more.
    fn look(&mut self) {
        self.function
            .instruction(&Instruction::GlobalGet(self.fuel))
            .instruction(&Instruction::I64Const(0))
            .instruction(&Instruction::I64LeS)
            .instruction(&Instruction::If(BlockType::Empty))
            .instruction(&self.empty)
            .instruction(&Instruction::End);
    }
}

impl Reencode for Meter {
    type Error = Infallible;

    fn function_index(&mut self, function: u32) -> Result<u32, reencode::Error> {
        // `refuel` comes first, as imports do.
        Ok(function + u32::from(self.shape == Shape::Pausing))
    }

    fn parse_type_section(
        &mut self,
        types: &mut TypeSection,
        section: TypeSectionReader<'_>,
    ) -> Result<(), reencode::Error> {
        reencode::utils::parse_type_section(self, types, section)?;
        if self.shape == Shape::Pausing {
            types.ty().function([], []);
        }
        Ok(())
    }

    fn parse_import_section(
        &mut self,
        imports: &mut ImportSection,
        section: ImportSectionReader<'_>,
    ) -> Result<(), reencode::Error> {
        match self.shape {
            Shape::InComponent => reencode::utils::parse_import_section(self, imports, section)?,
            Shape::Alone => {}
            Shape::Pausing => {
                imports.import("seamgate", "refuel", EntityType::Function(self.types));
            }
        }
        Ok(())
    }

    fn parse_function_section(
        &mut self,
        functions: &mut FunctionSection,
        section: FunctionSectionReader<'_>,
    ) -> Result<(), reencode::Error> {
        if self.shape != Shape::InComponent {
            // They come first, so every function keeps its index.
            for &ty in &self.imported {
                functions.function(ty);
            }
        }
        reencode::utils::parse_function_section(self, functions, section)
    }

    fn memory_type(&mut self, ty: wasmparser::MemoryType) -> Result<MemoryType, reencode::Error> {
        let mut ty = reencode::utils::memory_type(self, ty);
        ty.maximum = Some(MEMORY / PAGE);
        Ok(ty)
    }

    fn parse_global_section(
        &mut self,
        globals: &mut GlobalSection,
        section: GlobalSectionReader<'_>,
    ) -> Result<(), reencode::Error> {
        reencode::utils::parse_global_section(self, globals, section)?;
        let mutable = |val_type| GlobalType { val_type, mutable: true, shared: false };
        // Without a limit, until a host sets one.
        globals.global(mutable(ValType::I64), &ConstExpr::i64_const(i64::MAX));
        globals.global(mutable(ValType::I32), &ConstExpr::i32_const(0));
        Ok(())
    }

    fn parse_export_section(
        &mut self,
        exports: &mut ExportSection,
        section: ExportSectionReader<'_>,
    ) -> Result<(), reencode::Error> {
        for export in section {
            let export = export?;
            if let Some(name) = self.exported(export.name) {
                self.parse_export(exports, Export { name, ..export })?;
            }
        }
        exports.export("fuel", ExportKind::Global, self.fuel);
        exports.export("memory_refused", ExportKind::Global, self.memory_refused);
        Ok(())
    }

    fn parse_custom_section(
        &mut self,
        module: &mut Module,
        section: CustomSectionReader<'_>,
    ) -> Result<(), reencode::Error> {
        match self.shape {
            Shape::InComponent => reencode::utils::parse_custom_section(self, module, section),
            Shape::Alone | Shape::Pausing => Ok(()),
        }
    }

    fn parse_code_section(
        &mut self,
        code: &mut CodeSection,
        section: CodeSectionReader<'_>,
    ) -> Result<(), reencode::Error> {
        if self.shape != Shape::InComponent {
            for _ in &self.imported {
                let mut trap = Function::new([]);
                trap.instruction(&Instruction::Unreachable).instruction(&Instruction::End);
                code.function(&trap);
            }
        }
        reencode::utils::parse_code_section(self, code, section)
    }

    fn parse_function_body(
        &mut self,
        code: &mut CodeSection,
        function: FunctionBody<'_>,
    ) -> Result<(), reencode::Error> {
        let mut locals = Vec::new();
        let mut local = self.parameters.get(self.written).copied().unwrap_or_default();
        self.written += 1;
        for group in function.get_locals_reader()? {
            let (count, ty) = group?;
            local += count;
            locals.push((count, self.val_type(ty)?));
        }
        // One more, for a length or for the result of `memory.grow`.
        locals.push((1, ValType::I32));
        // A call costs one, so that none is free.
        let empty = match self.shape {
            Shape::Pausing => Instruction::Call(REFUEL),
            Shape::InComponent | Shape::Alone => Instruction::Unreachable,
        };
        let mut body = Body { function: Function::new(locals), fuel: self.fuel, empty, pending: 1 };
        body.take();
        body.look();
        let mut operators = function.get_operators_reader()?;
        while !operators.eof() {
            let operator = operators.read()?;
            body.pending += cost(&operator);
            if ends_block(&operator) {
                body.take();
            }
            if matches!(
                operator,
                Operator::MemoryCopy { .. } | Operator::MemoryFill { .. } | Operator::MemoryInit { .. }
            ) {
                // A byte costs one.
                body.take();
                body.function.instruction(&Instruction::LocalTee(local));
                body.take_length(local);
                body.look();
            }
            let begins_loop = matches!(operator, Operator::Loop { .. });
            let grows = matches!(operator, Operator::MemoryGrow { .. });
            body.function.instruction(&self.instruction(operator)?);
            if begins_loop {
                body.look();
            }
            if grows {
                body.function
                    .instruction(&Instruction::LocalTee(local))
                    .instruction(&Instruction::I32Const(-1))
                    .instruction(&Instruction::I32Eq)
                    .instruction(&Instruction::If(BlockType::Empty))
                    .instruction(&Instruction::I32Const(1))
                    .instruction(&Instruction::GlobalSet(self.memory_refused))
                    .instruction(&Instruction::End)
                    .instruction(&Instruction::LocalGet(local));
            }
        }
        code.function(&body.function);
        Ok(())
    }
}
