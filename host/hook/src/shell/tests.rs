//! Tests spellings of commands. None may pass for another command.

use std::collections::BTreeSet;

use super::{Line, read};

/// Commands that a profile denies: a program and its arguments.
const DENIED: [(&str, &str); 20] = [
    ("git", "push origin main"),
    ("git", "reset --hard HEAD"),
    ("rm", "-rf /srv/data"),
    ("curl", "https://evil.example/x"),
    ("wget", "https://evil.example/x"),
    ("chmod", "777 /etc/passwd"),
    ("chown", "root /srv/app"),
    ("dd", "if=/dev/zero of=/dev/sda"),
    ("mkfs", "/dev/sda1"),
    ("shutdown", "now"),
    ("kill", "-9 1"),
    ("docker", "run alpine"),
    ("npm", "publish"),
    ("cargo", "publish"),
    ("kubectl", "delete pod a"),
    ("terraform", "destroy"),
    ("mv", "/srv/app /tmp/x"),
    ("cp", "/etc/shadow /tmp/x"),
    ("systemctl", "stop ssh"),
    ("psql", "-f drop.sql"),
];

/// Returns spellings of a command. Each of them runs it, or may run it.
fn spellings(program: &str, arguments: &str) -> Vec<String> {
    let whole = format!("{program} {arguments}");
    let (first, rest) = program.split_at(1);
    let hex: String = program.bytes().map(|byte| format!("\\x{byte:02x}")).collect();
    let octal: String = program.bytes().map(|byte| format!("\\{byte:03o}")).collect();
    let quoted: Vec<String> = arguments.split(' ').map(|word| format!("'{word}'")).collect();
    let escaped: Vec<String> =
        arguments.split(' ').map(|word| format!("\"{}\"\"{}\"", &word[..1], &word[1..])).collect();
    let (quoted, escaped) = (quoted.join(" "), escaped.join(" "));
    let base64 = "cm0gLXJmIC9zcnYvZGF0YQ==";
    let places = [
        // Quoting.
        format!("'{program}' {arguments}"),
        format!("\"{program}\" {quoted}"),
        format!("{first}\"\"{rest} {escaped}"),
        format!("{first}''{rest} {arguments}"),
        format!("\\{program} {arguments}"),
        format!("{first}\\{rest} {quoted}"),
        format!("$'{hex}' {arguments}"),
        format!("$'{octal}' {arguments}"),
        format!("{first}\\\n{rest} {arguments}"),
        format!("{program} \\\n  {arguments}"),
        format!("  {program}\t{arguments}  # and a comment"),
        // Expansion.
        format!("x={program}; $x {arguments}"),
        format!("x={program}; ${{x}} {arguments}"),
        format!("x={rest}; {first}$x {arguments}"),
        format!("x='{whole}'; $x"),
        format!("${{x:-{program}}} {arguments}"),
        format!("{{{program},{arguments}}}"),
        format!("{first}{{{rest},}} {arguments}"),
        format!("/usr/bin/{first}* {arguments}"),
        format!("/usr/bin/{first}?{} {arguments}", &rest[1..]),
        format!("set -- {whole}; \"$@\""),
        format!("a=({whole}); \"${{a[@]}}\""),
        format!("echo ${{x:-$({whole})}}"),
        format!("x={program} && eval \"$x {arguments}\""),
        format!("y=x; x={program}; ${{!y}} {arguments}"),
        // Substitution.
        format!("echo $({whole})"),
        format!("echo \"$({whole})\""),
        format!("echo `{whole}`"),
        format!("$(echo {program}) {arguments}"),
        format!("`echo {program}` {arguments}"),
        format!("x=$({whole})"),
        format!("cat <({whole})"),
        format!("echo a > >({whole})"),
        format!("echo $(echo $({whole}))"),
        format!("[[ -n $({whole}) ]]"),
        format!("test -n \"$({whole})\""),
        format!("echo $(( $({whole}) ))"),
        format!("case $({whole}) in a) ls;; esac"),
        format!("for i in $({whole}); do ls; done"),
        format!("cat <<END\n$({whole})\nEND"),
        format!("cat <<< \"$({whole})\""),
        format!("ls > \"$({whole})\""),
        // Chaining.
        format!("true && {whole}"),
        format!("false || {whole}"),
        format!("ls; {whole}"),
        format!("ls\n{whole}"),
        format!("ls & {whole} &"),
        format!("ls | {whole}"),
        format!("{whole} | cat"),
        format!("({whole})"),
        format!("{{ {whole}; }}"),
        format!("! {whole}"),
        format!("if true; then {whole}; fi"),
        format!("if {whole}; then ls; fi"),
        format!("while {whole}; do ls; done"),
        format!("for i in 1; do {whole}; done"),
        format!("until false; do {whole}; done"),
        format!("case a in a) {whole};; esac"),
        format!("f() {{ {whole}; }}; f"),
        format!("function f {{ {whole}; }}; f"),
        format!("ls() {{ {whole}; }}; ls"),
        format!("ls > /dev/null 2>&1; {whole} 2> /dev/null"),
        format!("< /dev/null {whole}"),
        format!("time {whole}"),
        format!("coproc {whole}"),
        // Programs that run others.
        format!("sh -c '{whole}'"),
        format!("bash -lc \"{whole}\""),
        format!("bash -c 'sh -c \"{whole}\"'"),
        format!("sh -c \"$(echo {whole})\""),
        format!("/bin/sh -c '{whole}'"),
        format!("env {whole}"),
        format!("env -i {whole}"),
        format!("/usr/bin/env {whole}"),
        format!("env -S '{whole}'"),
        format!("sudo {whole}"),
        format!("sudo -u root -- {whole}"),
        format!("nohup {whole} &"),
        format!("nice -n 5 {whole}"),
        format!("timeout 5 {whole}"),
        format!("timeout -s KILL 5 nohup {whole}"),
        format!("command {whole}"),
        format!("exec {whole}"),
        format!("builtin command {whole}"),
        format!("stdbuf -oL {whole}"),
        format!("setsid {whole}"),
        format!("/usr/bin/time -v {whole}"),
        format!("eval {whole}"),
        format!("eval '{whole}'"),
        format!("trap '{whole}' EXIT"),
        format!("xargs {whole}"),
        format!("echo {arguments} | xargs {program}"),
        format!("echo '{whole}' | xargs -I % sh -c %"),
        format!("find . -maxdepth 0 -exec {whole} \\;"),
        format!("find . -maxdepth 0 -exec sh -c '{whole}' \\;"),
        format!("ssh localhost {whole}"),
        format!("su -c '{whole}'"),
        format!("watch {whole}"),
        format!("parallel ::: '{whole}'"),
        format!("busybox {whole}"),
        format!("script -c '{whole}' x"),
        format!("flock x {whole}"),
        format!("git -c alias.z='!{whole}' z"),
        format!("git submodule foreach '{whole}'"),
        format!("git rebase -x '{whole}' main"),
        format!("awk 'BEGIN{{system(\"{whole}\")}}'"),
        format!("sed 's/a/{program}/e' x"),
        format!("tar cf x y --checkpoint=1 --checkpoint-action=exec='{whole}'"),
        format!("make SHELL='{whole}'"),
        format!("vim -c '!{whole}' x"),
        format!("rsync -e '{whole}' a b:"),
        // Other languages.
        format!("python3 -c 'import os; os.system(\"{whole}\")'"),
        format!("python3.12 -c 'import os; os.system(\"{whole}\")'"),
        format!("perl -e 'system(\"{whole}\")'"),
        format!("ruby -e '`{whole}`'"),
        format!("node -e 'require(\"child_process\").execSync(\"{whole}\")'"),
        format!("php -r 'system(\"{whole}\");'"),
        // Input.
        format!("echo '{whole}' | sh"),
        format!("echo '{whole}' | bash -s"),
        format!("printf '%s' '{whole}' | /bin/bash"),
        format!("sh <<END\n{whole}\nEND"),
        format!("bash <<'END'\n{whole}\nEND"),
        format!("sh <<< '{whole}'"),
        format!("bash <(echo '{whole}')"),
        format!("source <(echo '{whole}')"),
        format!(". /dev/stdin <<< '{whole}'"),
        format!("echo {base64} | base64 -d | sh"),
        format!("bash -c \"$(echo {base64} | base64 -d)\""),
        format!("eval $(printf '{hex}') {arguments}"),
        format!("$(printf '{octal}') {arguments}"),
        format!("echo '{whole}' | python3"),
        "python3 - <<< 'import os'".to_owned(),
        // Names.
        format!("alias q='{whole}'; q"),
        format!("alias ls={program}; ls {arguments}"),
        format!("hash -p /usr/bin/{program} ls; ls {arguments}"),
        format!("PATH=/tmp ls; PATH=/tmp/x {whole}"),
        format!("LD_PRELOAD=/tmp/x.so ls; {whole}"),
        format!("/usr/bin/{whole}"),
        format!("/usr/bin/../bin/./{whole}"),
        format!("//usr///bin/{whole}"),
        format!("../../usr/bin/{whole}"),
        format!("cd /usr/bin && ./{whole}"),
        format!("(cd /; usr/bin/{whole})"),
    ];
    places.to_vec()
}

