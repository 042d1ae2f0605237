//! The selected run: read once, judged whenever rules change.

use crate::assist::RunShape;
use averment_base::limits::Limits;
use averment_base::truth::Verdict;
use averment_engine::bytecode::program::Program;
use averment_engine::vm::evaluate::{EvaluateOptions, evaluate};
use averment_engine::vm::outcome::RunOutcome;
use averment_engine::vm::prepare::PreparedProgram;
use averment_traces::{RawRun, TraceRuns, parse_run};
use bumpalo::Bump;
use std::path::{Path, PathBuf};

/// Maximum number of runs skipped in a file to find the selected one.
const RUNS: usize = 100_000;
/// Fuel limit for one assertion, since somebody waits for the result.
const FUEL: u64 = 5_000_000;

/// The run that rules are evaluated on while they are written.
pub struct PickedRun {
    /// Its file.
    pub file: PathBuf,
    /// Its display name.
    pub name: String,
    raw: RawRun,
    /// Names and values of the run.
    pub recorded: RunShape,
}

fn run_limits() -> Limits {
    Limits { fuel: FUEL, run_bytes: 64 << 20, ..Limits::default() }
}

impl PickedRun {
    /// Reads the run with this number, counted from 1, in a file.
    pub fn read_run(file: &Path, number: usize) -> Result<Self, String> {
        let limits = run_limits();
        // The server answers requests one at a time, so it must not wait for a pipe.
        if file.metadata().is_ok_and(|found| !found.is_file()) {
            return Err(format!("`{}` is no regular file", file.display()));
        }
        let said = |error: averment_traces::ReadError| error.to_string();
        let mut runs = TraceRuns::open_file(&file.to_string_lossy(), &limits).map_err(said)?;
        let wanted = number.clamp(1, RUNS);
        let found = runs.nth(wanted - 1);
        let raw = found.ok_or_else(|| format!("`{}` has no run {number}", file.display()))?.map_err(said)?;
        let arena = Bump::new();
        let recorded = RunShape::from_run(&parse_run(&raw, &arena, &limits).map_err(said)?);
        let short = file.file_name().map_or_else(|| file.to_string_lossy(), |name| name.to_string_lossy());
        let name = if number > 1 { format!("{short}#{number}") } else { short.into_owned() };
        Ok(Self { file: file.to_path_buf(), name, raw, recorded })
    }

    /// Judges the run.
    pub fn judge(&self, program: &Program, prepared: &PreparedProgram) -> Option<RunOutcome> {
        let arena = Bump::new();
        let limits = run_limits();
        let run = parse_run(&self.raw, &arena, &limits).ok()?;
        let options = EvaluateOptions { limits, ..EvaluateOptions::default() };
        Some(evaluate(program, prepared, &run, &arena, &options))
    }
}

/// Returns a summary: `run.json: 4 pass, 1 fail`.
pub fn outcome_summary(name: &str, outcome: &RunOutcome) -> String {
    let verdicts =
        [Verdict::Pass, Verdict::Fail, Verdict::Vacuous, Verdict::Undecided, Verdict::Error, Verdict::Skipped];
    let count = |wanted| outcome.results.iter().filter(|result| result.verdict == wanted).count();
    let counted = verdicts.into_iter().map(|verdict| (verdict, count(verdict))).filter(|(_, count)| *count > 0);
    let all: Vec<String> = counted.map(|(verdict, count)| format!("{count} {}", verdict.as_str())).collect();
    format!("{name}: {}", if all.is_empty() { "nothing was checked".to_owned() } else { all.join(", ") })
}
