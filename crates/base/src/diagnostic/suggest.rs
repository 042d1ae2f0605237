//! Near misses of names: "did you mean `length`?".

use std::cell::Cell;

/// Minimum length of the shorter name when one is a prefix of the other.
const SHARED_START: usize = 3;

thread_local! {
    /// Remaining budget of letter pairs to compare; unlimited unless set.
    static LEFT: Cell<u64> = const { Cell::new(u64::MAX) };
}

/// Does something in which no more than so many pairs of letters are compared: then there are no suggestions.
pub fn with_pair_limit<R>(pairs: u64, work: impl FnOnce() -> R) -> R {
    /// Restores the previous budget, even on a panic.
    struct PairLimitGuard(u64);
    impl Drop for PairLimitGuard {
        fn drop(&mut self) {
            LEFT.set(self.0);
        }
    }
    let _outer = PairLimitGuard(LEFT.replace(pairs.min(LEFT.get())));
    work()
}

/// True if suggestions are possible; otherwise candidates need not be collected.
#[must_use]
pub fn is_open() -> bool {
    LEFT.get() > 0
}

/// The candidate nearest to `name`, when its edit distance is at most `max(1, length / 3)`; otherwise the shortest candidate that
/// begins with the name, or the longest that the name begins with (`rouge` and `rouge_l`, `warning` and `warn`).
/// Among equally near ones the first wins, so that the answer does not depend on hashing.
///
/// ```
/// use averment_base::diagnostic::suggest::suggest_name;
/// assert_eq!(suggest_name("lenght", ["length", "lower"]), Some("length"));
/// assert_eq!(suggest_name("int", ["string", "integer"]), Some("integer"));
/// assert_eq!(suggest_name("xyz", ["length", "lower"]), None);
/// ```
pub fn suggest_name<'a>(name: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    if !is_open() {
        return None;
    }
    let letters = name.chars().count();
    let limit = (letters / 3).max(1);
    let mut best: Option<(usize, &'a str)> = None;
    let mut started: Option<(usize, &'a str)> = None;
    for candidate in candidates {
        let others = if candidate.len() == name.len() { letters } else { candidate.chars().count() };
        let apart = letters.abs_diff(others);
        let starts = candidate.starts_with(name) || name.starts_with(candidate);
        // The distance is at least what one is longer, and of a beginning exactly that.
        let distance = match () {
            () if starts => apart,
            () if apart > limit || best.is_some_and(|(least, _)| apart >= least) || !take_pairs(letters, others) => {
                continue;
            }
            () => strsim::osa_distance(name, candidate),
        };
        if distance <= limit && best.is_none_or(|(least, _)| distance < least) {
            best = Some((distance, candidate));
        }
        let shared = letters.min(others);
        if starts && shared >= SHARED_START && started.is_none_or(|(least, _)| distance < least) {
            started = Some((distance, candidate));
        }
    }
    best.or(started).map(|(_, candidate)| candidate)
}

/// Longer names are not typos.
const LONGEST: usize = 1_000;

/// Charges the comparison of two names; false if the budget is exhausted.
fn take_pairs(letters: usize, others: usize) -> bool {
    let pairs = (letters as u64).saturating_mul(others as u64).saturating_add(16);
    let left = LEFT.get();
    if letters.max(others) > LONGEST {
        return false;
    }
    if left < u64::MAX {
        LEFT.set(left.saturating_sub(pairs));
    }
    pairs <= left
}
