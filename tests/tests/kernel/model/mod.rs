//! A model check: all orders of events up to a depth, with the real `advance`, natively.
//!
//! The search is breadth first and begins with four prefixes: asked, approved, started and resumed. Each has a read
//! call beside an effectful call, or two equal calls. The search covers a loop, a run without a loop, and a child whose
//! own profile allows the calls that its parent's profile forbids. The same rules apply to the child. A state counts
//! once, by its typed content without times, numbers of steps, digests of events and messages. [`moves`] has the
//! events, [`rules`] has the invariants of each step, and [`world`] has the host's knowledge of the run. The rules read
//! only two facts from the state: whether the run has ended, and the number of counted calls.
//!
//! `MODEL_DEPTH=8` searches deeper than CI does, and takes minutes: `MODEL_DEPTH=8 cargo test --release -p
//! seamgate-tests --test kernel -- model --nocapture`. `tests/results/model.md` has the figures, and the mistakes that
//! were added to the kernel to show that the check finds them.

mod moves;
mod rules;
mod world;

use std::{collections::HashSet, env, sync::Arc, thread, time::Instant};

use anyhow::{Context, Result, anyhow, bail, ensure};
use moves::{Move, moves, started};
use seamgate_core::kernel_api::digest;
use seamgate_kernel::Profile;
use seamgate_tests::runs::member;
use serde_json::{Value, json};
use world::{Known, World};

/// The search depth in CI.
const DEPTH: usize = 4;

/// A state, and the events that lead to it.
struct Node {
    state: String,
    world: World,
    trail: Arc<Trail>,
}

/// The events that lead to a state, in reverse order.
struct Trail {
    label: String,
    event: String,
    before: Option<Arc<Trail>>,
}

impl Trail {
    fn events(&self) -> Vec<&Trail> {
        let mut events: Vec<&Trail> = std::iter::successors(Some(self), |trail| trail.before.as_deref()).collect();
        events.reverse();
        events
    }

    fn labels(&self) -> String {
        self.events().iter().map(|trail| format!("  {}\n    {}\n", trail.label, trail.event)).collect()
    }
}

/// The result of a step.
struct Reached {
    key: u128,
    node: Node,
}

#[derive(Default)]
struct Figures {
    states: usize,
    steps: usize,
    again: usize,
}

/// Applies an event, and checks the step against all rules.
fn step(
    profile: &Profile,
    state: Option<&str>,
    world: &World,
    made: &Move,
    before: Option<&Arc<Trail>>,
) -> Result<Reached> {
    let trail = Arc::new(Trail { label: made.label.clone(), event: made.event.to_string(), before: before.cloned() });
    let told = || format!("after these events:\n{}", trail.labels());
    let text = advance(profile, state, &trail.event).with_context(told)?;
    let mut step: Value = serde_json::from_str(&text)?;
    let world = rules::check(world, &made.event, &step).with_context(told)?;
    let typed = world::typed(&mut step["state"], world.now);
    let key = &digest(&format!("{typed}{}", world.typed()))["sha256:".len()..];
    let key = u128::from_str_radix(&key[..32], 16)?;
    Ok(Reached { key, node: Node { state: member(&text, "state")?, world, trail } })
}

fn advance(profile: &Profile, state: Option<&str>, event: &str) -> Result<String> {
    seamgate_kernel::advance(profile, state, event).map_err(|fault| anyhow!(fault.to_json()))
}

/// Checks that a second delivery of the last event, or of an earlier one, changes nothing and causes no action.
fn deliver_again(profile: &Profile, key: u128, node: &Node) -> Result<usize> {
    let typed = |state: &str| -> Result<String> { Ok(world::typed(&mut serde_json::from_str(state)?, node.world.now)) };
    let before = typed(&node.state)?;
    let events = node.trail.events();
    let one = (key % events.len() as u128) as usize;
    for again in [events[one], &node.trail] {
        let told = || format!("{} comes once more after these events:\n{}", again.label, node.trail.labels());
        let text = advance(profile, Some(&node.state), &again.event).with_context(told)?;
        let step: Value = serde_json::from_str(&text)?;
        let actions = &step["actions"];
        ensure!(actions.as_array().is_some_and(Vec::is_empty), "it leads to {actions}: {}", told());
        let after = typed(&member(&text, "state")?)?;
        ensure!(after == before, "it changes {before} to {after}: {}", told());
    }
    Ok(2)
}

