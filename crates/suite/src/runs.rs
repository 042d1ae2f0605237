//! The context for running sessions: the supervisor, the judge, the world inspection and the event callback.

use crate::environment::AllowedVariables;
use crate::execute::Supervisor;
use crate::record::{FailureQuestion, SessionRecord};
use crate::workspace::LaunchMeans;
use crate::world::WorldLook;
use std::sync::atomic::AtomicBool;

/// A judge's result for a run.
#[derive(Debug, Clone, Default)]
pub struct SessionVerdict {
    /// True if the run passed.
    pub passed: bool,
    /// True if an expected failure occurred.
    pub expected: bool,
    /// Questions about the failures.
    pub questions: Vec<FailureQuestion>,
}

/// Judges a run in the normal form.
pub type SessionJudge<'a> = dyn Fn(&str) -> SessionVerdict + Sync + 'a;

/// Progress of a suite.
#[derive(Debug)]
pub enum SuiteEvent<'a> {
    /// A session starts.
    Begins(&'a str),
    /// A session has ended, now or in an earlier execution.
    Ends {
        /// Its name.
        name: &'a str,
        /// Its record.
        record: &'a SessionRecord,
        /// True if its run passed.
        passed: bool,
        /// True if it ended in an earlier execution.
        kept: bool,
    },
}

/// The context for running suites.
pub struct SuiteContext<'a> {
    /// The command line of the supervisor process.
    pub supervisor: &'a Supervisor,
    /// Environment variables to pass on.
    pub allowed: &'a AllowedVariables,
    /// Maximum bytes that a program may write.
    pub bytes: u64,
    /// True if transcripts are read with SkillGym's semantics.
    pub as_skillgym: bool,
    /// Set to stop everything.
    pub stop: &'a AtomicBool,
    /// Judges runs.
    pub judge: &'a SessionJudge<'a>,
    /// Inspects the world of an ended session for rules that need it.
    pub look: &'a WorldLook<'a>,
    /// Called for each event.
    pub on_event: &'a (dyn Fn(SuiteEvent<'_>) + Sync),
}

impl std::fmt::Debug for SuiteContext<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Runs").field("bytes", &self.bytes).finish_non_exhaustive()
    }
}

impl SuiteContext<'_> {
    pub(crate) fn launch_means(&self) -> LaunchMeans<'_> {
        LaunchMeans { supervisor: self.supervisor, allowed: self.allowed, bytes: self.bytes, stop: self.stop }
    }
}
