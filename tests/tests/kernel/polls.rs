//! `same_call` of a tool replaces that of the budget, for an agent's own calls and for those of its children.

use seamgate_kernel::{Profile, permit};
use serde_json::{Value, json};

/// Returns how many of at most 9 equal calls are permitted.
fn permitted(profile: &Value, tool: &str, above: Option<&Value>) -> usize {
    let profile = Profile::compile(&profile.to_string()).expect("a profile");
    let mut facts = json!({"run": "r1", "at": 1, "principal": "joe"});
    if let Some(above) = above {
        let rules = json!([{"profile": above}]);
        facts["parent"] = json!({"run": "r0", "call": "c0", "tools": ["*"], "rules": rules, "budget": {}});
    }
    (0..9)
        .take_while(|number| {
            let call = json!({"key": format!("c{number}"), "tool": tool, "arguments": {"q": 1}}).to_string();
            let decision = permit(&profile, &facts.to_string(), &call).expect("a decision");
            let decision: Value = serde_json::from_str(&decision).expect("JSON");
            if let Some(used) = decision["facts"].get("used") {
                facts["used"] = used.clone();
            }
            decision["permit"] == "allow"
        })
        .count()
}

fn profile(tool: Option<u64>, budget: Option<u64>, tool_calls: u64) -> Value {
    let mut profile = json!({
        "agent": "a",
        "tools": [{"name": "poll", "effect": "read", "permit": "allow"}, {"name": "look", "effect": "read", "permit": "allow"}],
        "budget": {"tool_calls": tool_calls},
    });
    if let Some(limit) = tool {
        profile["tools"][0]["same_call"] = json!(limit);
    }
    if let Some(limit) = budget {
        profile["budget"]["same_call"] = json!(limit);
    }
    profile
}

#[test]
fn a_limit_of_a_tool_stands_in_place_of_the_limit_of_the_budget() {
    for (tool, budget, tool_calls, polls, looks) in [
        (Some(5), Some(2), 100, 5, 2),
        (Some(1), Some(3), 100, 1, 3),
        (Some(4), None, 100, 4, 9),
        (None, Some(3), 100, 3, 3),
        (Some(8), Some(2), 4, 4, 2),
    ] {
        let own = profile(tool, budget, tool_calls);
        assert_eq!([permitted(&own, "poll", None), permitted(&own, "look", None)], [polls, looks], "{own}");
        // A child without its own limits has the limits of its parent. Its own limits do not extend them.
        for child in [profile(None, None, 100), profile(Some(9), Some(9), 100)] {
            let expected = tool.or(budget).map_or(9, |limit| limit.min(9) as usize);
            assert_eq!(permitted(&child, "poll", Some(&own)), expected, "{own}");
        }
    }
}
