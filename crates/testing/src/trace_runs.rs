//! Reads recorded runs other than tests: traces to measure coverage, and folders of good and bad runs.

use super::coverage::Coverage;
use super::subject::TestSubject;
use averment_base::limits::Limits;
use averment_engine::vm::evaluate::{EvaluateOptions, evaluate_with_coverage};
use averment_traces::error::ReadError;
use averment_traces::read::{self, RawRun, TraceRuns};
use bumpalo::Bump;

/// The result of reading traces.
#[derive(Debug, Default)]
pub struct TraceReading {
    /// Number of judged runs.
    pub runs: u64,
    /// The errors.
    pub unreadable: Vec<ReadError>,
}

/// Passes every run of these traces to `look`, one after the other. An unreadable run does not stop the others.
pub fn each_run(
    traces: &[String],
    limits: &Limits,
    mut look: impl FnMut(&RawRun) -> Result<(), ReadError>,
) -> TraceReading {
    let mut reading = TraceReading::default();
    for trace in traces {
        let runs = match TraceRuns::open_file(trace, limits) {
            Ok(runs) => runs,
            Err(error) => {
                reading.unreadable.push(error);
                continue;
            }
        };
        for raw in runs {
            match raw.and_then(|raw| look(&raw)) {
                Ok(()) => reading.runs += 1,
                Err(error) => reading.unreadable.push(error),
            }
        }
    }
    reading
}

/// Adds the runs of these traces to the coverage of each subject.
pub fn cover_runs(
    subjects: &[TestSubject],
    coverage: &mut [Coverage],
    traces: &[String],
    limits: &Limits,
) -> TraceReading {
    let options = EvaluateOptions { limits: *limits, ..EvaluateOptions::default() };
    each_run(traces, limits, |raw| {
        let arena = Bump::new();
        let run = read::parse_run(raw, &arena, limits)?;
        for (subject, coverage) in subjects.iter().zip(coverage.iter_mut()) {
            let (program, prepared) = (&subject.program, &subject.prepared);
            let (outcome, seen) = evaluate_with_coverage(program, prepared, &run, &arena, &options);
            coverage.add_run(&outcome, &seen);
        }
        Ok(())
    })
}
