//! What came of tests, for people and for machines.

mod human;
mod json;
mod short;

use super::outcome::Tested;
pub use human::human;
pub use json::data;
pub use short::short;

/// `1 test`, `2 tests`.
pub fn counted(count: usize, noun: &str) -> String {
    format!("{count} {noun}{}", if count == 1 { "" } else { "s" })
}

/// The tests that did not come out as stated.
fn failed(tested: &[Tested]) -> usize {
    tested.iter().filter(|test| !test.passed).count()
}
