//! The slots of a pool. They bound the number of concurrent instances, and keep instances that wait for their next
//! call.

use std::{
    sync::{
        Condvar, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicU32, Ordering},
    },
    time::Duration,
};

use super::clock::{Clock, PAUSE, is_interrupted};

/// The slots of a pool. A call that finds no free slot waits, at most as long as a call may take: a full pool is
/// backpressure.
#[derive(Debug)]
pub(crate) struct Slots<K> {
    count: u32,
    /// The most slots that instances for more than one call may hold at a time.
    most_held: u32,
    held: AtomicU32,
    room: Mutex<Occupancy<K>>,
    freed: Condvar,
}

#[derive(Debug)]
struct Occupancy<K> {
    free: u32,
    /// The number of calls that wait for a slot. Waking a call is a system call, so it is done only if one waits.
    waiting: u32,
    /// The number of waiting calls that have waited for some time. The same number of slots is reserved for them.
    overdue: u32,
    /// The instances in free slots, the oldest first. There are never more of them than free slots.
    kept: Vec<K>,
}

/// One slot. Dropping it frees it.
#[derive(Debug)]
pub(crate) struct Slot<'s, K> {
    slots: &'s Slots<K>,
    /// `true` if an instance for more than one call has the slot.
    is_held: bool,
}

/// The reason why a call gets no slot.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Full {
    /// No slot became free in time.
    Waited,
    /// Instances already hold the maximum number of slots.
    Held {
        /// The maximum.
        most: u32,
    },
}

/// A slot that was taken.
pub(crate) struct Taken<'s, K> {
    pub(crate) slot: Slot<'s, K>,
    /// The instance that the slot kept, if it is the kind that the caller wants.
    pub(crate) kept: Option<K>,
    /// An instance to drop before the slot is used.
    pub(crate) displaced: Option<K>,
}

impl<K> Slots<K> {
    pub(crate) fn new(slots: u32, most_held: u32) -> Self {
        let room = Occupancy { free: slots, waiting: 0, overdue: 0, kept: Vec::new() };
        Slots { count: slots, most_held, held: AtomicU32::new(0), room: Mutex::new(room), freed: Condvar::new() }
    }

    /// Returns the number of slots.
    pub(crate) fn count(&self) -> u32 {
        self.count
    }

    /// Takes a slot, preferably one that keeps an instance that the caller wants. Waits until one is free, but no
    /// longer than `most`.
    pub(crate) fn take(&self, wanted: impl Fn(&K) -> bool, most: Duration) -> Result<Taken<'_, K>, Full> {
        let mut room = self.room();
        if room.free <= room.overdue {
            room = self.wait(room, most)?;
        }
        Ok(self.taken(&mut room, wanted))
    }

    /// Takes a slot for an instance that is used more than once, unless instances already hold the maximum number of
    /// slots.
    pub(crate) fn hold(&self, most: Duration) -> Result<Taken<'_, K>, Full> {
        let one_more = |held: u32| (held < self.most_held).then_some(held + 1);
        if self.held.fetch_update(Ordering::Relaxed, Ordering::Relaxed, one_more).is_err() {
            return Err(Full::Held { most: self.most_held });
        }
        match self.take(|_| false, most) {
            Ok(mut taken) => {
                taken.slot.is_held = true;
                Ok(taken)
            }
            Err(full) => {
                self.held.fetch_sub(1, Ordering::Relaxed);
                Err(full)
            }
        }
    }

    /// Takes a slot if one is free.
    pub(crate) fn try_take(&self) -> Option<Taken<'_, K>> {
        let mut room = self.room();
        (room.free > room.overdue).then(|| self.taken(&mut room, |_| false))
    }

    /// Waits for a slot. Later calls do not overtake a call that has waited for some time.
    fn wait<'r>(
        &'r self,
        mut room: MutexGuard<'r, Occupancy<K>>,
        most: Duration,
    ) -> Result<MutexGuard<'r, Occupancy<K>>, Full> {
        let clock = Clock::start(most);
        let mut is_overdue = false;
        room.waiting += 1;
        let found = loop {
            let (again, waited) =
                self.freed.wait_timeout(room, clock.left().min(PAUSE)).unwrap_or_else(PoisonError::into_inner);
            room = again;
            let others = room.overdue - u32::from(is_overdue);
            if room.free > if is_overdue { 0 } else { others } {
                break true;
            }
            if clock.left().is_zero() {
                break false;
            }
            if !is_overdue && clock.elapsed() >= PAUSE {
                is_overdue = true;
                room.overdue += 1;
            }
            if waited.timed_out() {
                // Release the lock first, because the host's language may wait for another thread, which needs it to
                // free a slot.
                drop(room);
                let is_interrupted = is_interrupted();
                room = self.room();
                if is_interrupted {
                    break false;
                }
            }
        };
        room.waiting -= 1;
        room.overdue -= u32::from(is_overdue);
        if found { Ok(room) } else { Err(Full::Waited) }
    }

    fn taken(&self, room: &mut Occupancy<K>, wanted: impl Fn(&K) -> bool) -> Taken<'_, K> {
        room.free -= 1;
        // Prefer the most recently used instance, because most of it is still in the processor's caches.
        let kept = room.kept.iter().rposition(wanted).map(|at| room.kept.remove(at));
        let is_full = room.kept.len() > room.free as usize;
        let displaced = is_full.then(|| room.kept.remove(0));
        Taken { slot: Slot { slots: self, is_held: false }, kept, displaced }
    }

    fn free(&self, mut room: MutexGuard<Occupancy<K>>) {
        room.free += 1;
        let (waiting, overdue) = (room.waiting, room.overdue);
        drop(room);
        match (waiting, overdue) {
            (0, _) => {}
            (_, 0) => self.freed.notify_one(),
            // The slot is reserved for the overdue calls, so wake all waiting calls to reach one of them.
            _ => self.freed.notify_all(),
        }
    }

    fn room(&self) -> MutexGuard<'_, Occupancy<K>> {
        // A panicking thread leaves no partial changes behind.
        self.room.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<K> Slot<'_, K> {
    /// Frees the slot, and keeps something in it for a later call.
    pub(crate) fn keep(self, kept: K) {
        let slots = self.slots;
        let mut room = slots.room();
        room.kept.push(kept);
        slots.free(room);
        std::mem::forget(self);
    }
}

