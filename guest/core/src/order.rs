//! One sort for values of all types. For each type that a sort is compiled for, its code takes 5 to 14 KB of the
//! component.

use std::cmp::Ordering;

/// Sorts values. The sort is stable.
pub(crate) fn sort_by<T>(values: &mut Vec<T>, compare: impl Fn(&T, &T) -> Ordering) {
    // Most lists are short and already sorted.
    if values.is_sorted_by(|a, b| compare(a, b) != Ordering::Greater) {
        return;
    }
    let mut order: Vec<usize> = (0..values.len()).collect();
    sort_indices(&mut order, &|a, b| compare(&values[a], &values[b]));
    let mut taken: Vec<Option<T>> = std::mem::take(values).into_iter().map(Some).collect();
    values.extend(order.into_iter().filter_map(|index| taken[index].take()));
}

// The input is usually sorted, or consists of several sorted lists. This sort takes advantage of that.
#[inline(never)]
fn sort_indices(order: &mut [usize], compare: &dyn Fn(usize, usize) -> Ordering) {
    order.sort_by(|a, b| compare(*a, *b));
}

/// Sorts values in ascending order.
pub fn sort<T: Ord>(values: &mut Vec<T>) {
    sort_by(values, Ord::cmp);
}

/// Sorts values by a key. The sort is stable.
pub fn sort_by_key<T, K: Ord>(values: &mut Vec<T>, key: impl Fn(&T) -> K) {
    sort_by(values, |a, b| key(a).cmp(&key(b)));
}

/// Returns the values in ascending order of a position. The sort is stable. It has separate code, because it sorts the
/// longest lists: up to a hundred thousand violations.
pub(crate) fn by_place<T>(values: Vec<T>, place: impl Fn(&T) -> (u32, u32)) -> Vec<T> {
    if values.len() < 2 {
        return values;
    }
    let mut order: Vec<((u32, u32), usize)> =
        values.iter().enumerate().map(|(index, value)| (place(value), index)).collect();
    order.sort();
    let mut values: Vec<Option<T>> = values.into_iter().map(Some).collect();
    order.into_iter().filter_map(|(_, index)| values[index].take()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_values_keep_their_order() {
        let mut values: Vec<(u32, usize)> = (0..1000_u32).map(|n| (n * 7919 % 13, n as usize)).collect();
        let mut expected = values.clone();
        expected.sort();
        sort_by_key(&mut values, |value| value.0);
        assert_eq!(values, expected);
    }
}
