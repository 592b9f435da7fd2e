//! One sort for everything that is put in order by its place: sorting is a lot of code for each kind of value.

/// The values in ascending order of a key; those of one key stay as they were.
pub(crate) fn by_place<T>(values: Vec<T>, key: impl Fn(&T) -> (u32, u32)) -> Vec<T> {
    if values.len() < 2 {
        return values;
    }
    let mut order: Vec<((u32, u32), usize)> =
        values.iter().enumerate().map(|(index, value)| (key(value), index)).collect();
    // Mostly they are in order already, or several lists are, one after the other: this sort makes use of that.
    order.sort();
    let mut values: Vec<Option<T>> = values.into_iter().map(Some).collect();
    order.into_iter().filter_map(|(_, index)| values[index].take()).collect()
}
