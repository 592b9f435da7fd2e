//! Parses a line, and collects everything that it would run.

use std::{collections::BTreeSet, io::Cursor, mem};

use brush_parser::{
    Parser, ParserOptions, SourceInfo,
    ast::{
        self, AndOr, AssignmentName, AssignmentValue, BinaryPredicate, Command, CommandPrefixOrSuffixItem as Item,
        CompoundCommand, CompoundList, ExtendedTestExpr, IoFileRedirectKind, IoFileRedirectTarget, IoRedirect,
        Pipeline, RedirectList, SimpleCommand, UnaryPredicate,
    },
};

use super::{
    Line, MAX_COMMANDS, Simple,
    path::{before_glob, resolve},
    scan::{find, scan},
    scanner::{Entry, Scan, Word, is_name},
    table::table,
};

/// The deepest nesting of commands in commands.
const MAX_NESTED: usize = 8;
/// The maximum number of folders in which a command may run.
const MAX_FOLDERS: usize = 8;

pub(super) struct Reader {
    pub(super) line: Line,
    /// The folders in which the next command may run.
    folders: BTreeSet<String>,
    home: Option<String>,
    /// Variables that earlier commands set.
    environment: Vec<String>,
    nested: usize,
    /// The number of enclosing loops and functions.
    repeated: usize,
    /// The words of the text that is being read.
    entries: Vec<Entry>,
    /// The number of commands so far, including those that need no decision.
    work: usize,
}

/// The environment and the files of a command.
#[derive(Default, Clone)]
pub(super) struct Around {
    pub(super) environment: Vec<String>,
    reads: BTreeSet<String>,
    writes: BTreeSet<String>,
}

impl Reader {
    pub(super) fn new(folder: &str, home: Option<String>) -> Self {
        let folders = BTreeSet::from([resolve("/", folder)]);
        Reader {
            line: Line::default(),
            folders,
            home,
            environment: Vec::new(),
            nested: 0,
            repeated: 0,
            entries: Vec::new(),
            work: 0,
        }
    }

    pub(super) fn line(mut self, text: &str) -> Line {
        self.text(text);
        self.line
    }

    pub(super) fn words(mut self, words: &[String]) -> Line {
        let words: Vec<Word> = words.iter().map(|word| Word::literal(word)).collect();
        self.command(&words, &Around::default());
        self.line
    }

    pub(super) fn doubt(&mut self, why: impl Into<String>) {
        self.line.doubts.insert(why.into());
    }

    /// Reads the text of commands.
    pub(super) fn text(&mut self, text: &str) {
        if self.nested >= MAX_NESTED {
            return self.doubt("commands are nested too deeply");
        }
        let home = self.home.clone();
        match scan(text, home.as_deref()) {
            Ok(scan) => self.scanned(scan),
            Err(why) => self.doubt(why),
        }
    }

    fn scanned(&mut self, scan: Scan) {
        if self.nested >= MAX_NESTED {
            return self.doubt("commands are nested too deeply");
        }
        scan.doubts.iter().for_each(|why| self.doubt(*why));
        let text = Cursor::new(scan.skeleton);
        let mut parser = Parser::new(text, &ParserOptions::default(), &SourceInfo::default());
        let Ok(program) = parser.parse_program() else { return self.doubt("the command cannot be parsed") };
        self.nested += 1;
        let around = mem::replace(&mut self.entries, scan.entries);
        for list in &program.complete_commands {
            self.list(list);
        }
        let entries = mem::replace(&mut self.entries, around);
        if entries.iter().any(|entry| !entry.is_seen) {
            self.doubt("a word has no place in a command");
        }
        self.nested -= 1;
    }

    fn list(&mut self, CompoundList(items): &CompoundList) {
        for ast::CompoundListItem(list, _) in items {
            self.pipeline(&list.first);
            for next in &list.additional {
                match next {
                    AndOr::And(pipeline) | AndOr::Or(pipeline) => self.pipeline(pipeline),
                }
            }
        }
    }

    fn pipeline(&mut self, pipeline: &Pipeline) {
        for command in &pipeline.seq {
            match command {
                Command::Simple(simple) => self.simple(simple),
                Command::Compound(compound, redirects) => {
                    self.redirects(redirects.as_ref());
                    self.compound(compound);
                }
                Command::Function(function) => {
                    self.doubt("a function may take the place of a program");
                    self.redirects(function.body.1.as_ref());
                    self.repeated += 1;
                    self.compound(&function.body.0);
                    self.repeated -= 1;
                }
                Command::ExtendedTest(test) => self.test(&test.expr),
            }
        }
    }

