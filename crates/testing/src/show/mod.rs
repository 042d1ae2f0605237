//! What came of tests, for people and for machines.

mod human;
mod json;
mod short;

use super::outcome::TrialReport;
pub use human::print_human;
pub use json::tests_data;
pub use short::print_short;

/// `1 test`, `2 tests`.
pub fn count_noun(count: usize, noun: &str) -> String {
    format!("{count} {noun}{}", if count == 1 { "" } else { "s" })
}

fn failed_count(tested: &[TrialReport]) -> usize {
    tested.iter().filter(|test| !test.passed).count()
}
