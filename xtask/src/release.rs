//! Checks the tag of a release, and extracts its notes from the changelog. Adds the digests of a release to the action
//! for GitHub.

use std::{fs, path::Path};

use anyhow::{Context, Result, ensure};

const CHANGELOG: &str = "CHANGELOG.md";

/// The digests of the command lines that the action for GitHub installs.
const INSTALLED: &str = ".github/action/SHA256SUMS";

/// Adds the digests of the command lines of this version to those that the action installs. `sums` is `SHA256SUMS` of
/// the release.
pub(crate) fn add_digests(sums: &Path) -> Result<()> {
    let known = fs::read_to_string(INSTALLED).context(INSTALLED)?;
    let sums = fs::read_to_string(sums).with_context(|| sums.display().to_string())?;
    fs::write(INSTALLED, with_digests(&known, &sums, env!("CARGO_PKG_VERSION"))?).context(INSTALLED)
}

/// Returns the known lines, followed by those for the command lines of a version. Fails if there are none, or if a
/// known line has another digest for the same file.
fn with_digests(known: &str, sums: &str, version: &str) -> Result<String> {
    let before = format!("seamgate-{version}-");
    let is_program = |name: &str| {
        let platform = name.strip_prefix(&before).unwrap_or_default().trim_end_matches(".zip");
        platform.split_once('-').is_some_and(|(_, system)| ["linux", "macos", "windows"].contains(&system))
    };
    let mut lines: Vec<&str> = known.lines().collect();
    let mut found = 0;
    for line in sums.lines() {
        let (digest, name) = line.split_once("  ").with_context(|| format!("no line of SHA256SUMS: {line}"))?;
        if !is_program(name) {
            continue;
        }
        ensure!(digest.len() == 64 && digest.bytes().all(|byte| byte.is_ascii_hexdigit()), "{name} has no digest");
        found += 1;
        match lines.iter().find(|known| known.ends_with(&format!("  {name}"))) {
            Some(known) => ensure!(*known == line, "{INSTALLED} has another digest of {name}"),
            None => lines.push(line),
        }
    }
    ensure!(found > 0, "the file names no command line of seamgate {version}");
    Ok(lines.join("\n") + "\n")
}

/// Prints the changelog's section about the version in a tag, which must be this version. `base` is the address to
/// which relative links are resolved.
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

/// Returns a text with an address prepended to its relative links.
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
    use super::{notes, with_base, with_digests};

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
    fn digests_of_command_lines_alone_are_added_once() {
        let line = |byte: char, name: &str| format!("{}  {name}\n", byte.to_string().repeat(64));
        let known = line('a', "seamgate-0.0.9-x86_64-linux");
        let programs = line('b', "seamgate-0.1.0-aarch64-macos.zip") + &line('c', "seamgate-0.1.0-x86_64-linux");
        let others =
            ["-x86_64-linux.oci.tar", "-aarch64-macos.cdx.json", "-cp310-abi3-manylinux_2_17_x86_64.whl", ".tgz"];
        let others: String = others.iter().map(|end| line('d', &format!("seamgate-0.1.0{end}"))).collect();
        let sums = format!("{others}{programs}");
        let added = with_digests(&known, &sums, "0.1.0").expect("digests");
        assert_eq!(added, format!("{known}{programs}"));
        assert_eq!(with_digests(&added, &sums, "0.1.0").expect("the same digests"), added);

        for (known, sums, version, why) in [
            (&*known, &*sums, "0.2.0", "no command line of seamgate 0.2.0"),
            (&*line('e', "seamgate-0.1.0-x86_64-linux"), &*sums, "0.1.0", "another digest"),
            ("", "nothing", "0.1.0", "no line"),
            ("", "abc  seamgate-0.1.0-x86_64-linux", "0.1.0", "has no digest"),
        ] {
            let error = with_digests(known, sums, version).expect_err(why).to_string();
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
