//! A module without vectors, for runtimes that have none, such as compilers to JVM bytecode.
//!
//! A vector of 128 bits becomes two integers of 64 bits, the lower one first: on the stack, in locals and in memory. The
//! module computes the same, and a metered module counts the same fuel, because this comes after the meter.

use anyhow::{Context, Result, anyhow, ensure};
use wasm_encoder::{
    CodeSection, Function, FunctionSection, Instruction, MemArg, Module, TypeSection, ValType,
    reencode::{self, Reencode},
};
use wasmparser::{
    CodeSectionReader, FuncToValidate, FuncValidator, FuncValidatorAllocations, FunctionBody, FunctionSectionReader,
    Operator, Parser, Payload, TypeRef, TypeSectionReader, ValidPayload, Validator, ValidatorResources, WasmFeatures,
};

/// One in each of eight bytes.
const ONES: i64 = 0x0101_0101_0101_0101;

/// The high bit of each of eight bytes.
const HIGH: i64 = 0x8080_8080_8080_8080_u64.cast_signed();

/// All other bits.
const LOW: i64 = !HIGH;

/// Rewrites a module. The result has no vectors: anything that this does not know is an error.
pub(super) fn module(module: &[u8]) -> Result<Vec<u8>> {
    let mut scalar = Scalar::new(module)?;
    let mut written = Module::new();
    scalar
        .parse_core_module(&mut written, Parser::new(0), module)
        .map_err(|error| anyhow!("cannot replace the vectors of the module: {error}"))?;
    let written = written.finish();
    let features = WasmFeatures::default().difference(WasmFeatures::SIMD | WasmFeatures::RELAXED_SIMD);
    Validator::new_with_features(features).validate_all(&written).context("the module still has vectors")?;
    Ok(written)
}

/// Functions that the module gets. Each works on eight bytes at once.
#[derive(Clone, Copy)]
enum Helper {
    /// The high bit of each byte that is not zero.
    NotZero,
    /// 255 for each byte whose high bit is set, and zero for the others.
    Fill,
    /// A byte each: whether the first is less than the second, without signs.
    Less,
    /// The sum of each two bytes.
    Add,
    /// The high bits of the bytes, as one byte.
    Bits,
}

const HELPERS: [Helper; 5] = [Helper::NotZero, Helper::Fill, Helper::Less, Helper::Add, Helper::Bits];

struct Scalar {
    /// The number of the module's functions, imports included. The helpers come after them.
    functions: u32,
    /// The number of the module's types. Those of the helpers come after them.
    types: u32,
    /// The number of parameters of each defined function.
    parameters: Vec<u32>,
    validators: std::vec::IntoIter<FuncToValidate<ValidatorResources>>,
    allocations: FuncValidatorAllocations,
    written: usize,
}

impl Scalar {
    fn new(module: &[u8]) -> Result<Self> {
        let mut validator = Validator::new();
        let (mut types, mut imports, mut parameters, mut validators) = (Vec::new(), 0, Vec::new(), Vec::new());
        for payload in Parser::new(0).parse_all(module) {
            let payload = payload?;
            match &payload {
                Payload::TypeSection(section) => {
                    for ty in section.clone().into_iter_err_on_gc_types() {
                        types.push(u32::try_from(ty?.params().len())?);
                    }
                }
                Payload::ImportSection(section) => {
                    for import in section.clone().into_imports() {
                        imports += u32::from(matches!(import?.ty, TypeRef::Func(_)));
                    }
                }
                Payload::FunctionSection(section) => {
                    for ty in section.clone() {
                        parameters.push(*types.get(usize::try_from(ty?)?).context("a function has an unknown type")?);
                    }
                }
                _ => {}
            }
            if let ValidPayload::Func(function, _) = validator.payload(&payload)? {
                validators.push(function);
            }
        }
        let functions = imports + u32::try_from(parameters.len())?;
        ensure!(validators.len() == parameters.len(), "the module lacks the code of functions");
        let types = u32::try_from(types.len())?;
        let (validators, allocations) = (validators.into_iter(), FuncValidatorAllocations::default());
        Ok(Scalar { functions, types, parameters, validators, allocations, written: 0 })
    }

    fn call(&self, helper: Helper) -> Instruction<'static> {
        Instruction::Call(self.functions + helper as u32)
    }
}

/// A local of the module that is written: where it is, and whether it is a vector, in two locals.
#[derive(Clone, Copy)]
struct Local {
    at: u32,
    is_vector: bool,
}

