//! Determines whether a component is the built-in one with other data. Such a component runs the code of the built-in
//! one, so the library may call its core module directly.
//!
//! Compares all bytes except those that baking changes: the data of the only module with a memory, the initial size of
//! that memory, and the initial values of the module's globals.

use std::ops::Range;

use wasmparser::{Chunk, Encoding, GlobalType, MemoryType, Parser, Payload};

/// One piece of a component.
#[derive(PartialEq)]
enum ComponentPiece<'c> {
    Version(Encoding),
    Begin(u8),
    Section(u8, &'c [u8]),
    Memories(Vec<MemoryType>),
    Globals(Vec<GlobalType>),
    End,
}

/// The core module of a component that is the built-in one with other data.
pub(crate) struct Module<'c> {
    pub(crate) wasm: &'c [u8],
    /// The sections that may differ from those of the built-in module. Together with that module, they determine this one.
    pub(crate) own: Vec<&'c [u8]>,
}

/// Returns the core module of a component that is `builtin` with other data. `None` for any other component.
pub(crate) fn module<'c>(component: &'c [u8], builtin: &[u8]) -> Option<Module<'c>> {
    let (pieces, module, own) = read(component)?;
    let (expected, ..) = read(builtin)?;
    if pieces != expected {
        return None;
    }
    Some(Module { wasm: component.get(module?)?, own })
}

/// The pieces of a component without what baking changes, the position of the module with a memory, and the sections
/// that baking changes.
type Read<'c> = (Vec<ComponentPiece<'c>>, Option<Range<usize>>, Vec<&'c [u8]>);

fn read(component: &[u8]) -> Option<Read<'_>> {
    let (mut pieces, mut own) = (Vec::new(), Vec::new());
    let (mut parser, mut around) = (Parser::new(0), Vec::new());
    let (mut open, mut with_memory) = (None, None);
    let mut at = 0;
    loop {
        let Chunk::Parsed { consumed, payload } = parser.parse(component.get(at..)?, true).ok()? else {
            return None;
        };
        at += consumed;
        let is_first_memory = matches!(payload, Payload::MemorySection(_)) && with_memory.is_none();
        let is_main = open.is_some() && open == with_memory;
        let is_own = is_main
            && matches!(
                payload,
                Payload::GlobalSection(_) | Payload::DataSection(_) | Payload::DataCountSection { .. }
            );
        if is_first_memory || is_own {
            own.push(component.get(payload.as_section()?.1)?);
        }
        let piece = match &payload {
            Payload::Version { encoding, .. } => ComponentPiece::Version(*encoding),
            Payload::ModuleSection { unchecked_range, .. } => {
                open = Some(unchecked_range.start..unchecked_range.end);
                ComponentPiece::Begin(payload.as_section()?.0)
            }
            Payload::ComponentSection { .. } => ComponentPiece::Begin(payload.as_section()?.0),
            Payload::End(_) => {
                open = None;
                ComponentPiece::End
            }
            Payload::MemorySection(section) if is_first_memory => {
                with_memory.clone_from(&open);
                let size = |memory: MemoryType| MemoryType { initial: 0, ..memory };
                let memories = section.clone().into_iter().map(|memory| memory.map(size));
                ComponentPiece::Memories(memories.collect::<Result<_, _>>().ok()?)
            }
            Payload::GlobalSection(section) if is_main => {
                let globals = section.clone().into_iter().map(|global| global.map(|global| global.ty));
                ComponentPiece::Globals(globals.collect::<Result<_, _>>().ok()?)
            }
            Payload::DataSection(_) | Payload::DataCountSection { .. } if is_main => continue,
            Payload::CodeSectionStart { size, .. } => {
                // Compared as a whole, because the individual functions are not needed.
                parser.skip_section();
                let start = at;
                at = at.checked_add(usize::try_from(*size).ok()?)?;
                ComponentPiece::Section(payload.as_section()?.0, component.get(start..at)?)
            }
            _ => {
                let (id, range) = payload.as_section()?;
                ComponentPiece::Section(id, component.get(range)?)
            }
        };
        pieces.push(piece);
        match payload {
            Payload::ModuleSection { parser: inner, .. } | Payload::ComponentSection { parser: inner, .. } => {
                around.push(std::mem::replace(&mut parser, inner));
            }
            Payload::End(_) => match around.pop() {
                Some(outer) => parser = outer,
                None => return Some((pieces, with_memory, own)),
            },
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::module;
    use crate::sandbox::component::Component;

    #[test]
    fn only_other_data_makes_no_difference() {
        let builtin = Component::builtin();
        let builtin = builtin.as_bytes();
        if builtin.is_empty() {
            return;
        }
        let same = module(builtin, builtin).expect("it is itself");
        assert!(same.wasm.starts_with(b"\0asm\x01\0\0\0"));
        let start = same.wasm.as_ptr().addr() - builtin.as_ptr().addr();
        // The memory, the globals and the data.
        assert!(same.own.len() >= 3, "{} sections are its own", same.own.len());
        let own = same.own;
        // Bytes from all over the component. If a byte of the code or of the wrapper differs, it is not the built-in
        // component.
        let mut other = builtin.to_vec();
        let (mut same, mut different) = (0, 0);
        for at in (0..builtin.len()).step_by(builtin.len() / 97).chain(builtin.len() - 300..builtin.len()) {
            other[at] ^= 1;
            match module(&other, builtin) {
                // The difference is in a section that counts as its own.
                Some(module) if module.own != own => same += 1,
                Some(_) => panic!("the byte at {at} is in no section of its own"),
                None => different += 1,
            }
            other[at] ^= 1;
        }
        assert!(start > 0 && same > 5 && different > 300, "{same} of {} are data", same + different);
    }
}
