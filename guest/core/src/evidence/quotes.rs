//! Finds which of many quotes a text contains, word for word and as whole words.

/// The maximum size of the quotes that one search handles, in bytes. The trie takes about 45 times as much memory.
const MAX_BATCH: usize = 64 * 1024;

/// No node, or no quote.
const NONE: u32 = u32::MAX;

/// Returns one flag per quote: whether the text contains the quote. `quotes` must be sorted, unique and not empty.
///
/// A quote that begins or ends inside a word or number, such as `481` in `12,481`, does not match.
pub(super) fn found(text: &str, quotes: &[&str]) -> Vec<bool> {
    let mut found = vec![false; quotes.len()];
    let mut start = 0;
    while start < quotes.len() {
        let mut bytes = 0;
        let fits = |quote: &&&str| {
            bytes += quote.len();
            bytes <= MAX_BATCH
        };
        let batch = quotes[start..].iter().take_while(fits).count().max(1);
        let (quotes, found) = (&quotes[start..start + batch], &mut found[start..start + batch]);
        // Builds no trie if all quotes are longer than the text.
        if quotes.iter().any(|quote| quote.len() <= text.len()) {
            Trie::new(quotes).search(text, quotes, found);
        }
        start += batch;
    }
    found
}

/// Returns whether a quote may begin or end at an offset. The offset must not be inside a word, or inside a number with
/// its sign, separators and percent sign.
fn is_edge(text: &str, at: usize) -> bool {
    let bytes = text.as_bytes();
    let byte = |at: usize| bytes.get(at).copied().unwrap_or(0);
    let back = |by: usize| at.checked_sub(by).map_or(0, byte);
    let is_word = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
    let joins = |byte: u8| matches!(byte, b'.' | b',' | b':' | b'/' | b'\'' | b'-');
    let (before, after) = (back(1), byte(at));
    let inside_word = is_word(before) && is_word(after);
    let ends_number = before.is_ascii_digit() && (after == b'%' || (joins(after) && byte(at + 1).is_ascii_digit()));
    let begins_number = after.is_ascii_digit()
        && (before == b'$'
            || (joins(before) && back(2).is_ascii_digit())
            || before == b'-'
            || (before == b'+' && !is_word(back(2)))
            || text[..at].ends_with('−'));
    !(inside_word || ends_number || begins_number)
}

/// The quotes as a trie with failure links (Aho-Corasick). A search reads the text once, regardless of the number of
/// quotes.
struct Trie {
    nodes: Vec<Node>,
}

#[derive(Clone, Copy)]
struct Node {
    /// Children are adjacent, in ascending byte order.
    first: u32,
    children: u16,
    byte: u8,
    /// The node of the longest proper suffix that is in the trie.
    fail: u32,
    /// The quote that ends here.
    quote: u32,
    /// The next node along the `fail` links at which a quote ends.
    shorter: u32,
}

impl Trie {
    fn new(quotes: &[&str]) -> Self {
        let node = |byte: u8| Node { first: 0, children: 0, byte, fail: 0, quote: NONE, shorter: NONE };
        let mut trie = Trie { nodes: vec![node(0)] };
        // For each node, the range of quotes that begin with its text, and the length of that text.
        let mut ranges = vec![(0_usize, quotes.len(), 0_usize)];
        let mut at = 0;
        while let Some(&(mut from, to, depth)) = ranges.get(at) {
            trie.nodes[at].first = trie.nodes.len() as u32;
            if from < to && quotes[from].len() == depth {
                trie.nodes[at].quote = from as u32;
                from += 1;
            }
            while from < to {
                let byte = quotes[from].as_bytes()[depth];
                let alike = quotes[from..to].partition_point(|quote| quote.as_bytes()[depth] == byte);
                let child = trie.nodes.len();
                trie.nodes.push(node(byte));
                ranges.push((from, from + alike, depth + 1));
                if at > 0 {
                    let fail = trie.step(trie.nodes[at].fail, byte);
                    trie.nodes[child].fail = fail;
                }
                trie.nodes[at].children += 1;
                from += alike;
            }
            at += 1;
        }
        for at in 1..trie.nodes.len() {
            let fail = trie.nodes[at].fail as usize;
            trie.nodes[at].shorter =
                if trie.nodes[fail].quote == NONE { trie.nodes[fail].shorter } else { fail as u32 };
        }
        trie
    }

