//! `seamgate demo`: shows what seamgate does, with commands that anybody can repeat.

use std::{
    env,
    ffi::OsString,
    fs,
    io::{self, Write},
    path::{self, Path, PathBuf},
    process::{Command, Stdio},
};

use anyhow::{Context, Result, bail};
use seamgate_text::{say, shell_word};
use serde_json::{Map, Value, json};

use crate::{console::print, status::Status};

use self::play::{Part, TOOLS};

mod play;

pub(crate) const HELP: &str = "\
Writes its files into a new folder for temporary files, and keeps them.

Exit status: 0 each command ended as it should, 5 one did not";

/// The name of this command.
const DEMO: &str = "demo";

/// The files that the commands read.
const FILES: [(&str, &str); 6] = [
    ("order.contract.json", include_str!("demo/order.contract.json")),
    ("order.txt", include_str!("demo/order.txt")),
    ("tickets.contract.json", include_str!("demo/tickets.contract.json")),
    ("tickets.txt", include_str!("demo/tickets.txt")),
    ("support.profile.json", include_str!("demo/support.profile.json")),
    ("support.lock.json", include_str!("demo/support.lock.json")),
];

const SERVERS: &str = "support.servers.json";
const HOSTILE: &str = "hostile.contract.json";

/// How often the references of the hostile contract double. The fuel of a verdict is used up long before that.
const DOUBLINGS: usize = 40;

/// A command, and what it demonstrates.
struct Scene {
    about: &'static str,
    arguments: &'static [&'static str],
    expected: Status,
}

const SCENES: [Scene; 7] = [
    Scene {
        about: "A model was asked for an order. Each fault is shown at its place in the output.\n\
                Feedback with the same facts goes back to the model.",
        arguments: &["check", "--picture", "-c", "order.contract.json", "order.txt"],
        expected: Status::Rejected,
    },
    Scene {
        about: "One ticket of three breaks the schema. The other two are kept, and the exit status\n\
                says that one is missing.",
        arguments: &["check", "--picture", "-c", "tickets.contract.json", "tickets.txt"],
        expected: Status::Partial,
    },
    Scene {
        about: "The references of a hostile contract double 40 times: 2^40 steps for a validator.\n\
                The sandbox stops after a fixed amount of work.",
        arguments: &["check", "-c", HOSTILE, "order.txt"],
        expected: Status::Fault,
    },
    Scene {
        about: "An agent reads a mail from a customer. One line tells it to send all customers to a\n\
                stranger, and the model obeys. That call is denied. The refund waits for a person.",
        arguments: &[
            "agent",
            "-p",
            "support.profile.json",
            "--servers",
            SERVERS,
            "--as",
            "joe",
            "--task",
            r#"{"mail":"m1"}"#,
            "--journal",
            "run",
            "--",
            "seamgate",
            DEMO,
            "--play",
            "model",
        ],
        expected: Status::Waits,
    },
    Scene {
        about: "Anna reads what would be sent, and approves these arguments.",
        arguments: &["approve", "run", "--as", "anna", "--yes"],
        expected: Status::Accepted,
    },
    Scene {
        about: "The refund is paid, once. Then the model asks for another one, of 4990. The approval\n\
                does not cover it: the run waits again.",
        arguments: &["agent", "--resume", "run"],
        expected: Status::Waits,
    },
    Scene {
        about: "The journal holds each prompt, call, decision and approval. This makes a page of it.",
        arguments: &["trace", "run", "--html", "trace.html"],
        expected: Status::Accepted,
    },
];

#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// Take the part of the model or of a tool in the demo's agent
    #[arg(long, value_name = "PART", hide = true)]
    play: Option<Part>,
}

pub(crate) fn run(arguments: &Arguments) -> Result<Status> {
    match arguments.play {
        Some(part) => play::play(part),
        None => all_scenes(),
    }
}

fn all_scenes() -> Result<Status> {
    let this = this_command(env::args_os().collect())?;
    let folder = tempfile::Builder::new().prefix("seamgate-demo-").tempdir();
    let at = || format!("cannot write the demo's files to {}", env::temp_dir().display());
    let folder = folder.with_context(at)?.keep();
    write_files(&folder, &this)?;
    let count = SCENES.len();
    for (number, scene) in (1..).zip(&SCENES) {
        print(&format!("\x1b[1m[{number}/{count}] {}\x1b[0m\n\n$ {}", scene.about, shown(scene.arguments)))?;
        let status = output_of(&this, &folder, scene.arguments)?;
        print(&format!("(exit status {status})"))?;
        print("")?;
        if status != i32::from(scene.expected.code()) {
            let expected = scene.expected.code();
            say(&format!("seamgate: the demo expected exit status {expected}; its files are in {}", folder.display()));
            return Ok(Status::Fault);
        }
    }
    let place = shell_word(&folder);
    print(&format!(
        "All files of the demo are in {place}. Open trace.html there in a browser.
Then go on with your own:

  seamgate init my-contracts    # a contract, its schema, and outputs with their verdicts
  seamgate hook install --help  # one policy for all tools of a coding harness
  seamgate mcp init --help      # a gate between an MCP client and its servers"
    ))?;
    Ok(Status::Accepted)
}