/// Returns the states that the prefixes lead to: asked, approved, started and resumed, with a read call beside an
/// effectful call, and with two equal calls.
///
/// `parent`: the bounds of a child.
fn prefixes(profile: &Profile, has_loop: bool, parent: Option<&Value>) -> Result<Vec<Reached>> {
    const CALLS: [[&[&str]; 2]; 2] = [
        [&["call \"look\" {\"q\":1}", "call \"act\" {\"x\":1}"], &["call \"act\" {\"x\":1}", "call \"act\" {\"x\":1}"]],
        [&["look and edited act"], &["act twice"]],
    ];
    let mut found = Vec::new();
    for asked in CALLS[usize::from(has_loop)] {
        let start = Move { label: "started".to_owned(), event: started(has_loop, parent) };
        let world = World { has_loop, now: 1_000_000, mode: "operate".to_owned(), ..World::default() };
        let mut reached = step(profile, None, &world, &start, None)?;
        for (number, label) in asked.iter().chain(&["c2 approved by anna", "c2 started", "resumed"]).enumerate() {
            let Node { state, world, trail } = &reached.node;
            let made = moves(world).into_iter().find(|made| made.label == *label);
            let made = made.with_context(|| format!("no move {label}"))?;
            let next = step(profile, Some(state), world, &made, Some(trail))?;
            if number >= asked.len() {
                found.push(reached);
            }
            reached = next;
        }
        found.push(reached);
    }
    Ok(found)
}

/// Returns the states from which the search for origins begins: the start, and the states after the result of `find`
/// while another call waits, runs, or has ended.
fn found(profile: &Profile) -> Result<Vec<Reached>> {
    let first: [&[&str]; 3] = [
        &["call \"find\" {\"q\":1}", "c1 result", "call \"send\" {\"to\":[\"bob@x.com\"]}"],
        &["call \"find\" {\"q\":1}", "said Ask Bob", "c1 result with Bob eve@evil.org"],
        &["said Ask Bob", "call \"find\" {\"q\":1}", "c1 result", "call \"send\" {\"to\":[\"bob@x.com\"]}"],
    ];
    let mut all = Vec::new();
    for labels in first {
        let start = Move { label: "started".to_owned(), event: started(false, None) };
        let world =
            World { now: 1_000_000, mode: "operate".to_owned(), known: Some(Known::default()), ..World::default() };
        let mut reached = step(profile, None, &world, &start, None)?;
        for label in labels {
            let Node { state, world, trail } = &reached.node;
            let made = moves(world).into_iter().find(|made| made.label == *label);
            let next =
                step(profile, Some(state), world, &made.with_context(|| format!("no move {label}"))?, Some(trail))?;
            all.push(reached);
            reached = next;
        }
        all.push(reached);
    }
    Ok(all)
}

fn explore(source: &str, has_loop: bool, parent: Option<&Value>, depth: usize) -> Result<Figures> {
    let profile = &Profile::compile(source).map_err(|fault| anyhow!(fault.to_json()))?;
    explore_from(profile, prefixes(profile, has_loop, parent)?, depth)
}

fn explore_from(profile: &Profile, first: Vec<Reached>, depth: usize) -> Result<Figures> {
    let mut visited = HashSet::new();
    let mut figures = Figures::default();
    let mut frontier = Vec::new();
    for reached in first {
        if visited.insert(reached.key) {
            frontier.push(reached.node);
        }
    }
    let start = Instant::now();
    for level in 1..=depth {
        let threads = thread::available_parallelism()?.get();
        let chunks: Vec<&[Node]> = frontier.chunks(frontier.len().div_ceil(threads).max(1)).collect();
        let found: Vec<Result<(Vec<Reached>, Figures)>> = thread::scope(|scope| {
            let visited = &visited;
            let workers: Vec<_> = chunks
                .iter()
                .map(|chunk| scope.spawn(move || expand(profile, chunk, visited, level == depth)))
                .collect();
            workers.into_iter().map(|worker| worker.join().unwrap_or_else(|_| bail!("a step panics"))).collect()
        });
        let mut next = Vec::new();
        for found in found {
            let (found, counted) = found?;
            figures.steps += counted.steps;
            figures.again += counted.again;
            next.extend(found.into_iter().filter(|reached| visited.insert(reached.key)).map(|reached| reached.node));
        }
        frontier = next;
        figures.states = visited.len();
        println!(
            "depth {level}: {} states, {} steps, {} of events once more, {} s",
            figures.states,
            figures.steps,
            figures.again,
            start.elapsed().as_secs()
        );
    }
    Ok(figures)
}

