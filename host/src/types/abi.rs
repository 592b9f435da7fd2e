//! The canonical ABI of the component model, as far as `wit/` needs it: the layout of values in the memory of an
//! instance.
//!
//! A component without imports consists of its core module and this ABI. An instance's answers are untrusted: each
//! offset, tag and text is checked before it is used.

use wasmtime::{Error, Result};

/// The layout of a value in memory, in bytes.
pub(crate) trait Layout {
    const SIZE: usize;
    const ALIGN: usize;
}

/// A value that is read from memory.
pub(crate) trait Lift: Layout + Sized {
    /// # Errors
    ///
    /// There is no valid value at this offset. The offset must be aligned.
    fn lift(from: &mut Reader<'_>, at: usize) -> Result<Self>;
}

/// A value that is written to memory.
pub(crate) trait Lower: Layout {
    /// Writes the value to memory that was allocated for it at an offset.
    fn lower(&self, to: &mut impl Room, at: usize) -> Result<()>;
}

/// Memory in which values can be allocated.
pub(crate) trait Room {
    /// Allocates this many bytes. Returns the offset.
    fn room(&mut self, align: usize, size: usize) -> Result<u32>;

    fn write(&mut self, at: usize, bytes: &[u8]) -> Result<()>;
}

/// The memory that values are read from.
pub(crate) struct Reader<'m> {
    memory: &'m [u8],
    /// The number of bytes that lists and texts may still take. In valid memory, no two of them share a byte; in other
    /// memory, a small list could reference the same long text a million times.
    left: usize,
}

/// Rounds an offset up to an alignment.
pub(crate) const fn aligned(at: usize, align: usize) -> usize {
    at.next_multiple_of(align)
}

pub(crate) const fn larger(one: usize, other: usize) -> usize {
    if one > other { one } else { other }
}

#[cold]
fn unsound(what: &str) -> Error {
    Error::msg(format!("the instance gave an invalid value: {what}"))
}

impl<'m> Reader<'m> {
    pub(crate) fn new(memory: &'m [u8]) -> Self {
        Reader { memory, left: memory.len() }
    }

    /// Returns the value at an address that a function returned.
    pub(crate) fn read<T: Lift>(&mut self, at: u32) -> Result<T> {
        let at = at as usize;
        if !at.is_multiple_of(T::ALIGN) {
            return Err(unsound("an address is not aligned"));
        }
        T::lift(self, at)
    }

    #[inline]
    fn bytes(&self, at: usize, size: usize) -> Result<&'m [u8]> {
        let bytes = at.checked_add(size).and_then(|end| self.memory.get(at..end));
        bytes.ok_or_else(|| unsound("an address lies outside of the memory"))
    }

    /// Returns the number at an offset.
    #[inline]
    pub(crate) fn byte(&self, at: usize) -> Result<u8> {
        self.memory.get(at).copied().ok_or_else(|| unsound("an address lies outside of the memory"))
    }

    #[inline]
    fn number(&self, at: usize) -> Result<u32> {
        let bytes = self.bytes(at, 4)?;
        Ok(u32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]))
    }

    /// Returns whether the value is the second of two cases, as in `option` and `result`.
    #[inline]
    fn is_second(&self, at: usize) -> Result<bool> {
        match self.byte(at)? {
            0 => Ok(false),
            1 => Ok(true),
            _ => Err(unsound("there is no such case")),
        }
    }

    /// Returns the address and the length of a list with elements of this size.
    #[inline]
    fn list(&mut self, at: usize, (size, align): (usize, usize)) -> Result<(usize, usize)> {
        let (start, length) = (self.number(at)? as usize, self.number(at + 4)? as usize);
        let bytes = length.checked_mul(size).filter(|bytes| *bytes <= self.left);
        self.left -= bytes.ok_or_else(|| unsound("a list is too long"))?;
        if !start.is_multiple_of(align) {
            return Err(unsound("an address is not aligned"));
        }
        Ok((start, length))
    }
}

