//! Tests that an approval expires.

use std::{thread, time::Duration};

use serde_json::json;

use super::place::{Place, done, until};

/// The call is approved, the process is killed before the effect, and the run resumes after the approval expired: the
/// run asks again, and nothing runs.
#[test]
fn an_approval_that_expired_is_asked_again() {
    let place = Place::with_stand_in("expiry");
    place.edit("sre.profile.json", |profile| {
        let tools = profile["tools"].as_array_mut().expect("tools");
        let restart = tools.iter_mut().find(|tool| tool["name"] == "restart_service").expect("it");
        restart["permit"]["approval"]["ttl_s"] = json!(2);
    });
    done(place.start("straight")).is(6);
    let before = place.journal().0.len();
    let mut approve = place.approve("anna", "").spawn().expect("seamgate");
    until("the approval", || place.journal().0.len() > before);
    let _ = approve.kill();
    approve.wait().expect("its end");
    assert_eq!(place.journal().of("event", "approval").count(), 1);
    thread::sleep(Duration::from_millis(2100));

    done(place.resume("")).is(6).says("restart_service");
    assert!(place.restarts().is_empty());
    let journal = place.journal();
    let asks: Vec<_> =
        journal.of("action", "ask_approval").map(|(_, action)| action["ask"]["expires"].clone()).collect();
    assert!(asks.len() >= 2 && asks.first() != asks.last(), "{asks:?}");
    done(place.approve("anna", "")).is(0);
    done(place.resume("")).is(0);
    assert_eq!(place.restarts().len(), 1);
}
