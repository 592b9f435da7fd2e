//! Warns about likely mistakes in a profile.

use std::collections::BTreeSet;

use seamgate_core::{
    Level, Warning,
    kernel_api::{CONTRACT_CAPS, Document, Json, Kind, Location, NodeId, Path, Selector, Step, quote},
};

use super::{Profile, Then, pinned_in, tools_of};
use crate::{
    definition::ARGUMENTS,
    document::text_in,
    fitting::words,
    pattern::{is_pattern, matches},
    tool::{COMPUTED_LABELS, Effect, Tool},
};

/// The tool of `seamgate mcp` with which a client reads whole results. It has no definition from a server and no
/// schema.
const READ_ARTIFACT: &str = "read_artifact";

/// Words in the names of arguments that contain a command as free text.
const FREE_TEXT: &str =
    " bash cmd code command exec expression powershell program query script sh shell sql statement ";

/// Verbs in the names of tools that change something.
const CHANGES: &str = " add append apply approve archive assign book buy cancel close commit copy create delete deploy disable drop \
    edit enable exec execute grant insert install invite kill merge move order patch pay post publish purge push put remove rename \
    replace reset restart restore revoke rollback save send set share stop submit transfer truncate uninstall update upload upsert \
    write ";

/// Verbs that no read uses. They are recognized anywhere in a name, and at the beginning of a description.
const ACTS: &str = " click delete drop erase pay post publish purchase remove send submit upload ";

/// Verbs that begin the names of reads. The words after them name the object that is read.
const READS: &str = " check count describe fetch find get has is list lookup query read search show view ";

/// Words in the names of arguments that select the person or thing that a tool acts on.
const TARGETS: &str = " account address addresses amount assignee bcc branch cc channel contact customer destination email emails file \
    filename folder group host iban id ids invitee key member members order owner participant participants path paths phone price \
    recipient recipients repo repository room target to uri url user username users ";

/// The maximum number of targets that a hint names.
const MAX_TARGETS: usize = 4;

pub(super) fn lint(profile: &Profile, text: &str) -> Vec<Warning> {
    let mut warnings = Vec::new();
    if let Some(document) = profile.document() {
        for (tool, at) in tools_of(profile, &document) {
            let mut found = Vec::new();
            of_tool(profile, tool, (&document, at), &mut found);
            // Tools of one pattern share the warnings about their entry.
            found
                .retain(|one| !warnings.iter().any(|known: &Warning| known.path == one.path && known.code == one.code));
            warnings.extend(found);
        }
        patterns(profile, &document, &mut warnings);
        self_approval(profile, &document, &mut warnings);
        open_origins(profile, &document, &mut warnings);
        questions(profile, &document, &mut warnings);
    }
    let budget = &profile.budget;
    // A gate between a client and its servers runs as long as the client, which may repeat calls.
    let is_gate = !profile.servers.is_empty();
    let limits = [
        ("tool_calls", budget.tool_calls.is_some()),
        ("same_call", budget.same_call.is_some() || is_gate),
        ("ms", budget.ms.is_some() || is_gate),
    ];
    for (limit, _) in limits.into_iter().filter(|(_, is_set)| !is_set) {
        let message = format!("say how much the agent may use: 'budget' has no '{limit}'");
        warnings.push(Warning::new(&Location::root().name("budget").name(limit), "no_budget", &message));
    }
    flows(profile, &mut warnings);
    // The text was already parsed.
    if let Ok(document) = Json::read(text, &CONTRACT_CAPS) {
        warnings.iter_mut().for_each(|warning| warning.locate(&document));
    }
    warnings
}