    fn repeat(&mut self, list: &CompoundList) {
        self.repeated += 1;
        self.list(list);
        self.repeated -= 1;
    }

    fn compound(&mut self, compound: &CompoundCommand) {
        match compound {
            CompoundCommand::Arithmetic(_) => self.doubt("arithmetic that may run code"),
            CompoundCommand::ArithmeticForClause(command) => {
                self.doubt("arithmetic that may run code");
                self.repeat(&command.body.list);
            }
            CompoundCommand::BraceGroup(command) => self.list(&command.list),
            CompoundCommand::Subshell(command) => self.list(&command.list),
            CompoundCommand::ForClause(command) => {
                if !is_name(&command.variable_name) || !is_own_variable(&command.variable_name) {
                    self.doubt(format!("a loop sets {}", command.variable_name));
                }
                for value in command.values.iter().flatten() {
                    self.word(&value.value);
                }
                self.repeat(&command.body.list);
            }
            CompoundCommand::CaseClause(command) => {
                self.word(&command.value.value);
                for case in &command.cases {
                    for pattern in &case.patterns {
                        self.word(&pattern.value);
                    }
                    if let Some(list) = &case.cmd {
                        self.list(list);
                    }
                }
            }
            CompoundCommand::IfClause(command) => {
                self.list(&command.condition);
                self.list(&command.then);
                for other in command.elses.iter().flatten() {
                    if let Some(condition) = &other.condition {
                        self.list(condition);
                    }
                    self.list(&other.body);
                }
            }
            CompoundCommand::WhileClause(command) | CompoundCommand::UntilClause(command) => {
                self.repeat(&command.0);
                self.repeat(&command.1.list);
            }
        }
    }

    fn test(&mut self, test: &ExtendedTestExpr) {
        match test {
            ExtendedTestExpr::And(one, other) | ExtendedTestExpr::Or(one, other) => {
                self.test(one);
                self.test(other);
            }
            ExtendedTestExpr::Not(inner) | ExtendedTestExpr::Parenthesized(inner) => self.test(inner),
            ExtendedTestExpr::UnaryTest(test, word) => {
                self.word(&word.value);
                if matches!(
                    test,
                    UnaryPredicate::ShellVariableIsSetAndAssigned | UnaryPredicate::ShellVariableIsSetAndNameRef
                ) {
                    self.doubt("a test that may run code");
                }
            }
            ExtendedTestExpr::BinaryTest(test, one, other) => {
                let (one, other) = (self.word(&one.value), self.word(&other.value));
                let is_numeric = matches!(
                    test,
                    BinaryPredicate::ArithmeticEqualTo
                        | BinaryPredicate::ArithmeticNotEqualTo
                        | BinaryPredicate::ArithmeticLessThan
                        | BinaryPredicate::ArithmeticLessThanOrEqualTo
                        | BinaryPredicate::ArithmeticGreaterThan
                        | BinaryPredicate::ArithmeticGreaterThanOrEqualTo
                );
                if is_numeric && !(one.is_number() && other.is_number()) {
                    self.doubt("a test that may run code");
                }
            }
        }
    }

    /// Records a doubt about tests that compute, because an index of a list in their operands may run code.
    fn hold_tests(&mut self, base: &str, arguments: &[Word]) {
        let end =
            arguments.len() - usize::from(base == "[" && arguments.last().is_some_and(|word| word.shown() == "]"));
        let arguments = &arguments[..end];
        let is_numeric = |word: &Word| matches!(word.shown(), "-eq" | "-ne" | "-lt" | "-le" | "-gt" | "-ge");
        let is_computed = arguments.iter().enumerate().any(|(at, word)| {
            let is_number = |at: Option<usize>| at.and_then(|at| arguments.get(at)).is_some_and(Word::is_number);
            matches!(word.shown(), "-v" | "-R")
                || is_numeric(word) && !(is_number(at.checked_sub(1)) && is_number(Some(at + 1)))
        });
        let operands = match arguments {
            [not, rest @ ..] if not.exact() == Some("!") => rest,
            all => all,
        };
        let is_operator =
            |word: &Word| is_numeric(word) || matches!(word.exact(), Some("=" | "==" | "!=" | "-nt" | "-ot" | "-ef"));
        // An unknown word may be an operator, unless its position excludes that.
        let is_placed = match operands {
            [one] => one.is_one(),
            [operator, one] => operator.exact().is_some_and(|text| text.starts_with('-')) && one.is_one(),
            [one, operator, other] => one.is_one() && is_operator(operator) && other.is_one(),
            all => all.iter().all(|word| word.exact().is_some()),
        };
        if is_computed || !is_placed {
            self.doubt("a test that may run code");
        }
    }

