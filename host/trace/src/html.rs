//! Renders a run as one page for a browser. The page loads nothing and runs no scripts: all untrusted content is text.

use std::{
    collections::{HashMap, HashSet},
    fmt::Write,
    path::Path,
};

use data_encoding::{BASE64, HEXLOWER};
use seamgate::{Action, Instance, JournalLine, Json, LineKind, PromptMessage, RunStatus, VisibleTool, digest};
use seamgate_text::{escape_terminal, tool_name, with_sources};
use serde::Deserialize;

use crate::{
    child::{Child, MAX_DEPTH},
    claims::{Claim, Claims},
    error::TraceError,
    format::{cut, span, when},
    profile,
    rendering::Rendering,
    steps::{Step, Steps, child_folder},
    text::{Entry, Known, Started, Tone},
};

const STYLE: &str = include_str!("page.css");

/// The audiences of a run, which the page shows side by side.
const AUDIENCES: [&str; 4] = ["model", "ui", "user", "audit"];

/// The longest text and the longest title, in bytes. Longer ones are truncated.
const MAX_TEXT: usize = 8 * 1024;
const MAX_TITLE: usize = 400;

/// The length in bytes above which texts are folded.
const MAX_OPEN: usize = 240;

/// The size of a page, in bytes, above which steps show only their titles.
const MAX_PAGE: usize = 48 * 1024 * 1024;

/// Renders a run with its children as one HTML page. The page loads nothing and runs no scripts, and its
/// `Content-Security-Policy` forbids both.
///
/// `profile` is the profile that the run began with. If it is `None`, the plan in the folder ([`PLAN`](crate::PLAN))
/// names one. If no profile is found, the page says so, and omits the claims and what each audience sees.
///
/// # Errors
///
/// The folder holds no run that can be read, or `profile` is not the profile that the run began with.
pub fn html(folder: &Path, profile: Option<&Path>) -> Result<Rendering, TraceError> {
    let mut page = Page { body: String::new(), runs: 0, faults: Vec::new() };
    let run = page.run(folder, profile, None)?;
    let Page { body, faults, .. } = page;
    let title = text(&format!("{} of {}", run.name, run.agent), MAX_TITLE);
    let hash = HEXLOWER.decode(digest(STYLE.as_bytes()).trim_start_matches("sha256:").as_bytes()).unwrap_or_default();
    let hash = BASE64.encode(&hash);
    let text = format!(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'sha256-{hash}'; base-uri 'none'; form-action 'none'\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <meta name=\"referrer\" content=\"no-referrer\">\n\
         <title>{title}</title>\n<style>{STYLE}</style>\n</head>\n<body>\n<main>\n{}{body}</main>\n</body>\n</html>\n",
        run.head
    );
    Ok(Rendering { text, faults })
}

struct Page {
    body: String,
    /// The number of runs so far. It is part of the anchors of a run.
    runs: usize,
    faults: Vec<String>,
}

/// The part of a run's section that precedes its steps.
struct Header {
    name: String,
    agent: String,
    head: String,
}

/// The sandbox that computes what each audience sees. It has no instance if the profile is unknown.
struct Views<'p> {
    agent: String,
    instance: Option<Instance<'p>>,
}

/// The compiled prompt of an `ask_model`. Its messages are kept as JSON text, to identify those that the previous
/// prompt already had.
#[derive(Deserialize)]
struct Prompt {
    messages: Vec<Json>,
    tools: Vec<VisibleTool>,
}

