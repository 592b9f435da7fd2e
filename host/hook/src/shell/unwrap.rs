//! Programs that run others: the commands in their arguments, where these are exact.

use super::{
    read::{Around, Reader},
    table::{Options, Wrapper, table},
    word::Word,
};

impl Reader {
    /// Takes the commands that a program would run, or doubts.
    pub(super) fn unwrap(&mut self, base: &str, arguments: &[Word], around: &Around) {
        let table = table();
        // Some systems do not tell letters apart.
        let name = base.to_ascii_lowercase();
        let name = name.as_str();
        if table.doubtful.contains(name) {
            return self.doubt(format!("{name} may run anything"));
        }
        if table.shells.contains(unversioned(name)) {
            return self.shell(name, arguments);
        }
        if table.interpreters.contains(name) || table.interpreters.contains(unversioned(name)) {
            return self.interpreter(name, arguments);
        }
        if let Some(wrapper) = table.wrappers.get(name) {
            return self.wrapper(name, wrapper, arguments, around);
        }
        self.hold_options(name, arguments);
        match name {
            "set" => {
                let is_known = |word: &Word| {
                    let option = word.exact().unwrap_or_default();
                    option == "pipefail"
                        || option.strip_prefix(['-', '+']).is_some_and(|letters| {
                            !letters.is_empty()
                                && letters.bytes().all(|letter| b"eux".contains(&letter) || letter == b'o')
                        })
                };
                if !arguments.iter().all(is_known) {
                    self.doubt("set may change what runs");
                }
            }
            "find" => self.find(arguments, around),
            "xargs" | "gxargs" => self.xargs(arguments, around),
            "sed" | "gsed" => self.sed(arguments),
            "awk" | "gawk" | "mawk" | "nawk" => {
                let is_code = |text: &str| {
                    ["system", "getline", "|", ">", "@load", "@include"].iter().any(|word| text.contains(word))
                };
                let is_doubtful = |word: &Word| {
                    word.exact().is_none_or(|text| {
                        text.starts_with("-f")
                            || text.starts_with("--")
                            || text.starts_with("-i")
                            || text.starts_with("-E")
                            || text.starts_with("-l")
                            || is_code(text)
                    })
                };
                if arguments.iter().any(is_doubtful) {
                    self.doubt("awk may run commands");
                }
            }
            "make" | "gmake" => {
                let is_variable =
                    |word: &Word| word.exact().is_some_and(|text| !text.starts_with('-') && text.contains('='));
                let is_code = |word: &Word| is_variable(word) && word.shown().contains(['$', '`', ';', '|', '&']);
                if arguments.iter().any(|word| {
                    is_code(word) || word.shown().starts_with("SHELL") || word.shown().starts_with(".SHELL")
                }) {
                    self.doubt("make may run other commands");
                }
            }
            "git" => self.git(arguments),
            _ => {}
        }
    }

    /// `sh -c TEXT`: the text is read as the line is. Anything else may run whatever a file or the input has.
    fn shell(&mut self, name: &str, arguments: &[Word]) {
        let mut words = arguments.iter();
        while let Some(word) = words.next() {
            match word.exact() {
                Some(version @ ("--version" | "--help")) if arguments.len() == 1 => {
                    let _ = version;
                    return;
                }
                Some(flag) if flag.starts_with('-') && !flag.starts_with("--") && flag.contains('c') => {
                    if !table().shell_flags.contains(flag) {
                        break;
                    }
                    let Some(text) = words.next().and_then(Word::exact) else { break };
                    if words.next().is_some() {
                        self.doubt("the arguments of a shell's text");
                    }
                    if !matches!(name, "sh" | "bash" | "dash" | "zsh" | "ksh" | "ash" | "mksh") {
                        self.doubt(format!("{name} reads another language"));
                    }
                    return self.text(text);
                }
                Some("-o") if matches!(words.clone().next().and_then(Word::exact), Some("pipefail" | "errexit")) => {
                    words.next();
                }
                Some(flag) if table().shell_flags.contains(flag) => {}
                _ => break,
            }
        }
        self.doubt(format!("{name} may run anything"));
    }

    fn interpreter(&mut self, name: &str, arguments: &[Word]) {
        for word in arguments {
            match word.exact() {
                Some("-m" | "--version" | "-V" | "--help" | "-h" | "run" | "test" | "--test" | "--check") => return,
                Some("-") | None => break,
                Some(option) if option.starts_with('-') => {
                    if !table().interpreter_flags.contains(option) {
                        break;
                    }
                }
                Some(script) if script.starts_with("/dev/") || script.starts_with("/proc/") => break,
                Some(_) => return,
            }
        }
        self.doubt(format!("{name} may run anything"));
    }