    /// Records a doubt about a `printf` that sets a variable or computes numbers.
    fn hold_format(&mut self, arguments: &[Word]) {
        let (format, rest) = match arguments {
            [end, format, rest @ ..] if end.exact() == Some("--") => (format, rest),
            [format, rest @ ..] => (format, rest),
            [] => return,
        };
        let Some(text) = format.exact().filter(|text| !text.starts_with('-')) else {
            return self.doubt("the format of printf is not known");
        };
        let is_text = text.replace("%%", "").split('%').skip(1).all(|part| {
            let part = part.trim_start_matches(|char: char| char.is_ascii_digit() || char == '-' || char == '.');
            part.starts_with(['s', 'b', 'q'])
        });
        if !is_text && !rest.iter().all(Word::is_number) {
            self.doubt("printf may compute what runs code");
        }
    }

    /// Reads a word, and the commands inside it.
    pub(super) fn word(&mut self, source: &str) -> Word {
        let (word, commands) = find(&mut self.entries, source);
        for scan in commands {
            self.scanned(scan);
        }
        word
    }

    /// Resolves a path in each folder in which the command may run.
    pub(super) fn resolved(&self, path: &str) -> BTreeSet<String> {
        self.folders.iter().map(|folder| resolve(folder, path)).collect()
    }

    fn redirects(&mut self, list: Option<&RedirectList>) {
        let mut around = Around::default();
        for redirect in list.iter().flat_map(|list| &list.0) {
            self.redirect(redirect, &mut around);
        }
    }

    fn redirect(&mut self, redirect: &IoRedirect, around: &mut Around) {
        match redirect {
            IoRedirect::File(_, kind, target) => match target {
                IoFileRedirectTarget::Filename(word) => {
                    let is_read = matches!(kind, IoFileRedirectKind::Read);
                    let is_both = matches!(kind, IoFileRedirectKind::ReadAndWrite);
                    self.file(&word.value, is_read || is_both, !is_read, around);
                }
                IoFileRedirectTarget::Fd(_) => {}
                IoFileRedirectTarget::ProcessSubstitution(_, command) => self.list(&command.list),
                IoFileRedirectTarget::Duplicate(word) => {
                    let read = self.word(&word.value);
                    let text = read.exact().unwrap_or_default();
                    if text.is_empty() || !text.bytes().all(|byte| byte.is_ascii_digit() || byte == b'-') {
                        // `>&FILE` writes the file.
                        self.file(&word.value, true, true, around);
                    }
                }
            },
            // The scanner has already removed all of them.
            IoRedirect::HereDocument(..) => self.doubt("a here-document that shells read in different ways"),
            IoRedirect::HereString(_, word) => {
                self.word(&word.value);
            }
            IoRedirect::OutputAndError(word, _) => self.file(&word.value, false, true, around),
        }
    }

    fn file(&mut self, source: &str, is_read: bool, is_written: bool, around: &mut Around) {
        let word = self.word(source);
        let Some(path) = word.exact().filter(|path| !path.is_empty()) else {
            return self.doubt("the file of a redirection is not known");
        };
        for path in self.resolved(path) {
            if table().devices.contains(&path) {
                continue;
            }
            if path.starts_with("/dev/tcp/") || path.starts_with("/dev/udp/") {
                self.doubt("a redirection to the network");
            }
            if is_read {
                self.line.reads.insert(path.clone());
                around.reads.insert(path.clone());
            }
            if is_written {
                self.line.writes.insert(path.clone());
                around.writes.insert(path);
            }
        }
    }