fn of_tool(profile: &Profile, tool: &Tool, (document, at): (&Document, NodeId), warnings: &mut Vec<Warning>) {
    // This tool belongs to the gate itself.
    if tool.name == READ_ARTIFACT && tool.server.is_empty() {
        return;
    }
    let place = &document.location(at);
    let mut say = |place: &Location, code: &str, message: &str| warnings.push(Warning::new(place, code, message));
    if tool.definition.is_none() {
        say(place, "no_definition", "pin the tool's definition in the lock file: a server may change it unseen");
    }
    if let Some(why) = tool.disabled() {
        say(
            &place.clone().name("definition"),
            "invalid_definition",
            &format!("correct the server, and pin its definition again: the tool is disabled, because {why}"),
        );
    }
    if tool.effect == Effect::Effectful && tool.permit.allows_the_rest() {
        say(
            &place.clone().name("permit"),
            "no_approval",
            "let a person approve: an effectful tool runs without approval",
        );
    }
    if tool.result.contract.is_none() {
        say(&place.clone().name("result"), "no_result_schema", "say what a result must be: no schema is checked");
    }
    if tool.effect == Effect::Read && !tool.permit.is_never() && changes_something(tool, document, at) {
        let message = "check the effect: the tool's name or its annotations say that it changes something";
        say(&place.clone().name("effect"), "effect_read", message);
    }
    let mut open = Vec::new();
    if let Some(schema) = document.member(at, "arguments") {
        open_patterns(document, schema, false, &mut open);
    }
    for (condition, permit) in conditions(document, at) {
        open_patterns(document, condition, permit == "deny", &mut open);
    }
    for pattern in open {
        let message = "begin the pattern with '^' and end it with '$': it allows any text around what it matches";
        say(&document.location(pattern), "open_pattern", message);
    }
    let is_guarded = profile.deny.iter().any(|rule| tool.is_named(&rule.tool));
    let takes_text = !tool.permit.is_never() && tool.effect != Effect::Read && tool.scope.is_empty();
    if is_guarded && takes_text && takes_a_command(document, at, tool) {
        let message =
            "take the command as a list of words, or hold it to values: a deny rule on free text can be spelled around";
        say(&place.clone().name("arguments"), "free_text_command", message);
    }
}

/// Reports the tools that each pattern stands for.
fn patterns(profile: &Profile, document: &Document, warnings: &mut Vec<Warning>) {
    let entries = document.member(Document::ROOT, "tools").into_iter().flat_map(|at| document.items(at));
    for (number, at) in entries.enumerate() {
        let Some(pattern) = text_in(document, at, "name").filter(|name| is_pattern(name)) else { continue };
        let tools = profile.tools.iter().filter(|tool| tool.entry == Some(number));
        let names: Vec<String> = tools.map(|tool| quote(&tool.name, 128)).collect();
        let overruled = overruled(profile, document, (number, at), pattern);
        let (place, pattern) = (document.location(at).name("name"), quote(pattern, 128));
        for (tool, owner) in &overruled.stricter {
            let message = format!(
                "give {0} an entry of its own: {pattern} matches it and is stricter, but {1} decides about it",
                quote(tool, 128),
                quote(owner, 128)
            );
            warnings.push(Warning::new(&place, "overruled", &message));
        }
        if names.is_empty() && !overruled.all.is_empty() {
            let message =
                format!("{pattern} decides about no tool: other entries decide about {}", overruled.all.join(", "));
            warnings.push(Warning { level: Level::Hint, ..Warning::new(&place, "pattern", &message) });
        } else if names.is_empty() {
            let message = format!("pin definitions in the lock file: {pattern} stands for no tool of it");
            warnings.push(Warning::new(&place, "no_definition", &message));
        } else {
            let message = format!("{pattern} stands for {} of the lock file: {}", count(names.len()), names.join(", "));
            warnings.push(Warning { level: Level::Hint, ..Warning::new(&place, "pattern", &message) });
        }
    }
}

/// Tools that a pattern matches but that belong to another entry.
#[derive(Default)]
struct Overruled {
    /// The names of the tools, quoted.
    all: Vec<String>,
    /// The tools that the pattern would judge more strictly, each with the name of its entry.
    stricter: Vec<(String, String)>,
}

/// Finds the tools that a pattern matches but that belong to another entry. If the pattern also matches the entry's
/// name, the entry is an intended exception.
fn overruled(profile: &Profile, document: &Document, (number, at): (usize, NodeId), pattern: &str) -> Overruled {
    let entries: Vec<NodeId> =
        document.member(Document::ROOT, "tools").into_iter().flat_map(|at| document.items(at)).collect();
    let server = text_in(document, at, "server").unwrap_or_default();
    let mut overruled = Overruled::default();
    for tool in profile.tools.iter().filter(|tool| tool.server == server && matches(pattern, &tool.name)) {
        let Some(entry) = tool.entry.filter(|entry| *entry != number).and_then(|entry| entries.get(entry)) else {
            continue;
        };
        overruled.all.push(quote(&tool.name, 128));
        let owner = text_in(document, *entry, "name").unwrap_or_default();
        if !matches(pattern, owner) && strictness(document, at).1 > strictness(document, *entry).0 {
            overruled.stricter.push((tool.name.clone(), owner.to_owned()));
        }
    }
    overruled
}

