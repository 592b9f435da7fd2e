//! Compares the follow-up calls that an approval covers with a list of approved calls. The calls have random values,
//! principals and times.

use seamgate_kernel::{Profile, permit};
use seamgate_tests::Random;
use serde_json::{Value, json};

const RUNS: u64 = 300;
const CALLS: usize = 60;

/// The seconds for which a follow-up call is covered.
const TTL_S: u64 = 100;

/// Numbers in canonical form, each with its spellings.
const AMOUNTS: [(&str, &[&str]); 2] = [("12.5", &["12.5", "12.50", "125e-1"]), ("13", &["13", "13.0", "1.3E1"])];

/// `ben` may approve both tools, `cleo` may approve payments and calls that the flow asks about, and `dora` may approve
/// all calls.
const PRINCIPALS: [&str; 3] = ["ben", "cleo", "dora"];

fn profile() -> Profile {
    let profile = json!({
        "agent": "payer",
        "approvers": {
            "owners": [{"principal": "ben"}, {"principal": "dora"}],
            "lead": [{"principal": "cleo"}, {"principal": "dora"}],
        },
        "tools": [
            {
                "name": "pay",
                "effect": "effectful",
                "permit": {"approval": {"by": ["owners", "lead"]}},
                "covers": [{
                    "tool": "confirm",
                    "same": [{"path": "$.ids[*]", "as": "$.payments[*]"}, {"path": "$.amount"}],
                    "ttl_s": TTL_S,
                }],
            },
            {"name": "confirm", "effect": "effectful", "egress": true, "permit": {"approval": {"by": ["owners"]}}},
        ],
        "flows": [{"after": "untrusted", "to": "egress", "then": {"approval": {"by": ["lead"]}}}],
    });
    Profile::compile(&profile.to_string()).expect("a profile")
}

/// A follow-up call that a principal approved.
struct Approved {
    values: (Vec<&'static str>, &'static str),
    principal: &'static str,
    until: u64,
}

/// The facts of a run, as a host stores them.
struct Host {
    profile: Profile,
    facts: Value,
    calls: usize,
}

impl Host {
    /// Returns the decision about a call, and stores the facts that it changes.
    fn permit(&mut self, tool: &str, arguments: &str, key: usize) -> Value {
        let call = json!({"key": format!("c{key}"), "tool": tool, "arguments": arguments});
        let decision = permit(&self.profile, &self.facts.to_string(), &call.to_string()).expect("a decision");
        let decision: Value = serde_json::from_str(&decision).expect("JSON");
        for (name, value) in decision["facts"].as_object().expect("an object") {
            self.facts[name] = value.clone();
        }
        decision
    }

    /// Requests a call and lets a principal approve it. Returns whether the call then runs.
    fn approved(&mut self, tool: &str, arguments: &str, principal: &str) -> bool {
        self.calls += 1;
        let decision = self.permit(tool, arguments, self.calls);
        if decision["permit"] == "allow" {
            return true;
        }
        let mut approvals = self.facts["approvals"].as_array().cloned().unwrap_or_default();
        approvals.push(json!({
            "key": decision["key"], "digest": decision["digest"], "decision": "approved", "principal": principal,
            "at": self.facts["at"],
        }));
        self.facts["approvals"] = Value::Array(approvals);
        self.permit(tool, arguments, self.calls)["permit"] == "allow"
    }
}

#[test]
fn what_was_not_approved_is_not_covered() {
    let (mut covered, mut asked) = (0, 0);
    for seed in 0..RUNS {
        let mut random = Random(seed);
        let facts = json!({"run": "r1", "principal": "joe", "nonce": "c0ffee00c0ffee00", "at": 1_790_000_000_000u64});
        let mut host = Host { profile: profile(), facts, calls: 0 };
        let mut approved: Vec<Approved> = Vec::new();
        for _ in 0..CALLS {
            let now = host.facts["at"].as_u64().expect("a time") + random.below(40_000) as u64;
            host.facts["at"] = json!(now);
            if random.chance(5) {
                host.facts["labels"] = json!(["untrusted"]);
            }
            let ids: Vec<&str> = (0..1 + random.below(2)).map(|_| random.one(&["p1", "p2"])).collect();
            let (amount, spellings) = random.one(&AMOUNTS);
            let (list, amount_sent) = (json!(ids), random.one(spellings));
            if random.chance(40) {
                let principal = random.one(&PRINCIPALS);
                let arguments = format!(r#"{{"payments":{list},"amount":{amount_sent}}}"#);
                assert!(host.approved("pay", &arguments, principal));
                let values = (ids, amount);
                approved.retain(|one| one.values != values);
                approved.push(Approved { values, principal, until: now + TTL_S * 1000 });
                continue;
            }
            // Members without a path are unconstrained.
            let arguments = format!(r#"{{"code":{},"amount":{amount_sent},"ids":{list}}}"#, random.below(10_000));
            host.calls += 1;
            let decision = host.permit("confirm", &arguments, host.calls);
            let may = |principal: &str| match host.facts["labels"].is_null() {
                true => principal != "cleo",
                false => principal == "dora",
            };
            let is_it = |one: &Approved| one.values == (ids.clone(), amount) && now < one.until && may(one.principal);
            match approved.iter().position(is_it) {
                Some(place) => {
                    assert_eq!(decision["permit"], "allow", "seed {seed}: {decision}");
                    assert_eq!(decision["approval"]["principal"], approved[place].principal, "seed {seed}");
                    approved.remove(place);
                    covered += 1;
                }
                None => {
                    assert_eq!(decision["permit"], "approval", "seed {seed}: {decision}");
                    asked += 1;
                }
            }
        }
    }
    println!("{covered} follow-up calls were covered, {asked} asked");
    assert!(covered > 500 && asked > 1_000, "{covered} covered, {asked} asked");
}