fn is_caught(line: &Line, program: &str, arguments: &str) -> bool {
    let is_it = |argv: &[String]| argv.join(" ") == arguments;
    !line.doubts.is_empty() || line.commands.iter().any(|one| one.program == program && is_it(&one.argv))
}

#[test]
fn no_spelling_of_a_denied_command_passes() {
    let (mut missed, mut all, mut exact) = (Vec::new(), 0, 0);
    for (program, arguments) in DENIED {
        for spelling in spellings(program, arguments) {
            let line = read(&spelling, "/work/app", Some("/home/anna"));
            all += 1;
            exact += usize::from(line.doubts.is_empty());
            if !is_caught(&line, program, arguments) {
                missed.push(format!("{spelling}\n  {line:?}"));
            }
        }
    }
    println!("{all} spellings, {exact} of them read exactly");
    assert!(all >= 300);
    assert!(missed.is_empty(), "{} of {all}:\n{}", missed.len(), missed.join("\n"));
}

#[test]
fn files_of_redirections_are_known_by_their_paths() {
    let spellings = [
        "echo x > /etc/passwd",
        "echo x >> /etc/passwd",
        "echo x >| /etc/passwd",
        "echo x &> /etc/passwd",
        "echo x >& /etc/passwd",
        "echo x 1<> /etc/passwd",
        "> /etc/passwd",
        ">/etc/passwd echo x",
        "echo x > '/etc'/pass\"wd\"",
        "echo x > /etc/../etc/./passwd",
        "echo x > ../../etc/passwd",
        "cd /etc && echo x > passwd",
        "cd /; cd etc; echo x > passwd",
        "(cd /etc; echo x > passwd)",
        "{ echo x; } > /etc/passwd",
        "(echo x) > /etc/passwd",
        "for i in 1; do echo x; done > /etc/passwd",
        "cat > /etc/passwd <<END\nx\nEND",
        "echo x > $'/etc/pass\\x77d'",
        "sh -c 'echo x > /etc/passwd'",
        "if true; then echo x; fi > /etc/passwd",
        "exec > /etc/passwd",
        "x > /etc/passwd | cat",
        "[[ -n a ]] > /etc/passwd",
    ];
    for spelling in spellings {
        let line = read(spelling, "/work/app", None);
        assert!(!line.doubts.is_empty() || line.writes.contains("/etc/passwd"), "{spelling}: {line:?}");
    }
    for unknown in ["echo x > $f", "echo x > \"$(echo f)\"", "echo x > *", "echo x > ~anna/x", "cd $d && echo x > f"] {
        assert!(!read(unknown, "/work/app", None).doubts.is_empty(), "{unknown}");
    }
}

