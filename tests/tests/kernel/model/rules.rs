//! A second implementation of the invariants of each step. It uses a host's view of the run, not the state of the run.

use anyhow::{Context, Result, bail, ensure};
use seamgate_core::kernel_api::digest;
use serde_json::Value;

use super::{
    moves::NONCE,
    world::{
        Approval, Ask, Call, Known, LEAD, MS, ONCALL, Remembered, SAME_CALL, STEPS, Stage, TOKENS, World, has_effect,
    },
};

/// A word in all untrusted data.
pub(crate) const SENTINEL: &str = "UNTRUSTED";

/// Returns the marker around data, as the kernel makes it. `the_marks_of_attacks_are_those_of_prompts` compares them.
pub(crate) fn mark(name: &str) -> String {
    let whole = digest(&format!("seamgate:mark:1\n{}:{NONCE}\n{}:{name}\n", NONCE.len(), name.len()));
    format!("data-{}", &whole["sha256:".len()..][..16])
}

fn text<'v>(value: &'v Value, name: &str) -> &'v str {
    value[name].as_str().unwrap_or_default()
}

fn items<'v>(value: &'v Value, name: &str) -> impl Iterator<Item = &'v Value> {
    value[name].as_array().into_iter().flatten()
}

/// A step, and the world that the host derives from it.
struct Seeing<'s> {
    event: &'s Value,
    step: &'s Value,
    world: World,
    was_finished: bool,
}

/// Returns the world after a step, if the step satisfies all rules.
pub(crate) fn check(before: &World, event: &Value, step: &Value) -> Result<World> {
    let mut seeing = Seeing { event, step, world: before.clone(), was_finished: before.is_finished };
    if before.is_finished {
        let only: Vec<&str> = items(step, "records").map(|record| text(record, "code")).collect();
        ensure!(only == ["finished"], "an event counts after the end: {}", step["records"]);
    }
    seeing.time(before);
    seeing.event(before);
    seeing.lapse();
    for record in items(step, "records") {
        seeing.record(record).with_context(|| format!("record {record}"))?;
    }
    let mut keys: Vec<&str> = items(step, "actions").map(|action| text(action, "key")).collect();
    keys.sort_unstable();
    ensure!(keys.windows(2).all(|pair| pair[0] != pair[1]), "two actions have one key: {keys:?}");
    for action in items(step, "actions") {
        let mut short = action.clone();
        short["prompt"] = Value::Null;
        seeing.action(action).with_context(|| format!("action {short}"))?;
    }
    seeing.after(before).with_context(|| format!("{:?}", seeing.world))?;
    Ok(seeing.world)
}

