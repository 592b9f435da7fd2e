//! Finds the intended word for an unknown one.

/// The maximum number of bytes of punctuation, such as `_`, in which two words with the same letters may differ. Hidden
/// characters take three bytes each.
const MAX_SIGNS: usize = 8;

/// The maximum length of words that are compared, in bytes.
const MAX_BYTES: usize = 64;

/// Returns the most similar known word: at most two edits away, or different only in case and punctuation.
pub fn nearest<'k>(word: &str, known: impl Iterator<Item = &'k str>) -> Option<&'k str> {
    let most = match word.len() {
        0..3 => return None,
        3..6 => 1,
        6..=MAX_BYTES => 2,
        _ => return None,
    };
    let seen = letters(word);
    let near = |known: &'k str| Some((distance((word, seen), known, most)?, known));
    known.filter(|known| known.len() > 1 && *known != word).filter_map(near).min().map(|(_, known)| known)
}

/// Returns the number of edits between two words. Zero if they differ only in case and punctuation. `None` if there are
/// more than `most`. `seen` holds the letters of the word.
#[inline(never)]
fn distance((word, seen): (&str, u64), known: &str, most: usize) -> Option<usize> {
    let difference = known.len().abs_diff(word.len());
    if difference > MAX_SIGNS {
        return None;
    }
    if is_same_word(known, word) {
        return Some(0);
    }
    // One edit adds and removes at most one letter each.
    let is_far = difference > most || (letters(known) ^ seen).count_ones() as usize > 2 * most;
    if is_far { None } else { slips(word.as_bytes(), known.as_bytes(), most) }
}

/// Returns whether two words differ only in case and punctuation: `additional_properties`, `additionalProperties`,
/// `Additional Properties`.
#[inline(never)]
pub(crate) fn is_same_word(one: &str, other: &str) -> bool {
    plain(one).eq(plain(other))
}

/// Returns the letters and digits of a word, in lower case.
fn plain(word: &str) -> impl Iterator<Item = char> {
    word.chars().filter(|character| character.is_alphanumeric()).map(|one| one.to_ascii_lowercase())
}

/// Returns a bit set of the letters in a word. Some letters share a bit.
fn letters(word: &str) -> u64 {
    word.bytes().fold(0, |letters, byte| letters | 1 << (byte & 63))
}

/// Returns the number of letters that are missing, extra, wrong, or swapped with a neighbour. `None` if there are more
/// than `most`. Both words must have about the same length.
fn slips(word: &[u8], known: &[u8], most: usize) -> Option<usize> {
    let width = known.len() + 1;
    if width > MAX_BYTES + 3 {
        return None;
    }
    // The minimum number of edits between prefixes of both words, as rows of a table. Bytes are large enough.
    let [mut before, mut next] = [[0_u8; MAX_BYTES + 3]; 2];
    let mut last = [0; MAX_BYTES + 3];
    last.iter_mut().zip(0..).take(width).for_each(|(first, column)| *first = column);
    for (row, letter) in word.iter().enumerate() {
        next[0] = row as u8 + 1;
        let mut least_of_row = next[0];
        for (column, other) in known.iter().enumerate() {
            let differs = u8::from(letter != other);
            let mut least = (last[column] + differs).min(last[column + 1] + 1).min(next[column] + 1);
            if row > 0 && column > 0 && *letter == known[column - 1] && word[row - 1] == *other {
                least = least.min(before[column - 1] + 1);
            }
            next[column + 1] = least;
            least_of_row = least_of_row.min(least);
        }
        // No later row has a smaller minimum, except through swaps with the row before.
        if usize::from(least_of_row) > most + 1 {
            return None;
        }
        (before, last, next) = (last, next, before);
    }
    Some(usize::from(last[known.len()])).filter(|slips| *slips <= most)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_word_that_is_meant_is_found_and_no_other() {
        let known = ["extract", "minimum", "maximum", "agent", "items", "$ref", "additionalProperties"];
        for (word, meant) in [
            ("extrct", Some("extract")),
            ("minimun", Some("minimum")),
            ("mimimum", Some("minimum")),
            ("agnet", Some("agent")),
            ("item", Some("items")),
            ("ref", Some("$ref")),
            ("additional_properties", Some("additionalProperties")),
            ("AdditionalProperties", Some("additionalProperties")),
            ("title", None),
            ("id", None),
            ("", None),
        ] {
            assert_eq!(nearest(word, known.into_iter()), meant, "{word}");
        }
    }
}
