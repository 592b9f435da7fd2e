//! The form in which the model writes references to secrets.

use crate::tool::{SecretRule, Tool};

/// The beginning of a reference.
pub(crate) const PREFIX: &str = "secret:";

/// Joins references to secrets, in the form that the model writes.
pub(crate) fn references(names: &[&str]) -> String {
    names.iter().map(|name| format!("\"{PREFIX}{name}\"")).collect::<Vec<_>>().join(" or ")
}

/// Describes the secrets that a tool may take, for the model. `None` if it may take none.
pub(crate) fn described(tool: &Tool) -> Option<String> {
    let rule = |rule: &SecretRule| {
        let names: Vec<&str> = rule.names.iter().map(String::as_str).collect();
        format!("{} in {}", references(&names), rule.path.text)
    };
    let rules = tool.secrets.iter().map(rule).collect::<Vec<_>>().join(", ");
    (!rules.is_empty()).then(|| {
        format!("Secrets: write {rules} as the whole value. The value itself is put in when the call is sent.")
    })
}
