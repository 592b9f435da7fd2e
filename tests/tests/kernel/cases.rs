//! Cases of `permit`: compares random lists of cases with a simple implementation of the rule, for one agent and for an
//! agent with a parent.

use std::collections::BTreeSet;

use seamgate_kernel::{Profile, permit};
use seamgate_tests::Random;
use serde_json::{Value, json};

/// The result of a condition for a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Is {
    Yes,
    Open,
    No,
}

/// The JSON text of an argument, which is empty if the argument is absent, and the result of each condition.
type Known = (&'static str, [Is; 4]);

use Is::{No, Open, Yes};

/// Values of `n`, with the results of the conditions `minimum` 3, `not` `minimum` 3, `const` 5, and `type` integer.
const NUMBERS: [Known; 7] = [
    ("", [No; 4]),
    ("1", [No, Yes, No, Yes]),
    ("4", [Yes, No, No, Yes]),
    ("5", [Yes, No, Yes, Yes]),
    (r#""5""#, [Open, Open, Open, No]),
    ("[5]", [Open, Open, Open, No]),
    ("null", [Open, Open, Open, No]),
];

const WHEN: [&str; 4] = [r#"{"minimum":3}"#, r#"{"not":{"minimum":3}}"#, r#"{"const":5}"#, r#"{"type":"integer"}"#];

/// Values of `p`, with the results for the folders `/a`, `b`, `/a/c`, and `/`.
const PATHS: [Known; 13] = [
    ("", [No; 4]),
    (r#""/a/x""#, [Yes, Open, No, Yes]),
    (r#""/a/c/x""#, [Yes, Open, Yes, Yes]),
    (r#""//a/./c""#, [Yes, Open, Yes, Yes]),
    (r#""/ab""#, [No, Open, No, Yes]),
    (r#""b/x""#, [Open, Yes, Open, Open]),
    (r#""/A/x""#, [Open, Open, No, Yes]),
    (r#""/a./x""#, [Open, Open, No, Yes]),
    (r#""/x/../a""#, [Open; 4]),
    (r#""C:/a""#, [Open; 4]),
    (r#"["/a/x"]"#, [Open; 4]),
    (r#"{"path":"/a"}"#, [Open; 4]),
    ("null", [Open; 4]),
];

const BELOW: [&str; 4] = ["/a", "b", "/a/c", "/"];

/// Values of `u`, with the results for the hosts `x.org`, `*.x.org`, `127.0.0.1`, and `y.org`.
const ADDRESSES: [Known; 9] = [
    ("", [No; 4]),
    (r#""https://x.org/a""#, [Yes, No, No, No]),
    (r#""http://A.X.org:80""#, [No, Yes, No, No]),
    (r#""https://y.org@x.org""#, [Open; 4]),
    (r#""https://127.1""#, [Open; 4]),
    (r#""ftp://x.org""#, [Open; 4]),
    (r#""x.org.""#, [Open; 4]),
    (r#"["https://x.org"]"#, [Open; 4]),
    ("7", [Open; 4]),
];

const HOSTS: [&str; 4] = ["x.org", "*.x.org", "127.0.0.1", "y.org"];

/// The possible decisions. An approval is the name of its group.
const PERMITS: [&str; 5] = ["allow", "allow", "deny", "one", "two"];

/// A case: its conditions, as indices into the lists above, and its decision.
#[derive(Clone)]
struct Case {
    when: Option<usize>,
    below: Option<usize>,
    host: Option<usize>,
    permit: &'static str,
}

impl Case {
    fn random(random: &mut Random) -> Case {
        let mut some = |chance| random.chance(chance).then(|| random.below(4));
        let (when, below, host) = (some(50), some(50), some(30));
        Case { when, below, host, permit: random.one(&PERMITS) }
    }

    fn is_for_all(&self) -> bool {
        self.when.is_none() && self.below.is_none() && self.host.is_none()
    }

    fn json(&self) -> Value {
        let mut case = json!({});
        if let Some(when) = self.when {
            let schema: Value = serde_json::from_str(WHEN[when]).expect("JSON");
            case["when"] = json!({"required": ["n"], "properties": {"n": schema}});
        }
        if let Some(below) = self.below {
            case["below"] = json!({"$.p": [BELOW[below]]});
        }
        if let Some(host) = self.host {
            case["hosts"] = json!({"$.u": [HOSTS[host]]});
        }
        case["permit"] = match self.permit {
            word @ ("allow" | "deny") => json!(word),
            group => json!({"approval": {"by": [group]}}),
        };
        case
    }

    fn is(&self, [n, p, u]: [&Known; 3]) -> Is {
        let all = [self.when.map(|at| n.1[at]), self.below.map(|at| p.1[at]), self.host.map(|at| u.1[at])];
        let all: Vec<Is> = all.into_iter().flatten().collect();
        match () {
            () if all.contains(&No) => No,
            () if all.contains(&Open) => Open,
            () => Yes,
        }
    }
}

/// The groups that must approve, or `None` for a denial.
type Outcome = Option<BTreeSet<&'static str>>;

/// Returns the decision of the first case that applies.
fn first(cases: &[(bool, &'static str)]) -> Outcome {
    match cases.iter().find(|(holds, _)| *holds).map_or("deny", |(_, permit)| permit) {
        "deny" => None,
        "allow" => Some(BTreeSet::new()),
        group => Some(BTreeSet::from([group])),
    }
}

fn both(one: Outcome, other: Outcome) -> Outcome {
    Some(one?.into_iter().chain(other?).collect())
}

/// Returns the strictest outcome for all possible results of the open conditions.
fn outcome(cases: &[Case], values: [&Known; 3]) -> Outcome {
    let open: Vec<usize> = (0..cases.len()).filter(|&at| cases[at].is(values) == Open).collect();
    let answers = (0..1_usize << open.len()).map(|answers| {
        let holds = |(at, case): (usize, &Case)| match open.iter().position(|&open| open == at) {
            Some(bit) => (answers >> bit & 1 == 1, case.permit),
            None => (case.is(values) == Yes, case.permit),
        };
        first(&cases.iter().enumerate().map(holds).collect::<Vec<_>>())
    });
    answers.reduce(both).expect("one answer")
}

fn random_cases(random: &mut Random) -> Vec<Case> {
    let count = 1 + random.below(4);
    let mut cases: Vec<Case> = (0..count).map(|_| Case::random(random)).collect();
    let last = cases.iter().position(Case::is_for_all).map_or(count, |at| at + 1);
    cases.truncate(last);
    cases
}

fn profile(cases: &[Case]) -> Value {
    let cases: Vec<Value> = cases.iter().map(Case::json).collect();
    json!({
        "agent": "a",
        "approvers": {"one": [{"principal": "anna"}], "two": [{"principal": "ben"}]},
        "tools": [{"name": "act", "effect": "effectful", "permit": cases}],
    })
}

/// Returns the groups that are asked until a call is permitted, or `None` if the call is denied.
fn decided(profile: &Profile, facts: &mut Value, call: &Value) -> Outcome {
    let mut asked = BTreeSet::new();
    for _ in 0..4 {
        let decision = permit(profile, &facts.to_string(), &call.to_string());
        let decision: Value = serde_json::from_str(&decision.expect("a decision")).expect("JSON");
        match decision["permit"].as_str() {
            Some("allow") => return Some(asked),
            Some("approval") => {
                let who = decision["ask"]["by"][0].as_str().expect("a principal");
                asked.insert(if who == "anna" { "one" } else { "two" });
                if let Some(asks) = decision["facts"].get("asks") {
                    facts["asks"] = asks.clone();
                }
                let approval = json!({
                    "key": "c1", "digest": decision["digest"], "decision": "approved", "principal": who, "at": facts["at"],
                });
                facts["approvals"].as_array_mut().expect("approvals").push(approval);
            }
            _ => return None,
        }
    }
    panic!("each approval is asked for again: {facts}")
}

#[test]
fn the_strictest_of_open_cases_and_of_what_follows_decides() {
    let mut random = Random(7);
    let (mut outcomes, mut open) = (BTreeSet::new(), 0);
    for round in 0..6000 {
        let own = random_cases(&mut random);
        let above = (round % 3 == 0).then(|| random_cases(&mut random));
        let compiled = Profile::compile(&profile(&own).to_string()).expect("a profile");
        let values = [random.one(&NUMBERS), random.one(&PATHS), random.one(&ADDRESSES)];
        let members = ["n", "p", "u"].into_iter().zip(&values).filter(|(_, (text, _))| !text.is_empty());
        let members: Vec<String> = members.map(|(name, (text, _))| format!("{name:?}:{text}")).collect();
        let arguments = format!("{{{}}}", members.join(","));
        let mut facts = json!({"run": "r1", "at": 1_790_000_000_000_u64, "principal": "joe", "approvals": []});
        let by_value = [&values[0], &values[1], &values[2]];
        let mut expected = outcome(&own, by_value);
        if let Some(above) = &above {
            let rules = json!([{"profile": profile(above)}]);
            facts["parent"] = json!({"run": "r0", "call": "c0", "tools": ["act"], "rules": rules, "budget": {}});
            // If every case of the parent denies, the tool is not delegated.
            expected = both(expected, outcome(above, by_value));
        }
        open += usize::from(own.iter().any(|case| case.is(by_value) == Open));
        let call = json!({"key": "c1", "tool": "act", "arguments": arguments});
        let is = decided(&compiled, &mut facts, &call);
        let told =
            || format!("{arguments}\n{}\n{:?}", profile(&own)["tools"][0]["permit"], above.as_deref().map(profile));
        assert_eq!(is, expected, "{}", told());
        outcomes.insert(is);
    }
    assert!(outcomes.len() == 5 && open > 1000, "{outcomes:?}, {open}");
}

#[test]
fn values_of_a_list_must_agree() {
    let profile = |permit: &str, then: &str| {
        let text = format!(
            r#"{{"agent":"a","tools":[{{"name":"act","effect":"effectful","permit":[
                {{"below":{{"$.list[*].path":["/a"]}},"permit":"{permit}"}},{{"permit":"{then}"}}]}}]}}"#
        );
        Profile::compile(&text).expect("a profile")
    };
    let [allows, denies] = [profile("allow", "deny"), profile("deny", "allow")];
    for (arguments, is_allowed) in [
        (r#"{"list":[{"path":"/a/x"},{"path":"/a/y"}]}"#, [true, false]),
        (r#"{"list":[{"path":"/b"},{"path":"/c"}]}"#, [false, true]),
        // The condition is true for some items only, or an item has no value: the laxer case must not apply.
        (r#"{"list":[{"path":"/a/x"},{"path":"/b"}]}"#, [false, false]),
        (r#"{"list":[{"path":"/a/x"},{}]}"#, [false, false]),
        (r#"{"list":[{"path":"/b"},{}]}"#, [false, false]),
        (r#"{"list":[{"path":"/b"},"/a"]}"#, [false, false]),
        (r#"{"list":"/a"}"#, [false, false]),
        // There are no values.
        (r#"{"list":[]}"#, [false, true]),
        ("{}", [false, true]),
        // Names that some servers treat as equal to other names.
        (r#"{"List":[{"path":"/a/x"}]}"#, [false, false]),
        (r#"{"list":[{"Path":"/a/x"}]}"#, [false, false]),
    ] {
        let facts = r#"{"run":"r1","at":1790000000000,"principal":"joe"}"#;
        let call = json!({"key": "c1", "tool": "act", "arguments": arguments}).to_string();
        let is = [&allows, &denies].map(|profile| {
            let decision = permit(profile, facts, &call).expect("a decision");
            decision.contains(r#""permit":"allow""#)
        });
        assert_eq!(is, is_allowed, "{arguments}");
    }
}
