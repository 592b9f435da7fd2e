//! `seamgate agent`: a whole run of an agent. The kernel decides, and this does what it says.

mod chat;
mod child;
mod drive;
mod event;
mod lock;
mod model;
mod person;
mod plan;
mod progress;
mod servers;
mod token;
mod tool;

use std::{
    collections::{BTreeMap, BTreeSet},
    ffi::OsString,
    io::{self, IsTerminal},
    path::{Path, PathBuf},
    thread,
};

use anyhow::{Context, Result, bail};
use seamgate::{Action, FileJournal, Journal, MAX_FILE, Run, StepError, read_named};
use seamgate_text::{escape_terminal, say};
use serde::Deserialize;
use serde_json::value::RawValue;

use self::{
    drive::{Drive, End, Finish, Uncertain, Waiting, What, World},
    event::Started,
    model::Model,
    person::{Person, show_question},
};
pub(crate) use self::{
    event::{Ends, Event, Started as StartedRun, now},
    lock::Lock,
    person::{Answer, Ask, show_ask},
    plan::{ModelPlan, Plan, Profiles},
    progress::ignored,
    servers::{Server, Servers},
    token::{Claims, MAX_TOKEN, verify},
};
use crate::{
    console::print,
    error::{FaultError, NoVerdict},
    input, lists,
    process::Signals,
    status::Status,
};

/// The longest line to show, in characters.
const MAX_LINE: usize = 200;

pub(crate) const HELP: &str = "\
The model is any program. It reads one line of JSON from standard input: the action 'ask_model', with the prompt and the tools
that it may call (schemas/action.schema.json). It writes one JSON document: 'text', 'calls', 'message', 'finish' and 'usage' of the
event 'model_output' (schemas/event.schema.json).

The servers file says how the tools are reached: a command for each tool, which reads its arguments from standard input and
writes its result to standard output, or a process that speaks MCP. They get PATH, HOME, the locale and the like of the environment,
and what 'environment' names there; the model gets all of it.

The run prints its final document if it has one, and nothing else. Its journal is the folder DIR.

Exit status: 0 final, 1 failed or cancelled, 2 usage or profile error, 3 partial: the run ended before its answer was final,
5 fault: the run can go on with --resume, 6 waits for a person";

#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// The profile of the agent. Name it again for each agent that it delegates to
    #[arg(short, long, value_name = "PROFILE", required_unless_present = "resume")]
    profile: Vec<PathBuf>,
    /// How the tools are reached: a servers file
    #[arg(long, value_name = "FILE")]
    servers: Option<PathBuf>,
    /// The task: JSON, or text where the profile says 'frame'
    #[arg(long, value_name = "TASK", conflicts_with = "resume")]
    task: Option<String>,
    /// The folder of this run, which must be new
    #[arg(long, value_name = "DIR", required_unless_present = "resume", conflicts_with = "resume")]
    journal: Option<PathBuf>,
    /// Go on with the run of this folder
    #[arg(long, value_name = "DIR")]
    resume: Option<PathBuf>,
    /// A list that the profile's 'scope' names: a file with one value a line
    #[arg(long, value_name = "NAME=FILE", value_parser = lists::parse, conflicts_with = "resume")]
    list: Vec<(String, PathBuf)>,
    /// A value that the profile's 'context' names: a JSON file
    #[arg(long, value_name = "NAME=FILE", value_parser = lists::parse, conflicts_with = "resume")]
    context: Vec<(String, PathBuf)>,
    /// The mode to begin with. Default: the profile's first
    #[arg(long, value_name = "NAME", conflicts_with = "resume")]
    mode: Option<String>,
    /// For whom the agent works, and who answers on the terminal. Default: the user who is logged in
    #[arg(long = "as", value_name = "PRINCIPAL")]
    principal: Option<String>,
    /// Answer the question that the run asks
    #[arg(long, value_name = "TEXT", requires = "resume")]
    answer: Option<String>,
    /// Say what became of an uncertain call
    #[arg(long, value_name = "CALL=done|not_done", value_parser = resolution, requires = "resume")]
    resolve: Vec<(String, String)>,
    /// A model server that speaks the chat-completions form, instead of MODEL_CMD: its address, as https://HOST/v1
    #[arg(long, value_name = "URL", requires = "name", conflicts_with_all = ["model", "resume"])]
    model_url: Option<String>,
    /// The name of the model there
    #[arg(long = "model", value_name = "NAME", id = "name", requires = "model_url")]
    name: Option<String>,
    /// The environment variable with the key of the model server. Tools do not get it
    #[arg(long, value_name = "NAME", default_value = "OPENAI_API_KEY", requires = "model_url")]
    key_env: String,
    /// The model and its arguments
    #[arg(last = true, value_name = "MODEL_CMD", required_unless_present_any = ["resume", "model_url"])]
    model: Vec<OsString>,
}

