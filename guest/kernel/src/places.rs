//! Scopes by place: paths below a folder, and addresses of hosts. Both interpret a value as strictly as the strictest
//! program that may receive it. A value that some programs would interpret differently is outside.

/// The verdict of a condition on a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Verdict {
    Holds,
    /// Programs could interpret the value in different ways, or the value has another type than the condition is for.
    Open,
    Fails,
}

/// A folder, as its path components.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Folder {
    is_absolute: bool,
    components: Vec<String>,
}

impl Folder {
    /// Parses a folder of a profile. It is absolute, or relative to the folder in which the tool resolves paths. `.` is
    /// that folder. Returns `None` if the text contains `..`, or text that no value could contain.
    pub(crate) fn read(text: &str) -> Option<Self> {
        let (is_absolute, components) = components(text)?;
        Some(Folder { is_absolute, components: components.map(str::to_owned).collect() })
    }

    /// Returns the folder as text.
    pub(crate) fn text(&self) -> String {
        match (self.is_absolute, self.components.join("/")) {
            (true, below) => format!("/{below}"),
            (false, below) if below.is_empty() => ".".to_owned(),
            (false, below) => below,
        }
    }

    /// Returns whether a path is this folder or below it, judging only by its text. Links are not resolved, because the
    /// kernel cannot access files.
    pub(crate) fn holds(&self, path: &str) -> bool {
        self.verdict(path) == Verdict::Holds
    }

    /// Returns whether a path is this folder or below it. `Open` if some programs, shells or file systems could resolve
    /// it to a place there.
    pub(crate) fn verdict(&self, path: &str) -> Verdict {
        let Some((is_absolute, inner)) = components(path) else { return Verdict::Open };
        let inner: Vec<&str> = inner.collect();
        // Only the working directory of the program determines where a relative path leads.
        if is_absolute != self.is_absolute {
            return Verdict::Open;
        }
        let is_same = |same: fn(&str, &str) -> bool| {
            inner.len() >= self.components.len()
                && self.components.iter().zip(&inner).all(|(outer, inner)| same(outer, inner))
        };
        // Before a program opens a file, a shell may expand a name, and a server may decode it.
        let expands = |(place, name): (usize, &&str)| match place < self.components.len() {
            true => name.contains(['*', '?', '[', '{', '$', '%']),
            false => name.contains(['{', '$', '%']) || (name.starts_with('.') && name.contains(['*', '?', '['])),
        };
        match () {
            () if is_same(|outer, inner| outer == inner) => Verdict::Holds,
            () if is_same(is_alike) || inner.iter().enumerate().any(expands) => Verdict::Open,
            () => Verdict::Fails,
        }
    }
}

/// Returns whether a file system could treat two names as the same. Some file systems ignore case, some normalize
/// non-ASCII letters, and some drop a trailing full stop or blank.
fn is_alike(one: &str, other: &str) -> bool {
    let [one, other] = [one, other].map(|name| name.trim_end_matches(['.', ' ']));
    one.eq_ignore_ascii_case(other) || !(one.is_ascii() && other.is_ascii())
}

/// Returns whether a path is absolute, and its components without `.` and empty ones. `None` if programs could
/// interpret the path in different ways: it has `..`, a backslash, a home folder, a drive, or a control character.
fn components(path: &str) -> Option<(bool, impl Iterator<Item = &str>)> {
    let parts = || path.split('/').filter(|part| !part.is_empty() && *part != ".");
    let is_odd = |character: char| character == '\\' || character == ':' || character.is_control();
    let is_clear =
        !path.is_empty() && !path.starts_with('~') && !path.contains(is_odd) && parts().all(|part| part != "..");
    is_clear.then(|| (path.starts_with('/'), parts()))
}

/// A host, or all hosts below one.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Host {
    name: String,
    /// `true` for the hosts below the name, excluding the name itself.
    is_below: bool,
}

impl Host {
    /// Parses a host of a profile: an ASCII name (`xn--…` for others), an IPv4 address, or `*.` and a name.
    pub(crate) fn read(text: &str) -> Option<Self> {
        let (name, is_below) = text.strip_prefix("*.").map_or((text, false), |name| (name, true));
        is_host(name).then(|| Host { name: name.to_ascii_lowercase(), is_below })
    }

