//! Counts the instances that a process holds between calls, across all its gates.

use std::sync::atomic::{AtomicUsize, Ordering};

/// The most instances that a process holds for sessions and for repeated use. Each has six memory mappings. Linux
/// allows a process 65,530 of them (`vm.max_map_count`), and a process that can get no more mappings cannot continue at
/// all.
pub(crate) const MOST_SEATS: usize = 4096;

static SEATS: Seats = Seats { most: MOST_SEATS, taken: AtomicUsize::new(0) };

#[derive(Debug)]
struct Seats {
    most: usize,
    taken: AtomicUsize,
}

/// The right to hold one instance. Dropping it releases the right.
#[derive(Debug)]
pub(crate) struct Seat(&'static Seats);

impl Seat {
    /// Takes a seat. Returns `None` at once if the maximum number of instances is held.
    pub(crate) fn take() -> Option<Self> {
        SEATS.take()
    }
}

impl Seats {
    fn take(&'static self) -> Option<Seat> {
        let one_more = |taken: usize| (taken < self.most).then_some(taken + 1);
        let is_taken = self.taken.fetch_update(Ordering::Relaxed, Ordering::Relaxed, one_more).is_ok();
        is_taken.then(|| Seat(self))
    }
}

impl Drop for Seat {
    fn drop(&mut self) {
        self.0.taken.fetch_sub(1, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_seat_that_is_refused_gives_none_back() {
        static FEW: Seats = Seats { most: 3, taken: AtomicUsize::new(0) };
        for _ in 0..3 {
            let seats: Vec<Seat> = std::iter::from_fn(|| FEW.take()).collect();
            assert_eq!(seats.len(), 3);
            assert!(FEW.take().is_none());
            drop(seats);
            assert_eq!(FEW.taken.load(Ordering::Relaxed), 0);
        }
    }
}