impl Page {
    /// Writes the steps of a run. Returns the part that precedes them.
    fn run(&mut self, folder: &Path, named: Option<&Path>, child: Option<Child>) -> Result<Header, TraceError> {
        let number = self.runs;
        self.runs += 1;
        let mut steps = Steps::open(folder)?;
        let about = steps.about.clone();
        let (profile, why_not) = match profile::open(folder, named, &about) {
            Ok(profile) => (Some(profile), String::new()),
            // A profile that the user named must be the right one.
            Err(error) if named.is_some() => return Err(error),
            Err(error) => (None, with_sources(&error)),
        };
        let instance = profile.as_ref().map(|profile| profile.gate.instance());
        let mut views = Views { agent: about.agent.clone(), instance };
        let claims = profile.as_ref().and_then(|profile| Claims::of(&profile.json));
        let mut known = Known::default();
        let (mut count, mut last, mut began) = (0, 0, 0);
        let mut evidence = HashMap::new();
        let mut document = None;
        let mut prompt_before = HashSet::new();
        self.body.push_str("<ol class=\"steps\">\n");
        while let Some(step) = steps.next() {
            if count == 0 {
                began = step.at;
                known = Known::new(child.map_or(step.at, |child| child.start));
            }
            (count, last) = (step.number, step.at);
            let anchor = format!("r{number}s{}", step.number);
            let entries = known.entries(&steps, &step);
            _ = write!(
                self.body,
                "<li class=\"step\" id=\"{anchor}\"><div class=\"when\"><time>{}</time><a href=\"#{anchor}\">step {}</a></div><div class=\"what\">",
                known.time(step.at),
                step.number
            );
            let is_short = self.body.len() > MAX_PAGE;
            for (n, entry) in entries.iter().enumerate() {
                let id = format!("{anchor}e{n}");
                if let Some(observation) = &entry.observation {
                    evidence.insert(observation.clone(), (id.clone(), step.number));
                }
                self.entry(&id, entry, is_short);
                if let Some(digest) = entry.prompt.as_ref().filter(|_| !is_short) {
                    self.prompt(&steps, digest, &mut prompt_before);
                }
                if let Some(started) = &entry.child {
                    self.child(folder, started, &known, child.map_or(0, |child| child.depth));
                }
            }
            if is_short {
                self.body.push_str("<p class=\"soft\">Details are left out: the page is too long.</p>");
            } else {
                self.views(&steps, &step, &mut views);
            }
            self.body.push_str("</div></li>\n");
            let finish = step.actions.into_iter().flatten().find_map(|action| match action {
                Action::Finish(finish) => Some(finish),
                _ => None,
            });
            document = finish.and_then(|finish| finish.document).or(document);
        }
        self.body.push_str("</ol>\n");
        let mut head = String::new();
        let status = known.status.map_or("not ended", RunStatus::as_str);
        let tone = match known.status {
            Some(RunStatus::Final) => "good",
            Some(_) => "bad",
            None => "wait",
        };
        _ = write!(
            head,
            "<header class=\"top\"><h1>{}</h1><span class=\"chip {tone}\">{}</span></header>\n<p class=\"soft\">run {}, began {}</p>\n",
            text(&about.agent, MAX_TITLE),
            text(status, MAX_TITLE),
            text(&about.run, MAX_TITLE),
            when(began),
        );
        let fact = |head: &mut String, number: String, what: &str| {
            _ = write!(head, "<li><b>{}</b>{what}</li>", text(&number, MAX_TITLE));
        };
        head.push_str("<ul class=\"facts\">");
        fact(&mut head, span(last.saturating_sub(began)), "from first to last");
        fact(&mut head, count.to_string(), "steps");
        fact(&mut head, known.turns.to_string(), "turns of the model");
        fact(&mut head, known.tool_calls.to_string(), "calls allowed");
        if known.tokens > 0 {
            fact(&mut head, known.tokens.to_string(), "tokens, as the model says");
        }
        head.push_str("</ul>\n");
        if let Some(fault) = steps.fault() {
            let fault = format!("{}: {fault}", folder.display());
            _ = writeln!(head, "<p class=\"note fault\">Here the journal ends: {}</p>", text(&fault, MAX_TEXT));
            self.faults.push(fault);
        }
        if let Some(fault) = child.and_then(|child| child.other(folder, &about)) {
            _ = writeln!(head, "<p class=\"note fault\">{}</p>", text(&fault, MAX_TEXT));
            self.faults.push(fault);
        }
        if known.status.is_none() {
            _ = writeln!(head, "<p class=\"note\">{}</p>", text(&known.ending(count, last), MAX_TEXT));
        }
        if profile.is_none() {
            _ = writeln!(
                head,
                "<p class=\"note\">What each audience sees, and what claims cite, is left out, as that needs the profile: {}</p>",
                text(&why_not, MAX_TEXT)
            );
        }
        if let Some(document) = &document {
            let claims = claims.map(|claims| claims.read(document.as_str())).unwrap_or_default();
            final_document(&mut head, document, &claims, &evidence);
        }
        _ = writeln!(
            head,
            "<details><summary>profile and component</summary><dl><dt>profile</dt><dd>{}</dd><dt>component</dt><dd>{}</dd></dl></details>\n<h2>Timeline</h2>",
            text(&about.profile, MAX_TITLE),
            text(&about.component, MAX_TITLE)
        );
        Ok(Header { name: about.run, agent: about.agent, head })
    }

