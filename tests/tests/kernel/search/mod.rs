//! An adaptive search for effects with a value that has no origin. It attacks the real kernel, with the profiles of
//! `tests/mcp/agentdojo` and with random profiles.
//!
//! A climb begins with a user, trusted results, and a value of the attacker. Each try changes the results of untrusted
//! tools or the arguments of the call. The change is kept if the decision is closer to `allow`, or gives a reason that
//! the climb has not seen. [`tricks`] has the changes. [`oracle`] decides which values may have an origin.
//!
//! `SEARCH_TRIES=1000000` searches longer than CI does: `SEARCH_TRIES=1000000 cargo test --release -p seamgate-tests
//! --test kernel -- search --nocapture`. `SEARCH_SEED=N` begins with another climb. `tests/results/origins.md` has the
//! figures.

mod oracle;
mod tricks;
mod worlds;

use std::{collections::HashSet, env, fmt::Write as _, thread, time::Instant};

use oracle::{Evidence, Proof, Seen};
use seamgate_kernel::{observe, permit};
use seamgate_tests::Random;
use serde_json::{Value, json};
use worlds::{Setting, World, settings};

/// The number of tries of a test run.
const TRIES: u64 = 40_000;

/// The number of tries of a climb.
const CLIMB: u64 = 200;

/// The data that the attacker controls: the results of untrusted tools, and the call.
#[derive(Clone)]
struct Attack {
    injected: Vec<Injected>,
    /// The index of the tool to call.
    tool: usize,
    /// The values for each rule of the tool, as JSON text.
    held: Vec<Vec<String>>,
    is_twice: bool,
}

/// A result that the attacker wrote.
#[derive(Clone)]
struct Injected {
    tool: usize,
    key: String,
    result: Value,
    /// The value of the result, if it is valid.
    value: Value,
}

#[derive(Default, Clone)]
struct Figures {
    tries: u64,
    /// The number of tries with a value for which the oracle finds no origin.
    attacks: u64,
    allowed: u64,
    asked: u64,
    denied: u64,
    /// The number of allowed calls whose values the user named.
    proven: u64,
    /// The number of allowed calls whose target the attacker chose, under a name that the user mentioned.
    chosen: u64,
    /// The number of different decisions of all climbs: permit, reasons, origins.
    kinds: u64,
    found: Vec<String>,
}

impl Figures {
    fn add(&mut self, other: Figures) {
        self.tries += other.tries;
        self.attacks += other.attacks;
        self.allowed += other.allowed;
        self.asked += other.asked;
        self.denied += other.denied;
        self.proven += other.proven;
        self.chosen += other.chosen;
        self.kinds += other.kinds;
        self.found.extend(other.found);
    }
}

/// Returns a score that is higher the closer a decision is to `allow`, and a text that is equal for decisions of the
/// same kind.
fn standing(decision: &Value) -> (i64, String) {
    let rank = match decision["permit"].as_str() {
        Some("allow") => 200,
        Some("approval") => 100,
        _ => 0,
    };
    let origins = decision["origins"].as_array().map_or(&[][..], Vec::as_slice);
    let is_proven = |origin: &&Value| origin["sought"].is_null();
    let proven = origins.iter().filter(is_proven).count() as i64;
    let reasons = decision["reasons"].as_array().map_or(&[][..], Vec::as_slice);
    let mut kind = format!("{} {} ", decision["permit"], decision["tool"]);
    for reason in reasons {
        let first = &reason["violations"][0];
        write!(kind, "{} {} {};", reason["code"], first["keyword"], first["expected"]).expect("a text");
    }
    for origin in origins.iter().take(8) {
        write!(kind, "{} {};", origin["origin"], origin["named"].is_null()).expect("a text");
    }
    (rank + 8 * proven - origins.len() as i64 - 2 * reasons.len() as i64, kind)
}

/// Returns the value of a result. Returns null for errors, and for texts that are not JSON.
fn meaning(result: &Value) -> Value {
    let read = |text: &Value| serde_json::from_str(text.as_str().unwrap_or_default()).unwrap_or_default();
    let returned = &result["returned"];
    match () {
        () if result["status"] == "error" || returned["isError"] == true => Value::Null,
        () if returned["structuredContent"].is_null() && returned.is_object() => read(&returned["content"][0]["text"]),
        () if returned.is_object() => returned["structuredContent"].clone(),
        () if result["text"].is_string() => read(&result["text"]),
        () => result["result"].clone(),
    }
}

