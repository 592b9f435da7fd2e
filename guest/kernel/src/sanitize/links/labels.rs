//! Images whose addresses are defined elsewhere: `![x][label]`, and `[label]: https://…`.

use super::{Links, is_escaped};

/// The longest label.
const MAX_REFERENCE: usize = 1000;

/// Labels, by hash. Two labels with the same hash count as the same.
pub(super) struct Labels {
    found: [u64; 64],
    /// `true` if it contains a label that is not compared.
    has_any: bool,
    has_some: bool,
}

impl Default for Labels {
    fn default() -> Self {
        Labels { found: [0; 64], has_any: false, has_some: false }
    }
}

impl Labels {
    /// Adds a label. `None` matches any.
    pub(super) fn add(&mut self, label: Option<u16>) {
        self.has_some = true;
        match label {
            Some(hash) => self.found[usize::from(hash >> 6) % 64] |= 1 << (hash & 63),
            None => self.has_any = true,
        }
    }

    pub(super) fn may_have(&self, label: Option<u16>) -> bool {
        let is_found = |hash: u16| self.found[usize::from(hash >> 6) % 64] & 1 << (hash & 63) != 0;
        self.has_any || label.map_or(self.has_some, is_found)
    }
}

impl Links<'_> {
    /// Returns the hash of a label between two places, without its case and all characters that are not letters or
    /// digits. `None` if it is not compared.
    pub(super) fn label(&self, start: usize, end: usize) -> Option<u16> {
        let label = self.text.get(start..end)?;
        let next = self.secrets.partition_point(|(_, secret)| secret.end <= start);
        let has_secret = self.secrets.get(next).is_some_and(|(_, secret)| secret.start < end);
        // A redacted label matches any.
        if has_secret || label.len() > MAX_REFERENCE || memchr::memmem::find(label, b"[redacted:").is_some() {
            return None;
        }
        let letters = label.iter().filter(|byte| byte.is_ascii_alphanumeric());
        let hash = letters.fold(0_u32, |hash, byte| {
            (hash.rotate_left(5) ^ u32::from(byte.to_ascii_lowercase())).wrapping_mul(0x9e37_79b1)
        });
        label.is_ascii().then_some((hash >> 20) as u16)
    }

    /// Adds the label that directly follows an image.
    pub(super) fn reference(&mut self, at: usize) {
        if self.secret(at).is_some() {
            self.images.add(None);
        } else if self.text.get(at) == Some(&b'[') {
            // An opening bracket inside would end it.
            let is_end = |end: &usize| matches!(self.text[*end], b'[' | b']') && !is_escaped(self.text, *end);
            let end = (at + 1..self.text.len().min(at + MAX_REFERENCE)).find(is_end);
            let end = end.filter(|end| self.text[*end] == b']' && *end > at + 1);
            if let Some(end) = end {
                self.images.add(self.label(at + 1, end));
            }
        }
    }
}
