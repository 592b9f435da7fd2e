//! `rate` of a tool: a sliding window over the times of its permitted calls.

use seamgate_kernel::{Profile, permit};
use seamgate_tests::Random;
use serde_json::{Value, json};

const UNITS: [(&str, u64); 4] = [("second", 1_000), ("minute", 60_000), ("hour", 3_600_000), ("day", 86_400_000)];

/// The calls of a run, as the facts of their decisions count them.
struct Calls {
    profile: Profile,
    facts: Value,
    made: usize,
}

impl Calls {
    fn new(tools: &Value, above: Option<&Value>) -> Self {
        let profile = json!({"agent": "a", "tools": tools});
        let profile = Profile::compile(&profile.to_string()).expect("a profile");
        let mut facts = json!({"run": "r1", "at": 0, "principal": "joe"});
        if let Some(above) = above {
            let rules = json!([{"profile": {"agent": "b", "tools": above}}]);
            facts["parent"] = json!({"run": "r0", "call": "c0", "tools": ["*"], "rules": rules, "budget": {}});
        }
        Calls { profile, facts, made: 0 }
    }

    /// Decides about a call. The error is the message of a denial because of a rate.
    fn call(&mut self, tool: &str, at: u64) -> Result<(), String> {
        self.made += 1;
        self.facts["at"] = json!(at);
        let call = json!({"key": format!("c{}", self.made), "tool": tool, "arguments": {}}).to_string();
        let decision = permit(&self.profile, &self.facts.to_string(), &call).expect("a decision");
        let decision: Value = serde_json::from_str(&decision).expect("JSON");
        if decision["permit"] == "allow" {
            self.facts["used"] = decision["facts"]["used"].clone();
            return Ok(());
        }
        assert_eq!(decision["reasons"][0]["code"], "rate", "{decision:#}");
        Err(decision["reasons"][0]["message"].as_str().expect("a message").to_owned())
    }
}

/// Returns the number of seconds after which the next call may run, according to a denial.
fn seconds(message: &str) -> u64 {
    let (_, rest) = message.split_once("may run in ").expect("it says when");
    rest.split(' ').next().and_then(|number| number.parse().ok()).expect("a number")
}

#[test]
fn no_window_has_more_calls_than_the_rate_and_only_a_full_one_denies() {
    let mut random = Random(17);
    let (mut allowed_calls, mut denied_calls) = (0, 0);
    for round in 0..400 {
        let (unit, window) = random.one(&UNITS);
        let count = 1 + random.below(6);
        let tools = json!([{"name": "poll", "effect": "read", "permit": "allow", "rate": format!("{count}/{unit}")}]);
        // The same rate of a parent agent has the same effect.
        let free = json!([{"name": "poll", "effect": "read", "permit": "allow"}]);
        let mut calls = if random.chance(50) { Calls::new(&tools, None) } else { Calls::new(&free, Some(&tools)) };
        let goes_back = random.chance(30);
        let mut now = 1_790_000_000_000;
        let mut allowed: Vec<u64> = Vec::new();
        // A call that has left the window does not return to it if the clock goes back.
        let mut counted: Vec<u64> = Vec::new();
        for _ in 0..60 {
            let step = random.below(usize::try_from(window).expect("it fits") * 2 / count) as u64;
            now = if goes_back && random.chance(20) { now - step } else { now + step };
            let is_full = counted.iter().filter(|&&time| time + window > now).count() >= count;
            match calls.call("poll", now) {
                Ok(()) => {
                    assert!(!is_full, "round {round}: {allowed:?} {now}");
                    // After the clock went back, a new call still counts as later than the calls before it.
                    let time = allowed.last().map_or(now, |&last| last.max(now));
                    allowed.push(time);
                    counted.push(time);
                    counted.retain(|time| time + window > now);
                    allowed_calls += 1;
                }
                Err(message) => {
                    assert!(is_full, "round {round}: {message} {allowed:?} {now}");
                    assert!(message.contains(&format!("per {unit}: ")), "{message}");
                    let first = allowed[allowed.len() - count] + window;
                    let after = now + seconds(&message) * 1_000;
                    assert!(after >= first && after < first + 1_000, "{message} {first} {now}");
                    denied_calls += 1;
                }
            }
            assert!(calls.facts["used"]["recent"]["poll"].as_array().map_or(0, Vec::len) <= count);
        }
        for pair in allowed.windows(count + 1) {
            assert!(pair[count] - pair[0] >= window, "round {round}: {count}/{unit} {pair:?}");
        }
    }
    assert!(allowed_calls > 5_000 && denied_calls > 2_000, "{allowed_calls} {denied_calls}");
}

#[test]
fn each_tool_has_its_rate_for_itself() {
    let tools = json!([
        {"name": "get_*", "server": "s", "effect": "read", "permit": "allow", "rate": "1/minute",
         "definitions": [{"name": "get_a"}, {"name": "get_b"}]},
        {"name": "look", "effect": "read", "permit": "allow"},
    ]);
    let mut calls = Calls::new(&tools, None);
    for (tool, at, expected) in [
        ("get_a", 0, Ok(())),
        ("get_b", 1, Ok(())),
        ("look", 2, Ok(())),
        ("look", 3, Ok(())),
        ("get_a", 4_500, Err("\"s/get_a\" is limited to 1 call per minute: the next one may run in 56 seconds")),
        ("get_a", 59_999, Err("\"s/get_a\" is limited to 1 call per minute: the next one may run in 1 second")),
        ("get_a", 60_000, Ok(())),
        ("get_b", 60_000, Err("\"s/get_b\" is limited to 1 call per minute: the next one may run in 1 second")),
        ("get_b", 60_001, Ok(())),
    ] {
        assert_eq!(calls.call(tool, at), expected.map_err(str::to_owned), "{tool} {at}");
    }
    assert_eq!(calls.facts["used"]["recent"], json!({"s/get_a": [60_000], "s/get_b": [60_001]}));
}

#[test]
fn of_the_rates_of_several_agents_each_holds() {
    let tool = |rate: &str| json!([{"name": "poll", "effect": "read", "permit": "allow", "rate": rate}]);
    let mut calls = Calls::new(&tool("2/second"), Some(&tool("3/minute")));
    let outcomes = [0, 0, 0, 1_000, 2_000, 60_000, 60_000, 60_001].map(|at| calls.call("poll", at).is_ok());
    assert_eq!(outcomes, [true, true, false, true, false, true, true, false]);
}

#[test]
fn an_invalid_rate_is_an_error_of_the_profile() {
    for rate in ["0/minute", "1001/minute", "10/week", "10", "ten/minute", "10 per minute"] {
        let profile = json!({"agent": "a", "tools": [{"name": "poll", "effect": "read", "rate": rate}]});
        let fault = Profile::compile(&profile.to_string()).map(|_| ()).expect_err(rate);
        let wrong = &fault.violations[0];
        assert_eq!(wrong.path, "$.tools[0].rate");
        assert!(wrong.message.contains("as 10/minute is"), "{}", wrong.message);
    }
    let profile = json!({"agent": "a", "tools": [{"name": "poll", "effect": "read", "rate": 10}]});
    assert!(Profile::compile(&profile.to_string()).is_err());
}
