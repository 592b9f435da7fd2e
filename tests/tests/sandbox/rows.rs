//! The requests of a run of attempts, as rows for a receipt. The component returns the same reports and fuel for these
//! rows.

use seamgate::{Finish, Gate, Produced};
use seamgate_tests::cases;

#[test]
fn the_request_of_each_attempt_gives_its_report_again() {
    let (empty, mut judged, mut merged) = (Gate::new().expect("a gate"), 0, 0);
    for case in cases().expect("cases") {
        let name = &case.name;
        let mut gate = empty.clone();
        let Ok(info) = gate.register(&case.contract) else { continue };
        let Ok(mut attempts) = gate.attempts(&case.request(&info.agent)) else { continue };
        let finish: Finish = case.finish().parse().expect("a word");
        for attempt in case.attempts() {
            let produced = Produced::from(attempt.output).finish(finish);
            let Ok(verdict) = attempts.judge(&produced) else { continue };
            let answer = gate.call(&attempts.request_json(&produced)).expect(name);
            assert_eq!(answer.json, format!(r#"{{"id":null,"report":{}}}"#, verdict.report.to_json()), "{name}");
            judged += 1;
        }
        assert_eq!(attempts.merge_json().is_some(), attempts.count() > 1, "{name}");
        if let (Some(request), Some(report)) = (attempts.merge_json(), attempts.report()) {
            let answer = gate.call(&request).expect(name);
            assert_eq!(answer.json, format!(r#"{{"id":null,"report":{}}}"#, report.to_json()), "{name}");
            merged += 1;
        }
    }
    assert!(judged > 500 && merged > 10, "{judged} attempts, {merged} merged");
}