impl Layout for bool {
    const SIZE: usize = 1;
    const ALIGN: usize = 1;
}

impl Lift for bool {
    fn lift(from: &mut Reader<'_>, at: usize) -> Result<Self> {
        from.is_second(at)
    }
}

impl Lower for bool {
    fn lower(&self, to: &mut impl Room, at: usize) -> Result<()> {
        to.write(at, &[u8::from(*self)])
    }
}

impl Layout for u32 {
    const SIZE: usize = 4;
    const ALIGN: usize = 4;
}

impl Lift for u32 {
    fn lift(from: &mut Reader<'_>, at: usize) -> Result<Self> {
        from.number(at)
    }
}

impl Lower for u32 {
    fn lower(&self, to: &mut impl Room, at: usize) -> Result<()> {
        to.write(at, &self.to_le_bytes())
    }
}

impl Layout for String {
    const SIZE: usize = 8;
    const ALIGN: usize = 4;
}

impl Lift for String {
    #[inline]
    fn lift(from: &mut Reader<'_>, at: usize) -> Result<Self> {
        let (start, length) = from.list(at, (1, 1))?;
        let text = std::str::from_utf8(from.bytes(start, length)?);
        text.map(str::to_owned).map_err(|_| unsound("a text is not UTF-8"))
    }
}

impl Lower for String {
    fn lower(&self, to: &mut impl Room, at: usize) -> Result<()> {
        lower_text(self, to, at)
    }
}

/// Writes a text as a member of a record.
pub(crate) fn lower_text(value: &str, to: &mut impl Room, at: usize) -> Result<()> {
    let written = text(to, value)?;
    refer(to, at, written)
}

impl<T> Layout for Vec<T> {
    const SIZE: usize = 8;
    const ALIGN: usize = 4;
}

impl<T: Lift> Lift for Vec<T> {
    #[inline]
    fn lift(from: &mut Reader<'_>, at: usize) -> Result<Self> {
        let (start, length) = from.list(at, (T::SIZE, T::ALIGN))?;
        // Most lists are empty.
        if length == 0 { Ok(Vec::new()) } else { items(from, start, length) }
    }
}

#[inline(never)]
fn items<T: Lift>(from: &mut Reader<'_>, start: usize, length: usize) -> Result<Vec<T>> {
    (0..length).map(|index| T::lift(from, start + index * T::SIZE)).collect()
}

impl<T: Lower> Lower for Vec<T> {
    fn lower(&self, to: &mut impl Room, at: usize) -> Result<()> {
        let written = list(to, self)?;
        refer(to, at, written)
    }
}

impl<T: Layout> Layout for Box<T> {
    const SIZE: usize = T::SIZE;
    const ALIGN: usize = T::ALIGN;
}

/// For large records, which are moved often.
impl<T: Lift> Lift for Box<T> {
    #[inline]
    fn lift(from: &mut Reader<'_>, at: usize) -> Result<Self> {
        T::lift(from, at).map(Box::new)
    }
}

impl<T: Layout> Layout for Option<T> {
    const SIZE: usize = aligned(aligned(1, T::ALIGN) + T::SIZE, T::ALIGN);
    const ALIGN: usize = T::ALIGN;
}

impl<T: Lift> Lift for Option<T> {
    fn lift(from: &mut Reader<'_>, at: usize) -> Result<Self> {
        Ok(match from.is_second(at)? {
            true => Some(T::lift(from, at + aligned(1, T::ALIGN))?),
            false => None,
        })
    }
}

impl<T: Lower> Lower for Option<T> {
    fn lower(&self, to: &mut impl Room, at: usize) -> Result<()> {
        self.is_some().lower(to, at)?;
        self.as_ref().map_or(Ok(()), |value| value.lower(to, at + aligned(1, T::ALIGN)))
    }
}