#[test]
fn ordinary_commands_are_read_exactly() {
    let lines: Vec<&str> = include_str!("../../../../tests/hook/ordinary.txt").lines().collect();
    assert!(lines.len() >= 300);
    let is_doubted = |line: &&&str| !read(line, "/work/app", Some("/home/anna")).doubts.is_empty();
    let doubted: Vec<&&str> = lines.iter().filter(is_doubted).collect();
    println!("{} of {} are asked about: {doubted:#?}", doubted.len(), lines.len());
    assert!(doubted.len() * 20 <= lines.len(), "{doubted:#?}");
}

/// Lines that a shell may run in a way that their text does not suggest, by classes. All of them must be doubts.
const CRAFTED: [(&str, &[&str]); 10] = [
    (
        "here-documents",
        &[
            "echo \"$(cat <<'EOF'\nhi\nEOF\ngit push\nEOF\n)\"",
            "cat <<$'A'\nA\ngit push\n$A\n",
            "cat <<$\"A\"\nA\ngit push\n$A\n",
            "cat <<'A\\B'\nAB\ngit push\nA\\B\n",
            "cat <<\"A\\B\"\nA\\B\ngit push\nAB\n",
            "cat <<A\\B\nAB\ngit push\nA\\B\n",
            "cat <<'A'B\nAB\ngit push\nA\n",
            "cat <<A\nx\\\nA\ngit push\nA\n",
            "echo $(cat <<  A\n  A\ngit push\nA\n)",
            "echo `cat <<A\nA\ngit push\n`",
            "cat <<A <<B\nA\nB\n",
            "cat <<-A\n\tA\ngit push\nA\n",
            "cat <<A 'x\nA\n'\ngit push\nA\n",
            "cat <<A $(\nA\n)\ngit push\nA\n",
            "cat <<A\n`git push`\nA\n",
            "cat <<A\n$(git push)\nA\n",
            "cat <<A\n${x:-$(git push)}\nA\n",
            "cat <<A",
            "cat <<A\nx",
            "cat 3<<A\nA\n",
            "cat {x}<<A\nA\n",
            "cat x<<A\n  A\n",
        ],
    ),
    (
        "comments",
        &[
            "echo $(:  # )'\ngit push\n# '$(\n)",
            "echo $(: #)\n)",
            "echo \"$(:\n# )\n)\"",
            "echo `: #`",
            "cat <(: # )\ngit push\n)",
            "cat <(ls)#; git push",
            "echo $(echo a#b)",
            "echo $(case a in a) git push;; esac)",
        ],
    ),
    (
        "arithmetic",
        &[
            "(( ((1)) << A ))\ngit push\nA",
            "for ((i=1<<A;;)); do ls; done\ngit push\nA",
            "((git push) )",
            "((\ngit push\n) )",
            "((git push); ls)",
            "echo $((git push) )",
            "echo $((1 << A))\ngit push\nA",
            "x='a[$(git push)]'; echo $((x))",
            "x='a[$(git push)]'; ((x))",
            "x='a[$(git push)]'; echo $[x]",
            "x='a[$(git push)]'; [[ x -eq 0 ]]",
            "x='a[$(git push)]'; [[ $x -eq 0 ]]",
            "x='a[$(git push)]'; [[ 0 -lt $x ]]",
            "x='a[$(git push)]'; [[ -v $x ]]",
            "x='a[$(git push)]'; [[ -n a && ( -v $x ) ]]",
            "x='a[$(git push)]'; [[ -R $x ]]",
            "x='a[$(git push)]'; test -v \"$x\"",
            "x='a[$(git push)]'; [ -v \"$x\" ]",
            "x='a[$(git push)]'; [ ! -v \"$x\" ]",
            "x='a[$(git push)]'; y=-v; [ \"$y\" \"$x\" ]",
            "x='a[$(git push)]'; y='-v '$x; [ $y ]",
            "x='a[$(git push)]'; test \"$x\" -eq 0",
            "[ -v 'a[$(git push)]' ]",
            "x='a[$(git push)]'; for ((i=x; i<1; i++)); do ls; done",
            "x='a[$(git push)]'; cat <<< $((x))",
            "x='a[$(git push)]'; a[x]=1",
            "x='a[$(git push)]'; echo ${a[x]}",
            "x='a[$(git push)]'; echo ${y:x:1}",
            "x='a[$(git push)]'; echo ${y:0:x}",
            "x='a[$(git push)]'; let x",
            "x='a[$(git push)]'; declare -i y=x",
            "x='a[$(git push)]'; printf %d \"$x\"",
            "echo $x[$(git push)]",
        ],
    ),
    (
        "names of variables",
        &[
            "wait -p 'a[$(git push)]'",
            "wait -n -p \"$x\"",
            "wait $x",
            "printf -v 'a[$(git push)]' x",
            "printf \"$x\" y",
            "read 'a[$(git push)]'",
            "mapfile 'a[$(git push)]'",
            "unset 'a[$(git push)]'",
            "export 'a[$(git push)]'=1",
            "export \"$x\"",
            "declare 'a[$(git push)]=1'",
            "local 'a[$(git push)]=1'",
            "readonly 'a[$(git push)]=1'",
            "getopts a 'a[$(git push)]'",
        ],
    ),
    (
        "quotes",
        &[
            "env x=\\$'a\\' y=\"'\" git push \"'\"\\'",
            "tee \\$'a\\' \"'\" /etc/passwd \"'\"\\'",
            "echo \\$\"a\"",
            "echo $\"a\"",
            "echo 'a",
            "echo \"a",
            "echo $'a\\'",
            "echo a\\\nb",
            "git\\\n push",
            "echo a\\",
            "git\rpush",
            "git\u{a0}push",
        ],
    ),
    (
        "braces",
        &[
            "rm -rf {/etc,{}}",
            "{git,{}} push",
            "tee @{/etc/passwd,a}",
            "rm a{1..9}",
            "rm {a','b,c}",
            "rm {} {/etc,}",
            "rm x{a,$(ls)}",
            "ls {fd}>x",
            "{git push}",
            "[[ a =~ b|c ]]",
            "[[ a =~ b ]]",
        ],
    ),
    (
        "programs that run others",
        &[
            "find . -exec rm + /etc/x",
            "find . -execdir rm {} \\;",
            "find . -ok rm {} \\;",
            "find . -fprintf x y",
            "find . -fls x",
            "make -f -",
            "make -f /dev/stdin",
            "make -f x",
            "make CC=x",
            "make SHELL=x",
            "tar -cI x y",
            "tar cIf x y",
            "tar -x --to-command=x",
            "tar -x --to-c=x",
            "tar -c --rmt-command=x y",
            "tar --use-compress-program=x -c y",
            "tar -cF x y",
            "tar -c --checkpoint-action=exec=x y",
            "tar cf host:x y",
            "rsync -ae x y z",
            "fd -Hx rm",
            "fd -HX rm",
            "npx -c 'git push'",
            "npx -y sh -c 'git push'",
            "npx env git push",
            "sort -uo x y",
            "sort --output=x y",
            "sort --compress-prog=x y",
            "uniq a b",
            "awk '@load \"x\"'",
            "awk 'BEGIN{\"ls\"|getline}'",
            "awk -nf x",
            "sed e x",
            "sed 'w x' y",
            "sed 'r x' y",
            "sed '1e ls' y",
            "sed 's/a/b/w x' y",
            "sed 's/a/b/e' y",
            "sed -f x",
            "sed -e p -e e y",
            "ls | xargs -I % git % origin",
            "ls | xargs -I% sh -c %",
            "ls | xargs rm",
            "rustc -C linker=x a.rs",
            "cargo --config x build",
            "cargo build --conf x",
            "less '+!git push'",
        ],
    ),
    (
        "commands that run others",
        &[
            "git rebase -ix ls",
            "git grep -nOvi x",
            "git -c a.b=c x",
            "git config a.b c",
            "git config --global a.b c",
            "git config set a.b c",
            "git config --unset a.b",
            "git config --edit",
            "git --exec-path=x status",
            "git fetch --upload-pack=x",
            "git fetch --upload-p x",
            "git push --receive-pack=x",
            "git bisect run x",
            "git submodule foreach x",
            "git difftool",
            "git filter-branch x",
            "uv run x",
            "poetry run x",
            "bundle exec x",
            "pnpm exec x",
            "pnpm dlx x",
            "yarn exec x",
            "yarn dlx x",
            "npm exec x",
            "npm x y",
            "rustup run stable x",
        ],
    ),
    (
        "interpreters",
        &[
            "python3",
            "python3 -",
            "python3 -m x",
            "python3 -Bm x",
            "python3 -I -c x",
            "python3 /dev/stdin",
            "python3 ../../dev/stdin",
            "python3 /dev/fd/0",
            "python3 /proc/self/fd/0",
            "perl -I . -e x",
            "perl -Mx y",
            "ruby -rx y",
            "node -e x",
            "node -p x",
            "node -r x y",
            "node --import x y",
            "node --require=x y",
            "node --test",
            "deno eval x",
            "deno run x",
            "bun exec x",
            "bun x y",
            "bun test --preload x",
            "php -r x",
        ],
    ),
    (
        "variables and paths",
        &[
            "npm_config_script_shell=/tmp/x npm test",
            "GIT_SSH_COMMAND=x git fetch",
            "env GIT_PAGER=x git log",
            "LD_PRELOAD=x ls",
            "DYLD_INSERT_LIBRARIES=x ls",
            "BASH_ENV=x ls",
            "PYTHONSTARTUP=x ls",
            "NODE_OPTIONS=x ls",
            "PERL5OPT=x ls",
            "RUBYOPT=x ls",
            "RUSTC_WRAPPER=x cargo build",
            "CARGO_BUILD_RUSTC=x cargo build",
            "PATH=x ls",
            "ENV=x ls",
            "IFS=x ls",
            "PS4=x ls",
            "PROMPT_COMMAND=x ls",
            "SHELLOPTS=x ls",
            "BASHOPTS=x ls",
            "PAGER=x git log",
            "EDITOR=x git commit",
            "VISUAL=x ls",
            "BROWSER=x ls",
            "SHELL=x ls",
            "HOME=x git log",
            "commands=x ls",
            "aliases=x ls",
            "functions=x ls",
            "options=x ls",
            "for path in x; do ls; done",
            "export PATH",
            "dd of=~/x",
            "tee dd=~/x",
            "tee a:~/x",
            "cd a; cd b; cd c; cd d; ls",
        ],
    ),
];

