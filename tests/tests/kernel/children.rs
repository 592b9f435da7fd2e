//! Children: each profile member that judges an agent's calls also judges the calls of the agent's children.

use std::collections::BTreeSet;

use seamgate_kernel::{Profile, advance};
use seamgate_tests::Random;
use serde_json::{Value, json};

/// An Ed25519 key in the format of profiles. These tests verify no signatures.
const KEY: &str = "A6EHv_POEL4dcN0Y50vAmWfk1jCbpQ1fHdyGZBJVMbg";

/// A child's call and its expected outcome: `allow`, `approval`, or the code of a denial.
struct Case {
    /// Changes the parent's profile so that the member forbids the last call.
    parent: fn(&mut Value),
    /// Changes the profile of the child.
    child: fn(&mut Value),
    /// The calls in order. They are made in the child and in the parent itself. The last one is checked.
    calls: &'static [(&'static str, &'static str)],
    outcome: &'static str,
}

enum Member {
    Judges(Case),
    /// The member does not affect calls of children. The text is the reason.
    JudgesNone(&'static str),
}

const fn judges(
    parent: fn(&mut Value),
    calls: &'static [(&'static str, &'static str)],
    outcome: &'static str,
) -> Member {
    Member::Judges(Case { parent, child: |_| {}, calls, outcome })
}

const ACT: (&str, &str) = ("act", r#"{"service":"prod"}"#);

/// The same call with more than 256 bytes of arguments.
const ACT_AT_LENGTH: (&str, &str) = (
    "act",
    r#"{"service":"cart","note":"long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long "}"#,
);
const LOOK: (&str, &str) = ("look", "{}");

/// Returns each member of a profile, of its tools, of their `result`, and of its budget.
fn members() -> Vec<(&'static str, Member)> {
    use Member::JudgesNone;
    let by_mode = "a mode decides which tools are handed on: see `modes_of_a_parent_hold_for_its_children`";
    let carved = "it is carved from the parent's, see tests/runs/delegation/carved*";
    let told = "it says what the model is told, and what is evidence";
    vec![
        ("$schema", JudgesNone("it is for editors")),
        ("$comment", JudgesNone("it is for people")),
        ("agent", JudgesNone("it names the agent")),
        ("version", JudgesNone("it names the version")),
        ("description", JudgesNone("it is for people")),
        ("task", JudgesNone("it judges the task: scopes that name the task are with `scope`")),
        (
            "context",
            judges(
                |parent| {
                    parent["context"] = json!([{"name": "notes", "schema": true, "labels": ["private"]}]);
                    parent["flows"] = json!([{"after": "private", "to": "effectful", "then": "deny"}]);
                },
                &[ACT],
                // The context is not passed to the child.
                "parent|flow",
            ),
        ),
        ("prompt", JudgesNone("it is what the model is told")),
        ("modes", JudgesNone(by_mode)),
        (
            "approvers",
            judges(
                |parent| {
                    parent["approvers"] = json!({"oncall": [{"principal": "anna", "key": KEY}]});
                    parent["tools"][0]["permit"] = json!({"approval": {"by": ["oncall"]}});
                },
                &[ACT],
                "approval",
            ),
        ),
        ("tools", judges(|parent| parent["tools"][0]["name"] = json!("other"), &[ACT], "parent|unknown_tool")),
        ("servers", JudgesNone("it is about messages: see `methods_of_a_parent_hold_for_its_children`")),
        ("user_messages", JudgesNone("it is about messages of a client: a child has none")),
        (
            "deny",
            judges(
                |parent| {
                    parent["deny"] = json!([{"tool": "act", "when": {"properties": {"service": {"const": "prod"}}}, "reason": "no"}]);
                },
                &[ACT],
                "deny",
            ),
        ),
        (
            "flows",
            judges(
                |parent| parent["flows"] = json!([{"after": "untrusted", "to": "effectful", "then": "deny"}]),
                &[LOOK, ACT],
                "flow",
            ),
        ),
        ("budget", JudgesNone("see its members")),
        ("final", JudgesNone("it judges the answer")),
        ("on_limit", JudgesNone("it says how a run ends")),
        ("on_reject", JudgesNone("it says whether a run ends")),
        ("projections", JudgesNone("it says what audiences see")),
        (
            "delegate",
            JudgesNone("what is not handed on is not there: see tests/runs/child/no-grandchild and delegation/flow"),
        ),
        ("tools.$comment", JudgesNone("it is for people")),
        ("tools.name", judges(|parent| parent["tools"][0]["name"] = json!("other"), &[ACT], "parent|unknown_tool")),
        (
            "tools.server",
            Member::Judges(Case {
                parent: |_| {},
                child: |child| child["tools"][0]["server"] = json!("elsewhere"),
                calls: &[ACT],
                outcome: "parent|allow",
            }),
        ),
        (
            "tools.definition",
            judges(
                |parent| {
                    parent["tools"][0]["definition"] = json!({
                        "name": "act",
                        "inputSchema": {"type": "object", "properties": {"service": {"enum": ["cart"]}}},
                    });
                },
                &[ACT],
                "definition",
            ),
        ),
        (
            "tools.definitions",
            judges(
                |parent| {
                    parent["tools"][0]["name"] = json!("a*");
                    parent["tools"][0]["definitions"] = json!([
                        {"name": "acted"},
                        {"name": "act", "inputSchema": {"type": "object", "properties": {"service": {"enum": ["cart"]}}}},
                    ]);
                },
                &[ACT],
                "definition",
            ),
        ),
        (
            "tools.formats",
            judges(
                |parent| {
                    parent["tools"][0]["definition"] = json!({
                        "name": "act",
                        "inputSchema": {"type": "object", "properties": {"service": {"format": "ipv4"}}},
                    });
                    parent["tools"][0]["formats"] = json!("assert");
                },
                &[ACT],
                "definition",
            ),
        ),
        (
            "tools.effect",
            Member::Judges(Case {
                parent: |parent| {
                    parent["flows"] = json!([{"after": "untrusted", "to": "effectful", "then": "deny"}]);
                },
                child: |child| child["tools"][0]["effect"] = json!("read"),
                calls: &[LOOK, ACT],
                outcome: "flow",
            }),
        ),
        (
            "tools.egress",
            Member::Judges(Case {
                parent: |parent| {
                    parent["tools"][0]["egress"] = json!(true);
                    parent["flows"] = json!([{"after": "untrusted", "to": "egress", "then": "deny"}]);
                },
                child: |child| child["tools"][0]["egress"] = json!(false),
                calls: &[LOOK, ACT],
                outcome: "flow",
            }),
        ),
        (
            "tools.arguments",
            judges(
                |parent| parent["tools"][0]["arguments"] = json!({"properties": {"service": {"enum": ["cart"]}}}),
                &[ACT],
                "arguments",
            ),
        ),
        (
            "tools.max_arguments_bytes",
            judges(|parent| parent["tools"][0]["max_arguments_bytes"] = json!(256), &[ACT_AT_LENGTH], "too_large"),
        ),
        (
            "tools.scope",
            judges(
                |parent| parent["tools"][0]["scope"] = json!([{"path": "$.service", "from": ["task"]}]),
                &[ACT],
                "scope",
            ),
        ),
        (
            "tools.origins",
            judges(
                |parent| {
                    parent["tools"][0]["origins"] = json!([{"path": "$.service", "from": ["task"], "else": "deny"}]);
                },
                &[ACT],
                "origin",
            ),
        ),
        (
            "tools.secrets",
            Member::Judges(Case {
                parent: |parent| {
                    parent["tools"][0]["secrets"] = json!([{"path": "$.service", "names": ["other"]}]);
                },
                child: |child| child["tools"][0]["secrets"] = json!([{"path": "$.service", "names": ["own"]}]),
                calls: &[("act", r#"{"service":"secret:own"}"#)],
                outcome: "secret",
            }),
        ),
        (
            "tools.permit",
            judges(
                |parent| {
                    parent["approvers"] = json!({"oncall": [{"principal": "anna"}]});
                    parent["tools"][0]["permit"] = json!({"approval": {"by": ["oncall"]}});
                },
                &[ACT],
                "approval",
            ),
        ),
        (
            "tools.result",
            Member::Judges(Case {
                parent: |parent| {
                    parent["tools"][1]["result"] = json!({"labels": ["secret"]});
                    parent["flows"] = json!([{"after": "secret", "to": "effectful", "then": "deny"}]);
                },
                child: |child| child["tools"][1]["result"] = json!({"labels": []}),
                calls: &[LOOK, ACT],
                outcome: "flow",
            }),
        ),
        ("tools.store", JudgesNone("it labels data for other runs: see `stores`")),
        ("tools.covers", JudgesNone("an approval covers no follow-up call of a child: see tests/runs/covers/child")),
        ("tools.examples", JudgesNone("they are tried when the profile is loaded")),
        ("tools.equal_calls", JudgesNone("it is for the gate for MCP, whose calls have no children")),
        ("tools.same_call", judges(|parent| parent["tools"][0]["same_call"] = json!(1), &[ACT, ACT], "same_call")),
        ("tools.rate", judges(|parent| parent["tools"][0]["rate"] = json!("1/hour"), &[ACT, ACT], "rate")),
        ("budget.steps", JudgesNone(carved)),
        ("budget.tool_calls", JudgesNone(carved)),
        ("budget.tokens", JudgesNone(carved)),
        ("budget.ms", JudgesNone("the child ends with the deadline: see tests/runs/delegation/deadline")),
        ("budget.same_call", judges(|parent| parent["budget"]["same_call"] = json!(1), &[ACT, ACT], "same_call")),
        ("budget.state_bytes", JudgesNone("it limits a state, and each run has its own")),
        ("tools.result.partial", label("partial")),
        ("tools.result.sampled", label("sampled")),
        ("tools.result.freshness", label("stale")),
        ("tools.result.labels", label("own")),
        ("tools.result.max_bytes", label("truncated")),
        ("tools.result.max_media_bytes", JudgesNone("a result without a part is truncated: see `max_bytes`")),
        (
            "tools.result.clean",
            JudgesNone("the strictest of all agents that have the tool holds: it changes a text, not a call"),
        ),
        ("tools.result.media", JudgesNone("a result without a part is truncated: see `max_bytes`")),
        ("tools.result.schema", JudgesNone("what is invalid has no label of its own")),
        ("tools.result.items", JudgesNone("a list that is cut is truncated: see `max_bytes`")),
        ("tools.result.keep", JudgesNone("it says what is shown")),
        ("tools.result.provenance", JudgesNone(told)),
        ("tools.result.confidence", JudgesNone(told)),
        ("tools.result.supports", JudgesNone(told)),
    ]
}

/// Returns the case of a label that the parent's rule gives to a result, but the child's rule does not.
fn label(label: &'static str) -> Member {
    let parent: fn(&mut Value) = match label {
        "partial" => |parent| after(parent, "partial", json!({"partial": "$.some", "labels": []})),
        "sampled" => |parent| after(parent, "sampled", json!({"sampled": "$.some", "labels": []})),
        "stale" => |parent| {
            after(parent, "stale", json!({"freshness": {"path": "$.until", "max_lag_s": 60}, "labels": []}));
        },
        "truncated" => |parent| after(parent, "truncated", json!({"max_bytes": 256, "labels": []})),
        _ => |parent| after(parent, "own", json!({"labels": ["own"]})),
    };
    let child: fn(&mut Value) = |child| child["tools"][1]["result"] = json!({"labels": []});
    Member::Judges(Case { parent, child, calls: &[LOOK, ACT], outcome: "flow" })
}

fn after(parent: &mut Value, label: &str, result: Value) {
    parent["tools"][1]["result"] = result;
    parent["flows"] = json!([{"after": label, "to": "effectful", "then": "deny"}]);
}

fn agent(name: &str) -> Value {
    json!({
        "agent": name,
        "prompt": {"role": name, "rules": []},
        "tools": [
            {"name": "act", "effect": "effectful", "permit": "allow", "result": {"labels": []}},
            {"name": "look", "effect": "read", "permit": "allow"},
        ],
        "budget": {"steps": 20, "tool_calls": 40},
        "final": {"contract": {"agent": "answer", "schema": {"type": "object"}}},
    })
}

/// A run in the native kernel.
struct Run {
    profile: Profile,
    state: Option<String>,
    at: u64,
    /// The last action `ask_model`.
    model: Value,
}

impl Run {
    fn new(profile: &Value) -> Self {
        let profile = Profile::compile(&profile.to_string()).unwrap_or_else(|fault| panic!("{fault:?}\n{profile:#}"));
        Run { profile, state: None, at: 1_790_000_000_000, model: Value::Null }
    }

    fn send(&mut self, mut event: Value) -> Value {
        self.at += 1000;
        event["at"] = json!(self.at);
        let step = advance(&self.profile, self.state.as_deref(), &event.to_string());
        let step: Value =
            serde_json::from_str(&step.unwrap_or_else(|fault| panic!("{event}: {fault:?}"))).expect("JSON");
        self.state = Some(step["state"].to_string());
        if let Some(asked) = of_type(&step["actions"], "ask_model") {
            self.model = asked["key"].clone();
        }
        step
    }

    fn start(&mut self, run: &str, parent: Option<&Value>) {
        let mut event = json!({
            "type": "started", "run": run, "principal": "joe", "nonce": "c0ffee00c0ffee00",
            "task": {"service": "cart"}, "context": {"notes": "x"}, "lists": {"services": ["cart"]},
        });
        if let Some(parent) = parent {
            event["parent"] = parent.clone();
        }
        self.send(event);
    }

    /// Makes the model request a call. Returns the decision: `allow`, `approval`, or the code of a denial.
    fn call(&mut self, tool: &str, arguments: &str) -> (String, Value) {
        let key = self.model.clone();
        let step =
            self.send(json!({"type": "model_output", "key": key, "calls": [{"tool": tool, "arguments": arguments}]}));
        let decision = of_type(&step["records"], "decision").expect("a decision");
        let outcome = match decision["permit"].as_str() {
            Some("deny") => decision["reasons"][0]["code"].as_str().unwrap_or_default().to_owned(),
            permit => permit.unwrap_or_default().to_owned(),
        };
        if outcome == "allow" && of_type(&step["actions"], "delegate").is_none() {
            let call = decision["call"].clone();
            self.send(json!({"type": "tool_started", "call": call}));
            let result = json!({"some": true, "until": "2026-09-21T00:00:00Z", "text": "x".repeat(1000)});
            self.send(json!({"type": "tool_result", "call": call, "result": result}));
        }
        (outcome, step)
    }

    fn calls(&mut self, calls: &[(&str, &str)]) -> (String, Value) {
        let mut last = (String::new(), Value::Null);
        for (tool, arguments) in calls {
            last = self.call(tool, arguments);
        }
        last
    }
}

fn of_type(list: &Value, kind: &str) -> Option<Value> {
    list.as_array()?.iter().find(|one| one["type"] == kind).cloned()
}

fn with_child(mut parent: Value, child: &Value) -> Value {
    let digest = Profile::compile(&child.to_string()).expect("a profile").digest().to_owned();
    parent["delegate"] = json!([{
        "agent": "child", "profile": digest, "tools": ["*"], "permit": "allow", "budget": {"steps": 12, "tool_calls": 12},
    }]);
    parent
}

/// Starts a child of a parent. Returns the child and the action of the delegation.
fn delegate(parent: &mut Run, child: &Value) -> (Run, Value) {
    let (outcome, step) = parent.call("delegate_child", r#"{"reason":"because"}"#);
    assert_eq!(outcome, "allow");
    let action = of_type(&step["actions"], "delegate").expect("the child is started");
    let mut run = Run::new(child);
    run.start("p1/c1", Some(&action["parent"]));
    (run, action)
}

fn in_a_child(parent: &Value, child: &Value, calls: &[(&str, &str)]) -> (String, Value) {
    let mut run = Run::new(&with_child(parent.clone(), child));
    run.start("p1", None);
    delegate(&mut run, child).0.calls(calls)
}

#[test]
fn each_member_that_judges_an_agent_judges_its_children() {
    for (name, member) in members() {
        let Member::Judges(case) = member else { continue };
        let (mut parent, mut child) = (agent("parent"), agent("child"));
        // Without the member, the child's call is allowed.
        assert_eq!(in_a_child(&parent, &child, case.calls).0, "allow", "{name}: without it");
        (case.parent)(&mut parent);
        (case.child)(&mut child);
        let mut itself = Run::new(&parent);
        itself.start("p1", None);
        let (own, _) = itself.calls(case.calls);
        let (below, step) = in_a_child(&parent, &child, case.calls);
        let (wanted, wanted_itself) = case.outcome.split_once('|').unwrap_or((case.outcome, case.outcome));
        assert_eq!(own, wanted_itself, "{name}: the parent itself");
        assert_eq!(below, wanted, "{name}: its child: {step:#}");
    }
}

#[test]
fn each_member_of_a_profile_is_in_the_table() {
    let schema: Value = serde_json::from_str(include_str!("../../../schemas/profile.schema.json")).expect("JSON");
    let names = |at: &Value, prefix: &str| -> Vec<String> {
        let members = at["properties"].as_object().expect("members");
        members.keys().map(|name| format!("{prefix}{name}")).collect()
    };
    let tool = &schema["$defs"]["tool"];
    let result = match tool["properties"]["result"]["$ref"].as_str() {
        Some(reference) => &schema["$defs"][reference.trim_start_matches("#/$defs/")],
        None => &tool["properties"]["result"],
    };
    let known: BTreeSet<String> = [
        names(&schema, ""),
        names(tool, "tools."),
        names(result, "tools.result."),
        names(&schema["$defs"]["budget"], "budget."),
    ]
    .concat()
    .into_iter()
    .collect();
    let members = members();
    let table: BTreeSet<String> = members.iter().map(|(name, _)| (*name).to_owned()).collect();
    assert_eq!(known, table, "say whether a member judges the calls of a child, and show it");
    for (name, member) in members {
        if let Member::JudgesNone(why) = member {
            assert!(!why.is_empty(), "{name}");
        }
    }
}

#[test]
fn modes_of_a_parent_hold_for_its_children() {
    let mut parent = agent("parent");
    parent["modes"] = json!({"look": {"tools": ["look", "delegate_child"]}});
    assert_eq!(in_a_child(&parent, &agent("child"), &[ACT]).0, "parent");
}

#[test]
fn methods_of_a_parent_hold_for_its_children() {
    let mut child = agent("child");
    child["servers"] = json!({"": {"methods": ["*"]}});
    for (methods, permit) in [(json!(["prompts/*"]), "allow"), (json!([]), "deny")] {
        let mut parent = agent("parent");
        parent["servers"] = json!({"": {"methods": methods}});
        let mut run = Run::new(&with_child(parent, &child));
        run.start("p1", None);
        let (mut below, _) = delegate(&mut run, &child);
        let event = json!({"type": "message", "id": "m1", "server": "", "method": "prompts/get", "from": "client"});
        let step = below.send(event);
        assert_eq!(of_type(&step["records"], "message").expect("a record")["permit"], permit);
    }
}

#[test]
fn a_key_counts_whoever_has_it() {
    let approval = json!({"approval": {"by": ["oncall"]}});
    let group = |key: Option<&str>| match key {
        Some(key) => json!({"oncall": [{"principal": "anna", "key": key}]}),
        None => json!({"oncall": [{"principal": "anna"}]}),
    };
    let other = "11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo";
    for (of_parent, of_child, keys) in [
        (Some(KEY), None, json!({"anna": [KEY]})),
        (None, Some(KEY), json!({"anna": [KEY]})),
        (Some(KEY), Some(KEY), json!({"anna": [KEY]})),
        // No key is valid for both.
        (Some(KEY), Some(other), json!({"anna": []})),
        (None, None, Value::Null),
    ] {
        let (mut parent, mut child) = (agent("parent"), agent("child"));
        parent["approvers"] = group(of_parent);
        parent["tools"][0]["permit"] = approval.clone();
        child["approvers"] = group(of_child);
        let mut run = Run::new(&with_child(parent, &child));
        run.start("p1", None);
        let (mut below, _) = delegate(&mut run, &child);
        let (_, step) = below.calls(&[ACT]);
        let ask = &of_type(&step["actions"], "ask_approval").expect("an ask")["ask"];
        assert_eq!(ask["keys"], keys, "{of_parent:?} {of_child:?}");
        let event = json!({
            "type": "approval", "key": ask["key"], "digest": ask["digest"], "decision": "approved", "principal": "anna",
        });
        let step = below.send(event.clone());
        let ignored = of_type(&step["records"], "ignored").map(|record| record["code"].clone());
        assert_eq!(ignored, (!keys.is_null()).then(|| json!("token")));
    }
}

#[test]
fn equal_calls_count_over_the_whole_tree() {
    let child = agent("child");
    let mut parent = agent("parent");
    parent["budget"]["same_call"] = json!(2);
    let parent = with_child(parent, &child);
    // A call in the parent, a call in a child, and a call in the parent again.
    let mut run = Run::new(&parent);
    run.start("p1", None);
    assert_eq!(run.calls(&[ACT]).0, "allow");
    let (mut below, action) = delegate(&mut run, &child);
    assert_eq!(below.calls(&[ACT]).0, "allow");
    assert_eq!(below.calls(&[("act", r#"{"service":"other"}"#)]).0, "allow");
    assert_eq!(below.calls(&[("act", r#"{ "service": "prod" }"#)]).0, "same_call");
    let end = below.send(json!({"type": "cancelled", "principal": "joe"}));
    let finish = of_type(&end["actions"], "finish").expect("an end");
    let result = json!({"type": "child_result", "call": action["call"], "status": "final", "document": {}, "used": finish["used"]});
    run.send(result);
    assert_eq!(run.calls(&[ACT]).0, "same_call");
}

#[test]
fn children_that_run_at_once_share_the_limit_of_equal_calls() {
    let child = agent("child");
    for (limit, effect, started) in
        [(Some(1), "effectful", 1), (Some(2), "effectful", 2), (Some(1), "read", 2), (None, "effectful", 2)]
    {
        let mut parent = agent("parent");
        parent["tools"][0]["effect"] = json!(effect);
        if let Some(limit) = limit {
            parent["budget"]["same_call"] = json!(limit);
        }
        let mut run = Run::new(&with_child(parent, &child));
        run.start("p1", None);
        let key = run.model.clone();
        let call = |reason: &str| json!({"tool": "delegate_child", "arguments": {"reason": reason}});
        let own = json!({"tool": "act", "arguments": {"service": "prod"}});
        let step = run.send(json!({"type": "model_output", "key": key, "calls": [call("a"), call("b"), own]}));
        let delegated = |step: &Value| -> Vec<Value> {
            step["actions"]
                .as_array()
                .expect("actions")
                .iter()
                .filter(|one| one["type"] == "delegate")
                .cloned()
                .collect()
        };
        let first = delegated(&step);
        assert_eq!(first.len(), started, "{limit:?} {effect}");
        if started == 2 {
            let reserved = |one: &Value| one["parent"]["rules"][0]["reserved"].as_u64().unwrap_or_default();
            let expected = u64::from(limit == Some(2));
            assert_eq!(first.iter().map(reserved).collect::<Vec<_>>(), [expected, expected], "{limit:?} {effect}");
            // Of two equal calls, each child may make one, but not the call that the parent already made.
            for (calls, limited) in
                [(&[ACT][..], "same_call"), (&[("act", "{}")], "allow"), (&[("act", "{}"); 2], "same_call")]
            {
                let mut below = Run::new(&child);
                below.start("p1/c1", Some(&first[0]["parent"]));
                let wanted = if limit.is_some() { limited } else { "allow" };
                assert_eq!(below.calls(calls).0, wanted, "{limit:?} {effect} {calls:?}");
            }
            continue;
        }
        // The child counts its parent's call, although that call follows it in the same output.
        let mut below = Run::new(&child);
        below.start("p1/c1", Some(&first[0]["parent"]));
        assert_eq!(below.calls(&[ACT]).0, "same_call");
        run.send(json!({"type": "tool_started", "call": "c1"}));
        // An interruption does not change this.
        let step = run.send(json!({"type": "resumed"}));
        assert!(delegated(&step).len() == 1 && delegated(&step)[0]["call"] == "c1", "{step:#}");
        let used = json!({"steps": 1, "calls": {"0123456789abcdef0123456789abcdef": 1}});
        let step =
            run.send(json!({"type": "child_result", "call": "c1", "status": "final", "document": {}, "used": used}));
        let second = delegated(&step);
        assert_eq!(second.len(), 1);
        assert_eq!(second[0]["parent"]["rules"][0]["calls"]["0123456789abcdef0123456789abcdef"], 1);
    }
}

#[test]
fn a_rate_counts_over_the_whole_tree() {
    let child = agent("child");
    let mut parent = agent("parent");
    parent["tools"][0]["rate"] = json!("3/hour");
    let parent = with_child(parent, &child);
    // A call in the parent, a call in a child, and a call in the parent again, with and without a report of the child.
    for is_reported in [true, false] {
        let mut run = Run::new(&parent);
        run.start("p1", None);
        assert_eq!(run.calls(&[ACT]).0, "allow");
        let (mut below, action) = delegate(&mut run, &child);
        run.send(json!({"type": "tool_started", "call": action["call"]}));
        assert_eq!(below.calls(&[ACT]).0, "allow");
        let end = below.send(json!({"type": "cancelled", "principal": "joe"}));
        let finish = of_type(&end["actions"], "finish").expect("an end");
        let recent = finish["used"]["recent"]["act"].as_array().map(Vec::len);
        assert_eq!(recent, Some(1), "a child reports its own calls");
        let mut result = json!({"type": "child_result", "call": action["call"], "status": "final", "document": {}});
        if is_reported {
            result["used"] = finish["used"].clone();
        }
        run.send(result);
        let (next, last) = (run.calls(&[ACT]).0, run.calls(&[ACT]).0);
        let expected = if is_reported { ("allow", "rate") } else { ("rate", "rate") };
        assert_eq!((next.as_str(), last.as_str()), expected);
    }
}

#[test]
fn of_children_that_may_use_the_same_tool_with_a_rate_one_runs_at_a_time() {
    let child = agent("child");
    let mut parent = agent("parent");
    parent["tools"][0]["effect"] = json!("read");
    parent["tools"][0]["rate"] = json!("2/hour");
    parent["tools"][1]["permit"] = json!("deny");
    let mut run = Run::new(&with_child(parent, &child));
    run.start("p1", None);
    let key = run.model.clone();
    let call = |reason: &str| json!({"tool": "delegate_child", "arguments": {"reason": reason}});
    let delegated = |step: &Value| -> Vec<Value> {
        let actions = step["actions"].as_array().expect("actions").iter();
        actions.filter(|one| one["type"] == "delegate").cloned().collect()
    };
    let own = json!({"tool": "act", "arguments": {}});
    let step = run.send(json!({"type": "model_output", "key": key, "calls": [call("a"), call("b"), own]}));
    let first = delegated(&step);
    assert_eq!(first.len(), 1);
    // The first child counts its parent's call, and the second child counts both calls.
    let mut below = Run::new(&child);
    below.start("p1/c1", Some(&first[0]["parent"]));
    assert_eq!([below.calls(&[ACT]).0, below.calls(&[ACT]).0], ["allow", "rate"]);
    run.send(json!({"type": "tool_started", "call": "c1"}));
    let finish = below.send(json!({"type": "cancelled", "principal": "joe"}));
    let used = of_type(&finish["actions"], "finish").expect("an end")["used"].clone();
    let step = run.send(json!({"type": "child_result", "call": "c1", "status": "final", "document": {}, "used": used}));
    let second = delegated(&step);
    assert_eq!(second.len(), 1);
    let mut below = Run::new(&child);
    below.start("p1/c2", Some(&second[0]["parent"]));
    assert_eq!(below.calls(&[ACT]).0, "rate");
}

#[test]
fn bounds_without_rules_are_refused() {
    let child = Profile::compile(&agent("child").to_string()).expect("a profile");
    for parent in [
        json!({"run": "p1", "call": "c1", "tools": ["act"], "budget": {}}),
        json!({"run": "p1", "call": "c1", "tools": ["act"], "budget": {}, "rules": []}),
        json!({"run": "p1", "call": "c1", "tools": ["act"], "budget": {}, "rules": [{"profile": {"agent": "x"}}]}),
        json!({"run": "p1", "call": "c1", "tools": ["act"], "budget": {}, "rules": [{"profile": {}}], "more": 1}),
    ] {
        let event = json!({
            "type": "started", "at": 1_790_000_000_000_u64, "run": "p1/c1", "principal": "joe", "nonce": "c0ffee00c0ffee00",
            "parent": parent,
        });
        assert!(advance(&child, None, &event.to_string()).is_err(), "{parent}");
        let facts = json!({"run": "p1/c1", "at": 1, "principal": "joe", "parent": parent});
        let call = json!({"key": "1", "tool": "act", "arguments": {}});
        assert!(seamgate_kernel::permit(&child, &facts.to_string(), &call.to_string()).is_err(), "{parent}");
    }
}

/// Adds a few rules, possibly none.
fn random_rules(profile: &mut Value, random: &mut Random) {
    if random.chance(30) {
        let then = random.one(&["deny", "approval"]);
        let to = random.one(&["effectful", "read", "egress"]);
        profile["flows"] = json!([{"after": random.one(&["untrusted", "secret"]), "to": to, "then": then}]);
    }
    if random.chance(30) {
        let when =
            json!({"properties": {"service": {"const": random.one(&["prod", "cart"])}}, "required": ["service"]});
        profile["deny"] = json!([{"tool": random.one(&["act", "*", "look"]), "when": when, "reason": "no"}]);
    }
    if random.chance(30) {
        profile["budget"]["same_call"] = json!(1 + random.below(2));
    }
    profile["approvers"] = json!({"oncall": [{"principal": random.one(&["anna", "ben"])}]});
    for tool in profile["tools"].as_array_mut().into_iter().flatten() {
        tool["effect"] = json!(random.one(&["read", "idempotent", "effectful"]));
        tool["egress"] = json!(random.chance(30));
        if random.chance(25) {
            tool["permit"] = json!({"approval": {"by": ["oncall"], "ttl_s": 60}});
        }
        if random.chance(25) {
            tool["arguments"] = json!({"properties": {"service": {"enum": ["cart", random.one(&["prod", "db"])]}}});
        }
        if random.chance(25) {
            let within = match random.below(3) {
                0 => json!({"path": "$.service", "from": ["task"]}),
                1 => json!({"path": "$.service", "list": "services"}),
                _ => json!({"path": "$.services[*]", "values": ["cart"]}),
            };
            tool["scope"] = json!([within]);
        }
        let labels = random.one(&[json!([]), json!(["untrusted"]), json!(["secret"])]);
        tool["result"] = json!({"labels": labels});
    }
}

#[test]
fn no_child_may_do_more_than_its_parent() {
    let mut random = Random(41);
    let rank = |outcome: &str| match outcome {
        "allow" => 0,
        "approval" => 1,
        _ => 2,
    };
    let (mut denied, mut compared) = (0, 0);
    for round in 0..1500 {
        let (mut parent, mut child) = (agent("parent"), agent("child"));
        random_rules(&mut parent, &mut random);
        random_rules(&mut child, &mut random);
        let mut itself = Run::new(&parent);
        itself.start("p1", None);
        let mut run = Run::new(&with_child(parent.clone(), &child));
        run.start("p1", None);
        let mut alone = Run::new(&child);
        alone.start("p1", None);
        let (mut below, _) = delegate(&mut run, &child);
        for _ in 0..4 {
            let tool = random.one(&["act", "look"]);
            let arguments = random.one(&[
                r#"{"service":"prod"}"#,
                r#"{"service":"cart"}"#,
                r#"{"service":["cart"]}"#,
                r#"{"services":"cart"}"#,
                r#"{"services":["cart"]}"#,
                "{}",
            ]);
            let outcomes = [&mut itself, &mut alone, &mut below].map(|run| run.call(tool, arguments).0);
            let [by_parent, by_child, by_both] = outcomes.each_ref().map(|outcome| rank(outcome));
            // The result may be stricter: the child's flows also see the labels from the parent's rules.
            assert!(
                by_both >= by_parent.max(by_child),
                "round {round}: {tool} {arguments}: {outcomes:?}\n{parent:#}\n{child:#}"
            );
            compared += 1;
            denied += usize::from(by_parent > by_child);
            if by_both > 0 || by_parent > 0 || by_child > 0 {
                break;
            }
        }
    }
    assert!(compared > 2000 && denied > 300, "{denied} of {compared}");
}

#[test]
fn a_child_of_a_child_is_judged_by_both() {
    let (child, mut middle, mut top) = (agent("child"), agent("middle"), agent("top"));
    top["deny"] = json!([{"tool": "act", "when": {"required": ["service"]}, "reason": "no"}]);
    top["budget"]["same_call"] = json!(3);
    middle["flows"] = json!([{"after": "untrusted", "to": "effectful", "then": "deny"}]);
    let middle = with_child(middle, &child);
    let mut itself = Run::new(&with_child(top, &agent("child")));
    itself.start("p0", None);
    let (outcome, step) = itself.call("delegate_child", r#"{"reason":"because"}"#);
    assert_eq!(outcome, "allow");
    let mut parent = of_type(&step["actions"], "delegate").expect("the child is started")["parent"].clone();
    // A host that builds the bounds itself may delegate this tool.
    parent["tools"].as_array_mut().expect("tools").push(json!("delegate_child"));
    let mut run = Run::new(&middle);
    run.start("p1", Some(&parent));
    assert_eq!(run.calls(&[("act", "{}")]).0, "allow");
    let (mut below, action) = delegate(&mut run, &child);
    assert_eq!(action["parent"]["rules"].as_array().map(Vec::len), Some(2));
    assert_eq!(below.calls(&[ACT]).0, "deny");
    assert_eq!(below.calls(&[("act", "{}"), ("act", "{ }")]).0, "allow");
    assert_eq!(below.calls(&[("act", "{  }")]).0, "same_call");
    let (mut below, _) = {
        let mut run = Run::new(&middle);
        run.start("p1", Some(&parent));
        delegate(&mut run, &child)
    };
    assert_eq!(below.calls(&[LOOK, ("act", "{}")]).0, "flow");
}