/// Returns whether a value contains a word of the attacker. Trusted data never contains these words.
fn is_marked(literal: &str) -> bool {
    let value: Value = serde_json::from_str(literal).unwrap_or_default();
    let text = value.as_str().unwrap_or_default().to_ascii_lowercase();
    worlds::MARKS.iter().any(|mark| text.contains(mark))
}

struct Climb<'s> {
    random: Random,
    setting: &'s Setting,
    world: World,
    attack: Attack,
    /// The facts after the results of the attack.
    facts: Value,
    evidence: Evidence,
    /// The labels of the data that the run has read, according to the profile's rules.
    labels: HashSet<String>,
}

impl<'s> Climb<'s> {
    fn new(seed: u64, setting: &'s Setting, mut random: Random) -> Self {
        let world = World::new(setting, &mut random);
        let tool = random.below(setting.effects.len());
        let attack = Attack { injected: Vec::new(), tool, held: Vec::new(), is_twice: false };
        let (facts, evidence) = (world.facts.clone(), world.evidence.clone());
        let mut climb = Climb { random, setting, world, attack, facts, evidence, labels: HashSet::new() };
        climb.attack.held = climb.honest(tool);
        let injected = climb.inject(seed);
        climb.attack.injected.push(injected);
        climb.read();
        climb
    }

    /// Returns values that the user named, for each rule of a tool.
    fn honest(&mut self, tool: usize) -> Vec<Vec<String>> {
        let count = self.setting.effects[tool].rules.len();
        let literal = |rule: usize, climb: &mut Self| {
            let friend = climb.friend(tool, rule);
            climb.spelled(tool, rule, &friend)
        };
        (0..count).map(|rule| vec![literal(rule, self)]).collect()
    }

    fn friend(&mut self, tool: usize, rule: usize) -> String {
        let is_number = self.setting.effects[tool].rules[rule].is_number;
        let friends = if is_number { &self.world.numbers } else { &self.world.friends };
        self.random.one(friends)
    }

    fn spelled(&mut self, tool: usize, rule: usize, text: &str) -> String {
        let is_number = self.setting.effects[tool].rules[rule].is_number;
        if is_number && text.parse::<f64>().is_ok() { text.to_owned() } else { tricks::literal(&mut self.random, text) }
    }

    /// Makes a result of the attacker.
    fn inject(&mut self, number: u64) -> Injected {
        let random = &mut self.random;
        let tool = random.below(self.setting.untrusted.len());
        let (friend, target) = (random.one(&self.world.friends), random.one(&self.world.targets));
        let value = worlds::injected(random, &self.setting.untrusted[tool], &self.world, &friend, &target);
        let structured = json!({"returned": {"content": [], "structuredContent": value}});
        let result = match random.below(12) {
            0 => json!({"text": tricks::lure(random, &friend, &target)}),
            1 => json!({"result": value, "status": "error"}),
            2 => json!({"returned": {"content": [{"type": "text", "text": value.to_string()}]}}),
            3 => json!({"returned": {"content": [{"type": "text", "text": value.to_string()}], "isError": true}}),
            4 => json!({"text": value.to_string()}),
            5 => json!({"text": format!("{}{}", value, random.one(&["", ",", "}", "\n{}"]))}),
            6 => json!({"result": tricks::lure(random, &friend, &target)}),
            7 => json!({"result": []}),
            8 => json!({"result": value}),
            _ => structured,
        };
        let own = format!("i{number}");
        // The key of a call of another tool, whose values must not be replaced.
        let name = self.setting.untrusted[tool].full_name();
        let others = self.world.keys.iter().filter(|(_, other)| *other != name);
        let others: Vec<String> = others.map(|(key, _)| key.clone()).collect();
        let key = if !others.is_empty() && random.chance(15) { random.one(&others) } else { own };
        let value = meaning(&result);
        Injected { tool, key, result, value }
    }

    /// Repeats all observations.
    fn read(&mut self) {
        (self.facts, self.evidence) = (self.world.facts.clone(), self.world.evidence.clone());
        self.labels.clone_from(&self.world.labels);
        for one in &self.attack.injected {
            let tool = &self.setting.untrusted[one.tool];
            let mut call = json!({"key": one.key, "tool": tool.name, "arguments": {}});
            if !tool.server.is_empty() {
                call["server"] = tool.server.clone().into();
            }
            let made =
                observe(&self.setting.profile, &self.facts.to_string(), &call.to_string(), &one.result.to_string());
            let made = made.unwrap_or_else(|fault| panic!("{}: {}", one.result, fault.to_json()));
            let made: Value = serde_json::from_str(&made).expect("JSON");
            for (name, changed) in made["facts"].as_object().expect("facts") {
                self.facts[name] = changed.clone();
            }
            self.labels.extend(tool.labels.iter().cloned());
            let seen = Seen { tool: tool.full_name(), value: one.value.clone(), is_attackers: true };
            self.evidence.results.push(seen);
        }
    }

