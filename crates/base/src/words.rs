//! Words of messages.

use std::fmt::Display;

/// A count with its noun: `1 call`, `3 calls`.
///
/// ```
/// use averment_base::words::count_noun;
/// assert_eq!(count_noun(1_u64, "call"), "1 call");
/// assert_eq!(count_noun(3_usize, "call"), "3 calls");
/// ```
#[must_use]
pub fn count_noun<N: Display + PartialEq + From<u8>>(count: N, noun: &str) -> String {
    let plural = if count == N::from(1) { "" } else { "s" };
    format!("{count} {noun}{plural}")
}