/// Returns the minimum and the maximum strictness of an entry: 0 allows, 1 asks, 2 denies.
fn strictness(document: &Document, entry: NodeId) -> (u8, u8) {
    let one = |at: Option<NodeId>| match at {
        Some(at) if document.kind(at) == Kind::Object => 1,
        Some(at) if document.kind(at) == Kind::String && document.string(at) == "allow" => 0,
        _ => 2,
    };
    match document.member(entry, "permit") {
        Some(cases) if document.kind(cases) == Kind::Array => {
            let each = || document.items(cases).map(|case| one(document.member(case, "permit")));
            (each().min().unwrap_or(2), each().max().unwrap_or(2))
        }
        permit => (one(permit), one(permit)),
    }
}

fn count(tools: usize) -> String {
    if tools == 1 { "one tool".to_owned() } else { format!("{tools} tools") }
}

/// Returns the conditions `when` of a tool's cases, each with the decision of its case. The decision is empty for an
/// approval.
fn conditions<'d>(document: &'d Document, tool: NodeId) -> impl Iterator<Item = (NodeId, &'d str)> {
    let cases = document.member(tool, "permit").filter(|&at| document.kind(at) == Kind::Array);
    let cases = cases.into_iter().flat_map(|at| document.items(at));
    cases.filter_map(|case| {
        Some((document.member(case, "when")?, text_in(document, case, "permit").unwrap_or_default()))
    })
}

/// Finds approvers without a key whose names the agent could use, because it runs commands without approval.
fn self_approval(profile: &Profile, document: &Document, warnings: &mut Vec<Warning>) {
    let mut tools = tools_of(profile, document);
    let shell = tools.find(|(tool, at)| tool.permit.may_allow() && takes_a_command(document, *at, tool));
    let mut approvers = profile.approvers.iter().flat_map(|group| &group.approvers);
    if let Some((tool, _)) = shell
        && let Some(approver) = approvers.find(|approver| approver.key.is_none())
    {
        let message = format!(
            "give {0} a key: {1} runs commands without approval, and 'seamgate approve --as' believes whoever says to be {0}",
            quote(&approver.principal, 64),
            quote(&tool.full_name(), 128)
        );
        warnings.push(Warning::new(&Location::root().name("approvers"), "self_approval", &message));
    }
}

/// Finds origins that trust every value of a result or of a context that others can write.
fn open_origins(profile: &Profile, document: &Document, warnings: &mut Vec<Warning>) {
    let items = |at: NodeId, name: &str| document.member(at, name).into_iter().flat_map(|at| document.items(at));
    // An entry can stand for several tools.
    let entries: BTreeSet<NodeId> = tools_of(profile, document).map(|(_, entry)| entry).collect();
    let from = entries.into_iter().flat_map(|tool| items(tool, "origins")).flat_map(|rule| items(rule, "from"));
    let from: Vec<NodeId> = from.collect();
    let written = |name: &str| {
        profile
            .context
            .iter()
            .any(|source| source.name == name && source.labels.iter().any(|label| label == "untrusted"))
    };
    for &origin in from.iter().filter(|&&at| document.kind(at) == Kind::String) {
        if let Some(name) = document.string(origin).strip_prefix("context.").filter(|name| written(name)) {
            let message = format!(
                "name another origin, or correct the labels of the context {}: whoever can write it chooses the value",
                quote(name, 64)
            );
            warnings.push(Warning::new(&document.location(origin), "open_origin", &message));
        }
    }
    // A value that is passed becomes part of the child's task, which is an origin there.
    for delegate in items(Document::ROOT, "delegate") {
        for path in items(delegate, "pass") {
            let Some(path_read) = Path::read(document.string(path)) else { continue };
            let is_untrusted = match &path_read.selectors[..] {
                [Selector::Name(context), Selector::Name(name), ..] => context == "context" && written(name),
                [Selector::Name(context)] => {
                    context == "context" && profile.context.iter().any(|one| written(&one.name))
                }
                _ => false,
            };
            if is_untrusted {
                let message = "pass it otherwise, or let the child's origins not name the task: whoever can write this \
                               context chooses values of the task";
                warnings.push(Warning::new(&document.location(path), "open_origin", message));
            }
        }
    }
    let from = from.into_iter();
    for origin in from.filter(|&at| document.kind(at) == Kind::Object && document.member(at, "named").is_none()) {
        let Some(word) = document.member(origin, "tool").map(|at| document.string(at)) else { continue };
        let is_untrusted = |tool: &Tool| tool.result.labels.iter().any(|label| label == "untrusted");
        if profile.tools.iter().any(|tool| tool.is_named(word) && is_untrusted(tool)) {
            let message = format!(
                "add 'named', or the labels that results of {} have: whoever can write one chooses the value",
                quote(word, 128)
            );
            warnings.push(Warning::new(&document.location(origin), "open_origin", &message));
        }
    }
}

