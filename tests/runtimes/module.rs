//! A host that runs core modules only: `module MODULE` answers each line of standard input, a request, with one line, in
//! wasmi, an interpreter without components. Each request has an instance of its own. This is all that such a host needs, in
//! any language.

use std::{
    env, fs,
    io::{self, BufRead, Write},
};

use anyhow::{Context, Result, bail};
use wasmi::{Engine, Instance, Linker, Module, Store, Val};

/// The fuel of a call: a constant, and an amount for each byte.
const FUEL: u64 = 100_000_000;
const FUEL_PER_BYTE: u64 = 500;

fn main() -> Result<()> {
    let path = env::args().nth(1).context("usage: module MODULE < REQUESTS > ANSWERS")?;
    let engine = Engine::default();
    let module = Module::new(&engine, fs::read(&path).with_context(|| path.clone())?)?;
    let mut answers = io::stdout().lock();
    for request in io::stdin().lock().lines() {
        let answer = call(&engine, &module, request?.as_bytes())?;
        answers.write_all(&answer)?;
        answers.write_all(b"\n")?;
    }
    Ok(())
}

fn call(engine: &Engine, module: &Module, request: &[u8]) -> Result<Vec<u8>> {
    let mut store = Store::new(engine, ());
    // Nothing is imported, so there is nothing to give.
    let instance: Instance = Linker::new(engine).instantiate_and_start(&mut store, module)?;
    let memory = instance.get_memory(&store, "memory").context("no memory")?;
    let fuel = instance.get_global(&store, "fuel").context("no budget")?;
    let allocate = instance.get_typed_func::<u32, u32>(&store, "seamgate_allocate")?;
    let call = instance.get_typed_func::<(u32, u32), u64>(&store, "seamgate_call")?;

    let length = u32::try_from(request.len())?;
    fuel.set(&mut store, Val::I64((FUEL + FUEL_PER_BYTE * u64::from(length)).try_into()?))?;
    let at = allocate.call(&mut store, length)?;
    memory.write(&mut store, at as usize, request)?;
    let answer = match call.call(&mut store, (at, length)) {
        Ok(answer) => answer,
        // It trapped: this instance is not used again.
        Err(_) if fuel.get(&store).i64().is_some_and(|left| left <= 0) => bail!("out_of_fuel"),
        Err(trap) => return Err(trap.into()),
    };
    let (at, length) = ((answer >> 32) as usize, (answer & 0xffff_ffff) as usize);
    let text = memory.data(&store).get(at..at + length).context("the answer lies outside of the memory")?;
    Ok(text.to_vec())
}
