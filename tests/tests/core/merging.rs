//! Tests merging two answers: valid items are unchanged, and each place is filled by its own item or stays empty. The
//! tests generate lists, damage some items and request these again. The second answer is one of many kinds.

use std::collections::BTreeMap;

use seamgate_core::{
    Attempt, Contract, Disposition, MergeOutcome, Merged, Quarantined, Report, Request, merge, validate,
};
use seamgate_tests::Random;
use serde_json::{Value, json};

/// The number of lists to generate for each contract.
const ROUNDS: usize = 20_000;

const WORDS: [&str; 8] =
    ["tests are missing", "a {brace}, here", "slow query", "typo", "leaks", "é ü “x”", "no docs", "x"];
const STATES: [&str; 3] = ["open", "closed", "held"];

/// Returns the contract. If `key` is set, it names the member that identifies items.
fn contract(key: bool) -> Contract {
    let mut contract = json!({
        "agent": "a", "items": {"path": "$.list[*]"},
        "schema": {"type": "object", "required": ["list"], "properties": {"list": {"type": "array", "items": {
            "type": "object", "required": ["state", "size", "text"], "additionalProperties": false, "properties": {
                "id": {"type": "integer", "minimum": 0}, "state": {"enum": STATES}, "size": {"type": "integer"},
                "text": {"type": "string"}, "tags": {"type": "array"}
            }
        }}}}
    });
    if key {
        contract["items"]["key"] = json!("id");
    }
    Contract::compile(&contract.to_string()).expect("a contract")
}

/// Returns a valid item, either short or longer than the part that a report shows.
fn meant(random: &mut Random, number: usize) -> Value {
    let text = format!("{} {}", random.one(&WORDS), 3 * number + random.below(2));
    let text = if random.chance(20) { text.repeat(20) } else { text };
    let (id, state, size) = (100 + 10 * number, random.one(&STATES), random.below(9));
    let mut item = json!({"id": id, "state": state, "size": size, "text": text});
    if random.chance(30) {
        item["tags"] = json!([random.one(&WORDS), {"n": random.below(3)}]);
    }
    item
}

/// Returns the text of an item. Its `id` is first or last. In a long item, the last member is beyond the part that a
/// report shows.
fn written(item: &Value, id_last: bool) -> String {
    let mut members: Vec<String> =
        item.as_object().into_iter().flatten().map(|(name, value)| format!("\"{name}\":{value}")).collect();
    members.sort_by_key(|member| id_last == member.starts_with("\"id\""));
    format!("{{{}}}", members.join(","))
}

/// Returns the text of an item with an error.
fn bad(random: &mut Random, item: &Value) -> String {
    let id_last = random.chance(25);
    let mut item = item.clone();
    match random.below(8) {
        0 => item["size"] = json!("large"),
        1 => item["state"] = json!("unknown"),
        2 => item["id"] = json!(format!("ID-{}", random.below(100))),
        3 => item["more"] = json!(1),
        4 => drop(item.as_object_mut().expect("an object").remove("text")),
        5 => return written(&item, id_last).replacen("\"size\":", "\"size\":,\"x", 1),
        6 => return written(&item, id_last).replacen(':', " ", 1),
        _ => return written(&item, id_last).replacen("\"text\":\"", "\"text\":", 1),
    }
    written(&item, id_last)
}

/// Returns a copy of an item with one member changed.
fn varied(random: &mut Random, item: &Value) -> Value {
    let mut item = item.clone();
    match random.below(3) {
        0 => item["size"] = json!(20 + random.below(9)),
        1 => item["text"] = json!(format!("{} in other words", random.one(&WORDS))),
        _ => item["tags"] = json!(["new"]),
    }
    item
}

fn renamed(random: &mut Random, item: &Value) -> Value {
    let mut item = item.clone();
    item["id"] = json!(5000 + random.below(99));
    item
}

fn without_id(item: &Value) -> Value {
    let mut item = item.clone();
    item.as_object_mut().expect("an object").remove("id");
    item
}

fn shuffle<T>(random: &mut Random, items: &mut [T]) {
    for at in (1..items.len()).rev() {
        items.swap(at, random.below(at + 1));
    }
}

/// The kinds of a producer's second answer.
const KINDS: [&str; 15] = [
    "in order",
    "shuffled",
    "a subset",
    "reworded",
    "variants of kept",
    "a variant and the rest",
    "duplicates",
    "a mix",
    "all",
    "all, kept ones varied",
    "all but some",
    "without ids",
    "ids changed",
    "kept ones, ids changed",
    "one and a bad one",
];