    fn wrapper(&mut self, name: &str, wrapper: &Wrapper, arguments: &[Word], around: &Around) {
        let mut around = around.clone();
        let mut rest = arguments;
        let mut operands = wrapper.operands;
        let unknown = |reader: &mut Self| reader.doubt(format!("what {name} runs is not known"));
        while let [word, next @ ..] = rest {
            let Some(text) = word.exact() else { return unknown(self) };
            if name == "command" && matches!(text, "-v" | "-V") {
                return;
            }
            if text == "--" {
                rest = next;
                break;
            }
            let is_attached = |value: &String| {
                text.len() > value.len()
                    && match value.starts_with("--") {
                        true => text.strip_prefix(value.as_str()).is_some_and(|value| value.starts_with('=')),
                        false => text.starts_with(value.as_str()),
                    }
            };
            let number = text.strip_prefix('-').unwrap_or_default();
            if wrapper.flags.contains(text) || wrapper.numbers && !number.is_empty() && number.parse::<u32>().is_ok() {
                rest = next;
            } else if wrapper.values.contains(text) {
                let [value, next @ ..] = next else { return unknown(self) };
                if value.exact().is_none() || matches!(text, "-C" | "--chdir") {
                    return unknown(self);
                }
                rest = next;
            } else if text.starts_with('-') {
                if !wrapper.values.iter().any(is_attached) || text.starts_with("-C") || text.starts_with("--chdir") {
                    return unknown(self);
                }
                rest = next;
            } else if wrapper.assignments && text.contains('=') {
                let variable = text.split('=').next().unwrap_or_default().to_owned();
                around.environment.push(text.to_owned());
                self.hold_variable(&variable);
                rest = next;
            } else if operands > 0 {
                operands -= 1;
                rest = next;
            } else {
                break;
            }
        }
        self.command(rest, &around);
    }

    fn find(&mut self, arguments: &[Word], around: &Around) {
        let mut rest = arguments;
        while let [word, next @ ..] = rest {
            rest = next;
            match word.exact() {
                Some("-exec" | "-execdir" | "-ok" | "-okdir") => {
                    let end = next.iter().position(|word| matches!(word.exact(), Some(";" | "+")));
                    let Some(end) = end else { return self.doubt("what find runs is not known") };
                    let inner: Vec<Word> = next[..end].iter().map(placeholder).collect();
                    self.given(&inner, around);
                    rest = &next[end + 1..];
                }
                Some("-fprint" | "-fprint0" | "-fprintf" | "-fls" | "-files0-from") => self.doubt("find writes a file"),
                _ => {}
            }
        }
    }

    fn xargs(&mut self, arguments: &[Word], around: &Around) {
        let mut rest = arguments;
        while let [word, next @ ..] = rest {
            match word.exact() {
                Some("-0" | "-r" | "-t" | "--null" | "--no-run-if-empty") => rest = next,
                Some("-n" | "-P" | "-L" | "-I" | "-d" | "--max-args" | "--max-procs") if !next.is_empty() => {
                    rest = &next[1..]
                }
                Some(option)
                    if option.len() > 2
                        && ["-n", "-P", "-L", "-I", "-d"].iter().any(|name| option.starts_with(name)) =>
                {
                    rest = next;
                }
                Some(option) if option.starts_with('-') => return self.doubt("what xargs runs is not known"),
                _ => break,
            }
        }
        if rest.is_empty() {
            return;
        }
        let mut inner = rest.to_vec();
        inner.push(Word { text: None, is_glob: false, source: "…".to_owned() });
        self.given(&inner, around);
    }

    /// Takes a command that gets further arguments, which are not known.
    fn given(&mut self, words: &[Word], around: &Around) {
        // What only reads may be given any files. It gets no path, so the rules of a profile see the folder alone.
        let program = words.first().and_then(Word::exact).unwrap_or_default();
        let only_reads = table().any_options.contains(program);
        let kept: Vec<Word> = words.iter().filter(|word| word.text.is_some() || !only_reads).cloned().collect();
        self.command(&kept, around);
    }

    fn sed(&mut self, arguments: &[Word]) {
        let mut has_script = false;
        let mut words = arguments.iter();
        while let Some(word) = words.next() {
            let script = match word.exact() {
                Some(
                    "-n" | "-E" | "-r" | "-i" | "-s" | "-z" | "-u" | "-ne" | "-nE" | "-nr" | "-i.bak" | "--quiet"
                    | "--in-place" | "-Ei" | "-iE" | "-ni" | "--version",
                ) => {
                    if word.shown() == "-ne" {
                        has_script = true;
                        words.next()
                    } else {
                        continue;
                    }
                }
                Some("-e" | "--expression") => {
                    has_script = true;
                    words.next()
                }
                Some(option) if option.starts_with('-') => None,
                _ if has_script => continue,
                _ => {
                    has_script = true;
                    Some(word)
                }
            };
            if !script.and_then(Word::exact).is_some_and(is_harmless_sed) {
                return self.doubt("sed may run commands or write files");
            }
        }
    }

