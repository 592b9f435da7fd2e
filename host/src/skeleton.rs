//! Whether a component is the built-in one with other data. Then it runs the built-in's code, and the library may call its core
//! module itself.
//!
//! Everything is compared byte for byte but what baking changes: the data of the one module that has a memory, how large
//! that memory is at first, and the initial values of its globals.

use std::ops::Range;

use wasmparser::{Chunk, Encoding, GlobalType, MemoryType, Parser, Payload};

/// One piece of a component.
#[derive(PartialEq)]
enum Piece<'c> {
    Version(Encoding),
    Begin(u8),
    Section(u8, &'c [u8]),
    Memories(Vec<MemoryType>),
    Globals(Vec<GlobalType>),
    End,
}

/// The core module of a component that is `builtin` with other data; `None` of any other.
pub(crate) fn module<'c>(component: &'c [u8], builtin: &[u8]) -> Option<&'c [u8]> {
    let (own, module) = pieces(component)?;
    let (expected, _) = pieces(builtin)?;
    (own == expected).then(|| component.get(module?)).flatten()
}

/// The pieces of a component, without those that differ from one baking to the next; and where the module with a memory is.
fn pieces(component: &[u8]) -> Option<(Vec<Piece<'_>>, Option<Range<usize>>)> {
    let mut pieces = Vec::new();
    let (mut parser, mut around) = (Parser::new(0), Vec::new());
    let (mut open, mut with_memory) = (None, None);
    let mut at = 0;
    loop {
        let Chunk::Parsed { consumed, payload } = parser.parse(component.get(at..)?, true).ok()? else {
            return None;
        };
        at += consumed;
        let is_main = open.is_some() && open == with_memory;
        let piece = match &payload {
            Payload::Version { encoding, .. } => Piece::Version(*encoding),
            Payload::ModuleSection { unchecked_range, .. } => {
                open = Some(unchecked_range.start..unchecked_range.end);
                Piece::Begin(payload.as_section()?.0)
            }
            Payload::ComponentSection { .. } => Piece::Begin(payload.as_section()?.0),
            Payload::End(_) => {
                open = None;
                Piece::End
            }
            Payload::MemorySection(section) if with_memory.is_none() => {
                with_memory.clone_from(&open);
                let size = |memory: MemoryType| MemoryType { initial: 0, ..memory };
                let memories = section.clone().into_iter().map(|memory| memory.map(size));
                Piece::Memories(memories.collect::<Result<_, _>>().ok()?)
            }
            Payload::GlobalSection(section) if is_main => {
                let globals = section.clone().into_iter().map(|global| global.map(|global| global.ty));
                Piece::Globals(globals.collect::<Result<_, _>>().ok()?)
            }
            Payload::DataSection(_) | Payload::DataCountSection { .. } if is_main => continue,
            Payload::CodeSectionStart { size, .. } => {
                // As a whole: nobody needs each of its functions.
                parser.skip_section();
                let start = at;
                at = at.checked_add(usize::try_from(*size).ok()?)?;
                Piece::Section(payload.as_section()?.0, component.get(start..at)?)
            }
            _ => {
                let (id, range) = payload.as_section()?;
                Piece::Section(id, component.get(range)?)
            }
        };
        pieces.push(piece);
        match payload {
            Payload::ModuleSection { parser: inner, .. } | Payload::ComponentSection { parser: inner, .. } => {
                around.push(std::mem::replace(&mut parser, inner));
            }
            Payload::End(_) => match around.pop() {
                Some(outer) => parser = outer,
                None => return Some((pieces, with_memory)),
            },
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::module;
    use crate::component::Component;

    #[test]
    fn only_other_data_makes_no_difference() {
        let builtin = Component::builtin();
        let builtin = builtin.as_bytes();
        if builtin.is_empty() {
            return;
        }
        assert!(module(builtin, builtin).is_some_and(|module| module.starts_with(b"\0asm\x01\0\0\0")));
        let start = module(builtin, builtin).map_or(0, |module| module.as_ptr().addr() - builtin.as_ptr().addr());
        // From all over the component: where a byte of code or of the wrapper is another, it is not the built-in.
        let mut other = builtin.to_vec();
        let (mut same, mut different) = (0, 0);
        for at in (0..builtin.len()).step_by(builtin.len() / 97).chain(builtin.len() - 300..builtin.len()) {
            other[at] ^= 1;
            match module(&other, builtin).is_some() {
                true => same += 1,
                false => different += 1,
            }
            other[at] ^= 1;
        }
        assert!(start > 0 && same > 5 && different > 300, "{same} of {} are data", same + different);
    }
}
