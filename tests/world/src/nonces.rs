//! Nonces. Each text of a party contains one, so that every byte that leaves the gate can be traced to the rule that
//! allowed it.

use std::fmt::Write;

use memchr::memchr_iter;

/// A set of parties, one bit for each.
pub(crate) type Parties = u8;

pub(crate) const NOBODY: Parties = 0;
pub(crate) const CLIENT: Parties = 1;
/// All servers.
pub(crate) const SERVERS: Parties = !CLIENT;

/// The prefix of a nonce. Six hexadecimal digits follow.
const MARK: &[u8] = b"Zq";
const LENGTH: usize = 8;

/// Returns the bit of a server.
pub(crate) const fn server(place: usize) -> Parties {
    2 << place
}

/// All nonces of a world.
#[derive(Default)]
pub(crate) struct Nonces(Vec<Nonce>);

#[derive(Clone, Copy)]
struct Nonce {
    owner: Parties,
    /// The parties that may read the nonce.
    readers: Parties,
}

impl Nonces {
    /// Writes a new nonce, and returns its number.
    pub(crate) fn write(&mut self, out: &mut String, owner: Parties, readers: Parties) -> u32 {
        const DIGITS: &[u8; 16] = b"0123456789abcdef";
        let number = self.0.len() as u32;
        self.0.push(Nonce { owner, readers });
        out.push_str("Zq");
        for shift in (0..LENGTH - MARK.len()).rev() {
            out.push(char::from(DIGITS[(number >> (4 * shift)) as usize & 15]));
        }
        number
    }

    /// Allows parties to read a nonce.
    pub(crate) fn let_read(&mut self, number: u32, readers: Parties) {
        self.0[number as usize].readers |= readers;
    }

    /// Allows parties to read all nonces in a text.
    pub(crate) fn let_read_all(&mut self, text: &str, readers: Parties) {
        for number in numbers(text) {
            if let Some(nonce) = self.0.get_mut(number as usize) {
                nonce.readers |= readers;
            }
        }
    }

    /// Checks that a reader may read a text.
    ///
    /// # Panics
    ///
    /// Panics if the text contains a nonce that no rule allowed the reader to read.
    pub(crate) fn check(&self, text: &str, reader: Parties) {
        for number in numbers(text) {
            let nonce = self.0[number as usize];
            assert!(nonce.readers & reader != 0, "Zq{number:06x} of {:03b} reaches {reader:03b}: {text}", nonce.owner);
        }
    }
}

fn numbers(text: &str) -> impl Iterator<Item = u32> {
    let bytes = text.as_bytes();
    memchr_iter(MARK[0], bytes).filter_map(move |at| {
        let digits = bytes.get(at..at + LENGTH)?.strip_prefix(MARK)?;
        digits.iter().try_fold(0, |number, digit| Some(number << 4 | char::from(*digit).to_digit(16)?))
    })
}

/// Returns a text without its first nonce, as the kernel would sanitize it. Returns `None` if the text has no nonce.
pub(crate) fn without_first(text: &str) -> Option<String> {
    let at = memchr_iter(MARK[0], text.as_bytes()).find(|at| text.as_bytes()[*at..].starts_with(MARK))?;
    let mut out = String::with_capacity(text.len());
    out.push_str(&text[..at]);
    let _ = out.write_str("[out]___");
    out.push_str(text.get(at + LENGTH..)?);
    Some(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nonces_are_found() {
        let (mut nonces, mut text) = (Nonces::default(), "Z".to_owned());
        nonces.write(&mut text, CLIENT, NOBODY);
        nonces.write(&mut text, server(0), CLIENT);
        assert_eq!(text, "ZZq000000Zq000001");
        assert_eq!(numbers(&text).collect::<Vec<_>>(), [0, 1]);
        let left = without_first(&text).expect("a nonce");
        assert_eq!(numbers(&left).collect::<Vec<_>>(), [1]);
        nonces.check(&left, CLIENT);
    }
}
