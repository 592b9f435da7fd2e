//! Programs that run others: finds the commands in their arguments, if these are exact.

use super::{
    read::{Around, Reader},
    scanner::Word,
    table::{Options, Wrapper, table},
};

impl Reader {
    /// Adds the commands that a program would run, or a doubt.
    pub(super) fn unwrap(&mut self, base: &str, arguments: &[Word], around: &Around) {
        let table = table();
        // Some file systems ignore case.
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
            "awk" | "gawk" | "mawk" | "nawk" => self.awk(arguments),
            "make" | "gmake" => self.make(arguments),
            "uniq" if arguments.iter().filter(|word| !word.shown().starts_with('-')).count() > 1 => {
                self.doubt("uniq may write its second file");
            }
            "npx" | "bunx" | "uvx" | "pipx" => self.package(name, arguments),
            "less" | "man" if arguments.iter().any(|word| word.shown().starts_with('+')) => {
                self.doubt(format!("{name} may run other commands"));
            }
            "tar" | "gtar" | "bsdtar" if arguments.iter().any(|word| word.shown().contains(':')) => {
                self.doubt("tar may run a program for an archive on another host");
            }
            "git" => self.git(arguments),
            _ => {}
        }
    }

    /// Parses the text of `sh -c TEXT` as a line. Any other form may run the content of a file or of the input.
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

    /// Handles interpreters. A program in a file is exact; code in options, modules and the input is not.
    fn interpreter(&mut self, name: &str, arguments: &[Word]) {
        let is_python = unversioned(name) == "python" || unversioned(name) == "pypy";
        let mut words = arguments
            .iter()
            .skip_while(|word| is_python && word.exact().is_some_and(|option| table().python_flags.contains(option)));
        let is_exact = match words.next().and_then(Word::exact) {
            Some("--version" | "-V" | "--help" | "-h") => arguments.len() == 1,
            None | Some("") => false,
            Some(option) if option.starts_with(['-', '+', '@']) => false,
            Some(command) if matches!(name, "deno" | "bun") => {
                matches!(command, "install" | "add" | "remove" | "test" | "build" | "fmt" | "lint" | "check")
                    && words.all(|word| word.exact().is_some_and(|text| !text.starts_with('-')))
            }
            Some(script) => self.resolved(script).iter().all(|path| !is_device(path)),
        };
        if !is_exact {
            self.doubt(format!("{name} may run anything"));
        }
    }

    fn awk(&mut self, arguments: &[Word]) {
        let is_code = |text: &str| ["system", "getline", "|", ">", "@"].iter().any(|word| text.contains(word));
        let is_option = |text: &str| text.starts_with("-F") || text.starts_with("-v");
        let is_exact = |word: &Word| {
            word.exact().is_some_and(|text| !is_code(text) && (!text.starts_with('-') || is_option(text)))
        };
        if !arguments.iter().all(is_exact) {
            self.doubt("awk may run commands");
        }
    }

    fn make(&mut self, arguments: &[Word]) {
        let is_exact = |word: &Word| {
            word.exact().is_some_and(|text| {
                let jobs = text.strip_prefix("-j").is_some_and(|jobs| jobs.bytes().all(|byte| byte.is_ascii_digit()));
                !text.contains('=') && (!text.starts_with('-') || jobs || table().make_flags.contains(text))
            })
        };
        if !matches!(arguments, [one] if one.exact() == Some("--version")) && !arguments.iter().all(is_exact) {
            self.doubt("make may run other commands");
        }
    }

    /// Handles a program of a package. It must not be a program that runs others, and no options may precede it.
    fn package(&mut self, name: &str, arguments: &[Word]) {
        let table = table();
        let program = arguments.iter().find(|word| !matches!(word.exact(), Some("-y" | "--yes" | "--no")));
        let is_exact = program.and_then(Word::exact).is_some_and(|text| {
            let base = unversioned(text.rsplit('/').next().unwrap_or_default().split('@').next().unwrap_or_default());
            let is_special = [&table.doubtful, &table.shells, &table.interpreters].iter().any(|set| set.contains(base));
            !text.starts_with('-')
                && !is_special
                && !table.wrappers.contains_key(base)
                && !table.runs.contains_key(base)
        });
        if !is_exact {
            self.doubt(format!("{name} may run anything"));
        }
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
        let is_start = |word: &&Word| !word.shown().starts_with(['-', '(', ')', '!', ',']);
        let is_first = |word: &&Word| matches!(word.shown(), "-H" | "-L" | "-P") || word.shown().starts_with("-O");
        let mut starts: Vec<Word> = arguments.iter().skip_while(is_first).take_while(is_start).cloned().collect();
        if starts.is_empty() {
            starts.push(Word::literal("."));
        }
        let mut rest = arguments;
        while let [word, next @ ..] = rest {
            rest = next;
            match word.exact() {
                Some("-exec") => {
                    let is_end = |at: &usize| match next[*at].exact() {
                        Some(";") => true,
                        Some("+") => *at > 0 && next[*at - 1].exact() == Some("{}"),
                        _ => false,
                    };
                    let Some(end) = (0..next.len()).find(is_end) else {
                        return self.doubt("what find runs is not known");
                    };
                    let inner: Vec<Word> = next[..end].iter().map(|word| placeholder(word, "{}")).collect();
                    self.given(&inner, around);
                    rest = &next[end + 1..];
                }
                Some("-delete") => {
                    let remove = [Word::literal("rm"), Word::literal("-d")];
                    let remove: Vec<Word> = remove.into_iter().chain(starts.iter().cloned()).collect();
                    self.command(&remove, around);
                }
                // These run a command in other folders or after a prompt, or write a file.
                Some("-execdir" | "-ok" | "-okdir" | "-fprint" | "-fprint0" | "-fprintf" | "-fls" | "-files0-from") => {
                    self.doubt("what find does is not known")
                }
                _ => {}
            }
        }
    }

    fn xargs(&mut self, arguments: &[Word], around: &Around) {
        let mut rest = arguments;
        let mut replaced = None;
        while let [word, next @ ..] = rest {
            match word.exact() {
                Some("-0" | "-r" | "-t" | "--null" | "--no-run-if-empty") => rest = next,
                Some(option @ ("-n" | "-P" | "-L" | "-I" | "-d" | "--max-args" | "--max-procs"))
                    if !next.is_empty() =>
                {
                    if option == "-I" {
                        replaced = next[0].exact();
                    }
                    rest = &next[1..];
                }
                Some(option)
                    if option.len() > 2
                        && ["-n", "-P", "-L", "-I", "-d"].iter().any(|name| option.starts_with(name)) =>
                {
                    replaced = option.strip_prefix("-I").or(replaced);
                    rest = next;
                }
                Some(option) if option.starts_with('-') => return self.doubt("what xargs runs is not known"),
                _ => break,
            }
        }
        if rest.is_empty() {
            return;
        }
        let mut inner: Vec<Word> = match replaced {
            Some(mark) => rest.iter().map(|word| placeholder(word, mark)).collect(),
            None => rest.to_vec(),
        };
        inner.push(Word::unknown("…"));
        self.given(&inner, around);
    }

    /// Handles a command that gets further arguments, which are unknown.
    fn given(&mut self, words: &[Word], around: &Around) {
        // A program that only reads may be given any files. It gets no path, so the rules of a profile see only the
        // folder.
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

    /// Records a doubt about commands of git that run text in their arguments, or change the configuration.
    fn git(&mut self, arguments: &[Word]) {
        let words: Vec<&str> = arguments.iter().map(Word::shown).collect();
        let runs = [["submodule", "foreach"], ["bisect", "run"]];
        let is_config = self.command_of("git", arguments).as_deref() == Some("config");
        let config = words.iter().position(|word| *word == "config" && is_config).map(|at| &words[at + 1..]);
        let is_set = |rest: &[&str]| match rest {
            ["--get" | "--get-all" | "get", name] | [name] => {
                name.starts_with('-') && !matches!(*name, "-l" | "--list")
            }
            _ => true,
        };
        if runs.iter().any(|pair| pair.iter().all(|word| words.contains(word)))
            || config.is_some_and(is_set)
            || words.iter().any(|word| word.contains("ext::"))
        {
            self.doubt("git may run other commands");
        }
    }

    /// Records a doubt about options that make a program run others.
    fn hold_options(&mut self, name: &str, arguments: &[Word]) {
        let Some(options) = table().runs.get(name) else { return };
        for (at, word) in arguments.iter().enumerate() {
            let text = word.shown();
            let long = text.split('=').next().unwrap_or_default();
            let is_bundle = match text.strip_prefix('-') {
                Some(rest) => !rest.starts_with('-'),
                // `tar cf`
                None => at == 0 && name == "tar",
            };
            let is_compiler = matches!(name, "gcc" | "cc" | "clang" | "go");
            let is_it = |option: &String| match option.strip_prefix("--") {
                // Long options may be abbreviated.
                Some(_) => long == option || long.len() > 2 && option.starts_with(long),
                None if is_compiler => text.starts_with(option.as_str()),
                // Short options may be combined in one word.
                None if option.len() == 2 => is_bundle && text.contains(&option[1..]),
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

/// Returns the word with an unknown text in place of a mark.
fn placeholder(word: &Word, mark: &str) -> Word {
    match word.shown().contains(mark) {
        true => Word::unknown(&word.source),
        false => word.clone(),
    }
}

/// Returns whether a path leads to the input, or to other open files.
fn is_device(path: &str) -> bool {
    ["/dev", "/proc"].iter().any(|folder| path.strip_prefix(folder).is_some_and(|rest| rest.starts_with('/')))
}

/// Returns a name without the version at its end, such as `python3.12`.
fn unversioned(name: &str) -> &str {
    name.trim_end_matches(|char: char| char.is_ascii_digit() || char == '.' || char == '-')
}

/// Returns whether a sed script only prints, deletes and substitutes.
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
            && !rest.contains(&format!("\\{mark}"))
    })
}
