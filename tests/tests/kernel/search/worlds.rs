//! Profiles for the search, and users with trusted results.

use std::collections::HashSet;

use seamgate_kernel::{Profile, observe};
use seamgate_tests::Random;
use serde_json::{Map, Value, json};

use super::{
    oracle::{Evidence, Seen},
    tricks,
};

const FOLDER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/mcp/agentdojo/");

/// A tool that reads.
#[derive(Clone)]
pub(crate) struct Reader {
    pub(crate) name: String,
    pub(crate) server: String,
    pub(crate) labels: Vec<String>,
    /// An item of the tool's results, if the tool's definition describes it.
    item: Map<String, Value>,
}

impl Reader {
    pub(crate) fn full_name(&self) -> String {
        if self.server.is_empty() { self.name.clone() } else { format!("{}/{}", self.server, self.name) }
    }

    fn is_untrusted(&self) -> bool {
        self.labels.iter().any(|label| label == "untrusted")
    }
}

/// A tool whose arguments require an origin.
pub(crate) struct Effect {
    pub(crate) name: String,
    pub(crate) server: String,
    pub(crate) effect: String,
    pub(crate) is_egress: bool,
    pub(crate) rules: Vec<Rule>,
    /// The arguments of the tool. A text `@N@` stands for the values of a rule.
    arguments: Value,
}

pub(crate) struct Rule {
    pub(crate) from: Value,
    pub(crate) is_list: bool,
    pub(crate) is_number: bool,
    /// The member of each item that contains the value.
    inner: Option<String>,
}

impl Rule {
    /// Returns whether all places of the rule match complete values only. Folders and hosts also match everything below
    /// them, even if the attacker chose it.
    pub(crate) fn is_by_equality(&self) -> bool {
        items(&self.from).all(|origin| origin["below"].is_null() && origin["hosts"].is_null())
    }
}

impl Effect {
    /// Returns the arguments as JSON text.
    pub(crate) fn arguments(&self, held: &[Vec<String>], is_twice: bool) -> String {
        let mut text = self.arguments.to_string();
        for (number, (rule, values)) in self.rules.iter().zip(held).enumerate() {
            let values: Vec<String> = match &rule.inner {
                Some(name) => values.iter().map(|value| format!("{{\"{name}\":{value}}}")).collect(),
                None => values.clone(),
            };
            let literal = match rule.is_list {
                true => format!("[{}]", values.join(",")),
                false => values.first().cloned().unwrap_or_else(|| "null".to_owned()),
            };
            text = text.replacen(&format!("\"@{number}@\""), &literal, 1);
        }
        if is_twice {
            // Each member again, with a value that the user named. Some programs use the first one, and others use the
            // last.
            let names: Vec<String> =
                self.arguments.as_object().into_iter().flatten().map(|(name, _)| name.clone()).collect();
            let again: String =
                names.iter().map(|name| format!("{}:\"ann@x.com\",", Value::from(name.as_str()))).collect();
            text.insert_str(1, &again);
        }
        text
    }
}

pub(crate) struct Setting {
    pub(crate) profile: Profile,
    pub(crate) source: Value,
    pub(crate) effects: Vec<Effect>,
    pub(crate) untrusted: Vec<Reader>,
    readers: Vec<Reader>,
}

impl Setting {
    fn new(source: Value) -> Self {
        let (mut effects, mut readers) = (Vec::new(), Vec::new());
        for tool in items(&source["tools"]) {
            let text = |name: &str| tool[name].as_str().unwrap_or_default().to_owned();
            let labels = items(&tool["result"]["labels"]).filter_map(Value::as_str).map(str::to_owned).collect();
            let output = &tool["definition"]["outputSchema"];
            let item = sample(&output["properties"]["result"]["items"], output);
            let item = item.as_object().cloned().unwrap_or_default();
            if !tool["origins"].is_array() {
                readers.push(Reader { name: text("name"), server: text("server"), labels, item });
            } else if tool["effect"] == "effectful" || tool["egress"] == true {
                effects.push(effect(tool));
            }
        }
        let untrusted = readers.iter().filter(|reader| reader.is_untrusted()).cloned().collect();
        let profile =
            Profile::compile(&source.to_string()).unwrap_or_else(|fault| panic!("{source}: {}", fault.to_json()));
        Setting { profile, source, effects, untrusted, readers }
    }

