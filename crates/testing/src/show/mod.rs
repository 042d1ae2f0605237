//! Prints the results of tests as text and as data.

mod human;
mod json;
mod short;

use super::outcome::TrialReport;
pub use human::print_human;
pub use json::tests_data;
pub use short::print_short;

fn failed_count(tested: &[TrialReport]) -> usize {
    tested.iter().filter(|test| !test.passed).count()
}
