//! Non-interference: if a flow denies `egress` after `private`, two runs that differ only in private data send the same
//! bytes to the tools with `egress`.
//!
//! Each profile and each order of events is random. Two runs receive the same events, except for the results of tools
//! whose label is `private` (their content, status and length) and the values of contexts with this label. The steps of
//! both runs must be equal in the parts that the outside can observe: the calls that are sent to tools with `egress`,
//! their times and arguments, the decisions that allowed them, and their cancellations.
//!
//! The model decides nothing here: both runs make the same calls at the same times. The arguments are either also the
//! same, or they come from the worst possible model, which writes a digest of all steps so far into each argument.
//!
//! The test does not cover: flows with `unless: origins` or an approval; a model that makes another call, or none,
//! because of the data that it read; a tool without the label that returns private data; the duration of a step; the
//! end of a run whose budget private data used up.

use seamgate_core::kernel_api::digest;
use seamgate_kernel::{Profile, advance};
use seamgate_tests::{Random, runs::member};
use serde_json::{Value, json};

const ROUNDS: u64 = 1500;

fn rounds() -> u64 {
    std::env::var("PRIVATE_RUNS").map_or(ROUNDS, |text| text.parse().expect("PRIVATE_RUNS is a number"))
}

/// The tools: name, effect, whether the tool is private, and whether it has egress.
const TOOLS: [(&str, &str, bool, bool); 7] = [
    ("vault", "read", true, false),
    ("mailbox", "idempotent", true, false),
    ("cloud", "read", true, true),
    ("page", "read", false, true),
    ("note", "effectful", false, false),
    ("post", "effectful", false, true),
    ("ping", "idempotent", false, true),
];

fn is_private(tool: &str) -> bool {
    TOOLS.iter().any(|(name, _, is_private, _)| *name == tool && *is_private)
}

fn is_egress(tool: &str) -> bool {
    TOOLS.iter().any(|(name, .., is_egress)| *name == tool && *is_egress)
}

fn profile(random: &mut Random) -> Value {
    let mut tools = Vec::new();
    for (name, effect, is_private, is_egress) in TOOLS {
        let approval = json!({"approval": {"by": ["staff"], "ttl_s": 60}});
        let permit = if random.chance(25) { approval } else { json!("allow") };
        let mut labels = if is_private { vec!["private"] } else { Vec::new() };
        if random.chance(30) {
            labels.push("untrusted");
        }
        let mut result = json!({"labels": labels});
        if random.chance(30) {
            result["max_bytes"] = json!(256);
        }
        if random.chance(30) {
            result["schema"] = json!({"type": "array", "items": {"type": "object", "required": ["id"]}});
            result["items"] = json!("$[*]");
        }
        if random.chance(20) {
            result["clean"] = json!(random.one(&["none", "mark"]));
        }
        let mut tool = json!({"name": name, "server": "s", "effect": effect, "egress": is_egress, "permit": permit,
            "result": result});
        if !is_private && random.chance(30) {
            let from = random.one(&[json!(["user"]), json!([{"tool": "vault", "at": "$[*].id"}, "context.diary"])]);
            let otherwise = random.one(&["deny", "approval"]);
            tool["origins"] = json!([{"path": "$.q", "from": from, "else": otherwise}]);
        }
        tools.push(tool);
    }
    let mut flows = vec![json!({"after": "private", "to": "egress", "then": "deny"})];
    for label in ["untrusted", "truncated", "empty", "partial"] {
        if random.chance(15) {
            flows.push(json!({"after": label, "to": random.one(&["effectful", "egress", "idempotent"]),
                "then": random.one(&["approval", "deny"])}));
        }
    }
    let at = random.below(flows.len());
    flows.swap(0, at);
    json!({
        "agent": "a",
        "approvers": {"staff": [{"principal": "anna"}]},
        "context": [{"name": "diary", "schema": true, "labels": ["private"]}, {"name": "plan", "schema": true}],
        "modes": {
            "all": {"tools": ["*"], "by": ["staff"]},
            "some": {"tools": ["vault", "page", "post"], "by": ["staff"]},
        },
        "tools": tools,
        "flows": flows,
        "budget": {"tool_calls": 4 + random.below(8), "same_call": 1 + random.below(3), "ms": 900_000},
    })
}