    fn simple(&mut self, simple: &SimpleCommand) {
        let prefix = simple.prefix.iter().flat_map(|prefix| &prefix.0);
        let suffix = simple.suffix.iter().flat_map(|suffix| &suffix.0);
        let mut around = Around::default();
        let mut words = Vec::new();
        let mut assigned = Vec::new();
        for item in prefix {
            self.item(item, &mut assigned, &mut words, &mut around);
        }
        if let Some(word) = &simple.word_or_name {
            words.push(self.word(&word.value));
        }
        for item in suffix {
            match item {
                // After the program, an assignment is an argument.
                Item::AssignmentWord(_, word) => words.push(self.word(&word.value)),
                item => self.item(item, &mut assigned, &mut words, &mut around),
            }
        }
        match words.is_empty() {
            true => self.environment.extend(assigned),
            false => {
                around.environment = self.environment.iter().cloned().chain(assigned).collect();
                self.command(&words, &around);
            }
        }
    }

    fn item(&mut self, item: &Item, assigned: &mut Vec<String>, words: &mut Vec<Word>, around: &mut Around) {
        match item {
            Item::IoRedirect(redirect) => self.redirect(redirect, around),
            Item::Word(word) => words.push(self.word(&word.value)),
            Item::AssignmentWord(assignment, _) => {
                let AssignmentName::VariableName(name) = &assignment.name else {
                    return self.doubt("an item of a list is set");
                };
                match &assignment.value {
                    AssignmentValue::Scalar(word) => {
                        let value = self.word(&word.value);
                        assigned.push(format!("{name}={}", value.shown()));
                    }
                    AssignmentValue::Array(items) => {
                        for (index, word) in items {
                            if index.is_some() {
                                self.doubt("an item of a list is set");
                            }
                            self.word(&word.value);
                        }
                        assigned.push(format!("{name}=()"));
                    }
                }
                self.hold_variable(name);
            }
            Item::ProcessSubstitution(_, command) => {
                self.list(&command.list);
                words.push(Word::unknown("/dev/fd/63"));
            }
        }
    }

    /// Records a doubt about a variable that may change which program runs, or what it does.
    pub(super) fn hold_variable(&mut self, name: &str) {
        if !table().variables.contains(name) && !is_own_variable(name) {
            self.doubt(format!("the variable {name} may change what runs"));
        }
    }

    /// Handles a command: a program and its arguments.
    pub(super) fn command(&mut self, words: &[Word], around: &Around) {
        let [program, arguments @ ..] = words else { return };
        self.work += 1;
        if self.work > MAX_COMMANDS {
            return self.doubt("there are too many commands");
        }
        let Some(name) = program.exact().filter(|name| !name.is_empty()) else {
            self.doubt("the program is not a literal");
            return self.push(String::new(), words, around);
        };
        let (name, base) = self.program(name);
        if base == "cd" {
            self.change_folder(arguments);
        }
        if matches!(base.as_str(), "test" | "[") {
            self.hold_tests(&base, arguments);
        }
        if base == "printf" {
            self.hold_format(arguments);
        }
        if base == "wait" && arguments.iter().any(|word| !is_process(word)) {
            self.doubt("wait may set a variable");
        }
        if base == "export" || base == "unset" {
            self.exported(arguments);
        }
        let is_quiet = table().quiet.contains(&base) && name == base;
        if !is_quiet {
            self.push(name, arguments, around);
        }
        self.hold_arguments(&base, arguments);
        self.unwrap(&base, arguments, around);
    }

    /// Returns the name of a program, or its path if it is not in a folder of known programs, and its name in the
    /// table.
    fn program(&mut self, name: &str) -> (String, String) {
        if !name.contains('/') {
            return (name.to_owned(), name.to_owned());
        }
        let mut paths = self.resolved(name).into_iter();
        let path = paths.next().unwrap_or_default();
        if paths.next().is_some() {
            self.doubt("the folder of a program is not known");
        }
        let (folder, base) = path.rsplit_once('/').unwrap_or_default();
        let base = base.to_owned();
        match table().folders.contains(folder) {
            true => (base.clone(), base),
            false => (path, base),
        }
    }