    /// Makes one change. Returns whether it changed results.
    fn change(&mut self, number: u64) -> bool {
        if self.random.chance(25) {
            match self.random.below(4) {
                0 if self.attack.injected.len() > 1 => {
                    let at = self.random.below(self.attack.injected.len());
                    self.attack.injected.remove(at);
                }
                1 | 2 if self.attack.injected.len() < 4 => {
                    let injected = self.inject(number);
                    self.attack.injected.push(injected);
                }
                _ => {
                    let at = self.random.below(self.attack.injected.len());
                    self.attack.injected[at] = self.inject(number);
                }
            }
            return true;
        }
        let tool = self.attack.tool;
        if self.random.chance(30) {
            // Begins with the values that the user wants, so that the attack is one change away from them.
            self.attack.held = self.honest(tool);
        }
        match self.random.below(24) {
            0 => {
                self.attack.tool = self.random.below(self.setting.effects.len());
                self.attack.held = self.honest(self.attack.tool);
            }
            1 => self.attack.is_twice ^= true,
            2 => self.attack.held = self.honest(tool),
            _ => {
                let rule = self.random.below(self.attack.held.len());
                let is_list = self.setting.effects[tool].rules[rule].is_list;
                let friend = self.friend(tool, rule);
                let numeric = self.setting.effects[tool].rules[rule].is_number;
                let target = self.random.one(if numeric { &self.world.target_numbers } else { &self.world.targets });
                let honest = self.spelled(tool, rule, &friend);
                let values = &mut self.attack.held[rule];
                let at = self.random.below(values.len().max(1));
                if is_list && self.random.chance(15) {
                    match self.random.below(4) {
                        0 => values.clear(),
                        1 => values.insert(at.min(values.len()), honest),
                        2 => values.extend(vec![honest; 300 * usize::from(self.random.chance(10))]),
                        _ => values.truncate(at),
                    }
                    return false;
                }
                let old = values.get(at).cloned().unwrap_or(honest.clone());
                let text: Option<String> =
                    serde_json::from_str::<Value>(&old).ok().and_then(|value| value.as_str().map(str::to_owned));
                let new = match text {
                    _ if self.random.chance(6) => tricks::shape(&mut self.random, &old, &honest),
                    Some(text) => {
                        let text = tricks::text(&mut self.random, &text, &friend, &target);
                        tricks::literal(&mut self.random, &text)
                    }
                    None if old.parse::<f64>().is_ok() => tricks::number(&mut self.random, &old, &friend, &target),
                    None => honest,
                };
                match values.get_mut(at) {
                    Some(value) => *value = new,
                    None => values.push(new),
                }
            }
        }
        false
    }

    fn call(&self) -> Value {
        let effect = &self.setting.effects[self.attack.tool];
        let arguments = effect.arguments(&self.attack.held, self.attack.is_twice);
        let mut call = json!({"key": "call", "tool": effect.name, "arguments": arguments});
        if !effect.server.is_empty() {
            call["server"] = effect.server.clone().into();
        }
        call
    }

    fn decide(&self, call: &Value) -> Value {
        let decision = permit(&self.setting.profile, &self.facts.to_string(), &call.to_string());
        let decision = decision.unwrap_or_else(|fault| panic!("{call}: {}", fault.to_json()));
        serde_json::from_str(&decision).expect("JSON")
    }

    /// Returns the proof that the oracle finds for the least proven value, and that value.
    fn worst(&self) -> (Proof, String) {
        let effect = &self.setting.effects[self.attack.tool];
        let mut worst = (Proof::Trusted, String::new());
        for (rule, values) in effect.rules.iter().zip(&self.attack.held) {
            for literal in values {
                match self.evidence.of(literal, &rule.from) {
                    Proof::Trusted if rule.is_by_equality() && is_marked(literal) => {
                        return (Proof::None, literal.clone());
                    }
                    Proof::None => return (Proof::None, literal.clone()),
                    Proof::Chosen => worst = (Proof::Chosen, literal.clone()),
                    Proof::Trusted => {}
                }
            }
        }
        worst
    }

