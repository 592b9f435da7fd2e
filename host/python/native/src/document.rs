//! Reads a document as Python's `json.loads` does, in about 60 % of its time.
//!
//! If a text is invalid or unusual, nothing is read. Python's own reader then decides, and raises the errors that users
//! know.

use std::sync::Mutex;

use pyo3::{
    prelude::*,
    sync::PyOnceLock,
    types::{PyBool, PyDict, PyFloat, PyInt, PyList, PyNone, PyString},
};

/// The deepest nesting that is read here. No contract allows deeper documents.
const MOST_DEPTH: usize = 128;

/// Returns the value of a JSON text. `None` if the text is invalid, nests deeper, or has an integer beyond 64 bits or
/// half of a surrogate pair.
pub(crate) fn read<'py>(py: Python<'py>, text: &str) -> Option<Bound<'py, PyAny>> {
    // Taken if making a value runs code of Python, such as a finalizer, which reads a document or lets a thread do so.
    let mut names = NAMES.get_or_init(py, || Mutex::new(Names::new())).try_lock().ok()?;
    let mut reader = Reader { py, text, at: 0, items: Vec::new(), unescaped: String::new(), names: &mut names };
    let value = reader.value(MOST_DEPTH)?;
    reader.skip_space();
    (reader.at == text.len()).then_some(value)
}

static NAMES: PyOnceLock<Mutex<Names>> = PyOnceLock::new();

/// Member names that were read before: documents of one contract share them.
struct Names(Box<[Option<Name>]>);

/// A name, and the same as Python's.
type Name = (Box<str>, Py<PyString>);

impl Names {
    /// The most names, and the longest one.
    const MOST: usize = 512;
    const LONGEST: usize = 32;

    fn new() -> Self {
        Names((0..Self::MOST).map(|_| None).collect())
    }

    #[inline]
    fn get<'py>(&mut self, py: Python<'py>, name: &str) -> Bound<'py, PyString> {
        if name.len() > Self::LONGEST {
            return PyString::new(py, name);
        }
        // FNV-1a.
        let mix = |hash: u32, byte: &u8| (hash ^ u32::from(*byte)).wrapping_mul(0x0100_0193);
        let hash = name.as_bytes().iter().fold(0x811c_9dc5, mix);
        let place = &mut self.0[(hash ^ (hash >> 16)) as usize % Self::MOST];
        match place {
            Some((known, made)) if **known == *name => made.bind(py).clone(),
            _ => {
                let made = PyString::new(py, name);
                *place = Some((name.into(), made.clone().unbind()));
                made
            }
        }
    }
}

struct Reader<'t, 'py> {
    py: Python<'py>,
    text: &'t str,
    at: usize,
    /// The items of the lists that have not ended.
    items: Vec<Bound<'py, PyAny>>,
    unescaped: String,
    names: &'t mut Names,
}

