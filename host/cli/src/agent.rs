//! `seamgate agent`: a whole run of an agent.

use std::{
    collections::{BTreeMap, BTreeSet},
    ffi::OsString,
    io::{self, IsTerminal},
    path::{Path, PathBuf},
};

use anyhow::{Context, Result, bail};
use seamgate::{Json, MAX_FILE, RunStatus, UncertainCall, read_named};
use seamgate_runner::{
    Error,
    agent::{self, Beginning, End, Opened, Prompt, Resumed, Waiting, ask_rows, question_rows},
    run_dir::{ModelPlan, ModelSettings, Plan},
};
use seamgate_text::{escape_terminal, say, shell_word, shorten};

use crate::{console::print_json, error::NoVerdict, input, lists, principal::principal, status::Status};

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
    /// A servers file, which says how the tools are reached
    #[arg(long, value_name = "FILE")]
    servers: Option<PathBuf>,
    /// The task: JSON, or text if the profile has 'frame'
    #[arg(long, value_name = "TASK", conflicts_with = "resume")]
    task: Option<String>,
    /// The folder of this run, which must be new
    #[arg(long, value_name = "DIR", required_unless_present = "resume", conflicts_with = "resume")]
    journal: Option<PathBuf>,
    /// Continue the run in this folder
    #[arg(long, value_name = "DIR")]
    resume: Option<PathBuf>,
    /// A list that the profile's 'scope' names: a file with one value per line
    #[arg(long, value_name = "NAME=FILE", value_parser = lists::parse, conflicts_with = "resume")]
    list: Vec<(String, PathBuf)>,
    /// A value that the profile's 'context' names: a JSON file
    #[arg(long, value_name = "NAME=FILE", value_parser = lists::parse, conflicts_with = "resume")]
    context: Vec<(String, PathBuf)>,
    /// The mode to begin with. Default: the first mode of the profile
    #[arg(long, value_name = "NAME", conflicts_with = "resume")]
    mode: Option<String>,
    /// The person that the agent works for, who also answers on the terminal. Default: the user who is logged in
    #[arg(long = "as", value_name = "PRINCIPAL")]
    principal: Option<String>,
    /// Answer the question that the run asks
    #[arg(long, value_name = "TEXT", requires = "resume")]
    answer: Option<String>,
    /// State the outcome of an uncertain call
    #[arg(long, value_name = "CALL=done|not_done", value_parser = resolution, requires = "resume")]
    resolve: Vec<(String, String)>,
    /// The address of a model server with the chat-completions API, in place of MODEL_CMD, such as https://HOST/v1
    #[arg(long, value_name = "URL", requires = "name", conflicts_with_all = ["model", "resume"])]
    model_url: Option<String>,
    /// The name of the model on that server
    #[arg(long = "model", value_name = "NAME", id = "name", requires = "model_url")]
    name: Option<String>,
    /// The environment variable with the key of the model server. Tools do not receive it
    #[arg(long, value_name = "NAME", default_value = "OPENAI_API_KEY", requires = "model_url")]
    key_env: String,
    /// A header of each request to the model server. ${VAR} in VALUE stands for an environment variable. Repeat the
    /// option for each header
    #[arg(long, value_name = "NAME: VALUE", value_parser = header, requires = "model_url")]
    model_header: Vec<(String, String)>,
    /// Members of each request to the model server: a JSON object, such as {"temperature":0,"max_tokens":1000}
    #[arg(long, value_name = "JSON", requires = "model_url")]
    model_body: Option<String>,
    /// The command of the model and its arguments
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
    // Without a terminal, nobody can answer questions.
    let answers = io::stdin().is_terminal().then(|| input::standard("the answers of a person"));
    input::read_once(answers.into_iter().chain(named))?;
    let principal = principal(arguments.principal.as_deref())?;
    let model = model_plan(arguments)?;
    let plan = Plan::new(arguments.profile.clone(), arguments.servers.clone(), model, principal.clone())?;
    let shared = agent::Context::new(&plan, principal)?;
    let Some(profile) = shared.profiles.all.first() else { bail!("name a profile with -p") };
    let context = arguments.context.iter().map(|(name, file)| Ok((name.clone(), value(file)?)));
    let context: BTreeMap<_, _> = context.collect::<Result<_>>()?;
    let lists = read_lists(&arguments.list, &profile.info.lists)?;
    let task = arguments.task.as_deref().map(task).transpose()?;
    let beginning =
        Beginning { task: task.as_ref(), mode: arguments.mode.as_deref(), context: &context, lists: &lists };
    let opened = agent::start(&shared, &plan, folder, &beginning)?;
    go_on(&shared, opened, folder, |_| Ok(()))
}

