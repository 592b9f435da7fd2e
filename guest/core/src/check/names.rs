//! An index of a schema's strings, for looking up the strings of a document.

use std::collections::HashSet;

use crate::scan::{hash, same};

/// A set of a schema's strings, numbered in order.
#[derive(Clone, Default)]
pub(super) struct Names {
    /// A hash table. A slot holds some bits of the hash above `NUMBER`, and the name's index plus one below. Empty
    /// slots are 0.
    slots: Vec<u32>,
    names: Vec<Box<str>>,
}

/// A mask for indices. It exceeds the maximum number of names that the caps of a contract allow.
const NUMBER: u32 = (1 << 20) - 1;

impl Names {
    /// Creates a set of names. Of equal names, keeps the first.
    pub(super) fn new<'s>(names: impl Iterator<Item = &'s str>) -> Self {
        let mut known = HashSet::new();
        let names: Vec<Box<str>> = names.filter(|name| known.insert(*name)).map(Box::from).collect();
        let mut slots = vec![0; (names.len() * 2).next_power_of_two()];
        if names.is_empty() {
            slots.clear();
        }
        for (number, name) in names.iter().enumerate() {
            let hash = hash(name.as_bytes());
            let mut slot = hash as usize & (slots.len() - 1);
            while slots[slot] != 0 {
                slot = (slot + 1) & (slots.len() - 1);
            }
            slots[slot] = hash & !NUMBER | (number as u32 + 1);
        }
        Names { slots, names }
    }

    pub(super) fn get(&self, number: usize) -> &str {
        &self.names[number]
    }

    pub(super) fn len(&self) -> usize {
        self.names.len()
    }

    /// Returns the index of a name.
    pub(super) fn number(&self, name: &str) -> Option<usize> {
        self.find(name.as_bytes(), hash(name.as_bytes()))
    }

    /// Returns the index of a name with this hash. The schema's own names bound the cost.
    #[inline(always)]
    pub(super) fn find(&self, name: &[u8], hash: u32) -> Option<usize> {
        let mask = self.slots.len().wrapping_sub(1);
        let mut slot = hash as usize;
        loop {
            let entry = *self.slots.get(slot & mask)?;
            if entry == 0 {
                return None;
            }
            if (entry ^ hash) & !NUMBER == 0 {
                let number = (entry & NUMBER) as usize - 1;
                let known = self.names[number].as_bytes();
                if known.len() == name.len() && same(known, name) {
                    return Some(number);
                }
            }
            slot += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_found_and_others_are_not() {
        let all: Vec<String> = (0..300).map(|n| "n".repeat(n % 23) + &n.to_string()).collect();
        for count in [0, 1, 2, 3, 7, 16, 300] {
            let names = Names::new(all[..count].iter().map(String::as_str));
            for (number, name) in all.iter().enumerate() {
                assert_eq!(
                    names.find(name.as_bytes(), hash(name.as_bytes())),
                    (number < count).then_some(number),
                    "{name} of {count}"
                );
            }
        }
    }
}