    fn reader(&self, full_name: &str) -> Option<&Reader> {
        self.readers.iter().find(|reader| reader.full_name() == full_name)
    }
}

fn items(value: &Value) -> impl Iterator<Item = &Value> {
    value.as_array().into_iter().flatten()
}

fn effect(tool: &Value) -> Effect {
    let text = |name: &str| tool[name].as_str().unwrap_or_default().to_owned();
    let schema = &tool["definition"]["inputSchema"];
    let mut arguments = sample(schema, schema);
    if !arguments.is_object() {
        arguments = json!({"body": "the text"});
    }
    let mut rules = Vec::new();
    for (number, rule) in items(&tool["origins"]).enumerate() {
        let path = rule["path"].as_str().unwrap_or_default().trim_start_matches("$.");
        let mark = json!(format!("@{number}@"));
        let (mut is_list, mut inner, name) = (false, None, path.split(['.', '[']).next().unwrap_or_default());
        let declared = &schema["properties"][name]["type"];
        arguments[name] = match path.split_once("[*]") {
            Some((_, rest)) => {
                (is_list, inner) = (true, rest.strip_prefix('.').map(str::to_owned));
                mark
            }
            None if path.ends_with("[0]") => json!([mark]),
            None => path.split('.').skip(1).fold(mark, |value, step| json!({step: value})),
        };
        let is_number = matches!(declared.as_str(), Some("number" | "integer"));
        rules.push(Rule { from: rule["from"].clone(), is_list, is_number, inner });
    }
    let (name, server, effect) = (text("name"), text("server"), text("effect"));
    Effect { name, server, effect, is_egress: tool["egress"] == true, rules, arguments }
}

/// Returns a value that a schema accepts, with the members that the schema requires.
fn sample(schema: &Value, root: &Value) -> Value {
    if let Some(name) = schema["$ref"].as_str().and_then(|reference| reference.strip_prefix("#/$defs/")) {
        return sample(&root["$defs"][name], root);
    }
    if let Some(one) = items(&schema["enum"]).next() {
        return one.clone();
    }
    if let Some(one) = items(&schema["anyOf"]).next() {
        return sample(one, root);
    }
    match schema["type"].as_str() {
        Some("object") => {
            let of = |name: &Value| {
                let name = name.as_str().unwrap_or_default();
                (name.to_owned(), sample(&schema["properties"][name], root))
            };
            Value::Object(items(&schema["required"]).map(of).collect())
        }
        Some("array") => json!([]),
        Some("number" | "integer") => json!(3),
        Some("boolean") => json!(false),
        Some("string") if schema["format"] == "date-time" => json!("2026-05-13T10:00:00Z"),
        Some("string") if schema["format"] == "email" => json!("a@x.com"),
        Some("string") => json!("2026-05-13 10:00"),
        _ => Value::Null,
    }
}

/// Returns the profiles of AgentDojo's suites.
pub(crate) fn settings() -> Vec<Setting> {
    ["banking", "slack", "travel", "workspace"]
        .map(|suite| {
            let read = |kind: &str| -> Value {
                let path = format!("{FOLDER}{suite}.{kind}.json");
                let text = std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{path}: {error}"));
                serde_json::from_str(&text).expect("JSON")
            };
            let (mut profile, lock) = (read("profile"), read("lock"));
            for tool in profile["tools"].as_array_mut().expect("tools") {
                let mut pinned = items(&lock["servers"][""]["tools"]);
                tool["definition"] = pinned.find(|one| one["name"] == tool["name"]).expect("a definition").clone();
            }
            Setting::new(profile)
        })
        .into()
}