impl Seeing<'_> {
    fn kind(&self) -> &str {
        text(self.event, "type")
    }

    fn time(&mut self, before: &World) {
        let at = self.event["at"].as_u64().unwrap_or_default();
        let passed = at.saturating_sub(before.now);
        // Time does not count while the run waits for a person, while a gate receives no calls, or while no process
        // executes the run.
        if before.is_under_way() && self.kind() != "resumed" {
            self.world.ms += passed;
        }
        self.world.now = before.now.max(at);
    }

    /// Applies the host's knowledge of an event, before the host reads the result.
    fn event(&mut self, before: &World) {
        let (event, now) = (self.event, self.world.now);
        let call = event["call"].as_str().or(event["key"].as_str()).unwrap_or_default();
        match text(event, "type") {
            "model_output" | "model_failed" if is_open(before.model.as_ref(), call, now) => {
                self.world.model = None;
                let usage = &event["usage"];
                self.world.tokens += usage["input"].as_u64().unwrap_or(0) + usage["output"].as_u64().unwrap_or(0);
            }
            "said" if !before.is_finished => {
                self.world.known.iter_mut().for_each(|known| known.said.push(text(event, "text").to_owned()));
            }
            "input" => drop(self.world.question.take_if(|(key, _)| key == call)),
            "resumed" => self.world.model = None,
            "mode" if ONCALL.contains(&text(event, "principal")) && !before.is_finished => {
                self.world.mode = text(event, "mode").to_owned();
            }
            "approval" => {
                let has_loop = self.world.has_loop;
                let Some(known) = self.world.call_mut(call) else { return };
                let Some(ask) = known.ask.clone().filter(|_| known.stage == Stage::Asked) else { return };
                let all = ONCALL.iter().chain(&LEAD);
                let Some(principal) = all.copied().find(|known| *known == text(event, "principal")) else { return };
                let may = ask.by.iter().any(|by| by == principal);
                if text(event, "digest") != ask.digest || !may || now >= ask.expires {
                    return;
                }
                if text(event, "decision") == "edited" {
                    if has_loop && text(event, "arguments") != known.arguments {
                        // The old ask is no longer valid.
                        known.ask = None;
                        known.arguments = text(event, "arguments").to_owned();
                    }
                } else if text(event, "decision") == "approved" {
                    known.approvals.push(Approval { digest: ask.digest, principal, until: ask.expires });
                    if let Some(ttl_s) = event["remember"]["ttl_s"].as_u64() {
                        let mode = self.world.mode.clone();
                        self.world.remembered.retain(|other| other.mode != mode);
                        self.world.remembered.push(Remembered { principal, until: now + ttl_s * 1000, mode });
                    }
                } else {
                    known.is_rejected = true;
                }
            }
            "tool_started" => {
                let is_timely = |known: &&mut Call| {
                    known.stage == Stage::Executed && known.lapses().is_none_or(|expires| now < expires)
                };
                if let Some(known) = self.world.call_mut(call).filter(is_timely) {
                    known.stage = Stage::Started;
                    known.was_started = true;
                }
            }
            "job" => {
                let ttl = event["ttl_s"].as_u64().unwrap_or(600) * 1000;
                if let Some(known) = self.world.call_mut(call).filter(|known| known.stage.is_under_way()) {
                    known.stage = Stage::Started;
                    known.was_started = true;
                    known.expires = Some(now + ttl);
                }
            }
            _ => {}
        }
    }

    /// Expires everything whose time is over.
    fn lapse(&mut self) {
        let now = self.world.now;
        if self.world.model.as_ref().is_some_and(|(.., expires)| *expires <= now) {
            self.world.model = None;
        }
        if self.world.question.as_ref().is_some_and(|(_, expires)| *expires <= now) {
            self.world.question = None;
        }
        for call in &mut self.world.calls {
            if call.stage == Stage::Uncertain && call.expires.is_some_and(|expires| expires <= now) {
                call.stage = Stage::GivenUp;
            }
        }
    }

    /// Returns the call of a record or an action. A record may be the first to name a call.
    fn call(&mut self, key: &str) -> Result<&mut Call> {
        self.world.call_mut(key).with_context(|| format!("nobody knows a call {key}"))
    }

    fn record(&mut self, record: &Value) -> Result<()> {
        let key = text(record, "call");
        match text(record, "type") {
            "decision" => {
                if self.world.call(key).is_none() {
                    self.world.calls.push(Call {
                        key: key.to_owned(),
                        tool: text(record, "tool").to_owned(),
                        arguments: text(record, "arguments").to_owned(),
                        stage: Stage::New,
                        ask: None,
                        approvals: Vec::new(),
                        is_rejected: false,
                        was_started: false,
                        counts: false,
                        expires: None,
                    });
                }
                let (now, is_resumed) = (self.world.now, self.kind() == "resumed");
                let call = self.call(key)?;
                // An approval may expire before the call is sent.
                let is_lapsed = call.ask.as_ref().is_some_and(|ask| ask.expires <= now);
                let may_be_decided = matches!(call.stage, Stage::New | Stage::Asked)
                    || (call.stage == Stage::Executed && (is_resumed || is_lapsed));
                ensure!(may_be_decided, "decided about when it is {:?}", call.stage);
                ensure!(text(record, "arguments") == call.arguments, "other arguments than the model's");
                call.counts &= record["permit"] == "allow";
                if record["permit"] == "deny" {
                    call.stage = Stage::Denied;
                    ensure!(!items(record, "reasons").collect::<Vec<_>>().is_empty(), "a denial without reason");
                }
                let executes = |action: &Value| {
                    matches!(text(action, "type"), "execute" | "delegate") && text(action, "call") == key
                };
                let is_executed = items(self.step, "actions").any(executes);
                ensure!(
                    is_executed == (record["permit"] == "allow"),
                    "what is executed is what is allowed, and nothing else"
                );
            }
            "observation" => {
                let (event, world) = (self.event, &mut self.world);
                let call = world.call_mut(key).context("nobody knows this call")?;
                let is_open = call.stage.is_under_way() || call.stage == Stage::Uncertain;
                ensure!(is_open || call.stage == Stage::GivenUp, "observed when it is {:?}", call.stage);
                let is_ok = match text(event, "type") {
                    "tool_result" => text(event, "status") != "error",
                    "resolution" => text(event, "outcome") == "done",
                    _ => false,
                };
                let is_about = text(event, "call") == key;
                ensure!((record["status"] == "ok") == (is_ok && is_about), "recorded as {}", record["status"]);
                let was_uncertain = matches!(call.stage, Stage::Uncertain | Stage::GivenUp);
                if text(event, "type") == "resolution" && is_about && was_uncertain && !is_ok {
                    call.counts = false;
                }
                let is_found = call.tool == "find" && is_ok && is_about;
                call.stage = Stage::Settled;
                world.is_untrusted = true;
                for known in world.known.iter_mut().filter(|_| is_found) {
                    let items = items(event, "result");
                    known
                        .items
                        .extend(items.map(|item| (text(item, "name").to_owned(), text(item, "email").to_owned())));
                }
            }
            "settled" => {
                let now = self.world.now;
                let code = text(record, "code");
                let (has_none, is_one_cancelled) =
                    (self.event["effect"] == "none", self.event["type"] == "call_cancelled");
                let call = self.call(key)?;
                match code {
                    "uncertain" => {
                        ensure!(has_effect(&call.tool) && call.was_started, "it has no effect, or was never sent");
                        call.stage = Stage::Uncertain;
                        call.expires = Some(now + 7 * 86_400_000);
                    }
                    "expired" => {
                        ensure!(call.stage == Stage::Asked, "it expired when it was {:?}", call.stage);
                        call.stage = Stage::Denied;
                    }
                    "not_sent" => {
                        ensure!(!call.was_started, "it was sent");
                        call.counts = false;
                        call.stage = Stage::Settled;
                    }
                    "cancelled" => {
                        let may_have_happened = has_effect(&call.tool) && call.was_started && !has_none;
                        ensure!(!may_have_happened, "it may have had its effect");
                        // A call that depends on a call that did not run is denied.
                        let is_denied = text(record, "message").starts_with("Call denied");
                        // A call that the host cancels before it sends it does not count.
                        call.counts &= call.was_started || !is_one_cancelled;
                        self.call(key)?.stage = if is_denied { Stage::Denied } else { Stage::Settled };
                    }
                    other => bail!("{other:?} is no end of a call"),
                }
            }
            _ => {}
        }
        Ok(())
    }

    fn action(&mut self, action: &Value) -> Result<()> {
        ensure!(!self.was_finished, "a finished run acts");
        ensure!(!self.world.is_finished, "it acts after its end");
        let now = self.world.now;
        match text(action, "type") {
            "execute" => self.execute(action),
            "ask_approval" => {
                let ask = &action["ask"];
                let expires = ask["expires"].as_u64().unwrap_or_default();
                ensure!(expires > now, "it lapses before it is asked");
                let by: Vec<String> = items(ask, "by").filter_map(Value::as_str).map(str::to_owned).collect();
                let is_resumed = self.kind() == "resumed";
                let call = self.call(text(action, "call"))?;
                ensure!(matches!(call.stage, Stage::New | Stage::Asked | Stage::Executed), "it is {:?}", call.stage);
                ensure!(text(ask, "view").contains(&call.arguments), "the view lacks the arguments");
                ensure!(!by.is_empty(), "nobody may approve");
                call.stage = Stage::Asked;
                // If the same ask is shown again, it keeps its time.
                let same = call.ask.as_ref().filter(|old| old.digest == text(ask, "digest") && old.expires == expires);
                let at = same.map_or(now, |old| old.at);
                let is_told = call.stage == Stage::Asked && same.is_some_and(|old| old.by == by);
                ensure!(!is_told || is_resumed, "the same is asked twice");
                call.ask = Some(Ask { digest: text(ask, "digest").to_owned(), by, at, expires });
                call.expires = None;
                call.counts = false;
                Ok(())
            }
            "ask_model" => self.ask_model(action),
            "ask_input" => {
                let expires = action["expires"].as_u64().unwrap_or_default();
                ensure!(expires > now, "it lapses before it is asked");
                match action["call"].as_str() {
                    None => self.world.question = Some((text(action, "key").to_owned(), expires)),
                    Some(key) => {
                        let call = self.call(key)?;
                        ensure!(matches!(call.stage, Stage::Uncertain | Stage::GivenUp), "it is {:?}", call.stage);
                        call.expires = Some(expires);
                    }
                }
                Ok(())
            }
            "cancel" => Ok(()),
            "finish" => self.finish(action),
            other => bail!("{other:?} is not expected here"),
        }
    }

    fn execute(&mut self, action: &Value) -> Result<()> {
        let key = text(action, "call");
        let (now, is_untrusted, kind) = (self.world.now, self.world.is_untrusted, self.kind().to_owned());
        let (mode, tokens, ms) = (self.world.mode.clone(), self.world.tokens, self.world.ms);
        let (limits_tokens, known) = (self.world.has_loop, self.world.known.clone());
        let is_remembered = action["approval"]["remembered"] == true;
        let covers = |one: &Remembered| ONCALL.contains(&one.principal) && now < one.until && one.mode == mode;
        let covered = self.world.remembered.iter().position(covers);
        let expires = action["expires"].as_u64().unwrap_or_default();
        ensure!(expires > now, "it lapses before it is sent");
        let is_open =
            |call: &Call| matches!(call.stage, Stage::Asked | Stage::Executed | Stage::Started | Stage::Uncertain);
        let before = self.world.calls.iter().take_while(|call| call.key != key);
        let is_behind = { before }.any(|call| call.tool == "act" && is_open(call));
        ensure!(
            !(self.world.has_loop && text(action, "tool") == "act" && is_behind),
            "an effect runs while one is open that the model asked for before it"
        );
        let call = self.call(key)?;
        ensure!(text(action, "tool") == call.tool, "another tool");
        ensure!(text(action, "arguments") == call.arguments, "other bytes are sent than were asked for");
        let is_again = matches!(call.stage, Stage::Executed | Stage::Started);
        ensure!(is_again || matches!(call.stage, Stage::New | Stage::Asked), "it is {:?}", call.stage);
        ensure!(!is_again || kind == "resumed", "the host is told twice to send it");
        if has_effect(&call.tool) {
            ensure!(!call.was_started, "an effect runs twice");
            ensure!(mode == "operate", "the mode does not have this tool");
            ensure!(!call.is_rejected, "it was rejected");
            let of = |group: &[&str]| {
                let holds = |approval: &&Approval| {
                    group.contains(&approval.principal)
                        && approval.digest == text(action, "digest")
                        && now < approval.until
                };
                call.approvals.iter().any(|approval| holds(&approval))
            };
            ensure!(call.tool == "send" || is_remembered || of(&ONCALL), "no approval by oncall holds");
            let needs_lead = is_untrusted && !is_proven(known.as_ref(), call);
            ensure!(!needs_lead || of(&LEAD), "no approval by lead holds, after untrusted data was read");
            ensure!(!is_remembered || covered.is_some(), "no approval for the run covers it");
        } else {
            ensure!(matches!(call.tool.as_str(), "look" | "find"), "nothing allows this tool");
        }
        if is_remembered && let Some(place) = covered {
            self.world.remembered.remove(place);
        }
        let call = self.call(key)?;
        if is_remembered || (call.tool == "send" && action["approval"].is_null()) {
            // This call does not depend on an unanswered ask, or on an ask from before its targets had an origin.
            call.ask = None;
        }
        if !(call.counts && call.stage == Stage::Started) {
            call.counts = false;
            ensure!(!limits_tokens || tokens < TOKENS, "the tokens are used up");
            ensure!(ms < MS, "the milliseconds are used up");
        }
        call.counts = true;
        call.expires = Some(expires);
        if call.stage != Stage::Started {
            call.stage = Stage::Executed;
        }
        let (tool, arguments) = (call.tool.clone(), call.arguments.clone());
        let counting = || self.world.calls.iter().filter(|call| call.counts);
        ensure!(counting().count() <= self.world.max_tool_calls(), "more calls than the budget has");
        let equal = counting().filter(|call| call.tool == tool && call.arguments == arguments).count();
        // After an effect, the count of equal reads restarts. The searches with two read calls do not reach this state.
        let counts_anew = self.world.known.is_some() && !has_effect(&tool);
        ensure!(counts_anew || equal <= SAME_CALL, "the same call too often");
        Ok(())
    }

    fn ask_model(&mut self, action: &Value) -> Result<()> {
        let world = &mut self.world;
        let expires = action["expires"].as_u64().unwrap_or_default();
        ensure!(world.has_loop, "there is no loop");
        ensure!(expires > world.now, "it lapses before it is asked");
        ensure!(!world.is_under_way(), "something is under way");
        ensure!(!world.is_with_a_person(), "something waits for a person");
        world.steps += 1;
        ensure!(world.steps <= STEPS, "more steps than the budget has");
        ensure!(world.tokens < TOKENS, "the tokens are used up");
        ensure!(world.ms < MS, "the milliseconds are used up");
        let purpose = text(action, "purpose");
        let has_tools = items(&action["prompt"], "tools").next().is_some();
        ensure!(has_tools == (purpose == "step"), "a prompt for {purpose} with tools: {has_tools}");
        let shows_act = items(&action["prompt"], "tools").any(|tool| tool["name"] == "act");
        ensure!(!shows_act || world.mode == "operate", "the mode does not have a tool that is shown");
        world.model = Some((text(action, "key").to_owned(), purpose.to_owned(), expires));
        self.prompt(&action["prompt"])
    }

    /// Checks that no untrusted text is outside its markers, and that a message begins like a denial if and only if the
    /// call was denied.
    fn prompt(&self, prompt: &Value) -> Result<()> {
        for message in items(prompt, "messages") {
            let whole = text(message, "text");
            outside(whole).with_context(|| format!("in the message {message}"))?;
            let Some(call) = message["call"].as_str().and_then(|key| self.world.call(key)) else { continue };
            // The first line may name the person who changed the arguments.
            let told = match whole.split_once('\n') {
                Some((first, rest)) if first.contains("changed the arguments of this call") => rest,
                _ => whole,
            };
            let is_denial = told.starts_with("Call denied");
            ensure!(is_denial == (call.stage == Stage::Denied), "{:?}, and told {whole:?}", call.stage);
        }
        Ok(())
    }

    fn finish(&mut self, action: &Value) -> Result<()> {
        let world = &mut self.world;
        world.is_finished = true;
        world.model = None;
        world.question = None;
        let cancelled: Vec<&str> =
            items(self.step, "actions").filter(|a| text(a, "type") == "cancel").map(|a| text(a, "call")).collect();
        let mut open = Vec::new();
        for call in &mut world.calls {
            if call.stage.is_under_way() {
                ensure!(cancelled.contains(&call.key.as_str()), "{} is under way, and not cancelled", call.key);
                call.stage = if has_effect(&call.tool) && call.was_started { Stage::GivenUp } else { Stage::Settled };
            }
            match call.stage {
                Stage::Uncertain | Stage::GivenUp => {
                    call.stage = Stage::GivenUp;
                    open.push(call.key.as_str());
                }
                Stage::Asked => call.stage = Stage::Denied,
                _ => {}
            }
        }
        let told: Vec<&str> = items(action, "uncertain").map(|call| text(call, "call")).collect();
        ensure!(told == open, "uncertain are {open:?}, and told are {told:?}");
        Ok(())
    }

    fn after(&mut self, before: &World) -> Result<()> {
        let world = &self.world;
        let is_answer = before.model.as_ref().is_some_and(|(key, _, expires)| {
            self.kind() == "model_output" && self.event["key"] == **key && world.now < *expires
        });
        let asked = if is_answer { items(self.event, "calls").count() } else { 0 };
        ensure!(self.kind() == "call" || world.calls.len() == before.calls.len() + asked, "not all calls are decided");
        let is_asked = |call: &Call| call.stage == Stage::Asked;
        ensure!(
            world.mode == "operate" || !world.calls.iter().any(is_asked),
            "it asks for what the mode does not have"
        );
        let used = &self.step["state"]["facts"]["used"];
        let counting = world.calls.iter().filter(|call| call.counts).count();
        ensure!(used["tool_calls"] == counting, "{counting} calls count, and the state has {}", used["tool_calls"]);
        let status = text(&self.step["state"], "status");
        let is_over = !matches!(status, "running" | "waiting");
        ensure!(is_over == world.is_finished, "{status}, and finished: {}", world.is_finished);
        let wake = self.step["wake_at"].as_u64();
        if world.is_finished {
            ensure!(wake.is_none(), "a finished run wants to wake");
            return Ok(());
        }
        let waits = world.is_under_way() || world.is_with_a_person();
        ensure!(waits || !world.has_loop, "it is stuck: nothing is under way, and nobody is asked");
        if waits {
            let wake = wake.context("it waits without an end")?;
            let first = world.lapses().context("nothing lapses")?;
            ensure!(wake <= first, "it wakes {} ms after something lapsed", wake - first.min(wake));
            ensure!(wake > world.now, "it wakes now, and again now");
        }
        let is_tick = self.kind() == "tick" && before.lapses().is_some_and(|at| world.now >= at);
        ensure!(!is_tick || world.lapses() > before.lapses() || !waits, "what lapsed did not");
        Ok(())
    }
}