    fn change_folder(&mut self, arguments: &[Word]) {
        let arguments: Vec<&Word> = arguments.iter().filter(|word| word.exact() != Some("--")).collect();
        let target = match arguments.as_slice() {
            [] => self.home.clone(),
            [one] => one.exact().filter(|target| !target.starts_with('-') && !target.is_empty()).map(str::to_owned),
            _ => None,
        };
        let Some(target) = target.filter(|_| self.repeated == 0) else {
            return self.doubt("the folder of later commands is not known");
        };
        if self.folders.len() * 2 > MAX_FOLDERS {
            return self.doubt("the folder of later commands is not known");
        }
        let changed = self.resolved(&target);
        self.folders.extend(changed);
    }

    /// Checks the variables that `export` and `unset` name. Accepts only plain names, because an index may run code.
    fn exported(&mut self, arguments: &[Word]) {
        for word in arguments {
            let name = word.source.split('=').next().unwrap_or_default();
            if word.source.contains('=') && is_name(name) {
                self.environment.push(word.shown().to_owned());
                self.hold_variable(name);
            } else if let Some(name) = word.exact().filter(|name| is_name(name)) {
                self.hold_variable(name);
            } else {
                self.doubt("a variable is not known");
            }
        }
    }

    /// Checks arguments that are not known, because they may be anything.
    fn hold_arguments(&mut self, base: &str, arguments: &[Word]) {
        let table = table();
        if table.any_arguments.contains(base) {
            return;
        }
        let is_plain = base == "printf" || base == "test" || base == "[";
        for word in arguments {
            match &word.text {
                None if is_plain && word.is_one() => {}
                None => self.doubt(format!("an argument of {base} is not known: {}", word.source)),
                // A file may have a name that looks like an option.
                Some(text) if word.is_glob => {
                    let may_be_option = text.starts_with(['*', '?', '[', '-']);
                    if before_glob(text).is_none() || may_be_option && !table.any_options.contains(base) {
                        self.doubt(format!("an argument of {base} is not known: {}", word.source));
                    }
                }
                Some(_) => {}
            }
        }
    }

    fn push(&mut self, program: String, arguments: &[Word], around: &Around) {
        let mut paths = BTreeSet::new();
        for word in arguments {
            let Some(text) = &word.text else { continue };
            let text = if word.is_glob { before_glob(text).unwrap_or_else(|| text.clone()) } else { text.clone() };
            for path in paths_in(&text) {
                paths.extend(self.resolved(path));
            }
        }
        let base = program.rsplit('/').next().unwrap_or_default();
        let command = self.command_of(base, arguments);
        if let (Some(command), Some(running)) = (&command, table().running.get(base))
            && running.contains(command)
        {
            self.doubt(format!("{base} {command} may run anything"));
        }
        self.line.commands.push(Simple {
            argv: arguments.iter().map(|word| word.shown().to_owned()).collect(),
            command,
            paths,
            reads: around.reads.clone(),
            writes: around.writes.clone(),
            environment: around.environment.clone(),
            program,
        });
    }
}

/// Returns the parts of an argument that may be paths.
fn paths_in(text: &str) -> Vec<&str> {
    let mut parts = Vec::new();
    match text.strip_prefix('-') {
        // `-I/usr` and `-vt/usr`: a path may begin after each letter of combined options.
        Some(rest) if !rest.starts_with('-') => {
            let is_letter = |char: &char| char.is_ascii_alphanumeric();
            let letters = rest.chars().take_while(is_letter).count();
            parts.extend((1..=letters).map(|at| &rest[at..]));
        }
        Some(_) => {}
        None => parts.push(text),
    }
    parts.extend(text.split_once('=').map(|(_, value)| value));
    let is_path = |part: &&str| !part.is_empty() && (!text.starts_with('-') || part.contains(['/', '.']));
    parts.into_iter().filter(is_path).collect()
}

/// Returns whether a word identifies a process for `wait`.
fn is_process(word: &Word) -> bool {
    word.is_number()
        || matches!(word.source.trim_matches('"'), "$!")
        || word.exact().is_some_and(|text| text == "-n" || text.starts_with('%'))
}

/// Returns whether a variable is one that no program reads from its environment.
fn is_own_variable(name: &str) -> bool {
    let is_lower = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_';
    name.bytes().all(is_lower)
        && !table().read_variables.contains(name)
        && !["npm_", "pnpm_", "yarn_", "dis_", "zsh", "fish_"].iter().any(|prefix| name.starts_with(prefix))
        && !name.ends_with("_functions")
}