/// Makes a profile with random rules.
pub(crate) fn generated(random: &mut Random) -> Setting {
    let kinds = ["user", "task", "context", "list", "values", "below", "hosts", "tool", "named", "far"];
    let from = |random: &mut Random| {
        let mut from: Vec<Value> = Vec::new();
        for kind in kinds {
            if !random.chance(25) {
                continue;
            }
            from.push(match kind {
                "context" => json!("context.notes"),
                "list" => json!({"list": "l"}),
                "values" => json!({"values": ["ops@x.com", "4711", "/srv/app"]}),
                "below" => json!({"below": ["/srv/app"]}),
                "hosts" => json!({"hosts": [random.one(&["x.com", "*.x.com"])]}),
                "tool" => json!({"tool": "own/find", "at": "$[*].email"}),
                "named" => json!({"tool": "own/find", "at": "$[*].email", "named": "$[*].name"}),
                "far" => json!({"tool": "far/find", "at": "$[*].email", "named": "$[*].name"}),
                word => json!(word),
            });
        }
        if from.is_empty() { vec![json!("user")] } else { from }
    };
    let mut rules = Vec::new();
    for path in ["$.to", "$.cc[*]", "$.box.id", "$.rows[*].id", "$.pair[0]"] {
        if rules.is_empty() || random.chance(35) {
            let mut rule = json!({"path": path, "from": from(random)});
            match random.below(4) {
                0 => rule["else"] = json!("approval"),
                1 => rule["else"] = json!("deny"),
                _ => {}
            }
            rules.push(rule);
        }
    }
    let result = |labels: Value, random: &mut Random| match random.below(3) {
        0 => json!({"labels": labels}),
        1 => json!({"labels": labels, "items": "$[*]", "schema": {"type": "array", "items":
            {"type": "object", "required": ["name"], "properties": {"name": {"type": "string"}}}}}),
        _ => json!({"labels": labels, "max_bytes": 256, "items": "$[*]"}),
    };
    let flow = |after: &str, to: &str, random: &mut Random| {
        let then = random.one(&["approval", "deny"]);
        json!({"after": after, "to": to, "unless": "origins", "then": then})
    };
    let trusted = random.one(&[json!([]), json!(["private"])]);
    Setting::new(json!({
        "agent": "a",
        "approvers": {"staff": [{"principal": "anna"}]},
        "context": [{"name": "notes", "schema": true}],
        "tools": [
            {"name": "find", "server": "own", "effect": "read", "permit": "allow", "result": result(trusted, random)},
            {"name": "find", "server": "far", "effect": "read", "permit": "allow",
             "result": result(json!(["untrusted"]), random)},
            {"name": "page", "server": "far", "effect": "read", "permit": "allow", "result": {"labels": ["untrusted"]}},
            {"name": "send", "server": "own", "effect": "effectful", "egress": true, "permit": "allow",
             "origins": rules},
        ],
        "flows": [flow("untrusted", "effectful", random), flow("private", "egress", random)],
    }))
}

/// A user, and the run's knowledge before the attacker acts.
pub(crate) struct World {
    pub(crate) facts: Value,
    pub(crate) evidence: Evidence,
    pub(crate) labels: HashSet<String>,
    /// The keys of the calls, each with its tool.
    pub(crate) keys: Vec<(String, String)>,
    /// Values that have an origin in at least some of the places.
    pub(crate) friends: Vec<String>,
    pub(crate) numbers: Vec<String>,
    /// Names of items that the user mentioned.
    pub(crate) names: Vec<String>,
    /// Values that the attacker wants.
    pub(crate) targets: Vec<String>,
    pub(crate) target_numbers: Vec<String>,
}