impl<T: Layout, E: Layout> Layout for Result<T, E> {
    const SIZE: usize = aligned(aligned(1, Self::ALIGN) + larger(T::SIZE, E::SIZE), Self::ALIGN);
    const ALIGN: usize = larger(T::ALIGN, E::ALIGN);
}

impl<T: Lift, E: Lift> Lift for Result<T, E> {
    fn lift(from: &mut Reader<'_>, at: usize) -> Result<Self> {
        let payload = at + aligned(1, Self::ALIGN);
        Ok(match from.is_second(at)? {
            false => Ok(T::lift(from, payload)?),
            true => Err(E::lift(from, payload)?),
        })
    }
}

/// Writes the address and the length of a text or a list.
fn refer(to: &mut impl Room, at: usize, (start, length): (u32, u32)) -> Result<()> {
    start.lower(to, at)?;
    length.lower(to, at + 4)
}

/// Allocates memory for a text, and writes it. Returns its address and its length.
pub(crate) fn text(to: &mut impl Room, text: &str) -> Result<(u32, u32)> {
    let start = to.room(1, text.len())?;
    to.write(start as usize, text.as_bytes())?;
    Ok((start, u32::try_from(text.len())?))
}

/// Allocates memory for a list, and writes it. Returns its address and its length.
pub(crate) fn list<T: Lower>(to: &mut impl Room, items: &[T]) -> Result<(u32, u32)> {
    let start = to.room(T::ALIGN, items.len().saturating_mul(T::SIZE))?;
    for (index, item) in items.iter().enumerate() {
        item.lower(to, start as usize + index * T::SIZE)?;
    }
    Ok((start, u32::try_from(items.len())?))
}

/// Implements the layout of a record: its members in their order, each aligned.
macro_rules! record {
    ($name:ident { $($member:ident: $of:ty),* $(,)? }) => {
        impl abi::Layout for $name {
            const SIZE: usize = {
                let mut at = 0;
                $(at = abi::aligned(at, <$of as abi::Layout>::ALIGN) + <$of as abi::Layout>::SIZE;)*
                abi::aligned(at, <Self as abi::Layout>::ALIGN)
            };
            const ALIGN: usize = {
                let mut align = 1;
                $(align = abi::larger(align, <$of as abi::Layout>::ALIGN);)*
                align
            };
        }

        impl abi::Lift for $name {
            fn lift(from: &mut abi::Reader<'_>, mut at: usize) -> wasmtime::Result<Self> {
                $(
                    at = abi::aligned(at, <$of as abi::Layout>::ALIGN);
                    let $member = <$of as abi::Lift>::lift(from, at)?;
                    at += <$of as abi::Layout>::SIZE;
                )*
                let _ = at;
                Ok($name { $($member),* })
            }
        }

        impl abi::Lower for $name {
            fn lower(&self, to: &mut impl abi::Room, mut at: usize) -> wasmtime::Result<()> {
                $(
                    at = abi::aligned(at, <$of as abi::Layout>::ALIGN);
                    abi::Lower::lower(&self.$member, to, at)?;
                    at += <$of as abi::Layout>::SIZE;
                )*
                let _ = at;
                Ok(())
            }
        }
    };
}

/// Implements the layout of an enum: the number of its case, in one byte.
macro_rules! cases {
    ($name:ident { $($case:ident),* $(,)? }) => {
        impl abi::Layout for $name {
            const SIZE: usize = 1;
            const ALIGN: usize = 1;
        }

        impl abi::Lift for $name {
            fn lift(from: &mut abi::Reader<'_>, at: usize) -> wasmtime::Result<Self> {
                const CASES: &[$name] = &[$($name::$case),*];
                let case = CASES.get(usize::from(from.byte(at)?)).copied();
                case.ok_or_else(|| wasmtime::Error::msg(concat!("the instance gave no ", stringify!($name))))
            }
        }

        impl abi::Lower for $name {
            fn lower(&self, to: &mut impl abi::Room, at: usize) -> wasmtime::Result<()> {
                to.write(at, &[*self as u8])
            }
        }
    };
}