fn resolution(argument: &str) -> Result<(String, String), String> {
    match argument.split_once('=') {
        Some((call, outcome @ ("done" | "not_done"))) => Ok((call.to_owned(), outcome.to_owned())),
        _ => Err("must be CALL=done or CALL=not_done".to_owned()),
    }
}

pub(crate) fn run(arguments: &Arguments) -> Result<Status> {
    match (&arguments.resume, &arguments.journal) {
        (Some(folder), _) => resume(arguments, folder),
        (None, Some(folder)) => start(arguments, folder),
        (None, None) => bail!("name the folder of the run with --journal"),
    }
}

fn start(arguments: &Arguments, folder: &Path) -> Result<Status> {
    let profiles = arguments.profile.iter().map(|file| ("-p".to_owned(), file.as_path()));
    let servers = arguments.servers.as_deref().map(|file| ("--servers".to_owned(), file));
    let context = arguments.context.iter().map(|(name, file)| (format!("--context {name}"), file.as_path()));
    let named = profiles.chain(servers).chain(context).chain(input::of_lists(&arguments.list));
    // Without a terminal, nobody answers there.
    let answers = io::stdin().is_terminal().then(|| input::standard("the answers of a person"));
    input::read_once(answers.into_iter().chain(named))?;
    let principal = principal(arguments.principal.as_deref())?;
    let model = model_plan(arguments)?;
    let plan = Plan::new(arguments.profile.clone(), arguments.servers.clone(), model, principal.clone())?;
    let world = world(&plan, principal)?;
    let Some(profile) = world.profiles.all.first() else { bail!("name a profile with -p") };
    let context = arguments.context.iter().map(|(name, file)| Ok((name.clone(), value(file)?)));
    let context: BTreeMap<_, _> = context.collect::<Result<_>>()?;
    let lists = read_lists(&arguments.list, &profile.info.lists)?;
    let journal = FileJournal::create(folder)?;
    let _lock = Lock::take(folder)?;
    plan.write(folder)?;
    let task = arguments.task.as_deref().map(task).transpose()?;
    let started = Event::Started(Started {
        run: &format!("run-{}", random(8)?),
        principal: &plan.principal,
        nonce: &new_nonce()?,
        mode: arguments.mode.as_deref(),
        task: task.as_deref(),
        context: &context,
        lists: &lists,
        listed: &profile.listed(&world.servers)?,
        parent: None,
    });
    let started =
        Run::start(&world.profiles.gate, journal, &profile.info.agent, &started.now()?).map_err(step_error)?;
    go_on(&world, started, folder, |_| Ok(()))
}

fn resume(arguments: &Arguments, folder: &Path) -> Result<Status> {
    let mut plan = Plan::read(folder)?;
    if !arguments.profile.is_empty() || arguments.servers.is_some() || !arguments.model.is_empty() {
        bail!("--resume takes profiles, servers and model from {}", folder.join("agent.json").display());
    }
    if let Some(principal) = &arguments.principal {
        plan.principal.clone_from(principal);
    }
    let world = world(&plan, plan.principal.clone())?;
    let _lock = Lock::take(folder)?;
    let journal = FileJournal::open(folder)?;
    if let Some(finish) = finished(&journal)? {
        return ended(End::Finished(finish), folder);
    }
    let mut run = Run::open(&world.profiles.gate, journal).map_err(step_error)?;
    let Some(profile) = world.profiles.of(run.agent()) else { bail!("{}: name its profile with -p", run.agent()) };
    let listed = profile.listed(&world.servers)?;
    let actions = run.send(&Event::Resumed { listed: &listed }.now()?).map_err(step_error)?;
    go_on(&world, (run, actions), folder, |drive| {
        let questions = arguments.resolve.iter().map(|(call, outcome)| (Some(call), outcome));
        for (call, text) in questions.chain(arguments.answer.iter().map(|text| (None, text))) {
            match drive.take_question(|question| question.call.as_ref() == call) {
                Some(question) => drive.answer(&question, text, &plan.principal)?,
                None => match call {
                    Some(call) => bail!("--resolve {call}: nobody asks what became of this call"),
                    None => bail!("--answer: the run asks no question"),
                },
            }
        }
        Ok(())
    })
}