/// Returns whether each target of a call has an origin.
fn is_proven(known: Option<&Known>, call: &Call) -> bool {
    let Some(known) = known.filter(|_| call.tool == "send") else { return false };
    let arguments: Value = serde_json::from_str(&call.arguments).unwrap_or_default();
    let mut targets = items(&arguments, "to").peekable();
    targets.peek().is_some() && targets.all(|target| target.as_str().is_some_and(|target| known.proves(target)))
}

/// Returns whether a request to the model with this key is open.
fn is_open(model: Option<&(String, String, u64)>, key: &str, now: u64) -> bool {
    model.is_some_and(|(asked, _, expires)| asked == key && now < *expires)
}

/// Checks that untrusted text is inside markers.
fn outside(whole: &str) -> Result<()> {
    let mut rest = whole;
    loop {
        let (before, after) = match rest.split_once("\n<data-") {
            None => (rest, None),
            Some((before, after)) => (before, Some(after)),
        };
        ensure!(!before.contains(SENTINEL), "untrusted text stands outside of its marks");
        let Some(after) = after else { return Ok(()) };
        let (name, inner) = after.split_once(">\n").context("a mark has no end")?;
        let end = format!("\n</data-{name}>");
        let (inner, left) = inner.split_once(&end).context("the data has no end")?;
        ensure!(!inner.contains(&format!("data-{name}")), "the data has its own mark");
        rest = left;
    }
}