#[test]
fn crafted_lines_are_doubts() {
    let mut missed = Vec::new();
    for (class, lines) in CRAFTED {
        for text in lines {
            // Around a substitution or in a list, a line has the same meaning.
            let shapes = [(*text).to_owned(), format!("ls\n{text}"), format!("ls && {text}")];
            for shape in shapes {
                let line = read(&shape, "/work/app", Some("/home/anna"));
                if line.doubts.is_empty() {
                    missed.push(format!("{class}: {shape:?}\n  {line:?}"));
                }
            }
        }
    }
    println!("{} crafted lines", CRAFTED.iter().map(|(_, lines)| lines.len()).sum::<usize>());
    assert!(missed.is_empty(), "{}:\n{}", missed.len(), missed.join("\n"));
}

/// Returns lines of a class, built from all combinations of parts.
fn combined(parts: &[&[&str]]) -> Vec<String> {
    parts.iter().fold(vec![String::new()], |lines, next| {
        lines.iter().flat_map(|line| next.iter().map(move |part| format!("{line}{part}"))).collect()
    })
}

#[test]
fn combinations_of_crafted_parts_are_doubts() {
    let quote_pairs =
        combined(&[&["<<"], &["\\A", "A\\", "$A", "A'B'", "''A", "A\"\"", "$'A'", "`A`", "-A", "A.B", "''"]]);
    let documents: Vec<String> = quote_pairs
        .iter()
        .flat_map(|mark| [format!("cat {mark}\nA\ngit push\nA\n"), format!("{mark} cat\nA\n")])
        .collect();
    let classes: Vec<Vec<String>> = vec![
        documents,
        combined(&[
            &["echo $(", "echo \"$(", "x=`", "cat <("],
            &["", ": ", "ls; "],
            &["# x", "a#", "#"],
            &["\n"],
            &[")", ")\"", "`"],
        ]),
        combined(&[
            &["echo $((", "echo \"$((", "((", "for (("],
            &["x", "a[1]", "1<<2", "$x", "x=1", "1#2", "(1)"],
            &["))", "))\"", ") )"],
        ]),
        combined(&[
            &["[[ ", "[ ", "test "],
            &["$x", "\"$x\"", "x", "1x", "''"],
            &[" -eq", " -ne", " -lt", " -ge"],
            &[" 0", " $y"],
            &[" ]]", " ]", ""],
        ]),
        combined(&[
            &["[[ ", "[ ", "test "],
            &["-v ", "! -v ", "-n a -a -v "],
            &["x", "$x", "\"$x\"", "'a[0]'"],
            &[" ]]", " ]", ""],
        ]),
        combined(&[
            &["unset ", "export ", "printf -v ", "read ", "mapfile ", "declare ", "wait -p "],
            &["'a[0]'", "a[x]", "\"$x\"", "$x"],
            &["", " x"],
        ]),
        combined(&[&["tee ", "env x="], &["\\$'", "\\$\"", "$\""], &["a", "a\\"], &["'", "\"", "' \"'\""]]),
        combined(&[
            &["rm ", "tee a", "cp @"],
            &["{"],
            &["a,b", "/etc,{}", "1..3", "$x,b", "a','b,c"],
            &["}", "}x", "}{}"],
        ]),
        combined(&[&["rsync -", "rsync -a", "rsync -avz"], &["e", "eb"], &[" x y", ""]]),
        combined(&[
            &[
                "GIT_",
                "LD_",
                "DYLD_",
                "BASH_",
                "PYTHON",
                "NODE_",
                "PERL",
                "RUBY",
                "RUSTC",
                "CARGO_",
                "npm_",
                "npm_config_",
            ],
            &["X", "x", "ENV"],
            &["=1 ls"],
        ]),
        combined(&[&["env ", "sudo "], &["GIT_X", "npm_x", "PATH", "NODE_OPTIONS"], &["=1 ls"]]),
        combined(&[&["x=", "dd of=", "tee a:", "tee a=b:"], &["~", "~/x", "~bob"], &["", " ls"]]),
    ];
    let lines: BTreeSet<String> = classes.concat().into_iter().collect();
    let is_missed = |line: &&String| read(line, "/work/app", Some("/home/anna")).doubts.is_empty();
    let missed: Vec<&String> = lines.iter().filter(is_missed).collect();
    println!("{} combinations", lines.len());
    assert!(missed.is_empty(), "{} of {}: {missed:#?}", missed.len(), lines.len());
}