fn model_plan(arguments: &Arguments) -> Result<ModelPlan> {
    if let (Some(url), Some(name)) = (&arguments.model_url, &arguments.name) {
        let url = url.trim_end_matches('/');
        if !url.starts_with("http://") && !url.starts_with("https://") {
            bail!("--model-url {url}: must begin with https:// or http://");
        }
        let url = if url.ends_with("/chat/completions") { url.to_owned() } else { format!("{url}/chat/completions") };
        return Ok(ModelPlan::Url { url, name: name.clone(), key_env: arguments.key_env.clone() });
    }
    let words = arguments.model.iter().map(|word| word.clone().into_string());
    let words = words.collect::<Result<_, _>>().map_err(|word| anyhow::anyhow!("{word:?} must be UTF-8"))?;
    Ok(ModelPlan::Command(words))
}

fn world(plan: &Plan, principal: String) -> Result<World> {
    let mut servers = plan.servers.as_deref().map(Servers::read).transpose()?.unwrap_or_default();
    let signals = Signals::install()?;
    let (model, key) = match &plan.model {
        ModelPlan::Command(words) => {
            let command = words.iter().map(OsString::from).collect();
            (Model::Command { command, folder: plan.folder.clone() }, None)
        }
        ModelPlan::Url { url, name, key_env } => {
            let key = std::env::var(key_env).ok().filter(|key| !key.is_empty());
            (Model::Url { url: url.clone(), name: name.clone(), key }, Some(key_env.as_str()))
        }
        ModelPlan::Client => bail!("the run is of 'seamgate mcp', and ends with it: it cannot be resumed"),
    };
    let profiles = Profiles::read(&plan.profiles)?;
    servers.start(profiles.environment(), key)?;
    Ok(World { profiles, servers, model, signals, person: Person::new(principal) })
}

/// Do what a step asked for, until the run ends or waits.
fn go_on(
    world: &World,
    started: (Run<FileJournal>, Vec<Action>),
    folder: &Path,
    first: impl FnOnce(&mut Drive) -> Result<()>,
) -> Result<Status> {
    thread::scope(|scope| {
        let mut drive = Drive::new(world, started, folder);
        first(&mut drive)?;
        let end = drive.go_on(scope).map_err(|error| match error.downcast::<NoVerdict>() {
            Ok(NoVerdict(message)) => NoVerdict(resumable(&message, folder)).into(),
            Err(error) => error,
        })?;
        let is_left = world.model.is_slow_to_end();
        let status = ended(end, folder)?;
        // A request to a server cannot be ended. Nobody waits for its answer.
        match is_left {
            true => {
                world.servers.end();
                std::process::exit(i32::from(status.code()))
            }
            false => Ok(status),
        }
    })
}

/// Tell how a run ended.
fn ended(end: End, folder: &Path) -> Result<Status> {
    let name = shell(folder);
    match end {
        End::Finished(finish) => {
            for reason in &finish.reasons {
                say(&format!("seamgate: {}: {}", escape_terminal(&finish.status), escape_terminal(&reason.message)));
            }
            for Uncertain { tool, arguments } in &finish.uncertain {
                let (tool, arguments) = (escape_terminal(tool), escape_terminal(&cut(arguments, MAX_LINE)));
                say(&format!("seamgate: nobody knows whether this call had its effect: {tool} {arguments}"));
            }
            match (finish.status.as_str(), &finish.document) {
                ("final", Some(document)) => {
                    print(document.get())?;
                    Ok(Status::Accepted)
                }
                ("final_partial", _) => {
                    say(&format!("seamgate: what was found: seamgate trace {name}"));
                    Ok(Status::Partial)
                }
                _ => Ok(Status::Rejected),
            }
        }
        End::Waits(waiting) => {
            waiting.iter().for_each(tell_waiting);
            say(&format!("seamgate: then go on with: seamgate agent --resume {name}"));
            Ok(Status::Waits)
        }
        End::Unreachable(message) => Err(NoVerdict(resumable(&message, folder)).into()),
        End::Signal(signal) => {
            say(&format!("seamgate: interrupted; go on with: seamgate agent --resume {name}"));
            Ok(Status::Signal(u8::try_from(signal).unwrap_or(127)))
        }
    }
}

/// Why a run stopped, and how to go on with it.
fn resumable(message: &str, folder: &Path) -> String {
    format!("{message}\n  go on with: seamgate agent --resume {}", shell(folder))
}