/// Finds the calls that a flow asks a person about and that origin rules could exempt.
fn questions(profile: &Profile, document: &Document, warnings: &mut Vec<Warning>) {
    for (tool, at) in tools_of(profile, document) {
        let asks = profile.flows.iter().position(|flow| flow.may_ask(tool));
        let Some(index) = asks.filter(|_| tool.permit.may_allow() && tool.origins.is_empty()) else { continue };
        let targets = targets(document, at, tool);
        let Some(first) = targets.first() else { continue };
        let flow = &profile.flows[index];
        let message = format!(
            "name where {} may come from, in 'origins', and write \"unless\":\"origins\" in flows[{index}]: once data labelled {} was read, \
             each call asks, such as {}({{{}:…}}), also with what the user named",
            targets.join(", "),
            quote(&flow.after, 64),
            tool.full_name(),
            quote(first.trim_start_matches("$.").trim_end_matches("[*]"), 64)
        );
        let place = document.location(at).name("origins");
        // Tools of one pattern share their entry.
        if !warnings.iter().any(|known| known.code == "question" && known.path == place.path()) {
            warnings.push(Warning { level: Level::Hint, ..Warning::new(&place, "question", &message) });
        }
    }
}

/// Returns the paths of arguments that select the person or thing that a tool acts on, at most [`MAX_TARGETS`].
fn targets(document: &Document, entry: NodeId, tool: &Tool) -> Vec<String> {
    let definition = pinned_in(document, entry, tool);
    let schemas = ARGUMENTS.into_iter().filter_map(|name| document.member(definition?, name));
    let schemas = schemas.chain(document.member(entry, "arguments"));
    let mut paths: Vec<String> = Vec::new();
    for properties in schemas.filter_map(|schema| document.member(schema, "properties")) {
        for (name, at) in document.members(properties) {
            let name = document.string(name);
            let is_plain = name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
            let is_list = document.source(at).contains("\"array\"");
            let path = format!("$.{name}{}", if is_list { "[*]" } else { "" });
            if is_plain && has_word(name, TARGETS) && !paths.contains(&path) && paths.len() < MAX_TARGETS {
                paths.push(path);
            }
        }
    }
    paths
}

/// Returns whether the arguments of a tool have a member that contains a command as free text.
fn takes_a_command(document: &Document, entry: NodeId, tool: &Tool) -> bool {
    let definition = pinned_in(document, entry, tool);
    let schemas = ARGUMENTS.into_iter().filter_map(|name| document.member(definition?, name));
    schemas.chain(document.member(entry, "arguments")).filter_map(|schema| document.member(schema, "properties")).any(
        |properties| {
            let is_text = |at| {
                let kind = document.member(at, "type");
                kind.is_none_or(|kind| document.source(kind).contains("\"string\""))
            };
            document.members(properties).any(|(name, at)| is_text(at) && has_word(document.string(name), FREE_TEXT))
        },
    )
}

/// Returns whether a list contains one of the words of a name.
fn has_word(name: &str, list: &str) -> bool {
    words(name).any(|word| list.contains(&format!(" {word} ")))
}

/// Returns whether a tool declares that it changes something: by the first word of its name, or by its annotations.
fn changes_something(tool: &Tool, document: &Document, at: NodeId) -> bool {
    let annotations = pinned_in(document, at, tool).and_then(|at| document.member(at, "annotations"));
    let hint = |name: &str, kind: Kind| {
        annotations.and_then(|at| document.member(at, name)).is_some_and(|at| document.kind(at) == kind)
    };
    let is_verb = words(&tool.name).next().is_some_and(|word| CHANGES.contains(&format!(" {word} ")));
    let description = pinned_in(document, at, tool).and_then(|at| text_in(document, at, "description"));
    hint("readOnlyHint", Kind::False)
        || hint("destructiveHint", Kind::True)
        || (is_verb && !hint("readOnlyHint", Kind::True))
        || acts(&tool.name, description.unwrap_or_default())
}