impl<K> Drop for Slot<'_, K> {
    fn drop(&mut self) {
        if self.is_held {
            self.slots.held.fetch_sub(1, Ordering::Relaxed);
        }
        self.slots.free(self.slots.room());
    }
}

#[cfg(test)]
mod tests {
    use std::{sync::atomic::AtomicBool, thread, time::Instant};

    use super::*;

    const SOON: Duration = Duration::from_millis(120);

    impl<K> Slots<K> {
        /// Returns the number of free slots, of waiting calls and of overdue calls.
        fn counts(&self) -> (u32, u32, u32) {
            let room = self.room();
            (room.free, room.waiting, room.overdue)
        }
    }

    fn take<'s, K>(slots: &'s Slots<K>, wanted: impl Fn(&K) -> bool) -> Taken<'s, K> {
        slots.take(wanted, Duration::ZERO).unwrap_or_else(|full| panic!("{full:?}"))
    }

    #[test]
    fn a_slot_gives_what_is_wanted_and_no_more_is_kept_than_slots_are_free() {
        let slots = Slots::new(2, 2);
        take(&slots, |_| true).slot.keep("a");
        take(&slots, |kept| *kept == "b").slot.keep("b");
        let first = take(&slots, |kept| *kept == "a");
        assert_eq!((first.kept, first.displaced), (Some("a"), None));
        let second = take(&slots, |kept| *kept == "a");
        assert_eq!((second.kept, second.displaced), (None, Some("b")));
        assert!(slots.try_take().is_none());
        drop(first.slot);
        let third = slots.try_take().expect("a slot");
        assert_eq!((third.kept, third.displaced), (None, None));
    }

    #[test]
    fn nobody_waits_longer_than_a_call_may_take() {
        let slots = Slots::<()>::new(1, 1);
        let taken = take(&slots, |()| true);
        for most in [Duration::ZERO, Duration::from_millis(1), SOON] {
            let begin = Instant::now();
            assert_eq!(slots.take(|()| true, most).err(), Some(Full::Waited));
            assert!(begin.elapsed() >= most && begin.elapsed() < most + Duration::from_secs(2));
        }
        drop(taken);
        // The slot that they waited for is available to the next call.
        assert_eq!(slots.counts(), (1, 0, 0));
        drop(take(&slots, |()| true));
    }

    #[test]
    fn so_many_are_held_and_one_more_is_refused_at_once() {
        let slots = Slots::<()>::new(3, 2);
        let held = [slots.hold(SOON), slots.hold(SOON)];
        assert!(held.iter().all(Result::is_ok));
        assert_eq!(slots.hold(Duration::MAX).err(), Some(Full::Held { most: 2 }));
        drop(take(&slots, |()| true));
        drop(held);
        assert!(slots.hold(SOON).is_ok());
    }

    #[test]
    fn a_call_that_waits_gets_its_turn_beside_calls_without_end() {
        let slots = Slots::<()>::new(1, 1);
        let over = AtomicBool::new(false);
        thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    while !over.load(Ordering::Relaxed) {
                        // The slot is free only while this thread asks for it again.
                        let taken = slots.take(|()| true, Duration::MAX);
                        let begin = Instant::now();
                        while begin.elapsed() < Duration::from_micros(200) {}
                        drop(taken);
                    }
                });
            }
            for _ in 0..20 {
                let taken = slots.take(|()| true, Duration::from_secs(10));
                assert!(taken.is_ok(), "it was overtaken for 10 s");
            }
            over.store(true, Ordering::Relaxed);
        });
        assert_eq!(slots.counts(), (1, 0, 0));
    }
}
