//! Tests of the example itself.

use std::{collections::BTreeMap, fs};

use seamgate::{Gate, read_profile};
use serde_json::{Value, json};

use super::place::{Place, done, example};

#[test]
fn has_no_mistakes() {
    let place = Place::new("lint");
    let files = "sre.profile.json log-reader.profile.json rca.contract.json found.contract.json";
    let linted = done(place.seamgate(&format!("lint {files}"))).is(0);
    assert!(linted.out.contains("0 errors, 0 warnings"), "{}", linted.out);
}

/// The example delegates to the profile in the same folder.
#[test]
fn names_the_profile_of_its_child() {
    let folder = example();
    let mut gate = Gate::new().expect("a gate");
    let child = read_profile(&folder.join("log-reader.profile.json")).expect("a profile");
    let child = gate.register_profile(&child).expect("a valid profile");
    let parent: Value = serde_json::from_slice(&fs::read(folder.join("sre.profile.json")).expect("it")).expect("JSON");
    assert_eq!(parent["delegate"][0]["profile"], json!(child.profile));
}

/// The script makes each mistake that the example documents, and reaches a final answer with the real service.
#[test]
fn comes_to_an_answer_with_one_restart() {
    let place = Place::with_service("example");
    done(place.start("sre")).is(6).says("restart_service");
    assert!(place.restarts().is_empty());
    done(place.approve("anna", "")).is(0);
    assert!(place.restarts().is_empty());
    let document = done(place.resume("")).is(0).document();
    assert_eq!(document["claims"].as_array().map(Vec::len), Some(5), "{document}");
    assert_eq!(place.restarts().len(), 1);

    let journal = place.journal();
    let codes: BTreeMap<String, u64> =
        journal.of("record", "decision").fold(BTreeMap::new(), |mut codes, (_, decision)| {
            let code = match decision["permit"].as_str() {
                Some("deny") => decision["reasons"][0]["code"].as_str().unwrap_or_default().to_owned(),
                permit => permit.unwrap_or_default().to_owned(),
            };
            *codes.entry(code).or_default() += 1;
            codes
        });
    let expected = [("allow", 7), ("approval", 1), ("definition", 2), ("mode", 1)];
    assert_eq!(codes, expected.map(|(code, count)| (code.to_owned(), count)).into());
    let kinds: Vec<&str> = journal.of("record", "output").filter_map(|(_, output)| output["kind"].as_str()).collect();
    assert_eq!(kinds, ["no_answer", "answer"]);
}
