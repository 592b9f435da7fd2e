//! The size limits for input: an output, a document, a contract.

/// The maximum length of a text, in bytes. A span cannot represent the offsets of a longer text.
pub(crate) const MAX_TEXT: usize = u32::MAX as usize - 1;

/// The limits of a document. A document that exceeds one is not checked against its schema.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Caps {
    pub bytes: usize,
    pub depth: usize,
    pub string_bytes: usize,
    pub array_items: usize,
    pub object_members: usize,
}

impl Default for Caps {
    fn default() -> Self {
        Caps { bytes: 1024 * 1024, depth: 64, string_bytes: 64 * 1024, array_items: 10_000, object_members: 1_000 }
    }
}

impl Caps {
    /// Returns the caps with their names in a contract.
    pub(crate) fn named(&mut self) -> [(&'static str, &mut usize); 5] {
        [
            ("bytes", &mut self.bytes),
            ("depth", &mut self.depth),
            ("string_bytes", &mut self.string_bytes),
            ("array_items", &mut self.array_items),
            ("object_members", &mut self.object_members),
        ]
    }
}

/// The limits of a contract itself. Compilation recurses once per level of nesting, and this depth fits the stack with
/// a large margin.
pub const CONTRACT_CAPS: Caps = Caps {
    bytes: 8 * 1024 * 1024,
    depth: 96,
    string_bytes: 1024 * 1024,
    array_items: 1_000_000,
    object_members: 100_000,
};

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_defaults_are_those_of_the_contract_schema() {
        let schema: serde_json::Value =
            serde_json::from_str(include_str!("../../../schemas/contract.schema.json")).expect("JSON");
        let caps = schema["properties"]["caps"]["properties"].as_object().expect("caps");
        let mut defaults = Caps::default();
        let named = defaults.named();
        assert_eq!(caps.len(), named.len());
        for (name, default) in named {
            assert_eq!(caps[name]["default"], *default, "{name}");
        }
    }
}