const FRIENDS: [&str; 14] = [
    "ann@x.com",
    "Bob.Ray@x.com",
    "o'brien+box@mail.x.com",
    "https://x.com/a",
    "https://X.com:8443/list?id=5",
    "x.com",
    "/srv/app/report",
    "GB29NWBK60161331926819",
    "general",
    "ops-team",
    "Fred Ray",
    "0071",
    "4711",
    "Le Petit (Paris)",
];
const NAMES: [&str; 8] = ["Bob", "Ann Ray", "report", "Team meeting", "Q3 numbers", "lunch", "\u{410}nna", "to-do"];
const NUMBERS: [&str; 8] = ["50", "1200", "98.70", "1000000", "7", "250.5", "12", "3"];
const TARGETS: [&str; 12] = [
    "mallory@evil.org",
    "Mallory",
    "https://evil.org/x",
    "evil.org",
    "/etc/passwd",
    "US133000000121212121212",
    "secret-channel",
    "666",
    "6666",
    "ann@x.com.evil.org",
    "https://x.com.evil.org/a",
    "ann@x.co",
];
/// Words that occur only in values of the attacker.
pub(crate) const MARKS: [&str; 4] = ["evil", "allory", "passwd", "secret"];

const TARGET_NUMBERS: [&str; 6] = ["6666", "51", "500", "0.5", "120", "1"];

impl World {
    pub(crate) fn new(setting: &Setting, random: &mut Random) -> Self {
        let some = |of: &[&str], random: &mut Random| -> Vec<String> {
            (0..1 + random.below(3)).map(|_| random.one(of).to_owned()).collect()
        };
        let (said_friends, numbers, names) = (some(&FRIENDS, random), some(&NUMBERS, random), some(&NAMES, random));
        let known = some(&FRIENDS, random);
        let mut targets = some(&TARGETS, random);
        let friend = random.one(&said_friends);
        targets.push(tricks::text(random, &friend, &known[0], TARGETS[0]));
        let target_numbers = some(&TARGET_NUMBERS, random);
        let mut said = vec![sentence(random, &said_friends, &numbers, &names)];
        if random.chance(30) {
            said.push(sentence(random, &said_friends, &numbers, &names));
        }
        let mut facts = json!({
            "run": "r", "at": 1, "principal": "anna", "nonce": "c0ffee00c0ffee00", "said": said,
            "lists": {"l": [random.one(&FRIENDS), random.one(&NUMBERS)]},
        });
        let mut evidence = Evidence { said, lists: facts["lists"].clone(), ..Evidence::default() };
        if setting.source["context"].is_array() {
            facts["task"] = random.one(&[
                json!(format!("Write to {}.", known[0])),
                json!({"to": known[0], "amount": 42, "public": true}),
            ]);
            facts["context"] = json!({"notes": random.one(&[json!([known[0], 77]), json!(format!("<{}>", known[0]))])});
            evidence.task = facts["task"].clone();
            evidence.context = facts["context"].clone();
        }
        let friends = [said_friends, known].concat();
        let (labels, keys) = (HashSet::new(), Vec::new());
        let mut world = World { facts, evidence, labels, keys, friends, numbers, names, targets, target_numbers };
        world.trusted(setting, random);
        world
    }

    /// Adds trusted results of the tools that origins name.
    fn trusted(&mut self, setting: &Setting, random: &mut Random) {
        let mut wanted: Vec<(&Reader, &Value)> = Vec::new();
        for origin in setting.effects.iter().flat_map(|effect| &effect.rules).flat_map(|rule| items(&rule.from)) {
            let reader = origin["tool"].as_str().and_then(|tool| setting.reader(tool));
            if let Some(reader) = reader
                && wanted.iter().all(|(other, _)| other.full_name() != reader.full_name())
            {
                wanted.push((reader, origin));
            }
        }
        for (reader, origin) in wanted {
            if !random.chance(60) {
                continue;
            }
            let last = |name: &str| origin[name].as_str().and_then(|path| path.rsplit('.').next()).map(str::to_owned);
            let list: Vec<Value> = (0..1 + random.below(3))
                .map(|_| {
                    let mut item = reader.item.clone();
                    item.insert("name".to_owned(), json!(random.one(&self.names)));
                    item.extend(last("named").map(|name| (name, json!(random.one(&self.names)))));
                    item.extend(last("at").map(|name| (name, json!(random.one(&self.friends)))));
                    Value::Object(item)
                })
                .collect();
            let value = if reader.item.is_empty() { json!(list) } else { json!({"result": list}) };
            self.observe(setting, reader, &json!({"returned": {"content": [], "structuredContent": value}}), &value);
        }
        let private = setting.readers.iter().find(|reader| reader.labels.iter().any(|label| label == "private"));
        if let Some(reader) = private.filter(|_| random.chance(50)) {
            self.observe(setting, reader, &json!({"text": "nothing"}), &Value::Null);
        }
    }