fn resume(arguments: &Arguments, folder: &Path) -> Result<Status> {
    let mut plan = Plan::read(folder)?;
    if !arguments.profile.is_empty() || arguments.servers.is_some() || !arguments.model.is_empty() {
        bail!("--resume takes profiles, servers and model from {}", folder.join("agent.json").display());
    }
    if let Some(principal) = &arguments.principal {
        plan.principal.clone_from(principal);
    }
    let shared = agent::Context::new(&plan, plan.principal.clone())?;
    let opened = match agent::resume(&shared, folder)? {
        Resumed::Ended(finish) => return ended(End::Finished(finish), folder),
        Resumed::Opened(opened) => *opened,
    };
    tell_changed(&plan, folder);
    if let Some(component) = opened.changed_from() {
        say(&format!(
            "seamgate: this version has another component than {}, and decides all of its steps alike; it goes on \
             (before: {component})",
            escape_terminal(&folder.display().to_string())
        ));
    }
    go_on(&shared, opened, folder, |runner| {
        let questions = arguments.resolve.iter().map(|(call, outcome)| (Some(call), outcome));
        for (call, text) in questions.chain(arguments.answer.iter().map(|text| (None, text))) {
            match runner.take_question(|question| question.call.as_ref() == call) {
                Some(question) => runner.answer(&question, text, &plan.principal)?,
                None => match call {
                    Some(call) => bail!("--resolve {call}: nobody asks what became of this call"),
                    None => bail!("--answer: the run asks no question"),
                },
            }
        }
        Ok(())
    })
}

/// Reports which profiles have changed since the run began, and how to use their current versions.
fn tell_changed(plan: &Plan, folder: &Path) {
    let changed: Vec<_> =
        plan.profiles.iter().filter_map(|copy| Some((copy.path.as_path(), copy.difference()?))).collect();
    for (path, how) in &changed {
        say(&format!("seamgate: {} {}", escape_terminal(&path.display().to_string()), escape_terminal(how)));
    }
    if !changed.is_empty() {
        let profiles: String = plan.profiles.iter().map(|copy| format!(" -p {}", shell_word(&copy.path))).collect();
        say(&format!(
            "seamgate: {} goes on with the profiles that it began with\n  hint: to use what the files say now, start a new run: seamgate \
             agent{profiles} --journal NEW_DIR",
            escape_terminal(&folder.display().to_string())
        ));
    }
}

fn header(argument: &str) -> Result<(String, String), String> {
    match argument.split_once(':') {
        Some((name, value)) if !name.trim().is_empty() => Ok((name.trim().to_owned(), value.trim().to_owned())),
        _ => Err("must be NAME: VALUE, as 'api-key: ${AZURE_KEY}'".to_owned()),
    }
}

/// Parses the members that the user adds to each request.
fn members(text: &str) -> Result<BTreeMap<String, Json>> {
    let members: BTreeMap<String, Json> =
        serde_json::from_str(text).context("--model-body: expected a JSON object, as {\"temperature\":0}")?;
    match agent::OWN_MEMBERS.into_iter().find(|name| members.contains_key(*name)) {
        Some(own) => bail!("--model-body: {own:?} belongs to the run: leave it out"),
        None => Ok(members),
    }
}