impl<'t, 'py> Reader<'t, 'py> {
    fn value(&mut self, depth: usize) -> Option<Bound<'py, PyAny>> {
        self.skip_space();
        let py = self.py;
        match self.peek()? {
            b'"' => Some(PyString::new(py, self.string()?).into_any()),
            b'{' => self.object(depth.checked_sub(1)?),
            b'[' => self.list(depth.checked_sub(1)?),
            b't' => self.word("true", PyBool::new(py, true).to_owned().into_any()),
            b'f' => self.word("false", PyBool::new(py, false).to_owned().into_any()),
            b'n' => self.word("null", PyNone::get(py).to_owned().into_any()),
            _ => self.number(),
        }
    }

    fn object(&mut self, depth: usize) -> Option<Bound<'py, PyAny>> {
        let made = PyDict::new(self.py);
        self.at += 1;
        self.skip_space();
        if self.peek()? == b'}' {
            self.at += 1;
            return Some(made.into_any());
        }
        loop {
            self.skip_space();
            let name = self.name()?;
            self.skip_space();
            self.expect(b':')?;
            let value = self.value(depth)?;
            made.set_item(name, value).ok()?;
            if self.is_at_end(b'}')? {
                return Some(made.into_any());
            }
        }
    }

    fn list(&mut self, depth: usize) -> Option<Bound<'py, PyAny>> {
        let start = self.items.len();
        self.at += 1;
        self.skip_space();
        if self.peek()? == b']' {
            self.at += 1;
            return Some(PyList::empty(self.py).into_any());
        }
        loop {
            let value = self.value(depth)?;
            self.items.push(value);
            if self.is_at_end(b']')? {
                return Some(PyList::new(self.py, self.items.drain(start..)).ok()?.into_any());
            }
        }
    }

    /// Returns whether a list or an object ends here. If not, another item or member follows its comma.
    #[inline]
    fn is_at_end(&mut self, end: u8) -> Option<bool> {
        self.skip_space();
        let byte = self.peek()?;
        self.at += 1;
        match byte {
            b',' => Some(false),
            _ => (byte == end).then_some(true),
        }
    }

    fn word(&mut self, word: &str, value: Bound<'py, PyAny>) -> Option<Bound<'py, PyAny>> {
        let is_there = self.text.as_bytes().get(self.at..)?.starts_with(word.as_bytes());
        self.at += word.len();
        is_there.then_some(value)
    }

    fn number(&mut self) -> Option<Bound<'py, PyAny>> {
        let start = self.at;
        self.at += usize::from(self.peek()? == b'-');
        let starts_with_zero = self.peek()? == b'0';
        let digits = self.digits()?;
        let mut is_integer = true;
        if self.peek() == Some(b'.') {
            is_integer = false;
            self.at += 1;
            self.digits()?;
        }
        if let Some(b'e' | b'E') = self.peek() {
            is_integer = false;
            self.at += 1;
            self.at += usize::from(matches!(self.peek()?, b'+' | b'-'));
            self.digits()?;
        }
        let text = self.text.get(start..self.at)?;
        if starts_with_zero && digits > 1 {
            return None;
        }
        if !is_integer {
            // The nearest double, and infinity for what is too large: as Python's `float`.
            return Some(PyFloat::new(self.py, text.parse().ok()?).into_any());
        }
        Some(match text.parse::<i64>() {
            Ok(value) => PyInt::new(self.py, value).into_any(),
            Err(_) => PyInt::new(self.py, text.parse::<u64>().ok()?).into_any(),
        })
    }

    /// Skips digits. Returns their number, which is at least one.
    #[inline]
    fn digits(&mut self) -> Option<usize> {
        let start = self.at;
        while let Some(b'0'..=b'9') = self.peek() {
            self.at += 1;
        }
        (self.at > start).then_some(self.at - start)
    }

    fn name(&mut self) -> Option<Bound<'py, PyString>> {
        (self.peek()? == b'"').then_some(())?;
        let py = self.py;
        match self.plain_string() {
            Some(name) => Some(self.names.get(py, name)),
            None => Some(PyString::new(py, self.string()?)),
        }
    }

    /// Returns a string, without its quotes and escapes.
    #[inline]
    fn string(&mut self) -> Option<&str> {
        match self.plain_string() {
            Some(string) => Some(string),
            None => self.unescape(),
        }
    }

    #[cold]
    fn unescape(&mut self) -> Option<&str> {
        let text = self.text;
        self.unescaped.clear();
        self.at += 1;
        loop {
            let piece = text.get(self.at..)?;
            let length = plain(piece.as_bytes());
            self.unescaped.push_str(piece.get(..length)?);
            self.at += length;
            match self.peek()? {
                b'"' => {
                    self.at += 1;
                    return Some(&self.unescaped);
                }
                b'\\' => {
                    let character = self.escape()?;
                    self.unescaped.push(character);
                }
                // A control character.
                _ => return None,
            }
        }
    }

    /// Reads a string that has no escapes. Does not advance if there is any other string.
    #[inline]
    fn plain_string(&mut self) -> Option<&'t str> {
        let start = self.at + 1;
        let rest = self.text.get(start..)?;
        let length = plain(rest.as_bytes());
        (rest.as_bytes().get(length)? == &b'"').then_some(())?;
        self.at = start + length + 1;
        rest.get(..length)
    }

    fn escape(&mut self) -> Option<char> {
        let mark = *self.text.as_bytes().get(self.at + 1)?;
        self.at += 2;
        match mark {
            b'"' | b'\\' | b'/' => Some(char::from(mark)),
            b'b' => Some('\u{8}'),
            b'f' => Some('\u{c}'),
            b'n' => Some('\n'),
            b'r' => Some('\r'),
            b't' => Some('\t'),
            b'u' => {
                let first = self.unit()?;
                if !(0xd800..0xdc00).contains(&first) {
                    // Half of a pair is not a character.
                    return char::from_u32(first.into());
                }
                self.expect(b'\\')?;
                self.expect(b'u')?;
                let pair = [first, self.unit()?];
                char::decode_utf16(pair).next()?.ok()
            }
            _ => None,
        }
    }

    /// Returns the four hexadecimal digits of an escape.
    fn unit(&mut self) -> Option<u16> {
        let digits = self.text.as_bytes().get(self.at..self.at + 4)?;
        self.at += 4;
        let digit = |unit: u32, digit: &u8| Some(unit * 16 + char::from(*digit).to_digit(16)?);
        digits.iter().try_fold(0, digit)?.try_into().ok()
    }

    #[inline]
    fn expect(&mut self, byte: u8) -> Option<()> {
        let is_there = self.peek()? == byte;
        self.at += 1;
        is_there.then_some(())
    }

    #[inline]
    fn skip_space(&mut self) {
        while let Some(b' ' | b'\n' | b'\r' | b'\t') = self.peek() {
            self.at += 1;
        }
    }

    #[inline]
    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }
}

/// Returns the number of bytes before the first quote, backslash or control character.
// Strings are short: a search that is called takes longer to begin.
#[inline]
fn plain(bytes: &[u8]) -> usize {
    const EACH: u64 = u64::MAX / 0xff;
    // Bytes below a limit, by their highest bits. Bytes after the first may be marked wrongly.
    let below = |word: u64, limit: u64| word.wrapping_sub(EACH * limit) & !word & (EACH * 0x80);
    let is = |word: u64, byte: u8| below(word ^ (EACH * u64::from(byte)), 1);
    let (words, rest) = bytes.as_chunks::<8>();
    for (index, word) in words.iter().enumerate() {
        let word = u64::from_le_bytes(*word);
        let marks = is(word, b'"') | is(word, b'\\') | below(word, 0x20);
        if marks != 0 {
            return index * 8 + marks.trailing_zeros() as usize / 8;
        }
    }
    let is_plain = |byte: &&u8| !matches!(byte, b'"' | b'\\' | 0..0x20);
    bytes.len() - rest.len() + rest.iter().take_while(is_plain).count()
}