    fn child(&self, at: u32, byte: u8) -> Option<u32> {
        let node = self.nodes[at as usize];
        let children = &self.nodes[node.first as usize..node.first as usize + usize::from(node.children)];
        children.binary_search_by_key(&byte, |child| child.byte).ok().map(|index| node.first + index as u32)
    }

    /// Returns the node of the longest suffix that matches after this byte.
    fn step(&self, at: u32, byte: u8) -> u32 {
        let mut at = at;
        loop {
            match self.child(at, byte) {
                Some(child) => return child,
                None if at == 0 => return 0,
                None => at = self.nodes[at as usize].fail,
            }
        }
    }

    fn search(&self, text: &str, quotes: &[&str], found: &mut [bool]) {
        let mut at = 0;
        for (index, byte) in text.bytes().enumerate() {
            at = self.step(at, byte);
            let end = index + 1;
            let node = self.nodes[at as usize];
            let mut ends = if node.quote == NONE { node.shorter } else { at };
            // The character has more bytes, so no quote can end here.
            if ends == NONE || !text.is_char_boundary(end) || !is_edge(text, end) {
                continue;
            }
            while ends != NONE {
                let node = self.nodes[ends as usize];
                let quote = node.quote as usize;
                found[quote] = found[quote] || is_edge(text, end - quotes[quote].len());
                ends = node.shorter;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quotes_are_found_as_whole_words() {
        let text = "matches: 12,481 of -3.2% at db-primary-2, took 30. naïve ab ab ab";
        let quotes = [
            ("12,481", true),
            ("481", false),
            ("12", false),
            ("-3.2%", true),
            ("3.2%", false),
            ("-3.2", false),
            ("2, took 30", false),
            ("db-primary-2", true),
            ("primary", true),
            ("rimary", false),
            ("took 30", true),
            ("took 3", false),
            ("naïve", true),
            ("ab ab", true),
            ("b ab", false),
            ("matches: 12,482", false),
        ];
        let mut sorted: Vec<&str> = quotes.iter().map(|(quote, _)| *quote).collect();
        sorted.sort_unstable();
        let all = found(text, &sorted);
        for (quote, is_there) in quotes {
            let index = sorted.binary_search(&quote).expect("it is there");
            assert_eq!(all[index], is_there, "{quote}");
            assert_eq!(found(text, &[quote]), [is_there], "{quote} alone");
        }
    }

    #[test]
    fn the_trie_says_what_a_search_says() {
        let text = "aab aba bab abab a b aabb ab-1 b1,2 22 2,2 2.2%";
        let parts = ["a", "b", "ab", " ", "2", ",2", "1", "%", "-", "."];
        let mut quotes: Vec<String> = parts.map(str::to_owned).to_vec();
        for a in parts {
            for b in parts {
                for c in parts {
                    quotes.push(format!("{a}{b}{c}"));
                    quotes.push(format!("{a}{b}"));
                }
            }
        }
        quotes.sort_unstable();
        quotes.dedup();
        let quotes: Vec<&str> = quotes.iter().map(String::as_str).collect();
        for (quote, found) in quotes.iter().zip(found(text, &quotes)) {
            let mut at = 0..text.len();
            let has =
                at.any(|at| text[at..].starts_with(quote) && is_edge(text, at) && is_edge(text, at + quote.len()));
            assert_eq!(found, has, "{quote}");
        }
    }
}