pub(crate) use {cases, record};

#[cfg(test)]
mod tests {
    use super::*;
    use crate::types::{Span, Violation};

    impl Room for Vec<u8> {
        fn room(&mut self, align: usize, size: usize) -> Result<u32> {
            let at = aligned(self.len(), align);
            self.resize(at + size, 0);
            Ok(u32::try_from(at)?)
        }

        fn write(&mut self, at: usize, bytes: &[u8]) -> Result<()> {
            self[at..at + bytes.len()].copy_from_slice(bytes);
            Ok(())
        }
    }

    fn violation() -> Violation {
        let text = |text: &str| text.to_owned();
        Violation {
            path: text("$"),
            keyword: text("type"),
            expected: text("a string"),
            received: text("é"),
            message: text("must be a string"),
            pointer: text(""),
            schema_path: text("/type"),
            span: Some(Span { start: 3, end: 9 }),
        }
    }

    #[test]
    fn what_was_written_is_read() {
        let mut memory = Vec::new();
        let (at, length) = list(&mut memory, &[violation(), violation()]).expect("room");
        assert_eq!((Violation::SIZE, Violation::ALIGN, length), (68, 4, 2));
        let mut reader = Reader::new(&memory);
        for index in 0..2 {
            let read = reader.read::<Violation>(at + index * 68).expect("a violation");
            assert_eq!(read, violation());
        }
    }

    #[test]
    fn what_is_unsound_is_refused() {
        let mut memory = Vec::new();
        let (at, _) = list(&mut memory, &[violation()]).expect("room");
        let at = at as usize;
        let read = |memory: &[u8], at: usize| Reader::new(memory).read::<Violation>(at as u32);
        let spoiled = |offset: usize, bytes: &[u8]| {
            let mut memory = memory.clone();
            memory[at + offset..at + offset + bytes.len()].copy_from_slice(bytes);
            read(&memory, at).map_err(|error| error.to_string())
        };
        assert_eq!(spoiled(0, &[]), Ok(violation()));
        let refused = |offset, bytes: &[u8], why: &str| {
            let error = spoiled(offset, bytes).expect_err(why);
            assert!(error.contains(why), "{error}");
        };
        refused(0, &u32::MAX.to_le_bytes(), "outside of the memory");
        refused(4, &u32::MAX.to_le_bytes(), "too long");
        refused(56, &[2], "no such case");
        // The first byte of a two-byte character, twice.
        let received = u32::from_le_bytes([memory[at + 24], memory[at + 25], memory[at + 26], memory[at + 27]]);
        let mut half = memory.clone();
        half[received as usize + 1] = half[received as usize];
        assert!(read(&half, at).is_err_and(|error| error.to_string().contains("not UTF-8")));
        assert!(read(&memory, at + 1).is_err_and(|error| error.to_string().contains("not aligned")));
        for end in 0..memory.len() {
            assert!(read(&memory[..end], at).is_err(), "cut at {end}");
        }
    }

    #[test]
    fn a_text_that_is_named_often_is_read_as_often_as_memory_could_hold_it() {
        let mut memory = vec![b'x'; 1000];
        let named = 0_u32.to_le_bytes().into_iter().chain(1000_u32.to_le_bytes());
        let named: Vec<u8> = named.collect();
        let start = memory.room(4, 8 * 100).expect("room");
        for index in 0..100 {
            memory.write(start as usize + 8 * index, &named).expect("room");
        }
        let at = memory.room(4, 8).expect("room");
        start.lower(&mut memory, at as usize).expect("room");
        100_u32.lower(&mut memory, at as usize + 4).expect("room");
        let read = Reader::new(&memory).read::<Vec<String>>(at);
        assert!(read.is_err_and(|error| error.to_string().contains("too long")));
    }
}