    /// Returns the host as text.
    pub(crate) fn text(&self) -> String {
        format!("{}{}", if self.is_below { "*." } else { "" }, self.name)
    }

    /// Returns whether a value is the address of this host: an http or https URL, or the host itself. Both may have a
    /// port.
    pub(crate) fn holds(&self, value: &str) -> bool {
        self.verdict(value) == Verdict::Holds
    }

    /// Returns whether a value is the address of this host. `Open` if some programs could find another host in it than
    /// others.
    pub(crate) fn verdict(&self, value: &str) -> Verdict {
        let Some(host) = host_of(value) else { return Verdict::Open };
        let host = host.to_ascii_lowercase();
        let is = match self.is_below {
            true => host.strip_suffix(&self.name).is_some_and(|rest| rest.len() > 1 && rest.ends_with('.')),
            false => host == self.name,
        };
        if is { Verdict::Holds } else { Verdict::Fails }
    }
}

/// Returns the host of a value. `None` if there is no host, or if programs could find different ones.
pub(crate) fn host_of(value: &str) -> Option<&str> {
    if value.contains(|character: char| character == '\\' || character.is_whitespace() || character.is_control()) {
        return None;
    }
    let authority = match value.split_once("://") {
        None => value,
        Some((scheme, rest)) if ["http", "https"].iter().any(|known| scheme.eq_ignore_ascii_case(known)) => {
            rest.split(['/', '?', '#']).next()?
        }
        Some(_) => return None,
    };
    // With user information, some programs take the text after the last "@" as the host, and others do not.
    let (host, port) = authority.split_once(':').map_or((authority, None), |(host, port)| (host, Some(port)));
    let is_port = |port: &str| (1..=5).contains(&port.len()) && port.bytes().all(|byte| byte.is_ascii_digit());
    (is_host(host) && port.is_none_or(is_port)).then_some(host)
}

/// Returns whether a text is a host as every program interprets it: labels of ASCII letters, digits, `-` and `_`. An
/// IPv4 address must have four decimal numbers, because only some programs accept shorter, octal and hexadecimal forms.
pub(crate) fn is_host(text: &str) -> bool {
    let is_label = |label: &str| {
        (1..=63).contains(&label.len())
            && label.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_'))
    };
    let is_number = |label: &str| label.bytes().all(|byte| byte.is_ascii_digit()) || label.starts_with("0x");
    text.len() <= 253
        && text.split('.').all(is_label)
        && (!text.rsplit('.').next().is_some_and(is_number) || is_ipv4(text))
}

