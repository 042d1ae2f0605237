//! What sessions of suites are run with: who starts programs, who judges, who looks at the world, who is told.

use crate::environment::AllowedVariables;
use crate::execute::Supervisor;
use crate::record::{FailureQuestion, SessionRecord};
use crate::workspace::LaunchMeans;
use crate::world::WorldLook;
use std::sync::atomic::AtomicBool;

/// What a judge says of a run.
#[derive(Debug, Clone, Default)]
pub struct SessionVerdict {
    /// Whether the run passed.
    pub passed: bool,
    /// Whether something failed that was expected to.
    pub expected: bool,
    /// What can be asked about what failed.
    pub questions: Vec<FailureQuestion>,
}

/// Judges a run in the normal form.
pub type SessionJudge<'a> = dyn Fn(&str) -> SessionVerdict + Sync + 'a;

/// What happens.
#[derive(Debug)]
pub enum SuiteEvent<'a> {
    /// A session begins.
    Begins(&'a str),
    /// A session has ended, or had before.
    Ends {
        /// What it is called.
        name: &'a str,
        /// What is kept of it.
        record: &'a SessionRecord,
        /// Whether its run passed.
        passed: bool,
        /// Whether it had ended before.
        kept: bool,
    },
}

/// What is needed to run.
pub struct SuiteContext<'a> {
    /// The words that start this program as the process that watches over another one.
    pub supervisor: &'a Supervisor,
    /// Variables that are passed on.
    pub allowed: &'a AllowedVariables,
    /// Bytes that a program may write.
    pub bytes: u64,
    /// Transcripts are read as SkillGym reads them.
    pub as_skillgym: bool,
    /// Set where all is to end.
    pub stop: &'a AtomicBool,
    /// Who judges.
    pub judge: &'a SessionJudge<'a>,
    /// Who looks at the world of a session that has ended, where rules ask for it.
    pub look: &'a WorldLook<'a>,
    /// Who is told.
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
