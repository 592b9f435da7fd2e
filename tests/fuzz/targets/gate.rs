//! The core of the gate in a world derived from the bytes: messages of a client and of servers, ends, times, and the
//! kernel's decisions. The invariants of `seamgate-world` hold.
#![no_main]

use libfuzzer_sys::fuzz_target;
use seamgate_checks::schemas::Choices;
use seamgate_world::{Fake, Prelude, Setting, World};

/// Bytes as choices. When no bytes are left, each choice is the first one.
struct Bytes<'t>(&'t [u8]);

impl Choices for Bytes<'_> {
    fn below(&mut self, bound: usize) -> usize {
        let Some((first, rest)) = self.0.split_first() else {
            return 0;
        };
        self.0 = rest;
        usize::from(*first) % bound
    }
}

fuzz_target!(|bytes: &[u8]| {
    let mut choices = Bytes(bytes);
    let servers = 1 + choices.below(2);
    let prelude = choices.one(&[Prelude::Session, Prelude::Stateless, Prelude::Nothing]);
    let setting = Setting { servers, has_own_tool: true, prelude };
    let mut world = World::new(setting, Fake::default(), false);
    // The first value of each choice leads to an ordinary session.
    world.begin(setting, &mut Bytes(&[]));
    while !choices.0.is_empty() && !world.is_over() {
        world.make_move(&mut choices);
    }
    world.finish(&mut choices);
});