    /// Commands of git that run what stands in their arguments.
    fn git(&mut self, arguments: &[Word]) {
        let words: Vec<&str> = arguments.iter().filter_map(Word::exact).collect();
        let runs = [
            ["submodule", "foreach"],
            ["bisect", "run"],
            ["rebase", "-x"],
            ["filter-branch", ""],
            ["difftool", ""],
            ["mergetool", ""],
        ];
        let is_there = |word: &str| word.is_empty() || words.contains(&word);
        if runs.iter().any(|pair| pair.iter().all(|word| is_there(word)))
            || words.iter().any(|word| word.contains("ext::"))
        {
            self.doubt("git may run other commands");
        }
    }

    /// Doubts about options with which a program runs others.
    fn hold_options(&mut self, name: &str, arguments: &[Word]) {
        let Some(options) = table().runs.get(name) else { return };
        for word in arguments {
            let text = word.shown();
            let long = text.split('=').next().unwrap_or_default();
            let is_it = |option: &String| match option.strip_prefix("--") {
                // Long options may be shortened.
                Some(_) => long == option || long.len() > 3 && option.starts_with(long),
                None if option.len() == 2 => text.starts_with(option.as_str()) && !text.starts_with("--"),
                None => long == option,
            };
            if let Some(option) = options.iter().find(|option| is_it(option)) {
                // `git push -u` and `git branch -u` only name a branch.
                let is_upstream = name == "git"
                    && text == "-u"
                    && arguments.iter().any(|word| matches!(word.exact(), Some("push" | "branch" | "add" | "stash")));
                let is_new = name == "git" && text == "-c" && arguments.first().and_then(Word::exact) == Some("switch");
                if !is_upstream && !is_new {
                    self.doubt(format!("{name} may run other commands with {option}"));
                }
            }
        }
    }

    /// Returns the first operand of a program that has commands of its own.
    pub(super) fn command_of(&mut self, base: &str, arguments: &[Word]) -> Option<String> {
        let Options { flags, values, toolchain } = table().commands.get(base)?;
        let mut words = arguments.iter();
        while let Some(word) = words.next() {
            let Some(text) = word.exact() else { break };
            if values.contains(text) {
                words.next();
            } else if flags.contains(text) || *toolchain && text.starts_with('+') {
            } else if matches!(text, "--version" | "--help" | "-V" | "-h") {
                return None;
            } else if text.starts_with('-') {
                break;
            } else {
                return Some(text.to_owned());
            }
        }
        if !arguments.is_empty() {
            self.doubt(format!("the command of {base} is not known"));
        }
        None
    }
}

/// In place of `{}`, there is a file.
fn placeholder(word: &Word) -> Word {
    match word.shown().contains("{}") {
        true => Word { text: None, is_glob: false, source: word.source.clone() },
        false => word.clone(),
    }
}

/// Returns a name without the version at its end, such as `python3.12`.
fn unversioned(name: &str) -> &str {
    name.trim_end_matches(|char: char| char.is_ascii_digit() || char == '.' || char == '-')
}

/// Returns whether a script of sed only prints, deletes and substitutes.
fn is_harmless_sed(script: &str) -> bool {
    script.split(';').all(|part| {
        let part = part.trim();
        let command =
            part.trim_start_matches(|char: char| char.is_ascii_digit() || char == ',' || char == '$' || char == ' ');
        if matches!(command, "p" | "d" | "q" | "=" | "") {
            return true;
        }
        if let Some(rest) = command.strip_prefix('/') {
            // `/…/p` and `/…/d`, without another command inside.
            return rest.rsplit_once('/').is_some_and(|(_, end)| matches!(end, "p" | "d" | "q" | "!d"))
                && !rest.contains("\\/")
                && rest.matches('/').count() == 1;
        }
        let Some(rest) = command.strip_prefix('s') else { return false };
        let Some(mark) = rest.chars().next().filter(|mark| !mark.is_alphanumeric() && *mark != '\\') else {
            return false;
        };
        let parts: Vec<&str> = rest[mark.len_utf8()..].split(mark).collect();
        matches!(parts.as_slice(), [_, _, flags] if flags.bytes().all(|flag| b"gpiI0123456789".contains(&flag)))
            && !script.contains('\n')
    })
}