    fn child(&mut self, folder: &Path, started: &Started, known: &Known, depth: usize) {
        let Some(child) = child_folder(folder, &started.call).filter(|child| child.is_dir()) else {
            self.body.push_str("<p class=\"note\">The child's folder is not there.</p>");
            return;
        };
        if depth >= MAX_DEPTH {
            self.body.push_str("<p class=\"note\">Deeper children are left out.</p>");
            return;
        }
        // The part before the steps is known only after them.
        let before = std::mem::take(&mut self.body);
        let place = Child { start: known.start, depth: depth + 1, started };
        let written = self.run(&child, None, Some(place));
        let inside = std::mem::replace(&mut self.body, before);
        match written {
            Ok(header) => {
                let name = text(&format!("the run of {}", header.agent), MAX_TITLE);
                _ = write!(
                    self.body,
                    "<details class=\"child\" open><summary>{name}</summary>{}{inside}</details>",
                    header.head.replace("<h1>", "<h2>").replace("</h1>", "</h2>")
                );
            }
            Err(error) => {
                let error = with_sources(&error);
                _ = write!(self.body, "<p class=\"note fault\">{}</p>", text(&error, MAX_TEXT));
                self.faults.push(error);
            }
        }
    }

    fn entry(&mut self, id: &str, entry: &Entry, is_short: bool) {
        let tone = match entry.tone {
            Tone::Plain => "",
            Tone::Good => " good",
            Tone::Bad => " bad",
            Tone::Wait => " wait",
        };
        let title = text(&entry.title, MAX_TITLE);
        _ = write!(self.body, "<div class=\"entry{tone}\" id=\"{id}\"><div class=\"title\">{title}</div>");
        if !is_short {
            let (long, short): (Vec<_>, Vec<_>) =
                entry.parts.iter().partition(|(_, text)| text.len() > MAX_OPEN || text.contains('\n'));
            if !short.is_empty() {
                self.body.push_str("<dl>");
                for (name, what) in short {
                    _ = write!(self.body, "<dt>{name}</dt><dd>{}</dd>", text(what, MAX_TEXT));
                }
                self.body.push_str("</dl>");
            }
            for (name, what) in long {
                fold(&mut self.body, name, what);
            }
        }
        self.body.push_str("</div>");
    }

    /// Adds the messages of a prompt that the previous prompt did not have.
    fn prompt(&mut self, steps: &Steps, digest: &str, before: &mut HashSet<String>) {
        let prompt = match steps.artifact(digest) {
            Ok(Some(prompt)) => prompt,
            missing => {
                let why = missing.err().map_or_else(|| "it is missing".to_owned(), |error| error.to_string());
                _ = write!(self.body, "<p class=\"note fault\">The prompt: {}</p>", text(&why, MAX_TEXT));
                return;
            }
        };
        let Ok(Prompt { messages, tools }) = serde_json::from_str(&prompt) else {
            return fold(&mut self.body, "prompt", &prompt);
        };
        let (old, new): (Vec<_>, Vec<_>) = messages.iter().partition(|message| before.contains(message.as_str()));
        _ = write!(
            self.body,
            "<details><summary>prompt, {} bytes: {} messages, {} tools</summary>",
            prompt.len(),
            messages.len(),
            tools.len()
        );
        if !old.is_empty() {
            _ = write!(self.body, "<p class=\"soft\">{} messages are those of the prompt before.</p>", old.len());
        }
        for message in &new {
            match message.read::<PromptMessage>() {
                Ok(PromptMessage { role, text: says, .. }) => {
                    _ = write!(
                        self.body,
                        "<p class=\"soft\">{}</p><pre>{}</pre>",
                        role.as_str(),
                        text(&says, MAX_TEXT)
                    );
                }
                Err(_) => _ = write!(self.body, "<pre>{}</pre>", text(message.as_str(), MAX_TEXT)),
            }
        }
        let names: Vec<_> =
            tools.iter().map(|tool| tool_name(tool.server.as_deref().unwrap_or_default(), &tool.tool)).collect();
        _ = write!(self.body, "<p class=\"soft\">tools: {}</p></details>", text(&names.join(", "), MAX_TEXT));
        *before = messages.iter().map(Json::to_string).collect();
    }

