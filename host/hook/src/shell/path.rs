//! Paths as text. They are resolved against folders, without `.` and `..`. Links cannot be followed.

/// Resolves a path against an absolute folder. The result has no `.`, no `..` and no empty names.
pub(super) fn resolve(folder: &str, path: &str) -> String {
    let whole = if path.starts_with('/') { path.to_owned() } else { format!("{folder}/{path}") };
    let mut names: Vec<&str> = Vec::new();
    for name in whole.split('/') {
        match name {
            "" | "." => {}
            ".." => {
                names.pop();
            }
            name => names.push(name),
        }
    }
    format!("/{}", names.join("/"))
}

/// Returns the part of a pattern that contains all of its matches, if the rest of the pattern cannot lead out of it.
pub(super) fn before_glob(pattern: &str) -> Option<String> {
    let is_glob = |name: &str| name.contains(['*', '?', '[']);
    let mut fixed = Vec::new();
    let mut names = pattern.split('/').peekable();
    while let Some(name) = names.peek() {
        if is_glob(name) {
            break;
        }
        fixed.push(*name);
        names.next();
    }
    // `.*` matches `..` in some shells.
    if names.any(|name| name.starts_with('.')) {
        return None;
    }
    Some(match fixed.as_slice() {
        [] => ".".to_owned(),
        [""] => "/".to_owned(),
        fixed => fixed.join("/"),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_resolved_as_text() {
        let cases = [
            ("/a/b", "c", "/a/b/c"),
            ("/a/b", "../c", "/a/c"),
            ("/a/b", "../../../../c", "/c"),
            ("/a", "/etc/./x//y/..", "/etc/x"),
            ("/", ".", "/"),
        ];
        for (folder, path, expected) in cases {
            assert_eq!(resolve(folder, path), expected, "{folder} {path}");
        }
        for (pattern, expected) in [("src/*.rs", Some("src")), ("*", Some(".")), ("/*", Some("/")), ("/etc/.*", None)] {
            assert_eq!(before_glob(pattern).as_deref(), expected, "{pattern}");
        }
        assert_eq!(before_glob("a/*/../../x"), None);
    }
}
