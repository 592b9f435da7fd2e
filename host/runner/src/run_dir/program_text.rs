//! Describes on one line how a server is run. A person reads this text before they approve a call, and an approval
//! applies only to this text.

use std::{collections::BTreeMap, fmt::Write, path::Path};

use seamgate::digest;
use seamgate_text::shell_word;

use super::servers::{Command, Server};
use crate::{mcp::Endpoint, process::Paths};

impl Command {
    /// Describes the program by its words, the names of its variables, and its paths. The values of variables may be
    /// secret, so the description has only a digest of them.
    pub fn described(&self) -> String {
        let mut text = self.command.iter().map(|word| program_word(word)).collect::<Vec<_>>().join(" ");
        push_values(&mut text, "env", &self.env);
        if !self.environment.is_empty() {
            let _ = write!(text, "; environment {}", self.environment.join(", "));
        }
        if let Some(Paths { read, write, .. }) = &self.paths {
            for (what, paths) in [("reads", read), ("writes", write)] {
                let paths: Vec<String> = paths.iter().map(|path| shell_word(path)).collect();
                let paths = if paths.is_empty() { "nothing more".to_owned() } else { paths.join(", ") };
                let _ = write!(text, "; {what} {paths}");
            }
        }
        text
    }
}

impl Server {
    /// Describes the server, if a single program or address provides all its tools.
    pub fn described(&self) -> Option<String> {
        match self {
            Server::Commands(_) => None,
            Server::Mcp(command) => Some(command.described()),
            Server::Address(endpoint) => Some(of_endpoint(endpoint)),
        }
    }
}

/// Returns a word in shell syntax. A word that begins with dashes needs no quotes, because it is not a path.
fn program_word(word: &str) -> String {
    let rest = word.trim_start_matches('-');
    let dashes = &word[..word.len() - rest.len()];
    if rest.is_empty() && !dashes.is_empty() {
        dashes.to_owned()
    } else {
        format!("{dashes}{}", shell_word(Path::new(rest)))
    }
}

fn of_endpoint(endpoint: &Endpoint) -> String {
    let mut text = endpoint.url.clone();
    push_values(&mut text, "headers", &endpoint.headers);
    text
}

fn push_values(text: &mut String, what: &str, values: &BTreeMap<String, String>) {
    if values.is_empty() {
        return;
    }
    let names: Vec<&str> = values.keys().map(String::as_str).collect();
    // In JSON, different maps have different texts.
    let all = serde_json::to_string(values).unwrap_or_default();
    let _ = write!(text, "; {what} {} ({})", names.join(", "), digest(all.as_bytes()));
}

#[cfg(test)]
mod tests {
    use super::*;

    fn described(json: &str) -> String {
        serde_json::from_str::<Command>(json).expect("a command").described()
    }

    #[test]
    fn values_of_variables_are_not_shown_and_their_change_is() {
        let one = described(r#"{"command":["sh","my tool.sh"],"env":{"TOKEN":"s3cret"},"environment":["HOST"]}"#);
        assert!(one.starts_with("sh 'my tool.sh'; env TOKEN (sha256:") && one.ends_with("; environment HOST"), "{one}");
        assert!(!one.contains("s3cret"));
        let other = described(r#"{"command":["sh","my tool.sh"],"env":{"TOKEN":"s3creT"},"environment":["HOST"]}"#);
        assert_ne!(one, other);
    }

    #[test]
    fn words_are_those_of_a_shell() {
        let text = described(r#"{"command":["sh","-c","echo \"a b\"","--","--x","","-"]}"#);
        assert_eq!(text, r#"sh -c 'echo "a b"' -- --x '' -"#);
    }

    #[test]
    fn paths_are_part_of_a_program() {
        let text = described(r#"{"command":["sh"],"paths":{"read":["data"]}}"#);
        assert_eq!(text, "sh; reads data; writes nothing more");
    }
}