/// Tell a person what a run waits for, and how to say it.
fn tell_waiting(waiting: &Waiting) {
    let folder = shell(&waiting.folder);
    match &waiting.what {
        What::Approval(ask) => {
            show_ask(ask, &waiting.folder);
            say(&format!("seamgate: decide with: seamgate approve {folder} {}", ask.key));
        }
        What::Input(question) => {
            show_question(question);
            match &question.call {
                Some(call) => {
                    say(&format!("seamgate: say it with: seamgate agent --resume {folder} --resolve {call}=done"))
                }
                None => say(&format!("seamgate: answer with: seamgate agent --resume {folder} --answer TEXT")),
            }
        }
    }
}

/// At most so many characters of a text, and that it was cut.
fn cut(text: &str, limit: usize) -> String {
    let cut: String = text.chars().take(limit).collect();
    if cut.len() < text.len() { format!("{cut}…") } else { cut }
}

/// A path as a word of a shell's command.
pub(crate) fn shell(path: &Path) -> String {
    let text = path.display().to_string();
    let is_plain = |character: char| character.is_ascii_alphanumeric() || "/._-+=:@%".contains(character);
    match !text.is_empty() && !text.starts_with('-') && text.chars().all(is_plain) {
        true => text,
        false => format!("'{}'", escape_terminal(&text).replace('\'', r"'\''")),
    }
}

/// The action that ended a run, if it has ended.
fn finished(journal: &FileJournal) -> Result<Option<Finish>> {
    #[derive(Deserialize)]
    struct Line<'l> {
        #[serde(borrow)]
        action: Option<&'l RawValue>,
    }
    let mut last = None;
    for line in journal.lines(0)? {
        let line = line?;
        if !line.contains(r#""type":"finish""#) {
            continue;
        }
        if let Ok(Line { action: Some(action) }) = serde_json::from_str(&line) {
            last = Some(Finish::read(action.get())?);
        }
    }
    Ok(last)
}

/// The user who is logged in, unless another name is given.
pub(crate) fn principal(given: Option<&str>) -> Result<String> {
    let user = || ["USER", "LOGNAME", "USERNAME"].into_iter().find_map(|name| std::env::var(name).ok());
    let name = given.map(str::to_owned).or_else(user).filter(|name| !name.is_empty());
    name.context("nobody is logged in (USER is not set): say who you are with --as")
}

/// A task as JSON: text that is none is a JSON string.
fn task(task: &str) -> Result<Box<RawValue>> {
    match serde_json::from_str(task) {
        Ok(value) => Ok(value),
        Err(_) => Ok(serde_json::value::to_raw_value(task)?),
    }
}

fn value(file: &Path) -> Result<Box<RawValue>> {
    let context = || format!("--context: cannot read {}", file.display());
    let bytes = read_named(file, MAX_FILE).with_context(context)?;
    serde_json::from_slice(input::without_mark(&bytes)).with_context(context)
}

/// The lists of a run, by name. A name that the profile lacks is a mistake: the list would check nothing.
pub(crate) fn read_lists(given: &[(String, PathBuf)], known: &[String]) -> Result<BTreeMap<String, Vec<String>>> {
    let mut seen = BTreeSet::new();
    let one = |(name, file): &(String, PathBuf)| {
        if !known.contains(name) {
            let known = if known.is_empty() { "none".to_owned() } else { known.join(", ") };
            bail!("--list {name}: no scope of the profile names this list; known lists: {known}");
        }
        if !seen.insert(name.clone()) {
            bail!("--list {name}: give each list once");
        }
        Ok((name.clone(), lists::read(name, file)?))
    };
    let lists: BTreeMap<_, _> = given.iter().map(one).collect::<Result<_>>()?;
    match known.iter().find(|name| !lists.contains_key(*name)) {
        Some(missing) => bail!("the profile names the list {missing}: give it with --list {missing}=FILE"),
        None => Ok(lists),
    }
}

pub(crate) fn new_nonce() -> Result<String> {
    random(16)
}

/// So many random bytes, as hexadecimal digits.
pub(crate) fn random(bytes: usize) -> Result<String> {
    let mut random = vec![0; bytes];
    getrandom::fill(&mut random).map_err(|error| NoVerdict(format!("the system gives no random bytes: {error}")))?;
    Ok(random.iter().map(|byte| format!("{byte:02x}")).collect())
}

/// An error of a step as one of this program.
pub(crate) fn step_error(error: StepError) -> anyhow::Error {
    match error {
        StepError::Fault(fault) => FaultError(fault).into(),
        StepError::Journal(error) => NoVerdict(error.to_string()).into(),
        error => error.into(),
    }
}
