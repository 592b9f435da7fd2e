//! The slots of a pool: how many instances there are at once, and those that wait for their next call.

use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

/// The free slots. A call that finds none waits: a full pool is backpressure, not an error.
#[derive(Debug)]
pub(crate) struct Slots<K> {
    count: u32,
    room: Mutex<Room<K>>,
    freed: Condvar,
}

#[derive(Debug)]
struct Room<K> {
    free: u32,
    /// How many calls wait for a slot. To wake one is a call of the system, so it is made only where there are any.
    waiting: u32,
    /// What free slots hold, the oldest first: never more than are free.
    kept: Vec<K>,
}

/// One slot. Dropping it frees it.
#[derive(Debug)]
pub(crate) struct Slot<'s, K>(&'s Slots<K>);

/// A slot that was taken.
pub(crate) struct Taken<'s, K> {
    pub(crate) slot: Slot<'s, K>,
    /// What it held, if that was wanted.
    pub(crate) kept: Option<K>,
    /// What is to be dropped before the slot is used.
    pub(crate) displaced: Option<K>,
}

impl<K> Slots<K> {
    pub(crate) fn new(slots: u32) -> Self {
        let room = Room { free: slots, waiting: 0, kept: Vec::new() };
        Slots { count: slots, room: Mutex::new(room), freed: Condvar::new() }
    }

    /// How many there are.
    pub(crate) fn count(&self) -> u32 {
        self.count
    }

    /// Take a slot, one that holds what is wanted if there is one. Waits until one is free.
    pub(crate) fn take(&self, wanted: impl Fn(&K) -> bool) -> Taken<'_, K> {
        let mut room = self.room();
        while room.free == 0 {
            room.waiting += 1;
            room = self.freed.wait(room).unwrap_or_else(PoisonError::into_inner);
            room.waiting -= 1;
        }
        self.taken(&mut room, wanted)
    }

    /// Take a slot, if one is free.
    pub(crate) fn try_take(&self) -> Option<Taken<'_, K>> {
        let mut room = self.room();
        (room.free > 0).then(|| self.taken(&mut room, |_| false))
    }

    fn taken(&self, room: &mut Room<K>, wanted: impl Fn(&K) -> bool) -> Taken<'_, K> {
        room.free -= 1;
        // The last one that was used: most of it is still in the processor's caches.
        let kept = room.kept.iter().rposition(wanted).map(|at| room.kept.remove(at));
        let is_full = room.kept.len() > room.free as usize;
        let displaced = is_full.then(|| room.kept.remove(0));
        Taken { slot: Slot(self), kept, displaced }
    }

    fn free(&self, mut room: MutexGuard<Room<K>>) {
        room.free += 1;
        let waits = room.waiting > 0;
        drop(room);
        if waits {
            self.freed.notify_one();
        }
    }

    fn room(&self) -> MutexGuard<'_, Room<K>> {
        // Nothing half changed is left where a thread panics.
        self.room.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<K> Slot<'_, K> {
    /// Free it, and have it hold something.
    pub(crate) fn keep(self, kept: K) {
        let slots = self.0;
        let mut room = slots.room();
        room.kept.push(kept);
        slots.free(room);
        std::mem::forget(self);
    }
}

impl<K> Drop for Slot<'_, K> {
    fn drop(&mut self) {
        self.0.free(self.0.room());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slot_gives_what_is_wanted_and_no_more_is_kept_than_slots_are_free() {
        let slots = Slots::new(2);
        slots.take(|_| true).slot.keep("a");
        slots.take(|kept| *kept == "b").slot.keep("b");
        let first = slots.take(|kept| *kept == "a");
        assert_eq!((first.kept, first.displaced), (Some("a"), None));
        let second = slots.take(|kept| *kept == "a");
        assert_eq!((second.kept, second.displaced), (None, Some("b")));
        assert!(slots.try_take().is_none());
        drop(first.slot);
        let third = slots.try_take().expect("a slot");
        assert_eq!((third.kept, third.displaced), (None, None));
    }
}
