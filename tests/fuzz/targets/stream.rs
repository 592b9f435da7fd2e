//! Checks an output in chunks: it has the same report as the whole output, and the same items in flight, wherever it is
//! split.
#![no_main]

use libfuzzer_sys::fuzz_target;
use seamgate_core::{Completed, Finish, Progress, Session};
use seamgate_fuzz::{contracts, judge, split};

fuzz_target!(|input: &[u8]| {
    let Some((choice, text)) = split(input) else { return };
    let pairs = contracts::all();
    let contract = &pairs[choice % pairs.len()].contract;
    let session = || Session::open(contract, Vec::new(), None).unwrap_or_else(|fault| panic!("{}", fault.to_json()));
    let push = |session: &mut Session, piece: &str| {
        session.push(contract, piece).unwrap_or_else(|fault| panic!("{}", fault.to_json()))
    };
    let whole = push(&mut session(), &text);
    // The text determines the lengths of the pieces.
    for longest in [1, 1 + text.bytes().map(usize::from).sum::<usize>() % 13] {
        let mut pieces = session();
        let mut items: Vec<Completed> = Vec::new();
        let mut last: Option<Progress> = None;
        let mut rest = text.as_str();
        while !rest.is_empty() {
            let (piece, after) = rest.split_at(rest.ceil_char_boundary(longest));
            let progress = push(&mut pieces, piece);
            items.extend(&progress.items);
            last = Some(progress);
            rest = after;
        }
        assert_eq!(items, whole.items);
        if let Some(last) = last {
            assert_eq!(last.completeness, whole.completeness);
            assert_eq!(last.dead_end, whole.dead_end);
        }
        let report = pieces.finish(contract, Finish::Unknown, None);
        let report = report.unwrap_or_else(|fault| panic!("{}", fault.to_json()));
        assert_eq!(report, judge(contract, &text));
    }
});
