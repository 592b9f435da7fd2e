//! `SHA256SUMS`, as `sha256sum` writes it.

use std::collections::BTreeMap;

/// The largest `SHA256SUMS`, in bytes.
pub(crate) const MAX_BYTES: u64 = 1 << 20;
/// The maximum number of lines, and the longest name.
const MAX_LINES: usize = 4096;
const MAX_NAME: usize = 255;

/// Parses the digests: for each name, the digest in lower-case hexadecimal.
///
/// A name is a single path component in printable ASCII. Each line must be exactly as `sha256sum` writes it.
pub(crate) fn parse(bytes: &[u8]) -> Result<BTreeMap<String, String>, String> {
    let text = std::str::from_utf8(bytes).map_err(|_| "must be UTF-8".to_owned())?;
    let text = text.strip_suffix('\n').ok_or("must end with a line end; copy it again from the release")?;
    let mut digests = BTreeMap::new();
    for (index, line) in text.split('\n').enumerate() {
        let number = index + 1;
        if number > MAX_LINES {
            return Err(format!("has more than {MAX_LINES} lines"));
        }
        let (digest, name) = line.split_once("  ").ok_or_else(|| format!("line {number}: must be DIGEST  NAME"))?;
        let is_digest = digest.len() == 64 && digest.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'));
        if !is_digest {
            return Err(format!("line {number}: the digest must be 64 digits of lower-case hexadecimal"));
        }
        let is_plain = |byte: u8| byte.is_ascii_graphic() && !b"/\\*:".contains(&byte);
        if name.is_empty() || name.len() > MAX_NAME || name.starts_with(['.', '-']) || !name.bytes().all(is_plain) {
            return Err(format!("line {number}: the name must be a plain file name without a folder"));
        }
        if digests.insert(name.to_owned(), digest.to_owned()).is_some() {
            return Err(format!("line {number}: names {name} a second time; each file must have one line"));
        }
    }
    Ok(digests)
}

#[cfg(test)]
mod tests {
    use super::parse;

    #[test]
    fn only_plain_names_and_digests_are_read() {
        let digest = "0".repeat(64);
        assert_eq!(parse(format!("{digest}  a\n{digest}  b.txt\n").as_bytes()).map(|found| found.len()), Ok(2));
        for wrong in [
            String::new(),
            "\n".to_owned(),
            format!("{digest}  a"),
            format!("{digest}  a\n\n"),
            format!("{digest} a\n"),
            format!("{digest}  *a\n"),
            format!("{digest}   a\n"),
            format!("{digest}  /etc/passwd\n"),
            format!("{digest}  ../a\n"),
            format!("{digest}  ..\n"),
            format!("{digest}  c:a\n"),
            format!("{digest}  a\r\n"),
            format!("{digest}  é\n"),
            format!("{digest}  a\n{digest}  a\n"),
            format!("{}  a\n", "A".repeat(64)),
            format!("{}  a\n", "0".repeat(63)),
        ] {
            assert!(parse(wrong.as_bytes()).is_err(), "{wrong:?}");
        }
        assert!(parse(b"\xff\n").is_err());
    }
}
