//! The names of a release's files.

/// The file with the digests of all other files except the statements.
pub(crate) const DIGESTS: &str = "SHA256SUMS";
/// The file with the packages that the release was built from, and their digests.
pub(crate) const LOCK: &str = "Cargo.lock";
/// The suffixes of the names of statements.
const PROVENANCE: &str = ".provenance.sigstore.json";
const MATERIALS: &str = ".sbom.sigstore.json";
/// The files whose names do not contain the version.
const WITHOUT_VERSION: [&str; 3] = [LOCK, "THIRD-PARTY-NOTICES.txt", "seamgate.cdx.json"];

/// The platforms whose command line has a bill of materials: the suffix of the command line's name after the version,
/// and the name of the bill.
const PLATFORMS: [(&str, &str, Option<&str>); 4] = [
    ("x86_64-linux", "x86_64-linux", Some("seamgate.cdx.json")),
    ("aarch64-macos", "aarch64-macos.zip", None),
    ("x86_64-macos", "x86_64-macos.zip", None),
    ("x86_64-windows", "x86_64-windows.zip", None),
];

/// Returns the name of the statement about where the files were built.
pub(crate) fn provenance(version: &str) -> String {
    format!("seamgate-{version}{PROVENANCE}")
}

/// Returns the version in the name of a provenance statement.
pub(crate) fn version_of_provenance(name: &str) -> Option<&str> {
    let version = name.strip_prefix("seamgate-")?.strip_suffix(PROVENANCE)?;
    is_version(version).then_some(version)
}

/// Returns whether a file has the name of a statement of any release. This release's own statements are looked up by
/// their exact names.
pub(crate) fn is_statement(name: &str) -> bool {
    name.ends_with(PROVENANCE) || name.ends_with(MATERIALS)
}

/// Returns whether a text is a valid version, because it is used in names and addresses.
pub(crate) fn is_version(text: &str) -> bool {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b".-".contains(&byte);
    (1..=64).contains(&text.len())
        && text.starts_with(|first: char| first.is_ascii_digit())
        && text.bytes().all(is_plain)
        && text.split('.').count() >= 3
        && !text.contains("..")
}

/// Returns whether a text is a valid name of a repository: `OWNER/NAME`.
pub(crate) fn is_repository(text: &str) -> bool {
    let is_plain = |part: &str| {
        let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"._-".contains(&byte);
        (1..=100).contains(&part.len()) && !part.starts_with('.') && part.bytes().all(is_plain)
    };
    text.split_once('/').is_some_and(|(owner, name)| is_plain(owner) && is_plain(name))
}

/// A command line with its bill of materials, and the statement about both.
pub(crate) struct Materials {
    pub(crate) program: String,
    pub(crate) bill: String,
    pub(crate) statement: String,
}

/// Returns the files that may have bills of materials in a release of a version.
pub(crate) fn materials(version: &str) -> Vec<Materials> {
    let platforms = PLATFORMS.iter().map(|(platform, program, bill)| Materials {
        program: format!("seamgate-{version}-{program}"),
        bill: bill.map_or_else(|| format!("seamgate-{version}-{platform}.cdx.json"), str::to_owned),
        statement: format!("seamgate-{version}-{platform}{MATERIALS}"),
    });
    platforms.collect()
}

/// Returns whether the name of a file contains the version, if names of its kind do.
pub(crate) fn says_version(name: &str, version: &str) -> bool {
    if WITHOUT_VERSION.contains(&name) {
        return true;
    }
    let version = if name.ends_with(".whl") { of_wheel(version) } else { version.to_owned() };
    let part = format!("-{version}");
    let mut ends = name.match_indices(&part).map(|(at, found)| &name[at + found.len()..]);
    name.starts_with("seamgate-")
        && ends.any(|rest| {
            // `0.1.0` is neither `0.1.0-rc.1` nor `0.1.0.1`.
            let next = rest.trim_start_matches(['-', '.']);
            rest.starts_with(['-', '.'])
                && !next.starts_with(|first: char| first.is_ascii_digit())
                && !is_prerelease(next)
        })
}

/// Returns a version in the form of the names of wheels (PEP 440).
fn of_wheel(version: &str) -> String {
    version.replace("-alpha.", "a").replace("-beta.", "b").replace("-rc.", "rc")
}

fn is_prerelease(rest: &str) -> bool {
    ["alpha.", "beta.", "rc."].iter().any(|word| rest.starts_with(word))
}

#[cfg(test)]
mod tests {
    use super::{is_repository, is_version, says_version, version_of_provenance};

    #[test]
    fn names_say_their_version_exactly() {
        for name in [
            "seamgate-0.1.0-cp310-abi3-manylinux_2_17_x86_64.whl",
            "seamgate-0.1.0-x86_64-linux",
            "seamgate-0.1.0.crate",
            "seamgate-c-0.1.0-x86_64-unknown-linux-gnu.tar.gz",
            "seamgate-linux-x64-gnu-0.1.0.tgz",
            "Cargo.lock",
        ] {
            assert!(says_version(name, "0.1.0"), "{name}");
        }
        for name in [
            "seamgate-0.1.1.crate",
            "seamgate-0.1.0.1.crate",
            "seamgate-0.1.0-rc.1.crate",
            "seamgate-10.1.0.crate",
            "seamgate-0.1.0",
            "other-0.1.0.crate",
            "seamgate.crate",
        ] {
            assert!(!says_version(name, "0.1.0"), "{name}");
        }
        assert!(says_version("seamgate-0.2.0rc1-py3-none-any.whl", "0.2.0-rc.1"));
        assert!(says_version("seamgate-0.2.0-rc.1.crate", "0.2.0-rc.1"));
    }

    #[test]
    fn versions_and_repositories_cannot_change_an_address() {
        assert_eq!(version_of_provenance("seamgate-0.1.0.provenance.sigstore.json"), Some("0.1.0"));
        for version in ["", "1.0", "0.1.0/../x", "0.1.0@main", "v0.1.0", "0..1", "0.1.0 "] {
            assert!(!is_version(version), "{version}");
        }
        assert!(is_repository("some-owner/seamgate"));
        for repository in ["seamgate", "a/b/c", "/b", "a/", "../b", "a/b@x", "a/b c"] {
            assert!(!is_repository(repository), "{repository}");
        }
    }
}