/// Returns whether a tool acts on something, judging by its name or by the first word of its description. Ignores its
/// annotations.
fn acts(name: &str, description: &str) -> bool {
    let is_act = |word: &str| ACTS.contains(&format!(" {word} "));
    let reads = words(name).next().is_some_and(|word| READS.contains(&format!(" {word} ")));
    // `browser_click` begins with the object, and `get_post` begins with the verb.
    let by_name = !reads && words(name).any(|word| is_act(&word));
    // "Clicks an element", "Submit the form".
    let by_description = words(description).next().is_some_and(|word| {
        let stems = [Some(word.as_str()), word.strip_suffix('s'), word.strip_suffix("es")];
        stems.into_iter().flatten().any(is_act)
    });
    by_name || by_description
}

/// Finds patterns that allow any text before or after their match. Under `not`, a pattern denies, so it may be open.
fn open_patterns(document: &Document, at: NodeId, is_denied: bool, open: &mut Vec<NodeId>) {
    match document.kind(at) {
        Kind::Object => {
            for (name, value) in document.members(at) {
                let name = document.string(name);
                if name == "pattern" && document.kind(value) == Kind::String {
                    let text = document.string(value);
                    let is_closed = text.starts_with('^') && text.ends_with('$');
                    if !is_denied && !is_closed {
                        open.push(value);
                    }
                } else {
                    open_patterns(document, value, is_denied != (name == "not"), open);
                }
            }
        }
        Kind::Array => document.items(at).for_each(|item| open_patterns(document, item, is_denied, open)),
        _ => {}
    }
}

