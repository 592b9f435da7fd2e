//! The allowed tools that a denial names. There are few, beginning with tools that could do what the model requested.

use crate::tool::{Effect, Tool};

/// The maximum number of tools that a denial names.
const MAX_NAMED: usize = 8;

/// Describes the allowed tools. If there are many, names the tools that share a word with the requested tool first,
/// then those with the same effect, then the others, each group in the order of the profile.
pub(crate) fn sentence(allowed: &[&Tool], asked: &str, effect: Option<Effect>) -> String {
    if allowed.is_empty() {
        return "No tool is allowed.".to_owned();
    }
    let mut named: Vec<&&Tool> = allowed.iter().collect();
    if named.len() > MAX_NAMED {
        let asked: Vec<String> = words(asked).collect();
        let shares = |tool: &Tool| words(&tool.name).any(|word| asked.contains(&word));
        let (mut first, rest): (Vec<&&Tool>, Vec<&&Tool>) = named.into_iter().partition(|tool| shares(tool));
        let (second, third): (Vec<&&Tool>, Vec<&&Tool>) =
            rest.into_iter().partition(|tool| Some(tool.effect) == effect);
        first.extend(second.into_iter().chain(third));
        first.truncate(MAX_NAMED);
        named = first;
    }
    let names = named.iter().map(|tool| tool.full_name()).collect::<Vec<_>>().join(", ");
    match allowed.len() - named.len() {
        0 => format!("Allowed tools: {names}."),
        more => format!("Allowed tools: {names} and {more} more."),
    }
}

/// Returns the words of a name in lower case. `runShell`, `run_shell` and `run-shell` each have two.
pub(crate) fn words(name: &str) -> impl Iterator<Item = String> {
    let mut spaced = String::new();
    let mut was_small = false;
    for character in name.chars() {
        if character.is_uppercase() && was_small {
            spaced.push(' ');
        }
        was_small = character.is_lowercase() || character.is_numeric();
        match character.is_alphanumeric() {
            true => spaced.extend(character.to_lowercase()),
            false => spaced.push(' '),
        }
    }
    spaced.split_whitespace().map(str::to_owned).collect::<Vec<_>>().into_iter()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Profile;

    #[test]
    fn few_tools_are_named_and_those_first_that_fit() {
        let tools = |count: usize| {
            let other = (0..count).map(|number| format!(r#"{{"name":"t{number}","effect":"read","permit":"allow"}}"#));
            let fitting = [("sendMail", "effectful"), ("write", "idempotent"), ("mail_list", "read")];
            let fitting = fitting
                .iter()
                .map(|(name, effect)| format!(r#"{{"name":"{name}","effect":"{effect}","permit":"allow"}}"#));
            let all = other.chain(fitting).collect::<Vec<_>>().join(",");
            Profile::compile(&format!(r#"{{"agent":"a","tools":[{all}]}}"#)).expect("a profile")
        };
        let said =
            |profile: &Profile, asked, effect| sentence(&profile.tools.iter().collect::<Vec<_>>(), asked, effect);
        assert_eq!(said(&tools(0), "x", None), "Allowed tools: sendMail, write, mail_list.");
        assert_eq!(said(&tools(5), "mail", None), "Allowed tools: t0, t1, t2, t3, t4, sendMail, write, mail_list.");
        assert_eq!(
            said(&tools(20), "post-mail", Some(Effect::Idempotent)),
            "Allowed tools: sendMail, mail_list, write, t0, t1, t2, t3, t4 and 15 more."
        );
        assert_eq!(sentence(&[], "x", None), "No tool is allowed.");
    }
}
