//! Suites as something that is run: agents are started on the cases of a suite, and what they did is recorded as runs.
//!
//! Nothing is judged here. What is recorded is judged by whoever judges recorded runs; [`session_rules`] say what a run has to say of the session
//! itself: that it came to its end, and that it cost no more than was accepted.

#![deny(missing_docs)]
#![allow(
    clippy::disallowed_methods,
    clippy::disallowed_types,
    reason = "it starts agents in folders of their own, reads what they write in threads, and waits so long and no longer"
)]

mod agents;
mod collect;
#[cfg(test)]
mod conformance;
mod copied;
mod environment;
mod execute;
mod folder;
mod paths;
mod place;
mod plan;
mod questions;
mod record;
mod rejected;
mod run_line;
mod runs;
mod schedule;
mod session;
mod snapshots;
mod steps;
mod stream;
mod workspace;
mod world;

pub use agents::Agent;
pub use environment::{Allowed, private_values};
pub use execute::{FORGET, Supervisor};
pub use folder::{Folder, FolderError, folder_name};
pub use plan::{Bootstrap, Case, Chosen, Execution, Overrides, PlanError, Runner, Schedule, Suite, Workspace, plan};
pub use questions::{Answered, ask, of_session, only_below};
pub use record::{Outcome, Question, Record};
pub use runs::{Event, Judge, Judged, Runs};
pub use schedule::{Made, run};
pub use session::would_run;
pub use snapshots::{SnapshotFile, SnapshotRules, Snapshots};
pub use world::Look;

/// Rules for recorded sessions of suites: that each came to its end, and where there are snapshots cost no more than was accepted.
#[must_use]
pub fn session_rules(suites: &[Suite]) -> String {
    let of_snapshots = suites.iter().any(|suite| suite.snapshots.is_some());
    let further = if of_snapshots { include_str!("snapshot.assert") } else { "" };
    format!("{}{further}", include_str!("session.assert"))
}
