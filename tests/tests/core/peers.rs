//! Compares verdicts with those of the crate `jsonschema`, which has its own engine. The schemas and documents are
//! random and depend on seeds, so that each disagreement can be reproduced.

use seamgate_checks::schemas::{DIALECTS, WORDS, schema, value};
use seamgate_core::{Contract, Disposition, Request, validate};
use seamgate_tests::Random;
use serde_json::json;

/// The number of schemas, and the number of documents for each schema.
const SCHEMAS: u64 = 6_000;
const DOCUMENTS: usize = 20;

#[test]
fn verdicts_are_those_of_jsonschema() {
    let mut compared = [0_usize; 2];
    for seed in 0..SCHEMAS {
        let mut random = Random(seed);
        let dialect = random.below(DIALECTS.len());
        let schema = schema(&mut random, WORDS, dialect);
        // The peer counts items that `contains` matches as evaluated in 2019-09, too. Only 2020-12 defines this.
        let text = schema.to_string();
        if dialect == 3 && text.contains("\"contains\"") && text.contains("\"unevaluatedItems\"") {
            continue;
        }
        // The peer asserts these formats only from the draft that defines them.
        let defined = [("uuid", 3), ("json-pointer", 1)];
        if defined.into_iter().any(|(format, since)| dialect < since && text.contains(&format!("\"{format}\""))) {
            continue;
        }
        let peer = jsonschema::options().should_validate_formats(true).build(&schema);
        let contract = Contract::compile(&json!({"agent": "a", "schema": schema}).to_string());
        let (peer, contract) = match (peer, contract) {
            (Ok(peer), Ok(contract)) => (peer, contract),
            (Err(_), Err(_)) => continue,
            (peer, contract) => panic!(
                "seed {seed}: jsonschema {:?}, seamgate {:?}: {schema}",
                peer.map(|_| ()).map_err(|error| error.to_string()),
                contract.map(|_| ()).map_err(|fault| fault.to_json())
            ),
        };
        for _ in 0..DOCUMENTS {
            let document = value(&mut random, WORDS, 3);
            let text = document.to_string();
            let request = Request { agent: "a".to_owned(), output: &text, ..Request::default() };
            let report = validate(&contract, &request).expect("a report");
            let expected = peer.is_valid(&document);
            compared[usize::from(expected)] += 1;
            assert_eq!(
                report.disposition == Disposition::Accepted,
                expected,
                "seed {seed}: {text}\nby {schema}\n{}",
                report.to_json()
            );
            // A rejection contains reasons.
            if let Some(error) = &report.error {
                assert!(
                    !error.violations.is_empty() && error.violations[0].keyword != "schema",
                    "seed {seed}: {text} by {schema:#}"
                );
            }
        }
    }
    println!("{} rejected and {} accepted by both", compared[0], compared[1]);
    assert!(compared.iter().all(|count| *count > 10_000), "{compared:?}");
}