    /// Returns whether a rule of the profile requires approval of a call without an origin.
    fn must_ask(&self) -> bool {
        let effect = &self.setting.effects[self.attack.tool];
        let flows = self.setting.source["flows"].as_array().into_iter().flatten();
        let applies = |flow: &Value| {
            let concerns = if flow["to"] == "egress" { effect.is_egress } else { flow["to"] == effect.effect.as_str() };
            concerns && flow["after"].as_str().is_some_and(|label| self.labels.contains(label))
        };
        { flows }.any(applies)
    }
}

/// Makes one climb.
fn climb(seed: u64, fixed: &[Setting]) -> Figures {
    let mut random = Random(seed.wrapping_mul(0x2545_f491_4f6c_dd1d));
    let own;
    let setting = match random.below(fixed.len() * 2) {
        index if index < fixed.len() => &fixed[index],
        _ => {
            own = worlds::generated(&mut random);
            &own
        }
    };
    let mut climb = Climb::new(seed, setting, random);
    let mut figures = Figures::default();
    let mut seen = HashSet::new();
    let mut best = (i64::MIN, climb.attack.clone());
    let mut stuck = 0;
    for number in 0..CLIMB {
        let is_read = climb.change(number);
        if is_read {
            climb.read();
        }
        let call = climb.call();
        let decision = climb.decide(&call);
        let (proof, value) = climb.worst();
        let is_allowed = decision["permit"] == "allow";
        figures.tries += 1;
        match decision["permit"].as_str() {
            Some("allow") => figures.allowed += 1,
            Some("approval") => figures.asked += 1,
            _ => figures.denied += 1,
        }
        match proof {
            Proof::None => {
                figures.attacks += 1;
                if is_allowed && climb.must_ask() {
                    let (said, read) = (json!(climb.evidence.said), climb.facts["observed"].to_string());
                    let read: String = read.chars().take(3000).collect();
                    figures.found.push(format!(
                        "seed {seed}, try {number}: {value} in {call}\n  said: {said}\n  observed: {read}\n  {}",
                        decision["origins"]
                    ));
                }
            }
            Proof::Chosen => figures.chosen += u64::from(is_allowed),
            Proof::Trusted => figures.proven += u64::from(is_allowed),
        }
        let (height, kind) = standing(&decision);
        let is_new = seen.insert(kind);
        // A call that runs as the user wants does not score higher than others.
        let height = if is_allowed && proof != Proof::None { 90 } else { height };
        if height > best.0 || is_new {
            best = (height, climb.attack.clone());
            stuck = 0;
        } else {
            stuck += 1;
            // Sometimes the climb continues from a worse state.
            if stuck > 40 {
                (best, stuck) = ((height, climb.attack.clone()), 0);
            } else if !climb.random.chance(20) {
                climb.attack = best.1.clone();
                if is_read {
                    climb.read();
                }
            }
        }
    }
    figures.kinds = seen.len() as u64;
    figures
}

fn number(name: &str, default: u64) -> u64 {
    env::var(name)
        .map_or(default, |text| text.parse().unwrap_or_else(|_| panic!("{name} must be a number, and is {text:?}")))
}

#[test]
fn no_search_finds_an_effect_with_a_value_that_has_no_origin() {
    let (tries, first) = (number("SEARCH_TRIES", TRIES), number("SEARCH_SEED", 0));
    let fixed = settings();
    let start = Instant::now();
    let climbs: Vec<u64> = (first..first + tries.div_ceil(CLIMB)).collect();
    let threads = thread::available_parallelism().map_or(1, usize::from);
    let mut figures = Figures::default();
    thread::scope(|scope| {
        let parts = climbs.chunks(climbs.len().div_ceil(threads));
        let workers: Vec<_> = parts
            .map(|part| {
                let fixed = &fixed;
                scope.spawn(move || {
                    let mut own = Figures::default();
                    part.iter().for_each(|seed| own.add(climb(*seed, fixed)));
                    own
                })
            })
            .collect();
        workers.into_iter().for_each(|worker| figures.add(worker.join().expect("a climb")));
    });
    let Figures { tries, attacks, allowed, asked, denied, proven, chosen, kinds, found } = &figures;
    println!(
        "{tries} tries, {attacks} of them attacks; {allowed} allowed, {asked} asked, {denied} denied; \
         {proven} allowed as the user said, {chosen} by a name that the attacker chose; \
         {kinds} kinds of decisions; {} effects found; {} s",
        found.len(),
        start.elapsed().as_secs()
    );
    found.iter().take(20).for_each(|one| println!("{one}"));
    assert!(found.is_empty(), "{} effects with a value that has no origin", found.len());
    assert!(
        *attacks > tries / 4 && *proven > tries / 100,
        "the search does not search: {attacks} attacks, {proven} proven"
    );
}
