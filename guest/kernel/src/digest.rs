//! Digests of actions, which approvals refer to, and of calls, which identify equal calls.

use seamgate_core::kernel_api::{Document, canonical, digest};

/// Returns the digest of texts in a domain. The length of each text precedes it, so that different texts never produce
/// the same bytes.
fn envelope(domain: &str, texts: &[&str]) -> String {
    let mut envelope = format!("seamgate:{domain}:1\n");
    for text in texts {
        envelope.push_str(&format!("{}:{text}\n", text.len()));
    }
    digest(&envelope)
}

/// Returns the first hexadecimal digits of a digest.
fn first(digest: &str, digits: usize) -> String {
    digest["sha256:".len()..][..digits].to_owned()
}

/// Returns whether a text is a digest in the form that documents use.
pub(crate) fn is_one(text: &str) -> bool {
    let digits = text.strip_prefix("sha256:").unwrap_or_default();
    digits.len() == 64 && digits.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
}

/// The action that an approval refers to.
pub(crate) struct Action<'a> {
    pub(crate) profile: &'a str,
    pub(crate) run: &'a str,
    pub(crate) server: &'a str,
    pub(crate) tool: &'a str,
    pub(crate) definition: &'a str,
    /// The text as it will be sent.
    pub(crate) arguments: &'a str,
    pub(crate) principal: &'a str,
    /// The mode in which the call runs. Empty if the profile has no modes.
    pub(crate) scope: &'a str,
    /// The description of the way in which the tool is run. Empty if the host does not provide it.
    pub(crate) program: &'a str,
}

impl Action<'_> {
    /// Returns the digest of the action. The arguments are not canonicalized, because the bytes that are sent must be
    /// the bytes that a person saw.
    pub(crate) fn digest(&self) -> String {
        let Action { profile, run, server, tool, definition, principal, scope, program, .. } = self;
        let arguments = digest(self.arguments);
        let texts = [profile, run, server, tool, definition, arguments.as_str(), principal, scope, program];
        let used = if program.is_empty() { 8 } else { 9 };
        envelope("action", &texts[..used])
    }
}

/// Returns the digest of a call. Calls with equal arguments share it, however the arguments are written. It is
/// truncated to 128 bits because the state contains one for each call.
pub(crate) fn same_call(server: &str, tool: &str, arguments: &Document) -> String {
    first(&envelope("call", &[server, tool, &canonical(arguments, Document::ROOT)]), 32)
}

/// Returns the digest of a call whose arguments are invalid JSON. It never equals the digest of a call with valid
/// arguments.
pub(crate) fn same_text(server: &str, tool: &str, arguments: &str) -> String {
    first(&envelope("text_call", &[server, tool, arguments]), 32)
}

/// Returns the digest with which a run recognizes a repeated event.
pub(crate) fn event(text: &str) -> String {
    first(&digest(text), 16)
}

/// Returns the mark around the data of one observation. The mark of one observation does not reveal the mark of
/// another.
pub(crate) fn mark(nonce: &str, id: &str) -> String {
    format!("data-{}", first(&envelope("mark", &[nonce, id]), 16))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_two_lists_of_texts_share_an_envelope() {
        let lists: [&[&str]; 5] = [&["ab", "c"], &["a", "bc"], &["abc"], &["abc", ""], &["ab\n1:c"]];
        let mut digests: Vec<String> = lists.iter().map(|texts| envelope("test", texts)).collect();
        digests.sort();
        digests.dedup();
        assert_eq!(digests.len(), lists.len());
    }
}
