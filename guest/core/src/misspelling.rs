//! Which word is meant by one that is not known.

/// Longer words are not compared.
const MAX_BYTES: usize = 64;

/// The known word that is most like another: a slip or two away, or the same but for capitals and signs.
pub fn nearest<'k>(word: &str, known: impl Iterator<Item = &'k str>) -> Option<&'k str> {
    let most = match word.len() {
        0..3 => return None,
        3..6 => 1,
        6..=MAX_BYTES => 2,
        _ => return None,
    };
    let near = |known: &'k str| {
        let slips = if plain(known) == plain(word) { 0 } else { slips(word.as_bytes(), known.as_bytes()) };
        (slips <= most).then_some((slips, known))
    };
    known.filter(|known| known.len() > 1 && *known != word).filter_map(near).min().map(|(_, known)| known)
}

/// Without what is of spelling: `additional_properties` is `additionalProperties`.
fn plain(word: &str) -> String {
    word.chars().filter(|character| character.is_alphanumeric()).map(|one| one.to_ascii_lowercase()).collect()
}

/// How many letters are missing, too many, wrong, or have changed places with their neighbours.
fn slips(word: &[u8], known: &[u8]) -> usize {
    if word.len().abs_diff(known.len()) > 2 {
        return usize::MAX;
    }
    let mut before: Vec<usize> = Vec::new();
    let mut last: Vec<usize> = (0..=known.len()).collect();
    for (row, letter) in word.iter().enumerate() {
        let mut next = vec![row + 1];
        for (column, other) in known.iter().enumerate() {
            let differs = usize::from(letter != other);
            let mut least = (last[column] + differs).min(last[column + 1] + 1).min(next[column] + 1);
            if row > 0 && column > 0 && *letter == known[column - 1] && word[row - 1] == *other {
                least = least.min(before[column - 1] + 1);
            }
            next.push(least);
        }
        before = std::mem::replace(&mut last, next);
    }
    last[known.len()]
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