fn is_ipv4(text: &str) -> bool {
    let is_byte = |part: &str| part.parse::<u8>().is_ok_and(|number| number.to_string() == part);
    text.split('.').count() == 4 && text.split('.').all(is_byte)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_below_a_folder_in_each_reading() {
        for (folder, inside, outside) in [
            (
                "/srv/app",
                &[
                    "/srv/app",
                    "/srv/app/",
                    "/srv/app/a",
                    "/srv//app/./a/b",
                    "//srv/app/x",
                    "/srv/app/...",
                    "/srv/app/a b",
                ][..],
                &[
                    "/srv/application",
                    "/srv",
                    "/srv/app/../x",
                    "/srv/app/..",
                    "srv/app",
                    "./srv/app",
                    "/srv/app/a\\..\\b",
                    "/srv/app\n",
                    "/srv/app/\0",
                    "",
                    "~/srv/app",
                    "C:/srv/app",
                    "file:///srv/app",
                    "/SRV/app",
                    "/srv/app%2f..",
                ][..],
            ),
            ("docs", &["docs", "./docs/a", "docs//a"], &["/docs", "a/docs", "docs/../a", "docsx", ".", "../docs"]),
            (".", &[".", "a", "./a/b", "./"], &["/a", "..", "a/../..", "", "~"]),
            ("/", &["/", "/etc", "//"], &["etc", "/../etc"]),
        ] {
            let read = Folder::read(folder).expect("a folder");
            inside.iter().for_each(|path| assert!(read.holds(path), "{path:?} is in {folder}"));
            outside.iter().for_each(|path| assert!(!read.holds(path), "{path:?} is not in {folder}"));
        }
        for wrong in ["", "/srv/../etc", "~/x", "C:\\x", "a\nb"] {
            assert_eq!(Folder::read(wrong), None, "{wrong:?}");
        }
    }

    #[test]
    fn names_that_programs_could_expand_are_open() {
        let folder = Folder::read("/srv/keys").expect("a folder");
        for (path, verdict) in [
            ("/srv/keys/a", Verdict::Holds),
            ("/srv/keys/*", Verdict::Holds),
            ("/srv/ke*s/a", Verdict::Open),
            ("/srv/key?/a", Verdict::Open),
            ("/srv/[k]eys/a", Verdict::Open),
            ("/srv/{keys,x}/a", Verdict::Open),
            ("/srv/$KEYS/a", Verdict::Open),
            ("/srv/%6beys/a", Verdict::Open),
            ("/*/keys/a", Verdict::Open),
            ("/srv%2fkeys/a", Verdict::Open),
            ("/srv%2fkeys", Verdict::Open),
            ("/srv/x/%2e%2e/keys", Verdict::Open),
            ("/srv/x/$UP/keys", Verdict::Open),
            ("/srv/x/{.,}./keys", Verdict::Open),
            ("/srv/x/.*/keys", Verdict::Open),
            ("/srv/x/*.txt", Verdict::Fails),
            ("/srv/x/a[1]", Verdict::Fails),
            ("/srv/x", Verdict::Fails),
        ] {
            assert_eq!(folder.verdict(path), verdict, "{path}");
        }
    }

    #[test]
    fn addresses_have_one_host_in_each_reading() {
        for (host, inside, outside) in [
            (
                "example.com",
                &[
                    "https://example.com",
                    "http://EXAMPLE.com:8080/a?b#c",
                    "https://example.com/@evil.org",
                    "example.com",
                    "example.com:443",
                    "HTTPS://example.com?x",
                    "https://example.com#x",
                ][..],
                &[
                    "https://example.com.evil.org",
                    "https://evil.org/example.com",
                    "https://user@example.com",
                    "https://example.com@evil.org",
                    "https://evil.org#@example.com",
                    "https://example.com\\@evil.org",
                    "https://example.com:80@evil.org",
                    "https:example.com",
                    "https:/example.com",
                    "//example.com",
                    "https:///example.com",
                    "ftp://example.com",
                    "javascript://example.com",
                    "https://sub.example.com",
                    "https://example.com.",
                    "https://ex\u{e4}mple.com",
                    "https://example\u{3002}com",
                    "https://example.com:",
                    "https://example.com:x",
                    " https://example.com",
                    "https://exa\tmple.com",
                    "https://example.com/a b",
                    "example.com/path",
                    "https://%65xample.com",
                    "",
                    "https://",
                ][..],
            ),
            (
                "*.example.com",
                &["https://a.example.com", "b.a.example.com:1"],
                &["https://example.com", "https://aexample.com", "https://.example.com", "https://a..example.com"],
            ),
            (
                "127.0.0.1",
                &["http://127.0.0.1:80/x"],
                &[
                    "http://127.1",
                    "http://0177.0.0.1",
                    "http://2130706433",
                    "http://0x7f000001",
                    "http://0x7f.0.0.1",
                    "http://127.0.0.01",
                    "http://[::1]",
                    "http://127.0.0.1.",
                    "http://1.127.0.0.1",
                ],
            ),
            ("xn--exmple-cua.com", &["https://xn--exmple-cua.com"], &["https://exämple.com"]),
            ("localhost", &["localhost:8080", "http://localhost/"], &["http://localhost.evil.org"]),
        ] {
            let read = Host::read(host).expect("a host");
            inside.iter().for_each(|value| assert!(read.holds(value), "{value:?} is at {host}"));
            outside.iter().for_each(|value| assert!(!read.holds(value), "{value:?} is not at {host}"));
        }
        for wrong in
            ["", "*", "*.", "https://x.org", "x.org:80", "exämple.com", "a..b", "1.2.3", "256.1.1.1", "0x7f.1", "a.*.b"]
        {
            assert_eq!(Host::read(wrong), None, "{wrong:?}");
        }
    }
}