/// Returns the new states after all moves from the given states.
fn expand(
    profile: &Profile,
    nodes: &[Node],
    visited: &HashSet<u128>,
    is_last: bool,
) -> Result<(Vec<Reached>, Figures)> {
    let mut own = HashSet::new();
    let mut found = Vec::new();
    let mut figures = Figures::default();
    for node in nodes {
        for made in moves(&node.world) {
            let mut reached = step(profile, Some(&node.state), &node.world, &made, Some(&node.trail))?;
            figures.steps += 1;
            if visited.contains(&reached.key) || !own.insert(reached.key) {
                continue;
            }
            figures.again += deliver_again(profile, reached.key, &reached.node)?;
            if is_last {
                // A state at the last depth is counted, but not expanded.
                reached.node.state = String::new();
            }
            found.push(reached);
        }
    }
    Ok((found, figures))
}

fn depth() -> Result<usize> {
    env::var("MODEL_DEPTH").map_or(Ok(DEPTH), |depth| depth.parse().context("MODEL_DEPTH is a number"))
}

#[test]
fn no_order_of_events_breaks_a_rule_in_a_loop() -> Result<()> {
    let figures = explore(include_str!("loop.json"), true, None, depth()?)?;
    ensure!(figures.states > 300, "only {} states", figures.states);
    Ok(())
}

#[test]
fn no_order_of_events_breaks_a_rule_without_a_loop() -> Result<()> {
    let figures = explore(include_str!("gate.json"), false, None, depth()?)?;
    ensure!(figures.states > 300, "only {} states", figures.states);
    Ok(())
}

#[test]
fn no_order_of_events_sends_to_a_target_without_an_origin() -> Result<()> {
    let profile = Profile::compile(include_str!("origins.json")).map_err(|fault| anyhow!(fault.to_json()))?;
    let first = found(&profile)?;
    // At the depth of the other searches, this search has more states than all others together.
    let figures = explore_from(&profile, first, depth()? - 1)?;
    ensure!(figures.states > 300, "only {} states", figures.states);
    Ok(())
}

/// Returns the profile of a child that may do everything, and the bounds that a parent with the loop's profile gives
/// it. The child's budget equals that of the loop.
fn child() -> Result<(String, Value)> {
    let mut parent: Value = serde_json::from_str(include_str!("loop.json"))?;
    let mut child = parent.clone();
    child["agent"] = json!("child");
    child["tools"][1]["permit"] = json!("allow");
    child["tools"][0]["result"]["labels"] = json!([]);
    child["flows"] = json!([]);
    child["budget"] = json!({"steps": 50, "tool_calls": 50, "same_call": 50});
    let child = child.to_string();
    let compiled = |source: &str| Profile::compile(source).map_err(|fault| anyhow!(fault.to_json()));
    let budget = parent["budget"].take();
    parent["budget"] = json!({"steps": 50, "tool_calls": 50, "same_call": budget["same_call"]});
    parent["delegate"] = json!([{
        "agent": "child", "profile": compiled(&child)?.digest(), "tools": ["*"], "permit": "allow", "budget": budget,
    }]);
    let profile = compiled(&parent.to_string())?;
    let mut start = started(true, None);
    (start["run"], start["at"]) = (json!("p1"), json!(999_998));
    let step: Value = serde_json::from_str(&advance(&profile, None, &start.to_string())?)?;
    let call = json!({"id": "x", "tool": "delegate_child", "arguments": {"reason": "because"}});
    let output = json!({"type": "model_output", "at": 999_999, "key": step["actions"][0]["key"], "calls": [call]});
    let step: Value = serde_json::from_str(&advance(&profile, Some(&step["state"].to_string()), &output.to_string())?)?;
    let mut actions = step["actions"].as_array().into_iter().flatten();
    let delegated = actions.find(|action| action["type"] == "delegate").context("the child is not started")?;
    Ok((child, delegated["parent"].clone()))
}

#[test]
fn no_order_of_events_gives_a_child_more_than_its_parent_has() -> Result<()> {
    let (child, parent) = child()?;
    let figures = explore(&child, true, Some(&parent), depth()?)?;
    ensure!(figures.states > 300, "only {} states", figures.states);
    Ok(())
}

#[test]
fn the_marks_of_attacks_are_those_of_prompts() -> Result<()> {
    let profile = Profile::compile(include_str!("loop.json")).map_err(|fault| anyhow!(fault.to_json()))?;
    let reached = &prefixes(&profile, true, None)?[0].node;
    let made = moves(&reached.world).into_iter().find(|made| made.label == "c1 result").context("no result")?;
    let step = advance(&profile, Some(&reached.state), &made.event.to_string())?;
    ensure!(step.contains(&format!("\\n<{}>\\n", rules::mark("look#c1"))), "{step}");
    Ok(())
}
