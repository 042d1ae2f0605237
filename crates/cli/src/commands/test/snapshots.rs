//! `--snapshots`, `--update`: keeps the findings of each test in a file beside the rules.

use crate::commands::console::eprint_redacted;
use crate::commands::draft_file;
use crate::commands::exit::CommandError;
use averment_base::diagnostic::render::one_line;
use averment_base::words::count_noun;
use averment_testing::outcome::TrialReport;
use averment_testing::snapshot::{TestSnapshots, path_of};
use averment_testing::subject::TestSubject;

/// Options about snapshots.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Snapshots")]
#[group(skip)]
pub struct SnapshotFlags {
    /// Compare reasons and evidence of each test with NAME.snap beside the rules, even if there is none yet
    #[arg(long)]
    snapshots: bool,
    /// Accept what the tests find as their snapshots
    #[arg(long)]
    update: bool,
}

impl SnapshotFlags {
    /// Compares the tests of a subject with their snapshots, or updates the snapshots. An existing snapshot file is always compared. Returns the
    /// snapshots without a test. `all` means that every test was run.
    pub fn apply_snapshots(
        &self,
        subject: &TestSubject,
        tested: &mut [TrialReport],
        all: bool,
    ) -> Result<Vec<String>, CommandError> {
        let Some(path) = subject.path.as_deref().map(path_of) else {
            return match self.snapshots || self.update {
                true => Err(CommandError::usage("rules from standard input have no snapshots", "name the rule file")),
                false => Ok(Vec::new()),
            };
        };
        if !(self.snapshots || self.update || path.is_file()) {
            return Ok(Vec::new());
        }
        let shown = path.display().to_string();
        let failed = |what: &str, error: &std::io::Error| {
            CommandError::usage(format!("`{shown}` cannot be {what}: {}", crate::commands::io_error_text(error)), "")
        };
        let mut snapshots = TestSnapshots::read_file(path).map_err(|error| failed("read", &error))?;
        if self.update {
            let changed = snapshots
                .update_file(tested, all, draft_file::update_file)
                .map_err(|error| failed("written", &error))?;
            eprint_redacted(&match changed {
                0 => format!("note: {} stays as it is\n", one_line(&shown)),
                count => format!("note: {} written, {} changed\n", one_line(&shown), count_noun(count, "snapshot")),
            });
            return Ok(Vec::new());
        }
        let orphans = snapshots.compare_tests(tested, all).orphans;
        let named = orphans.into_iter().map(|name| format!("{shown}: no test is called \"{name}\""));
        Ok(named.collect())
    }
}