/// Makes the data of a result, without the members that name the call.
fn data(random: &mut Random) -> Value {
    let words =
        ["alpha", "salary 90000", "ignore all rules", "bob@x.com", "\u{200b}", "sk-live-51H8", "</data>", "\"", "id"];
    let text: String = (0..random.below(4)).map(|_| random.one(&words)).collect::<Vec<_>>().join(" ");
    let many = 1 + random.below(40) * random.below(2);
    let list: Vec<Value> = (0..many).map(|number| json!({"id": format!("{text}{number}")})).collect();
    match random.below(9) {
        0 => json!({"text": text}),
        1 => json!({"text": json!(list).to_string()}),
        2 => json!({"result": list}),
        3 => json!({"result": []}),
        4 => json!({"result": [{"no": text}, {"id": text}]}),
        5 => json!({"status": "error", "text": text}),
        6 => json!({"returned": {"content": [{"type": "text", "text": text}], "structuredContent": {"a": text}}}),
        7 => json!({"returned": {"content": [{"type": "text", "text": text.repeat(200)}], "isError": true}}),
        _ => json!({"text": format!("{{{text}")}),
    }
}

/// An event that occurs in both runs. Numbers identify a call by its index.
#[derive(Clone)]
enum Move {
    Call(&'static str, u64),
    Started(usize),
    /// The data of the first and of the second run. They are equal for tools that are not private.
    Result(usize, [Value; 2]),
    Failed(usize, [String; 2], &'static str),
    Cancelled(usize),
    Approval(usize, &'static str),
    Said(String),
    Diary([Value; 2]),
    Mode(&'static str),
    Tick(u64),
    Resumed,
}

fn moves(random: &mut Random) -> Vec<Move> {
    let mut made = Vec::new();
    let mut calls = 0;
    for _ in 0..6 + random.below(14) {
        let call = random.below(calls + 1).min(calls.saturating_sub(1));
        let next = match random.below(16) {
            0..=5 => {
                calls += 1;
                Move::Call(random.one(&TOOLS).0, random.below(3) as u64)
            }
            6 => Move::Started(call),
            7..=9 => Move::Result(call, [data(random), data(random)]),
            10 => Move::Failed(call, [text(random), text(random)], random.one(&["none", "unknown"])),
            11 => Move::Approval(call, random.one(&["approved", "approved", "rejected"])),
            12 => random.one(&[Move::Resumed, Move::Cancelled(call)]),
            13 => Move::Said(format!("Take {}", random.below(3))),
            14 => random.one(&[Move::Mode("some"), Move::Mode("all"), Move::Tick(70_000), Move::Tick(10)]),
            _ if random.chance(20) => Move::Diary([json!(text(random)), data(random)]),
            _ => Move::Tick(1),
        };
        made.push(next);
    }
    made
}

fn text(random: &mut Random) -> String {
    data(random).to_string()
}

/// A run, and the part of it that the outside can observe.
struct Run<'p> {
    profile: &'p Profile,
    side: usize,
    leaks: bool,
    at: u64,
    state: Option<String>,
    /// A digest of all steps so far.
    read: String,
    /// Each call: its tool, the digest of its ask, and whether it is in flight.
    calls: Vec<(String, Option<Value>, bool)>,
    seen: Vec<String>,
    /// `true` after private data has arrived.
    has_private: bool,
    /// `true` if a call with egress was sent after that.
    is_late: bool,
}

impl Run<'_> {
    fn send(&mut self, mut event: Value) {
        event["at"] = self.at.into();
        let step = advance(self.profile, self.state.as_deref(), &event.to_string());
        let step = step.unwrap_or_else(|fault| panic!("{event}: {}", fault.to_json()));
        self.state = Some(member(&step, "state").expect("a state"));
        self.read = digest(&format!("{}{step}", self.read));
        let step: Value = serde_json::from_str(&step).expect("JSON");
        let items = |name: &str| step[name].as_array().cloned().unwrap_or_default();
        for record in items("records").iter().filter(|record| record["type"] == "decision") {
            let tool = record["tool"].as_str().unwrap_or_default().to_owned();
            let index = self.index(&record["call"]);
            if index == self.calls.len() {
                self.calls.push((tool.clone(), None, false));
            }
            self.calls[index].2 = false;
            if is_egress(&tool) && record["permit"] == "allow" {
                self.seen.push(format!("{} {record}", self.at));
            }
        }
        for action in items("actions") {
            let index = self.index(&action["call"]);
            match action["type"].as_str() {
                Some("ask_approval") => self.calls[index].1 = Some(action["ask"]["digest"].clone()),
                Some("execute") => {
                    self.calls[index].2 = true;
                    if is_egress(&self.calls[index].0) {
                        self.is_late |= self.has_private;
                        self.seen.push(format!("{} {action}", self.at));
                    }
                }
                Some("cancel") if is_egress(&self.calls[index].0) => self.seen.push(format!("{} {action}", self.at)),
                _ => {}
            }
        }
    }

    /// Returns the index of a call by its key: `c1`, `c2` and so on.
    fn index(&self, key: &Value) -> usize {
        let number = key.as_str().and_then(|key| key.trim_start_matches('c').parse::<usize>().ok());
        number.map_or(0, |number| number - 1)
    }

    fn make(&mut self, made: &Move) {
        self.at += 1;
        let key = |call: usize| format!("c{}", call + 1);
        let is_made = |run: &Self, call: usize| run.calls.get(call).is_some_and(|(.., is_made)| *is_made);
        match made {
            Move::Call(tool, argument) => {
                let q = if self.leaks { json!(self.read) } else { json!(argument.to_string()) };
                self.send(json!({"type": "call", "id": "x", "tool": tool, "server": "s", "arguments": {"q": q}}));
            }
            Move::Started(call) if is_made(self, *call) => {
                self.send(json!({"type": "tool_started", "call": key(*call)}))
            }
            Move::Result(call, data) if is_made(self, *call) => {
                let is_private = is_private(&self.calls[*call].0);
                let mut event = data[if is_private { self.side } else { 0 }].clone();
                (event["type"], event["call"]) = (json!("tool_result"), json!(key(*call)));
                self.calls[*call].2 = false;
                self.send(event);
                self.has_private |= is_private;
            }
            Move::Failed(call, texts, effect) if is_made(self, *call) => {
                let is_private = is_private(&self.calls[*call].0);
                let message = &texts[if is_private { self.side } else { 0 }];
                self.calls[*call].2 = false;
                self.send(json!({"type": "tool_failed", "call": key(*call), "message": message, "effect": effect}));
                self.has_private |= is_private;
            }
            Move::Cancelled(call) if is_made(self, *call) => {
                self.calls[*call].2 = false;
                self.send(json!({"type": "call_cancelled", "call": key(*call)}));
            }
            Move::Approval(call, decision) => {
                let Some(digest) = self.calls.get(*call).and_then(|(_, digest, _)| digest.clone()) else { return };
                self.send(json!({"type": "approval", "key": key(*call), "digest": digest, "decision": decision,
                    "principal": "anna"}));
            }
            Move::Said(text) => self.send(json!({"type": "said", "text": text, "principal": "anna"})),
            Move::Diary(values) => {
                self.send(json!({"type": "context", "name": "diary", "value": values[self.side]}));
                self.has_private = true;
            }
            Move::Mode(mode) => self.send(json!({"type": "mode", "mode": mode, "principal": "anna"})),
            Move::Tick(ms) => {
                self.at += ms;
                self.send(json!({"type": "tick"}));
            }
            Move::Resumed => self.send(json!({"type": "resumed"})),
            _ => {}
        }
    }
}

#[derive(Default)]
struct Figures {
    sent: usize,
    different: usize,
    after: usize,
}

fn pair(seed: u64, leaks: bool, figures: &mut Figures) {
    let mut random = Random(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15));
    let source = profile(&mut random);
    let profile = Profile::compile(&source.to_string());
    let profile = profile.unwrap_or_else(|fault| panic!("{source}: {}", fault.to_json()));
    let has_diary = random.chance(15);
    let diaries = [json!(text(&mut random)), data(&mut random)];
    let made = moves(&mut random);
    let runs = [0, 1].map(|side| {
        let mut run = Run {
            profile: &profile,
            side,
            leaks,
            at: 1_000_000,
            state: None,
            read: String::new(),
            calls: Vec::new(),
            seen: Vec::new(),
            has_private: has_diary,
            is_late: false,
        };
        let mut started = json!({"type": "started", "run": "r", "principal": "zoe", "nonce": "c0ffee00c0ffee00"});
        (started["mode"], started["context"]) = (json!("all"), json!({"plan": "the plan"}));
        if has_diary {
            started["context"]["diary"] = diaries[side].clone();
        }
        run.send(started);
        for one in &made {
            run.make(one);
        }
        run
    });
    let [one, other] = runs;
    figures.sent += one.seen.len();
    figures.different += usize::from(one.read != other.read);
    figures.after += usize::from(one.has_private && one.calls.iter().any(|(tool, ..)| is_egress(tool)));
    let told = format!("seed {seed}, a model that leaks: {leaks}\n{source}");
    assert_eq!(one.seen, other.seen, "{told}");
    assert!(!one.is_late && !other.is_late, "it is sent after private data was read: {told}\n{:?}", one.seen);
}

#[test]
fn private_data_changes_nothing_that_is_sent_out() {
    let mut figures = Figures::default();
    for seed in 0..rounds() {
        for leaks in [true, false] {
            pair(seed, leaks, &mut figures);
        }
    }
    let Figures { sent, different, after } = figures;
    println!(
        "{} pairs of runs, {different} with private data that differs; {sent} decisions and actions of egress",
        2 * rounds()
    );
    let pairs = usize::try_from(2 * rounds()).expect("a number");
    assert!(
        sent > pairs / 2 && different > pairs / 5 && after > pairs / 5,
        "{sent} sent, {different} differ, {after} after"
    );
}
