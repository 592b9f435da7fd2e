//! The lines of an output, counted from one.

use super::prose::is_apart;

/// The maximum number of lines of an output that are searched for JSON.
const MAX_LINES: usize = 8;

/// Returns the number of the first line, except line 1, at which JSON on separate lines begins.
pub(crate) fn line_of_json(text: &str) -> Option<usize> {
    let (mut at, mut tried) = (0, 0);
    for (index, line) in text.split_inclusive('\n').enumerate() {
        let start = at;
        at += line.len();
        if index == 0 || !line.starts_with(['{', '[']) {
            continue;
        }
        if is_apart(text, start, text.len()) {
            return Some(index + 1);
        }
        tried += 1;
        if tried == MAX_LINES {
            return None;
        }
    }
    None
}

/// Returns the line number of an offset.
pub(crate) fn line_at(text: &str, at: usize) -> usize {
    text.as_bytes()[..at].iter().filter(|byte| **byte == b'\n').count() + 1
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn json_on_a_later_line_is_found() {
        assert_eq!(line_of_json("[plugins] x\n[more] y\n{\"a\":1}\n"), Some(3));
        assert_eq!(line_of_json("[[ ## out ## ]]\n{\"a\":1}\n\n[[ ## completed ## ]]"), Some(2));
        assert_eq!(line_of_json("{\"a\":1}\nx"), None);
        assert_eq!(line_of_json("{\"a\":[\n{\"b\":1},\n2\n"), None);
        assert_eq!(line_of_json("[\n{\"a\":1},\nand\n{\"b\":1}\n]"), None);
    }
}