/// An item of the second answer: the index of its original in the first list, and its value.
type Sent = (usize, Value);

fn answer(random: &mut Random, kind: usize, list: &[Value], wrong: &[usize]) -> Vec<Sent> {
    let kept: Vec<usize> = (0..list.len()).filter(|number| !wrong.contains(number)).collect();
    let right = |numbers: &[usize]| numbers.iter().map(|&at| (at, list[at].clone())).collect::<Vec<Sent>>();
    let of_kept = |random: &mut Random, made: fn(&mut Random, &Value) -> Value| {
        let at = random.one(&kept);
        (at, made(random, &list[at]))
    };
    let mut sent = right(wrong);
    match KINDS[kind] {
        "shuffled" => shuffle(random, &mut sent),
        "a subset" => {
            let gone = random.below(sent.len());
            sent.remove(gone);
        }
        "reworded" => sent.iter_mut().for_each(|(_, item)| *item = varied(random, item)),
        "variants of kept" => {
            sent = wrong.iter().map(|_| of_kept(random, varied)).collect();
        }
        "a variant and the rest" => {
            sent.pop();
            sent.insert(0, of_kept(random, varied));
        }
        "duplicates" => {
            let again = random.one(&sent);
            let again = if random.chance(50) { again } else { (again.0, varied(random, &again.1)) };
            sent.insert(random.below(sent.len() + 1), again);
        }
        "a mix" => {
            for _ in 0..1 + random.below(4) {
                let at = random.below(list.len());
                let item = match random.below(4) {
                    0 => list[at].clone(),
                    1 => varied(random, &list[at]),
                    2 => renamed(random, &list[at]),
                    _ => without_id(&list[at]),
                };
                sent.push((at, item));
            }
            shuffle(random, &mut sent);
            sent.truncate(1 + random.below(wrong.len() + 2));
        }
        "all" | "all, kept ones varied" | "all but some" => {
            sent = right(&(0..list.len()).collect::<Vec<_>>());
            if kind == 9 {
                sent.iter_mut()
                    .filter(|(at, _)| !wrong.contains(at))
                    .for_each(|(_, item)| *item = varied(random, item));
            }
            if kind == 10 {
                for _ in 0..1 + random.below(2) {
                    sent.remove(random.below(sent.len()));
                }
            }
        }
        "without ids" => sent.iter_mut().for_each(|(_, item)| *item = without_id(item)),
        "ids changed" => sent.iter_mut().for_each(|(_, item)| *item = renamed(random, item)),
        "kept ones, ids changed" => {
            sent = wrong.iter().map(|_| of_kept(random, renamed)).collect();
        }
        "one and a bad one" => sent[0].1["size"] = json!("still large"),
        _ => {}
    }
    sent
}

/// The promises that one round broke, and the numbers of requested items that came and that were taken.
#[derive(Default)]
struct Seen {
    broken: Vec<&'static str>,
    came: usize,
    taken: usize,
}

fn judge(contract: &Contract, output: &str) -> Report {
    validate(contract, &Request { output, ..Request::default() }).expect("a report")
}

fn items_of(report: &Report) -> Vec<Value> {
    let document: Value = serde_json::from_str(report.output.as_deref().unwrap_or("null")).expect("JSON");
    document["list"].as_array().cloned().unwrap_or_default()
}

