//! Prints the results of tests as text and as data.

mod human;
mod json;
mod short;

use super::outcome::TrialReport;
pub use human::print_human;
pub use json::tests_data;
pub use short::print_short;

/// Returns a count with its noun: `1 test`, `2 tests`.
pub fn count_noun(count: usize, noun: &str) -> String {
    format!("{count} {noun}{}", if count == 1 { "" } else { "s" })
}

fn failed_count(tested: &[TrialReport]) -> usize {
    tested.iter().filter(|test| !test.passed).count()
}
