//! What a check of many runs is made with.

use crate::faults::FaultInjector;
use crate::feed;
use crate::near_names::NearNames;
use crate::reading_notes::ReadingNotes;
use crate::unused_names::UnusedNames;
use averment_engine::bytecode::program::Program;
use averment_engine::vm::evaluate::EvaluateOptions;
use averment_engine::vm::prepare::PreparedProgram;
use averment_report::RunGranularity;
use averment_report::draw_limits::DrawnLimits;
use averment_report::gate::GatePolicy;
use averment_report::model::ReportDetail;
use averment_report::profile::CheckCosts;
use averment_report::table::ReportTable;
use std::num::NonZeroUsize;
use std::sync::{Arc, Mutex};

/// Everything that judging a run needs.
pub struct Pipeline {
    /// The programs, in the order of the table.
    pub programs: Arc<Vec<Program>>,
    /// What is prepared of each, for all threads.
    pub prepared: Vec<PreparedProgram>,
    /// What reports say of their assertions.
    pub table: Arc<ReportTable>,
    /// How runs are judged.
    pub options: EvaluateOptions,
    /// The policy that decides which verdicts fail a run.
    pub policy: GatePolicy,
    /// How many failures reports draw; `None` where one shows every finding.
    pub drawn: Option<DrawnLimits>,
    /// What reports show.
    pub detail: ReportDetail,
    /// How runs are read.
    pub reading: feed::RunReadOptions,
    /// The names of `--map` that were not seen.
    pub unused: UnusedNames,
    /// How much of the traces was understood.
    pub understood: ReadingNotes,
    /// Names that nothing has while some run has nearly it.
    pub near_names: NearNames,
    /// How many chunks are judged at a time; `None` for as many as there are processors.
    pub threads: Option<NonZeroUsize>,
    /// Bytes of a chunk.
    pub chunk: usize,
    /// The form of runs that all reports are made from.
    pub runs: RunGranularity,
    /// Held by the thread that reads a large run in full.
    pub large: Mutex<()>,
    /// Whether reports say how long each run took.
    pub timed: bool,
    /// Where threads note what judging costs, while a profile is made.
    pub profile: Option<Mutex<CheckCosts>>,
    /// Where tests let threads break down.
    pub faults: FaultInjector,
}