/// Merges both answers, and checks the promises of the result. Returns `None` if the first answer is not read as
/// intended.
fn seen(
    contract: &Contract,
    list: &[Value],
    wrong: &[usize],
    (first, texts): (&Report, &[String]),
    sent: &[Sent],
) -> Option<Seen> {
    let kept: Vec<&Value> = (0..list.len()).filter(|at| !wrong.contains(at)).map(|at| &list[at]).collect();
    let quarantined: Vec<usize> = first.quarantined.iter().map(|item| item.index as usize).collect();
    let is_text = |(item, at): (&Quarantined, &usize)| {
        item.snippet.starts_with(&texts[*at][..texts[*at].floor_char_boundary(16)])
    };
    let are_texts = first.quarantined.iter().zip(wrong).all(is_text);
    if items_of(first).iter().ne(kept.iter().copied()) || quarantined != wrong || !are_texts {
        return None;
    }
    let texts: Vec<String> = sent.iter().map(|(_, item)| written(item, false)).collect();
    let second = judge(contract, &format!("{{\"list\":[{}]}}", texts.join(",")));
    let Ok(Merged::New(merged)) = merge(contract, &[Attempt::from(first), Attempt::from(&second)], Vec::new(), None)
    else {
        panic!("two reports make a new one");
    };
    let mut seen = Seen::default();
    let output = items_of(&merged);
    let made_from = |at: usize, item: &Value| sent.iter().any(|(from, sent)| *from == at && sent == item);
    let is_new = merged.merged.iter().any(|step| step.outcome == MergeOutcome::Replaced);
    if is_new {
        if kept.iter().any(|item| !output.contains(item)) {
            seen.broken.push("a kept item is lost or changed");
        }
        if wrong.iter().any(|at| !output.iter().any(|item| made_from(*at, item))) {
            seen.broken.push("an item that was asked for is lost");
        }
        (seen.came, seen.taken) = (wrong.len(), wrong.len());
        return Some(seen);
    }
    let missing: Vec<usize> = merged.quarantined.iter().map(|item| item.index as usize).collect();
    let places: Vec<usize> = (0..list.len()).filter(|at| !missing.contains(at)).collect();
    if places.len() != output.len() {
        seen.broken.push("an item that was asked for is lost");
    }
    for (at, item) in places.iter().zip(&output) {
        if !wrong.contains(at) && item != &list[*at] {
            seen.broken.push("a kept item is lost or changed");
        }
        if wrong.contains(at) && !made_from(*at, item) {
            seen.broken.push("an item is in another's place");
        }
    }
    if merged.disposition == Disposition::Accepted && !missing.is_empty() {
        seen.broken.push("accepted with items missing");
    }
    seen.came = wrong.iter().filter(|at| sent.iter().any(|(from, _)| from == *at)).count();
    seen.taken = wrong.iter().filter(|at| places.contains(at)).count();
    Some(seen)
}

fn rounds(contract: &Contract) -> usize {
    let mut random = Random(0x1bad_5eed_0f00_d500);
    let mut figures: BTreeMap<&str, (usize, usize, usize)> = BTreeMap::new();
    let mut breaches: BTreeMap<&str, usize> = BTreeMap::new();
    let mut example = None;
    for round in 0..ROUNDS {
        let list: Vec<Value> = (0..2 + random.below(8)).map(|number| meant(&mut random, number)).collect();
        let mut wrong: Vec<usize> = (0..list.len()).filter(|_| random.chance(35)).collect();
        if wrong.is_empty() || wrong.len() == list.len() {
            wrong = vec![random.below(list.len())];
        }
        let texts: Vec<String> = (0..list.len())
            .map(|at| if wrong.contains(&at) { bad(&mut random, &list[at]) } else { written(&list[at], false) })
            .collect();
        let mut output = format!("{{\"list\":[{}]}}", texts.join(","));
        if wrong.last() == Some(&(list.len() - 1)) && random.chance(20) {
            let last = list[list.len() - 1].to_string().len().min(texts[list.len() - 1].len());
            let end = output.len() - 2 - last + 1 + random.below(last - 1);
            output.truncate(output.floor_char_boundary(end));
        }
        let first = judge(contract, &output);
        let kind = round % KINDS.len();
        let sent = answer(&mut random, kind, &list, &wrong);
        let figure = figures.entry(KINDS[kind]).or_default();
        let Some(seen) = seen(contract, &list, &wrong, (&first, &texts), &sent) else {
            continue;
        };
        figure.0 += 1;
        figure.1 += seen.came;
        figure.2 += seen.taken;
        for breach in &seen.broken {
            *breaches.entry(breach).or_default() += 1;
        }
        if !seen.broken.is_empty() {
            example.get_or_insert_with(|| format!("{:?} {}: {output}\n{sent:?}", seen.broken, KINDS[kind]));
        }
    }
    for (kind, (rounds, came, taken)) in figures {
        let is_plain = matches!(kind, "in order" | "shuffled" | "all");
        assert!(!is_plain || taken * 100 >= came * 98, "{kind}: {taken} of {came}");
        println!("  {kind}: {rounds} rounds, of {came} items asked for that came {taken} places are filled");
    }
    println!("  {breaches:?}\n  {}", example.unwrap_or_default());
    breaches.values().sum()
}

#[test]
fn each_place_is_filled_by_its_own_item_or_not_at_all() {
    for key in [false, true] {
        println!("with a key: {key}");
        assert_eq!(rounds(&contract(key)), 0, "with a key: {key}");
    }
}
