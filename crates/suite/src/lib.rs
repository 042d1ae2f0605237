//! Runs suites: starts agents on the cases of a suite, and records what they did as runs.
//!
//! Nothing is judged here. The caller judges the recorded runs. [`session_rules`] returns rules about the session itself: it completed, and it cost
//! no more than accepted.

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
mod environment;
mod execute;
mod folder;
mod folder_copy;
mod model_rejection;
mod paths;
mod place;
mod plan;
mod questions;
mod record;
mod run_line;
mod runs;
mod schedule;
mod session;
mod snapshots;
mod steps;
mod stream;
mod workspace;
mod world;

pub use agents::AgentSpec;
pub use environment::{AllowedVariables, private_values};
pub use execute::{FORGET, Supervisor};
pub use folder::{FolderError, SuiteFolder, folder_name};
pub use plan::{
    Bootstrap, CaseExecution, PlanError, PlannedCase, PlannedRunner, PlannedSuite, Schedule, SettingOverrides,
    SuiteSelection, WorkspacePlan, plan_suites,
};
pub use questions::{AnsweredQuestion, ask_questions, only_below, session_questions};
pub use record::{FailureQuestion, SessionOutcome, SessionRecord};
pub use runs::{SessionJudge, SessionVerdict, SuiteContext, SuiteEvent};
pub use schedule::{SuiteResults, run_suites};
pub use session::would_run;
pub use snapshots::{SnapshotFile, SnapshotRules, TokenSnapshots};
pub use world::WorldLook;

/// Returns rules for recorded sessions of suites: each completed and, if there are snapshots, cost no more than accepted.
#[must_use]
pub fn session_rules(suites: &[PlannedSuite]) -> String {
    let of_snapshots = suites.iter().any(|suite| suite.snapshots.is_some());
    let further = if of_snapshots { include_str!("snapshot.assert") } else { "" };
    format!("{}{further}", include_str!("session.assert"))
}