fn model_plan(arguments: &Arguments) -> Result<ModelPlan> {
    if let (Some(url), Some(name)) = (&arguments.model_url, &arguments.name) {
        let url = url.trim_end_matches('/');
        if !url.starts_with("http://") && !url.starts_with("https://") {
            bail!("--model-url {url}: must begin with https:// or http://");
        }
        let url = if url.ends_with("/chat/completions") { url.to_owned() } else { format!("{url}/chat/completions") };
        let settings = ModelSettings {
            headers: arguments.model_header.iter().cloned().collect(),
            body: arguments.model_body.as_deref().map(members).transpose()?.unwrap_or_default(),
        };
        return Ok(ModelPlan::Url { url, name: name.clone(), key_env: arguments.key_env.clone(), settings });
    }
    let words = arguments.model.iter().map(|word| word.clone().into_string());
    let words = words.collect::<Result<_, _>>().map_err(|word| anyhow::anyhow!("{word:?} must be UTF-8"))?;
    Ok(ModelPlan::Command(words))
}

/// Continues a run until it ends or waits.
fn go_on(
    shared: &agent::Context,
    opened: Opened,
    folder: &Path,
    first: impl FnOnce(&mut agent::Runner) -> Result<()>,
) -> Result<Status> {
    opened.go_on(first, |end| {
        let end = end.map_err(|error| match error {
            Error::NoVerdict(message) => Error::NoVerdict(resumable(&message, folder)),
            error => error,
        })?;
        let status = ended(end, folder)?;
        // A request to a server cannot be cancelled, and nobody waits for its answer.
        if shared.is_slow_to_end() {
            shared.servers.end();
            std::process::exit(i32::from(status.code()));
        }
        Ok(status)
    })
}

/// Reports how a run ended.
fn ended(end: End, folder: &Path) -> Result<Status> {
    let name = shell_word(folder);
    match end {
        End::Finished(finish) => {
            for reason in &finish.reasons {
                say(&format!("seamgate: {}: {}", finish.status, escape_terminal(&reason.message)));
            }
            for UncertainCall { tool, arguments, .. } in &finish.uncertain {
                let (tool, arguments) = (escape_terminal(tool), escape_terminal(&shorten(arguments, MAX_LINE)));
                say(&format!("seamgate: nobody knows whether this call had its effect: {tool} {arguments}"));
            }
            match (finish.status, &finish.document) {
                (RunStatus::Final, Some(document)) => {
                    print_json(document.as_str())?;
                    Ok(Status::Accepted)
                }
                (RunStatus::FinalPartial, _) => {
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
            Ok(Status::of_signal(signal))
        }
    }
}

/// Returns the reason for which a run stopped, and how to continue it.
fn resumable(message: &str, folder: &Path) -> String {
    format!("{message}\n  go on with: seamgate agent --resume {}", shell_word(folder))
}

/// Reports to a person what a run waits for, and how to answer.
fn tell_waiting(waiting: &Waiting) {
    let folder = shell_word(&waiting.folder);
    match &waiting.prompt {
        Prompt::Approval(ask) => {
            ask_rows(ask, &waiting.folder).iter().for_each(|row| say(row));
            say(&format!("seamgate: decide with: seamgate approve {folder} {}", ask.key));
        }
        Prompt::Input(question) => {
            question_rows(question).iter().for_each(|row| say(row));
            match &question.call {
                Some(call) => {
                    say(&format!("seamgate: say it with: seamgate agent --resume {folder} --resolve {call}=done"))
                }
                None => say(&format!("seamgate: answer with: seamgate agent --resume {folder} --answer TEXT")),
            }
        }
    }
}

/// Returns a task as JSON. Text that is not JSON becomes a JSON string.
fn task(task: &str) -> Result<Json> {
    match Json::parse(task) {
        Ok(value) => Ok(value),
        Err(_) => Ok(Json::of(task)?),
    }
}

fn value(file: &Path) -> Result<Json> {
    let context = || format!("--context: cannot read {}", file.display());
    let bytes = read_named(file, MAX_FILE).with_context(context)?;
    serde_json::from_slice(input::without_mark(&bytes)).with_context(context)
}

/// Returns the lists of a run, by name. A name that the profile lacks is rejected, because such a list would check
/// nothing.
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