/// Returns the words with which this process was started, up to `demo`. In the packages for Python and Node, they begin
/// with the interpreter and a script.
fn this_command(words: Vec<OsString>) -> Result<Vec<OsString>> {
    let end = words.iter().rposition(|word| word == DEMO).context("cannot tell how seamgate was started")?;
    if end <= 1 {
        return Ok(vec![env::current_exe().context("cannot find this program")?.into()]);
    }
    // The scenes run in another folder, so relative paths would not work.
    let absolute = |word: &OsString| match Path::new(word).exists() {
        true => path::absolute(word).map_or_else(|_| word.clone(), PathBuf::into_os_string),
        false => word.clone(),
    };
    Ok(words.iter().take(end).map(absolute).collect())
}

fn write_files(folder: &Path, this: &[OsString]) -> Result<()> {
    let at = || format!("cannot write the demo's files to {}", folder.display());
    let generated = [(SERVERS, servers(this)?), (HOSTILE, hostile_contract())];
    let fixed = FILES.iter().map(|(name, text)| (*name, (*text).to_owned()));
    for (name, text) in fixed.chain(generated.map(|(name, value)| (name, format!("{value:#}\n")))) {
        fs::write(folder.join(name), text).with_context(at)?;
    }
    Ok(())
}

/// Returns a servers file in which this program serves as every tool.
fn servers(this: &[OsString]) -> Result<Value> {
    let words = this.iter().map(|word| word.to_str()).collect::<Option<Vec<_>>>();
    let Some(words) = words else { bail!("the path of this program is not Unicode") };
    let tool = |name: &str| {
        let command = [words.as_slice(), &[DEMO, "--play", name]].concat();
        (name.to_owned(), json!({ "command": command }))
    };
    let tools: Map<_, _> = TOOLS.map(tool).into_iter().collect();
    Ok(json!({ "servers": { "": { "tools": tools } } }))
}

fn hostile_contract() -> Value {
    let level = |number: usize| match number.checked_sub(1) {
        None => ("level0".to_owned(), json!({ "type": "object" })),
        Some(below) => {
            let below = json!({ "$ref": format!("#/$defs/level{below}") });
            (format!("level{number}"), json!({ "allOf": [below, below] }))
        }
    };
    let levels: Map<_, _> = (0..=DOUBLINGS).map(level).collect();
    json!({
        "agent": "hostile",
        "schema": { "$ref": format!("#/$defs/level{DOUBLINGS}"), "unevaluatedProperties": false, "$defs": levels },
    })
}

/// Returns a command as a user would type it.
fn shown(arguments: &[&str]) -> String {
    let word = |word: &&str| match word.starts_with('-') {
        true => (*word).to_owned(),
        false => shell_word(Path::new(word)),
    };
    let words = arguments.iter().map(word);
    [String::from("seamgate")].into_iter().chain(words).collect::<Vec<_>>().join(" ")
}

/// Runs a command in the folder. All its output, including messages, is written to standard output, so that the order
/// is the same in a pipe. Returns its exit status, or -1 if a signal ended it.
fn output_of(this: &[OsString], folder: &Path, arguments: &[&str]) -> Result<i32> {
    let Some((program, start)) = this.split_first() else { bail!("cannot tell how seamgate was started") };
    let mut command = Command::new(program);
    command.args(start);
    for word in arguments {
        match *word {
            "seamgate" => command.args(this),
            word => command.arg(word),
        };
    }
    io::stdout().flush()?;
    let messages = standard_output().context("standard output")?;
    let status = command.current_dir(folder).stdin(Stdio::null()).stderr(messages).status();
    Ok(status.with_context(|| format!("cannot run {}", program.display()))?.code().unwrap_or(-1))
}

#[cfg(unix)]
fn standard_output() -> io::Result<Stdio> {
    use std::os::fd::AsFd;

    Ok(io::stdout().as_fd().try_clone_to_owned()?.into())
}

#[cfg(windows)]
fn standard_output() -> io::Result<Stdio> {
    use std::os::windows::io::AsHandle;

    Ok(io::stdout().as_handle().try_clone_to_owned()?.into())
}

#[cfg(test)]
mod tests {
    use super::{DEMO, this_command};

    fn started_by(words: &[&str]) -> Vec<String> {
        let this = this_command(words.iter().map(Into::into).collect()).expect("a command");
        this.into_iter().map(|word| word.into_string().expect("Unicode")).collect()
    }

    #[test]
    fn an_interpreter_and_its_script_start_the_scenes_too() {
        assert_eq!(started_by(&["no-such-python", "-m", "seamgate", DEMO]), ["no-such-python", "-m", "seamgate"]);
        let script = std::env::current_exe().expect("this test").display().to_string();
        assert_eq!(started_by(&["node", &script, DEMO, "--play", "model"]), ["node", &script]);
    }

    #[test]
    fn a_program_of_its_own_starts_them_by_its_path() {
        let this = std::env::current_exe().expect("this test").display().to_string();
        assert_eq!(started_by(&["seamgate", DEMO]), [this]);
    }
}