    /// Adds what each audience sees of a step, side by side.
    fn views(&mut self, steps: &Steps, step: &Step, views: &mut Views) {
        let Some(instance) = &mut views.instance else {
            return;
        };
        let mut columns = AUDIENCES.map(|_| String::new());
        let is_shown =
            |line: &&JournalLine| !matches!(line.kind, LineKind::Run | LineKind::State | LineKind::Component);
        for line in step.lines.iter().filter(is_shown) {
            let whole = steps.whole(line).map_err(|error| error.to_string());
            for (audience, column) in AUDIENCES.iter().zip(&mut columns) {
                let shown = whole.as_ref().map_err(Clone::clone).and_then(|whole| {
                    instance.project(&views.agent, whole, audience).map_err(|fault| fault.to_string())
                });
                match shown {
                    Ok(answer) => view(column, &answer.json),
                    Err(error) => _ = write!(column, "<p class=\"bad\">{}</p>", text(&error, MAX_TEXT)),
                }
            }
        }
        if columns.iter().all(String::is_empty) {
            return;
        }
        self.body.push_str("<details><summary>what each audience sees</summary><div class=\"views\">");
        for (audience, column) in AUDIENCES.iter().zip(columns) {
            let column = if column.is_empty() { "<p class=\"soft\">nothing</p>".to_owned() } else { column };
            _ = write!(self.body, "<div class=\"view\"><h3>{audience}</h3>{column}</div>");
        }
        self.body.push_str("</div></details>");
    }
}

/// Adds one view, as names and values.
fn view(out: &mut String, json: &str) {
    #[derive(Deserialize)]
    struct Shown {
        view: Option<serde_json::Map<String, serde_json::Value>>,
    }
    let Ok(Shown { view: Some(view) }) = serde_json::from_str(json) else {
        return;
    };
    let kind = view.get("type").and_then(serde_json::Value::as_str).unwrap_or_default();
    _ = write!(out, "<h4>{}</h4><dl>", text(kind, MAX_TITLE));
    for (name, value) in view.iter().filter(|(name, _)| *name != "type") {
        let value = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        if !value.is_empty() {
            _ = write!(out, "<dt>{}</dt><dd>{}</dd>", text(name, MAX_TITLE), text(&value, MAX_TEXT));
        }
    }
    out.push_str("</dl>");
}

/// Adds the final document, and its claims with links to what they cite.
fn final_document(head: &mut String, document: &Json, claims: &[Claim], evidence: &HashMap<String, (String, u64)>) {
    head.push_str("<h2>Final document</h2>\n");
    for claim in claims {
        let is_cited = !claim.cites.is_empty() && claim.cites.iter().all(|cite| evidence.contains_key(&cite.id));
        let confidence = match claim.confidence.as_str() {
            "" => String::new(),
            confidence => format!(" <span class=\"soft\">{} confidence</span>", text(confidence, MAX_TITLE)),
        };
        _ = write!(
            head,
            "<div class=\"claim{}\"><div>{}{confidence}</div><ul>",
            if is_cited { "" } else { " open" },
            text(&claim.text, MAX_TEXT)
        );
        if claim.cites.is_empty() {
            head.push_str("<li class=\"bad\">cites nothing</li>");
        }
        for cite in &claim.cites {
            let id = text(&cite.id, MAX_TITLE);
            match evidence.get(&cite.id) {
                Some((anchor, step)) => _ = write!(head, "<li><a href=\"#{anchor}\">{id}</a>, step {step}"),
                None => _ = write!(head, "<li><span class=\"bad\">{id}: no such observation in this run</span>"),
            }
            if let Some(quote) = &cite.quote {
                _ = write!(head, ": <q>{}</q>", text(quote, MAX_TEXT));
            }
            if let Some(pointer) = &cite.pointer {
                let value = cite.value.as_deref().unwrap_or_default();
                _ = write!(head, ": <code>{} = {}</code>", text(pointer, MAX_TITLE), text(value, MAX_TEXT));
            }
            head.push_str("</li>");
        }
        head.push_str("</ul></div>\n");
    }
    let pretty: Result<serde_json::Value, _> = document.read();
    let pretty = pretty.and_then(|value| serde_json::to_string_pretty(&value));
    fold(head, "the whole document", pretty.as_deref().unwrap_or(document.as_str()));
}

/// Adds a long text, folded.
fn fold(out: &mut String, name: &str, what: &str) {
    _ = write!(out, "<details><summary>{name}</summary><pre>{}</pre></details>", text(what, MAX_TEXT));
}

/// Returns an untrusted text, truncated, with invisible characters and markup escaped.
fn text(text: &str, limit: usize) -> String {
    let safe = escape_terminal(&cut(text, limit));
    let mut out = String::with_capacity(safe.len());
    for character in safe.chars() {
        match character {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            character => out.push(character),
        }
    }
    out
}