/// Locals that hold what is on the stack.
struct Scratch {
    address: u32,
    /// The lower half of the first vector of two is left on the stack. This is the upper one.
    first: u32,
    low: u32,
    high: u32,
}

impl Scratch {
    /// Applies the same to both halves of one or of two vectors.
    fn halves(&self, is_pair: bool, each: &[Instruction<'static>]) -> Vec<Instruction<'static>> {
        let Scratch { first, low, high, .. } = *self;
        let mut code = match is_pair {
            true => vec![Instruction::LocalSet(high), Instruction::LocalSet(low), Instruction::LocalSet(first)],
            false => vec![Instruction::LocalSet(first)],
        };
        code.extend(is_pair.then_some(Instruction::LocalGet(low)));
        code.extend_from_slice(each);
        code.push(Instruction::LocalGet(first));
        code.extend(is_pair.then_some(Instruction::LocalGet(high)));
        code.extend_from_slice(each);
        code
    }
}

/// Returns the place of the upper half of a vector in memory.
fn upper(memarg: MemArg) -> MemArg {
    MemArg { offset: memarg.offset + 8, ..memarg }
}

impl Scalar {
    /// Returns what stands in place of an operator. `None` leaves it as it is, but for its indices. `is_vector` says
    /// whether a vector is on top of the stack, or below the condition of a `select`.
    fn lowered(
        &mut self,
        operator: &Operator<'_>,
        locals: &[Local],
        scratch: &Scratch,
        is_vector: bool,
    ) -> Result<Option<Vec<Instruction<'static>>>> {
        use Instruction as I;
        let Scratch { address, first, low, high } = *scratch;
        let local = |index: u32| locals.get(index as usize).copied().context("an unknown local");
        let memory = |scalar: &mut Self, memarg: wasmparser::MemArg| -> Result<MemArg> {
            let memarg = scalar.mem_arg(memarg).map_err(|error| anyhow!("{error}"))?;
            Ok(MemArg { align: memarg.align.min(3), ..memarg })
        };
        let binary = |each: &[I<'static>]| scratch.halves(true, each);
        Ok(Some(match *operator {
            Operator::LocalGet { local_index } => match local(local_index)? {
                Local { at, is_vector: false } => vec![I::LocalGet(at)],
                Local { at, is_vector: true } => vec![I::LocalGet(at), I::LocalGet(at + 1)],
            },
            Operator::LocalSet { local_index } => match local(local_index)? {
                Local { at, is_vector: false } => vec![I::LocalSet(at)],
                Local { at, is_vector: true } => vec![I::LocalSet(at + 1), I::LocalSet(at)],
            },
            Operator::LocalTee { local_index } => match local(local_index)? {
                Local { at, is_vector: false } => vec![I::LocalTee(at)],
                Local { at, is_vector: true } => vec![I::LocalSet(at + 1), I::LocalTee(at), I::LocalGet(at + 1)],
            },
            Operator::Drop if is_vector => vec![I::Drop, I::Drop],
            Operator::Select if is_vector => {
                let mut code = vec![I::LocalSet(address)];
                code.extend(binary(&[I::LocalGet(address), I::Select]));
                code
            }
            Operator::V128Const { value } => {
                let value = value.i128().cast_unsigned();
                let [below, above] = [value, value >> 64].map(|half| (half & u128::from(u64::MAX)) as i64);
                vec![I::I64Const(below), I::I64Const(above)]
            }
            Operator::V128Load { memarg } => {
                let memarg = memory(self, memarg)?;
                let again = [I::LocalGet(address), I::I64Load(upper(memarg))];
                [I::LocalTee(address), I::I64Load(memarg)].into_iter().chain(again).collect()
            }
            Operator::V128Store { memarg } => {
                let memarg = memory(self, memarg)?;
                vec![
                    I::LocalSet(high),
                    I::LocalSet(low),
                    I::LocalTee(address),
                    I::LocalGet(low),
                    I::I64Store(memarg),
                    I::LocalGet(address),
                    I::LocalGet(high),
                    I::I64Store(upper(memarg)),
                ]
            }
            Operator::V128Load64Zero { memarg } => vec![I::I64Load(memory(self, memarg)?), I::I64Const(0)],
            Operator::V128Load64Lane { memarg, lane } => {
                let load = I::I64Load(memory(self, memarg)?);
                match lane {
                    0 => vec![I::LocalSet(high), I::Drop, load, I::LocalGet(high)],
                    _ => vec![
                        I::Drop,
                        I::LocalSet(low),
                        I::LocalSet(address),
                        I::LocalGet(low),
                        I::LocalGet(address),
                        load,
                    ],
                }
            }
            Operator::V128Load8Splat { memarg } => vec![
                I::I64Load8U(memory(self, memarg)?),
                I::I64Const(ONES),
                I::I64Mul,
                I::LocalTee(low),
                I::LocalGet(low),
            ],
            Operator::I8x16Splat => vec![
                I::I64ExtendI32U,
                I::I64Const(0xff),
                I::I64And,
                I::I64Const(ONES),
                I::I64Mul,
                I::LocalTee(low),
                I::LocalGet(low),
            ],
            Operator::I64x2Splat => vec![I::LocalTee(low), I::LocalGet(low)],
            Operator::I64x2ReplaceLane { lane: 0 } => {
                vec![I::LocalSet(low), I::LocalSet(high), I::Drop, I::LocalGet(low), I::LocalGet(high)]
            }
            Operator::I64x2ReplaceLane { .. } => vec![I::LocalSet(high), I::Drop, I::LocalGet(high)],
            Operator::V128And => binary(&[I::I64And]),
            Operator::V128Or => binary(&[I::I64Or]),
            Operator::I8x16Eq => {
                let flip = [I::I64Const(HIGH), I::I64Xor, self.call(Helper::Fill)];
                let differ = [I::I64Xor, self.call(Helper::NotZero)];
                binary(&[differ.as_slice(), &flip].concat())
            }
            Operator::I8x16Ne => binary(&[I::I64Xor, self.call(Helper::NotZero), self.call(Helper::Fill)]),
            Operator::I8x16LtU => binary(&[self.call(Helper::Less), self.call(Helper::Fill)]),
            Operator::I8x16LtS => {
                // With the signs turned around, the order is that without signs.
                let mut code = vec![I::LocalSet(high), I::LocalSet(low), I::LocalSet(first)];
                let signed = [I::I64Const(HIGH), I::I64Xor];
                let less = [self.call(Helper::Less), self.call(Helper::Fill)];
                for (before, of) in [(None, low), (Some(first), high)] {
                    code.extend(before.map(I::LocalGet));
                    code.extend(signed.iter().cloned().chain([I::LocalGet(of)]).chain(signed.clone()));
                    code.extend(less.clone());
                }
                code
            }
            Operator::I8x16Add => binary(&[self.call(Helper::Add)]),
            Operator::V128AnyTrue => vec![I::I64Or, I::I64Const(0), I::I64Ne],
            Operator::I8x16AllTrue => {
                let mut code = scratch.halves(false, &[self.call(Helper::NotZero)]);
                code.extend([I::I64And, I::I64Const(HIGH), I::I64Eq]);
                code
            }
            Operator::I8x16Bitmask => {
                let mut code = scratch.halves(false, &[self.call(Helper::Bits)]);
                code.extend([I::I64Const(8), I::I64Shl, I::I64Or, I::I32WrapI64]);
                code
            }
            _ => return Ok(None),
        }))
    }
}

impl Helper {
    fn parameters(self) -> usize {
        match self {
            Helper::NotZero | Helper::Fill | Helper::Bits => 1,
            Helper::Less | Helper::Add => 2,
        }
    }

    fn body(self) -> Function {
        use Instruction as I;
        let mask = |mask| [I::I64Const(mask), I::I64And];
        let not = [I::I64Const(-1), I::I64Xor];
        let (a, b) = (I::LocalGet(0), I::LocalGet(1));
        let mut function = Function::new([]);
        let mut write = |code: &[I<'static>]| {
            for instruction in code {
                function.instruction(instruction);
            }
        };
        match self {
            Helper::NotZero => {
                // Carries from the lower seven bits of each byte, or its high bit.
                write(std::slice::from_ref(&a));
                write(&mask(LOW));
                write(&[I::I64Const(LOW), I::I64Add, a, I::I64Or]);
                write(&mask(HIGH));
            }
            Helper::Fill => {
                write(&[a]);
                write(&mask(HIGH));
                write(&[I::I64Const(7), I::I64ShrU, I::I64Const(0xff), I::I64Mul]);
            }
            Helper::Less => {
                // The difference of each two bytes, without borrows between bytes.
                write(&[a.clone(), I::I64Const(HIGH), I::I64Or, b.clone()]);
                write(&mask(LOW));
                write(&[I::I64Sub, a.clone(), b.clone(), I::I64Xor]);
                write(&not);
                write(&mask(HIGH));
                write(&[I::I64Xor]);
                // Each byte borrows if only `b` has the high bit, or if both or none have it and the difference has.
                write(&[a.clone(), b.clone(), I::I64Xor]);
                write(&not);
                write(&[I::I64And, a]);
                write(&not);
                write(&[b, I::I64And, I::I64Or]);
                write(&mask(HIGH));
            }
            Helper::Add => {
                write(std::slice::from_ref(&a));
                write(&mask(LOW));
                write(std::slice::from_ref(&b));
                write(&mask(LOW));
                write(&[I::I64Add, a, b, I::I64Xor]);
                write(&mask(HIGH));
                write(&[I::I64Xor]);
            }
            Helper::Bits => {
                write(&[a, I::I64Const(7), I::I64ShrU]);
                write(&mask(ONES));
                // Moves bit 8 n to bit 56 + n.
                write(&[I::I64Const(0x0102_0408_1020_4080), I::I64Mul, I::I64Const(56), I::I64ShrU]);
            }
        }
        write(&[I::End]);
        function
    }
}

impl Reencode for Scalar {
    type Error = anyhow::Error;

    fn parse_type_section(
        &mut self,
        types: &mut TypeSection,
        section: TypeSectionReader<'_>,
    ) -> Result<(), reencode::Error<Self::Error>> {
        reencode::utils::parse_type_section(self, types, section)?;
        types.ty().function([ValType::I64], [ValType::I64]);
        types.ty().function([ValType::I64; 2], [ValType::I64]);
        Ok(())
    }

    fn parse_function_section(
        &mut self,
        functions: &mut FunctionSection,
        section: FunctionSectionReader<'_>,
    ) -> Result<(), reencode::Error<Self::Error>> {
        reencode::utils::parse_function_section(self, functions, section)?;
        for helper in HELPERS {
            functions.function(self.types + u32::from(helper.parameters() == 2));
        }
        Ok(())
    }

    fn parse_code_section(
        &mut self,
        code: &mut CodeSection,
        section: CodeSectionReader<'_>,
    ) -> Result<(), reencode::Error<Self::Error>> {
        reencode::utils::parse_code_section(self, code, section)?;
        for helper in HELPERS {
            code.function(&helper.body());
        }
        Ok(())
    }

    fn parse_function_body(
        &mut self,
        code: &mut CodeSection,
        function: FunctionBody<'_>,
    ) -> Result<(), reencode::Error<Self::Error>> {
        let failed = |error: anyhow::Error| reencode::Error::UserError(error);
        let validator = self.validators.next().context("a function is unknown").map_err(failed)?;
        let mut validator = validator.into_validator(std::mem::take(&mut self.allocations));
        let body = self.body(&function, &mut validator);
        code.function(&body.with_context(|| format!("function {}", self.written)).map_err(failed)?);
        self.allocations = validator.into_allocations();
        self.written += 1;
        Ok(())
    }
}

impl Scalar {
    fn body(
        &mut self,
        function: &FunctionBody<'_>,
        validator: &mut FuncValidator<ValidatorResources>,
    ) -> Result<Function> {
        let mut next = self.parameters[self.written];
        // No parameter is a vector: else the validator says so at the end.
        let mut locals: Vec<Local> = (0..next).map(|at| Local { at, is_vector: false }).collect();
        let mut groups = Vec::new();
        for group in function.get_locals_reader()? {
            let (count, ty) = group?;
            validator.define_locals(0, count, ty)?;
            let is_vector = ty == wasmparser::ValType::V128;
            let width = 1 + u32::from(is_vector);
            locals.extend((0..count).map(|index| Local { at: next + index * width, is_vector }));
            next += count * width;
            groups.push((
                count * width,
                if is_vector { ValType::I64 } else { self.val_type(ty).map_err(|error| anyhow!("{error}"))? },
            ));
        }
        let scratch = Scratch { address: next, first: next + 1, low: next + 2, high: next + 3 };
        groups.extend([(1, ValType::I32), (3, ValType::I64)]);
        let mut body = Function::new(groups);
        let mut operators = function.get_operators_reader()?;
        while !operators.eof() {
            let (operator, at) = operators.read_with_offset()?;
            let depth = usize::from(matches!(operator, Operator::Select)) * 2;
            let is_vector = validator.get_operand_type(depth).flatten() == Some(wasmparser::ValType::V128);
            validator.op(at, &operator)?;
            match self.lowered(&operator, &locals, &scratch, is_vector)? {
                Some(code) => code.iter().for_each(|instruction| {
                    body.instruction(instruction);
                }),
                None => {
                    body.instruction(&self.instruction(operator).map_err(|error| anyhow!("{error}"))?);
                }
            }
        }
        Ok(body)
    }
}
