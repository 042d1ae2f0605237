//! Expected calls that stand in data, and how calls of a run are matched with them: the reading of what is expected, and the comparison of
//! arguments.

mod arguments;
mod expected;

pub(super) use arguments::{ArgumentComparison, RunCall};
pub(super) use expected::{ExpectedCall, ExpectedRoutes, read_expected};
