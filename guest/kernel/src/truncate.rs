//! Which items or lines of a result the model reads: whole ones, from both ends.

use serde::Serialize;

/// How many of a result's items or lines are shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub(crate) struct Part {
    pub(crate) unit: &'static str,
    pub(crate) head: u64,
    pub(crate) tail: u64,
    pub(crate) of: u64,
}

/// How much there is room for.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Room {
    pub(crate) bytes: usize,
    /// At most so many from the beginning, and from the end.
    pub(crate) head: usize,
    pub(crate) tail: usize,
}

/// How many are shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Shown {
    pub(crate) head: usize,
    pub(crate) tail: usize,
}

/// Choose from a number of units. `write` gives one as it would be shown; only those that are looked at are written.
pub(crate) fn choose(total: usize, room: Room, write: impl Fn(usize) -> String) -> (Shown, Vec<String>, Vec<String>) {
    let (mut head, mut tail) = (Vec::new(), Vec::new());
    let mut left = room.bytes;
    let (mut more_head, mut more_tail) = (true, true);
    while (more_head || more_tail) && head.len() + tail.len() < total {
        if more_head {
            more_head = take(&mut head, room.head, &mut left, &write);
        }
        if head.len() + tail.len() == total {
            break;
        }
        if more_tail {
            more_tail = take(&mut tail, room.tail, &mut left, |taken| write(total - 1 - taken));
        }
    }
    tail.reverse();
    (Shown { head: head.len(), tail: tail.len() }, head, tail)
}

/// Take one more unit if there is room. Gives whether it was taken.
fn take(taken: &mut Vec<String>, most: usize, left: &mut usize, write: impl FnOnce(usize) -> String) -> bool {
    if taken.len() >= most {
        return false;
    }
    let unit = write(taken.len());
    // With the separator behind it.
    match left.checked_sub(unit.len() + 1) {
        Some(rest) => {
            *left = rest;
            taken.push(unit);
            true
        }
        None => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whole_units_from_both_ends() {
        let write = |index: usize| format!("unit {index}");
        let chosen = |total, bytes, head, tail| {
            let (shown, first, last) = choose(total, Room { bytes, head, tail }, write);
            assert_eq!((shown.head, shown.tail), (first.len(), last.len()));
            (first.join(","), last.join(","))
        };
        assert_eq!(chosen(3, 100, 9, 9), ("unit 0,unit 1".to_owned(), "unit 2".to_owned()));
        assert_eq!(chosen(1000, 100, 2, 1), ("unit 0,unit 1".to_owned(), "unit 999".to_owned()));
        assert_eq!(chosen(1000, 16, 9, 9), ("unit 0".to_owned(), "unit 999".to_owned()).clone());
        assert_eq!(chosen(1000, 3, 9, 9), (String::new(), String::new()));
        assert_eq!(chosen(0, 100, 9, 9), (String::new(), String::new()));
    }
}
