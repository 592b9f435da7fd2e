//! Checks what a release says: its tag, and its notes from the changelog.

use std::fs;

use anyhow::{Context, Result, ensure};

const CHANGELOG: &str = "CHANGELOG.md";

/// Prints the changelog's section about the version that a tag names, which must be this one. `base` is the address that
/// relative links belong to.
pub(crate) fn print_notes(tag: &str, base: Option<&str>) -> Result<()> {
    let version = env!("CARGO_PKG_VERSION");
    ensure!(tag.strip_prefix('v') == Some(version), "the tag is {tag}, and Cargo.toml has the version {version}");
    let changelog = fs::read_to_string(CHANGELOG).context(CHANGELOG)?;
    let notes = notes(&changelog, version)?;
    println!("{}", base.map_or_else(|| notes.clone(), |base| with_base(&notes, base)));
    Ok(())
}

/// Returns the section about a version, without its heading. The heading is `## VERSION`, alone or before a space.
fn notes(changelog: &str, version: &str) -> Result<String> {
    let is_of_version =
        |line: &&str| line.strip_prefix("## ").and_then(|title| title.split(' ').next()) == Some(version);
    let mut lines = changelog.lines().skip_while(|line| !is_of_version(line));
    lines.next().with_context(|| format!("{CHANGELOG} has no section \"## {version}\""))?;
    let section: Vec<&str> = lines.take_while(|line| !line.starts_with("## ")).collect();
    let section = section.join("\n").trim().to_owned();
    ensure!(!section.is_empty(), "{CHANGELOG} says nothing about {version}");
    Ok(section)
}

/// Returns a text whose relative links have an address before them.
fn with_base(text: &str, base: &str) -> String {
    let mut parts = text.split("](");
    let first = parts.next().unwrap_or_default().to_owned();
    parts.fold(first, |text, part| {
        let is_absolute = part.starts_with('#') || part.starts_with("https:") || part.starts_with("http:");
        if is_absolute { format!("{text}]({part}") } else { format!("{text}]({base}/{part}") }
    })
}

#[cfg(test)]
mod tests {
    use super::{notes, with_base};

    const CHANGELOG: &str = "# Changelog\n\n## Unreleased\n\nLater.\n\n## 0.1.1 (2026-12-01)\n\n### Agents\n\n- One.\n\n\
                             ## 0.1.0\n\n## 0.0.1\n\n- Old.\n";

    #[test]
    fn notes_are_the_section_of_the_version() {
        assert_eq!(notes(CHANGELOG, "0.1.1").expect("a section"), "### Agents\n\n- One.");
        assert_eq!(notes(CHANGELOG, "0.0.1").expect("the last section"), "- Old.");
    }

    #[test]
    fn missing_and_empty_notes_fail() {
        for (version, why) in [("0.1", "no section"), ("0.2.0", "no section"), ("0.1.0", "says nothing")] {
            let error = notes(CHANGELOG, version).expect_err(version).to_string();
            assert!(error.contains(why), "{error}");
        }
    }

    #[test]
    fn only_relative_links_get_the_base() {
        let text = "[a](docs/a.md#b), [c](https://example.com), [d](#d)";
        let wanted = "[a](https://host/docs/a.md#b), [c](https://example.com), [d](#d)";
        assert_eq!(with_base(text, "https://host"), wanted);
    }
}