#[test]
fn plain_forms_are_exact() {
    let cases = [
        ("git commit -m \"$(cat <<'EOF'\nFix it (#)\nEOF\n)\"", None),
        ("git commit -m \"$(cat <<'EOF'\nFix it\n\nCo-Authored-By: A <a@b.example>\nEOF\n)\"", Some("git")),
        ("cat > a.txt <<'EOF'\n$(git push) `x` \\\nEOF\ngit status", Some("git")),
        ("cat <<EOF | wc -l\n$x\nEOF\ngit status", Some("git")),
        ("cargo build \\\n  --release", Some("cargo")),
        ("( (git push) )", None),
        ("(git push)", Some("git")),
        ("echo $((1 + 2)); git push", Some("git")),
        ("[ $? -eq 0 ] && git push", Some("git")),
        ("[[ -n \"$x\" ]] && git push", Some("git")),
        ("ls # a 'comment\ngit push", Some("git")),
        ("echo a#b; git push", Some("git")),
        ("git show 'stash@{0}' HEAD@{1}", Some("git")),
        ("echo \"$(git push)\" 'it'\\''s'", Some("git")),
        ("find /etc/x -delete", Some("rm")),
        ("find a -exec rm + /etc/x \\;", Some("rm")),
    ];
    for (text, program) in cases {
        let line = read(text, "/work/app", Some("/home/anna"));
        assert_eq!(line.doubts.is_empty(), program.is_some(), "{text}: {line:?}");
        if let Some(program) = program {
            assert!(line.commands.iter().any(|one| one.program == program), "{text}: {line:?}");
        }
    }
    for text in ["find -L /etc/x -delete", "find -H -P /etc/x -name a -delete"] {
        let line = read(text, "/work/app", None);
        let removed = line.commands.iter().any(|one| one.program == "rm" && one.paths.contains("/etc/x"));
        assert!(removed, "{text}: {line:?}");
    }
    assert!(read("git add config x", "/work/app", None).doubts.is_empty());
    let line = read("find /etc/x ../y -name a -delete", "/work/app", None);
    let paths = &line.commands.iter().find(|one| one.program == "rm").expect("rm").paths;
    assert!(paths.contains("/etc/x") && paths.contains("/work/y"), "{paths:?}");
    for text in ["cp -vt/etc passwd", "cp -t/etc passwd", "cp --target-directory=/etc passwd"] {
        let line = read(text, "/work/app", None);
        assert!(!line.doubts.is_empty() || line.commands[0].paths.contains("/etc"), "{text}: {line:?}");
    }
}

#[test]
fn any_text_is_read_in_time() {
    let texts = [
        "(".repeat(24),
        "(".repeat(2000),
        "$(".repeat(24),
        "((".repeat(12) + "a" + &"))".repeat(12),
        "`".repeat(1001),
        "{ ".repeat(20),
        "if ".repeat(500),
        "'".repeat(999),
        "<<a ".repeat(100),
        "a|".repeat(3000),
        "\\".repeat(999),
        "[[ ".repeat(300),
        "x".repeat(100_000),
        "\0\u{202e}\u{feff}".to_owned(),
    ];
    for text in &texts {
        let begin = std::time::Instant::now();
        let _ = read(text, "/", None);
        assert!(begin.elapsed().as_secs() < 3, "{}", &text[..text.len().min(20)]);
    }
}