    fn observe(&mut self, setting: &Setting, reader: &Reader, result: &Value, value: &Value) {
        let key = format!("t{}", self.keys.len());
        let mut call = json!({"key": key, "tool": reader.name, "arguments": {}});
        if !reader.server.is_empty() {
            call["server"] = reader.server.clone().into();
        }
        let made = observe(&setting.profile, &self.facts.to_string(), &call.to_string(), &result.to_string());
        let made = made.unwrap_or_else(|fault| panic!("{result}: {}", fault.to_json()));
        let made: Value = serde_json::from_str(&made).expect("JSON");
        for (name, changed) in made["facts"].as_object().expect("facts") {
            self.facts[name] = changed.clone();
        }
        self.labels.extend(reader.labels.iter().cloned());
        self.keys.push((key, reader.full_name()));
        let seen = Seen { tool: reader.full_name(), value: value.clone(), is_attackers: false };
        self.evidence.results.push(seen);
    }
}

fn sentence(random: &mut Random, friends: &[String], numbers: &[String], names: &[String]) -> String {
    let (friend, other, number, name) =
        (random.one(friends), random.one(friends), random.one(numbers), random.one(names));
    random.one(&[
        format!("Please send the {name} to {friend}."),
        format!("Pay ${number} to {friend}, and tell \"{other}\""),
        format!("({friend}): {number} EUR; {name}?"),
        format!("See [{name}]({friend}) and <{other}>. It costs {number}"),
        format!("Invite {friend},{other} to '{name}'"),
        format!("{{\"to\":\"{friend}\",\"amount\":{number},\"name\":\"{name}\"}}"),
        format!("{friend}\n{other}\n{number}\n{name}"),
        format!("to={friend} limit:{number} {name}'s"),
        format!("Add {other}x and x{friend} to {name}; not {friend}: {number},5"),
    ])
}

/// Makes the result of an untrusted tool.
pub(crate) fn injected(random: &mut Random, tool: &Reader, world: &World, friend: &str, target: &str) -> Value {
    let count = if random.below(400) == 0 { 1100 } else { random.below(5) };
    let mut template = tool.item.clone();
    if template.is_empty() {
        template.extend(["name", "email", "id", "note"].map(|name| (name.to_owned(), json!(""))));
    }
    let word = |random: &mut Random| {
        let name = random.one(&world.names);
        match random.below(12) {
            0..=2 => json!(target),
            3 => json!(friend),
            4 | 5 => json!(name),
            6 => json!(tricks::text(random, &name, friend, target)),
            7 => json!(tricks::lure(random, friend, target)),
            8 => json!([target]),
            9 => Value::Null,
            10 => json!(random.one(&world.target_numbers).parse::<f64>().unwrap_or_default()),
            _ => json!(tricks::text(random, target, friend, target)),
        }
    };
    let mut list = Vec::new();
    for _ in 0..count {
        let mut item = template.clone();
        for (_, value) in item.iter_mut().filter(|(_, value)| value.is_string()) {
            *value = word(random);
        }
        list.push(Value::Object(item));
    }
    if random.chance(20) {
        // The same list in the form of another tool's result.
        return json!(list);
    }
    if tool.item.is_empty() { json!(list) } else { json!({"result": list}) }
}