/// Finds labels that reach effects or the outside without a flow in between.
fn flows(profile: &Profile, warnings: &mut Vec<Warning>) {
    let guarded = |label: &str, to: &str| profile.flows.iter().any(|flow| flow.after == label && flow.to == to);
    let read = |label: &str| profile.tools.iter().any(|tool| tool.result.labels.iter().any(|other| other == label));
    let permitted = |tool: &&Tool| tool.permit.may_allow();
    let acts = profile.tools.iter().filter(permitted).any(|tool| tool.effect == Effect::Effectful);
    // If a call's effect requires approval or denies it, the call sends nothing unseen.
    let sends = |label: &str| {
        let mut open = profile.tools.iter().filter(permitted).filter(|tool| tool.egress);
        open.any(|tool| !guarded(label, tool.effect.as_str()))
    };
    let cases = [
        ("untrusted", "effectful", acts, "data from outside can cause effects without approval"),
        ("untrusted", "egress", sends("untrusted"), "data from outside can make the agent send data out"),
        ("private", "egress", sends("private"), "private data can leave"),
    ];
    for (label, to, can, why) in cases {
        if can && read(label) && !guarded(label, to) {
            let message = format!("add a flow {{\"after\":\"{label}\",\"to\":\"{to}\",\"then\":…}}: {why}");
            warnings.push(Warning::new(&Location::root().name("flows"), "open_flow", &message));
        }
    }
    for (index, flow) in profile.flows.iter().enumerate() {
        let is_known = read(&flow.after) || profile.context.iter().any(|source| source.labels.contains(&flow.after));
        if !is_known && !COMPUTED_LABELS.contains(&flow.after.as_str()) {
            let mut place = Location::root().name("flows");
            place.push(Step::Index(index));
            let what = if matches!(flow.then, Then::Deny) { "denies" } else { "asks for" };
            let message = format!("check the label: nothing in the profile has it, so this flow never {what} anything");
            warnings.push(Warning::new(&place.name("after"), "unknown_label", &message));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn codes(tool: &str) -> Vec<String> {
        let text = format!(
            r#"{{"agent":"a","tools":[{tool}],"deny":[{{"tool":"*","when":{{"required":["x"]}},"reason":"no"}}],
            "budget":{{"tool_calls":1,"same_call":1,"ms":1}}}}"#
        );
        let profile = Profile::compile(&text).expect("a profile");
        let warnings = lint(&profile, &text).into_iter().map(|warning| warning.code);
        warnings.filter(|code| !matches!(code.as_str(), "no_definition" | "no_result_schema")).collect()
    }

    #[test]
    fn reads_that_change_something_are_told() {
        for (name, is_told) in [
            ("delete_file", true),
            ("sendMail", true),
            ("Update-Issue", true),
            ("list_deleted", false),
            ("settings", false),
            ("search", false),
        ] {
            let told = codes(&format!(r#"{{"name":"{name}","effect":"read","permit":"allow"}}"#));
            assert_eq!(told.contains(&"effect_read".to_owned()), is_told, "{name}: {told:?}");
        }
        let hinted = |hint: &str, name: &str| {
            let annotations = format!(r#"{{"name":"{name}","inputSchema":{{}},"annotations":{{{hint}}}}}"#);
            codes(&format!(r#"{{"name":"{name}","effect":"read","permit":"allow","definition":{annotations}}}"#))
        };
        assert!(hinted(r#""readOnlyHint":false"#, "look").contains(&"effect_read".to_owned()));
        assert!(!hinted(r#""readOnlyHint":true"#, "write_of_query").contains(&"effect_read".to_owned()));
        assert!(hinted(r#""readOnlyHint":true"#, "browser_click").contains(&"effect_read".to_owned()));
        assert!(hinted(r#""readOnlyHint":true"#, "deletePage").contains(&"effect_read".to_owned()));
        for (name, description, is_told) in [
            ("page_action", "Clicks an element of the page.", true),
            ("form", "Submit the form", true),
            ("form", "POST a document to an address", true),
            ("entry", "Deletes an entry", true),
            ("entry", "Returns an entry that was deleted", false),
            ("get_post", "Gets a post", false),
            ("list_send_jobs", "Lists what is sent", false),
            ("blog_post", "", true),
        ] {
            let definition = format!(r#"{{"name":"{name}","description":"{description}"}}"#);
            let tool = format!(r#"{{"name":"{name}","effect":"read","permit":"allow","definition":{definition}}}"#);
            let told = codes(&tool);
            assert_eq!(told.contains(&"effect_read".to_owned()), is_told, "{name}, {description}: {told:?}");
        }
    }

    #[test]
    fn flows_are_open_only_where_something_is_sent_unseen() {
        for (effect, permit, flow, is_told) in [
            ("effectful", r#""allow""#, r#"{"after":"untrusted","to":"effectful","then":"approval"}"#, false),
            ("idempotent", r#""allow""#, r#"{"after":"untrusted","to":"effectful","then":"approval"}"#, true),
            ("idempotent", r#""allow""#, r#"{"after":"untrusted","to":"egress","then":"deny"}"#, false),
            ("read", r#""allow""#, r#"{"after":"untrusted","to":"idempotent","then":"deny"}"#, true),
            ("read", r#"{"approval":{"by":["on"]}}"#, r#"{"after":"private","to":"egress","then":"deny"}"#, false),
        ] {
            let text = format!(
                r#"{{"agent":"a","approvers":{{"on":[{{"principal":"anna"}}]}},"flows":[{flow}],
                "tools":[{{"name":"out","effect":"{effect}","egress":true,"permit":{permit}}},{{"name":"look","effect":"read","permit":"allow"}}]}}"#
            );
            let profile = Profile::compile(&text).expect("a profile");
            let told = lint(&profile, &text)
                .iter()
                .any(|warning| warning.code == "open_flow" && warning.message.contains("egress"));
            assert_eq!(told, is_told, "{text}");
        }
    }

    #[test]
    fn approvers_whom_the_agent_can_play_are_told() {
        let schema = r#"{"properties":{"command":{"type":"string"}}}"#;
        for (permit, approver, is_told) in [
            (r#""allow""#, r#"{"principal":"anna"}"#, true),
            (
                r#""allow""#,
                r#"{"principal":"ben","key":"A6EHv_POEL4dcN0Y50vAmWfk1jCbpQ1fHdyGZBJVMbg"},{"principal":"anna"}"#,
                true,
            ),
            (r#""allow""#, r#"{"principal":"anna","key":"A6EHv_POEL4dcN0Y50vAmWfk1jCbpQ1fHdyGZBJVMbg"}"#, false),
            (r#""deny""#, r#"{"principal":"anna"}"#, false),
            (r#"{"approval":{"by":["on"],"ttl_s":60}}"#, r#"{"principal":"anna"}"#, false),
        ] {
            let text = format!(
                r#"{{"agent":"a","approvers":{{"on":[{approver}]}},"tools":[{{"name":"run","effect":"effectful","permit":{permit},"arguments":{schema}}}]}}"#
            );
            let profile = Profile::compile(&text).expect("a profile");
            let told = lint(&profile, &text).iter().any(|warning| warning.code == "self_approval");
            assert_eq!(told, is_told, "{text}");
        }
    }

    #[test]
    fn origins_that_others_can_write_are_told() {
        for (labels, named, is_told) in [
            ("", "", true),
            (r#","result":{"labels":["private","untrusted"]}"#, "", true),
            (r#","result":{"labels":[]}"#, "", false),
            ("", r#","named":"$[*].name""#, false),
        ] {
            let told = codes(&format!(
                r#"{{"name":"search","server":"crm","effect":"read"{labels}}},{{"name":"mail","effect":"effectful","origins":
                [{{"path":"$.to","from":["user",{{"tool":"crm/search","at":"$[*].email"{named}}}],"else":"deny"}}]}}"#
            ));
            assert_eq!(told.contains(&"open_origin".to_owned()), is_told, "{labels} {named}: {told:?}");
        }
    }

    #[test]
    fn origins_in_a_context_that_others_can_write_are_told() {
        for (labels, from, pass, times) in [
            (r#","labels":["untrusted"]"#, "context.ticket", "$.task", 1),
            (r#","labels":["private"]"#, "context.ticket", "$.task", 0),
            ("", "context.ticket", "$.context.ticket", 0),
            (r#","labels":["untrusted"]"#, "user", "$.context.ticket.to", 1),
            (r#","labels":["untrusted"]"#, "context.ticket", "$.context.ticket", 2),
        ] {
            let text = format!(
                r#"{{"agent":"a","context":[{{"name":"ticket","schema":{{}}{labels}}}],"tools":[{{"name":"send","effect":"effectful",
                "origins":[{{"path":"$.to","from":["{from}"],"else":"deny"}}]}}],
                "delegate":[{{"agent":"b","profile":"sha256:{}","tools":["send"],"pass":["{pass}"],"budget":{{}}}}]}}"#,
                "0".repeat(64)
            );
            let profile = Profile::compile(&text).unwrap_or_else(|fault| panic!("{}", fault.to_json()));
            let told = lint(&profile, &text);
            let told: Vec<&str> =
                told.iter().map(|one| one.code.as_str()).filter(|code| *code == "open_origin").collect();
            assert_eq!(told.len(), times, "{text}");
        }
    }

    #[test]
    fn stricter_patterns_that_do_not_decide_are_told() {
        for (entries, overruled, pattern) in [
            // Entries, with their `permit` and pinned definitions.
            (&[("get_*", "allow", "get_secret"), ("*_secret", "deny", "")][..], true, "other entries decide about"),
            (&[("get_*", "allow", "get_a"), ("*_secret", "deny", "")], false, "pin definitions"),
            (&[("get_*", "deny", "get_secret"), ("*_secret", "allow", "")], false, "other entries decide about"),
            (&[("get_*", "allow", "get_secret"), ("*", "deny", "put")], false, "stands for one tool"),
            (&[("get_secret", "allow", ""), ("*_secret", "deny", "put_secret")], false, "stands for one tool"),
        ] {
            let entry = |(name, permit, pinned): &(&str, &str, &str)| {
                let definitions = match *pinned {
                    "" => String::new(),
                    tool => format!(r#","definitions":[{{"name":"{tool}","inputSchema":{{}}}}]"#),
                };
                format!(r#"{{"name":"{name}","server":"s","effect":"read","permit":"{permit}"{definitions}}}"#)
            };
            let text =
                format!(r#"{{"agent":"a","tools":[{}]}}"#, entries.iter().map(entry).collect::<Vec<_>>().join(","));
            let profile = Profile::compile(&text).unwrap_or_else(|fault| panic!("{}", fault.to_json()));
            let told = lint(&profile, &text);
            assert_eq!(told.iter().any(|one| one.code == "overruled"), overruled, "{text}");
            assert!(told.iter().any(|one| one.message.contains(pattern)), "{text}: {told:?}");
        }
    }

    #[test]
    fn calls_that_origins_would_spare_are_named() {
        for (flow, tool, says) in [
            (r#""then":"approval""#, "", Some(r#"$.to[*], $.cc"#)),
            (r#""then":"approval""#, r#","origins":[{"path":"$.to[*]","from":["user"],"else":"deny"}]"#, None),
            (r#""then":"deny""#, "", None),
        ] {
            let text = format!(
                r#"{{"agent":"a","approvers":{{"on":[{{"principal":"anna"}}]}},"flows":[{{"after":"untrusted","to":"effectful",{flow}}}],
                "tools":[{{"name":"send","effect":"effectful","permit":"allow","arguments":{{"properties":
                {{"to":{{"type":"array"}},"body":{{}},"cc":{{}}}}}}{tool}}},{{"name":"look","effect":"read","permit":"allow"}}]}}"#
            );
            let profile = Profile::compile(&text).unwrap_or_else(|fault| panic!("{}", fault.to_json()));
            let told = lint(&profile, &text);
            let found = told.iter().find(|warning| warning.code == "question");
            assert_eq!(found.is_some(), says.is_some(), "{text}");
            if let (Some(found), Some(says)) = (found, says) {
                assert!(
                    found.message.contains(says) && found.message.contains("send({\"to\":…})"),
                    "{}",
                    found.message
                );
                assert_eq!(found.path, "$.tools[0].origins");
            }
        }
    }

    #[test]
    fn scopes_and_origins_hold_each_tool_of_a_pattern() {
        let scope = r#""scope":[{"path":"$.path","below":["/srv"]}]"#;
        let origins = r#""origins":[{"path":"$.path","from":["user"],"else":"deny"}]"#;
        let case = r#""permit":[{"below":{"$.path":["/srv"]},"permit":"allow"}]"#;
        for (rule, second, is_error) in
            [(scope, "path", false), (scope, "source", true), (origins, "source", true), (case, "source", false)]
        {
            let of = |name: &str, path: &str| {
                format!(
                    r#"{{"name":"{name}","inputSchema":{{"properties":{{"{path}":{{"type":"string"}}}},"additionalProperties":false}}}}"#
                )
            };
            let text = format!(
                r#"{{"agent":"a","tools":[{{"name":"*","server":"fs","effect":"effectful",{rule},"definitions":[{},{}]}}]}}"#,
                of("write_file", "path"),
                of("move_file", second)
            );
            let fault = Profile::compile(&text).err().map(|fault| fault.to_json()).unwrap_or_default();
            assert_eq!(fault.contains("entry of its own"), is_error, "{text}: {fault}");
            assert_eq!(fault.contains("move_file"), is_error, "{fault}");
        }
    }

    #[test]
    fn patterns_that_allow_text_around_them_are_told() {
        for (schema, is_told) in [
            (r#"{"properties":{"x":{"pattern":"^/srv/"}}}"#, true),
            (r#"{"properties":{"x":{"anyOf":[{"pattern":"[a-z]+$"}]}}}"#, true),
            (r#"{"properties":{"x":{"pattern":"^[a-z]+$"}}}"#, false),
            (r#"{"properties":{"x":{"not":{"pattern":"secret"}}}}"#, false),
            (r#"{"properties":{"x":{"not":{"not":{"pattern":"a"}}}}}"#, true),
        ] {
            let told = codes(&format!(r#"{{"name":"look","effect":"read","permit":"allow","arguments":{schema}}}"#));
            assert_eq!(told.contains(&"open_pattern".to_owned()), is_told, "{schema}: {told:?}");
        }
    }

    #[test]
    fn commands_are_known_by_any_word_of_a_name() {
        for (name, kind, is_told) in [
            ("command", r#""string""#, true),
            ("shellCommand", r#""string""#, true),
            ("SQL", r#"["string","null"]"#, true),
            ("raw_query", r#""string""#, true),
            ("encode", r#""string""#, false),
            ("command", r#""array""#, false),
        ] {
            let schema = format!(r#"{{"properties":{{"{name}":{{"type":{kind}}},"x":{{}}}}}}"#);
            let told =
                codes(&format!(r#"{{"name":"run","effect":"effectful","permit":"allow","arguments":{schema}}}"#));
            assert_eq!(told.contains(&"free_text_command".to_owned()), is_told, "{name}: {told:?}");
        }
    }
}
