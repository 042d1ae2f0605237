//! Expected calls that stand in data, and how calls of a run are matched with them: the reading of what is expected, the comparison of
//! arguments, the assignment of each expected call to a call of its own.

mod arguments;
mod assignment;
mod expected;

pub(super) use arguments::{ArgumentComparison, RunCall};
pub(super) use assignment::{CallPairs, MatchedCalls};
pub(super) use expected::{ExpectedCall, ExpectedRoutes, read_expected};
