//! Where the reports of a check go: one format on standard output, any number of them into files.

use super::baseline::BaselineFile;
use super::console::ColorChoice;
use super::exit::{Exit, Stop};
use super::passed_over::PassedOver;
use super::record::Recording;
use super::targets::{self, Opened, OutputTarget, ReportFile};
use averment::stages::Wants;
use averment_bulk::feed::Lost;
use averment_bulk::understood::FileRecords;
use averment_engine::vm::context::LISTED;
use averment_engine::vm::outcome::Status;
use averment_report::chunk_totals::ChunkTotals;
use averment_report::drawn::DrawnLimits;
use averment_report::gate::Policy;
use averment_report::model::{RunReport, Unreadable};
use averment_report::show::Show;
use averment_report::table::Table;
use averment_report::totals::Totals;
use averment_report::{self as report, ALL_VIOLATIONS, VIOLATIONS_DRAWN};
use averment_report::{Command, Ending, Options, Report, Wanted};
use std::collections::BTreeSet;
use std::io;

/// How much of what fails is drawn.
#[derive(Debug, Clone, Default)]
pub struct Drawing {
    /// How many failures; `None` for a few, and few of the same assertion.
    pub max_failures: Option<usize>,
    /// All violations of each, not the first ones alone.
    pub all_violations: bool,
    /// What reports for people show.
    pub show: Show,
    /// The command whose results are drawn.
    pub command: Command,
}

/// Width of pieces of the trace, beside the line numbers.
const MARGIN: usize = 8;

/// All reports of a check, with the counts that they end with.
pub struct Outputs {
    reports: Vec<Box<dyn Report>>,
    /// The files that reports are written into.
    files: Vec<ReportFile>,
    totals: Totals,
    /// How wide pieces of the trace are; `None` when nothing draws them.
    excerpt: Option<usize>,
    /// What the formats need together.
    wanted: Wanted,
    /// How many violations of a failure are listed, and how many of them are drawn.
    violations: (usize, usize),
    /// How many failures reports draw; `None` where one shows every finding.
    drawn: Option<DrawnLimits>,
    /// The assertions that judged some run, by their places in the table.
    judged: BTreeSet<usize>,
    policy: Policy,
    /// What is known to fail.
    baseline: Option<BaselineFile>,
    /// What is no trace.
    passed_over: PassedOver,
    /// Where results are kept.
    recording: Option<Recording>,
    /// Whether reports say what runs record of themselves.
    measures: bool,
}

impl Outputs {
    /// Opens every target.
    pub fn open(
        targets: &[OutputTarget],
        color: ColorChoice,
        policy: Policy,
        drawing: Drawing,
        diagnostics: &serde_json::Value,
    ) -> Result<Self, Stop> {
        let Drawing { max_failures, all_violations, show, command } = drawing;
        let violations = if all_violations { ALL_VIOLATIONS } else { VIOLATIONS_DRAWN };
        let wanted = Wanted::of(targets.iter().map(|target| target.format));
        let mut outputs = Self {
            reports: Vec::new(),
            files: Vec::new(),
            totals: Totals::default(),
            excerpt: None,
            wanted,
            violations: (if wanted.data { violations.max(LISTED) } else { violations }, violations),
            drawn: wanted.only_drawn().then(|| DrawnLimits::new(max_failures)),
            judged: BTreeSet::new(),
            policy,
            baseline: None,
            passed_over: PassedOver::default(),
            recording: None,
            measures: false,
        };
        for target in targets {
            let Opened { out, style, file } = targets::opened(target, color)?;
            outputs.files.extend(file);
            if target.format.needs().excerpts {
                outputs.excerpt = outputs.excerpt.max(Some(style.width.saturating_sub(MARGIN)));
            }
            let diagnostics = diagnostics.clone();
            let (show, now) = (show.clone(), now());
            let options = Options { style, policy, max_failures, show, violations, diagnostics, command, now };
            outputs.reports.push(report::open(target.format, out, options));
        }
        Ok(outputs)
    }

    /// The same with what is known to fail.
    pub fn with_baseline(self, baseline: Option<BaselineFile>) -> Self {
        Self { baseline, ..self }
    }

    /// The same with what may be passed over.
    pub fn passing_over(self, passed_over: PassedOver) -> Self {
        Self { passed_over, ..self }
    }

    /// The same with a history that results go into; `measures` says that reports tell what runs record of themselves.
    pub fn recording(self, recording: Option<Recording>, measures: bool) -> Self {
        Self { recording, measures, ..self }
    }

    /// What was passed over.
    pub fn passed_over(&self) -> &PassedOver {
        &self.passed_over
    }

    /// Counts records of files, behind what cannot be read of them.
    pub fn records(&mut self, records: &FileRecords) {
        self.passed_over.count(records);
    }

    /// What the reports need of a batch. What is known is looked for in whole runs with all that is found in them.
    pub fn wants(&self) -> Wants {
        let Self { excerpt, drawn, violations, wanted, .. } = *self;
        let measured = self.recording.is_some() || self.measures;
        let known = self.baseline.is_some();
        let plain = !known && !measured;
        Wants {
            excerpt,
            findings: wanted.findings() || known,
            drawn: drawn.filter(|_| !known),
            violations: Some(violations),
            compact: wanted.compact && plain,
            lines: wanted.lines && plain,
            steps: wanted.steps,
            measured,
            timed: false,
            profile: None,
        }
    }

    /// Writes the baseline, where that was asked for.
    pub fn save_baseline(&self, table: &Table, complete: bool) -> Result<(), Stop> {
        self.baseline.as_ref().map_or(Ok(()), |baseline| baseline.save(table, complete))
    }

    /// Writes what is not recorded yet; false where not everything could be.
    pub fn save_recording(&mut self, table: &Table) -> bool {
        self.recording.as_mut().is_none_or(|recording| recording.finish(table))
    }

    /// Begins every report.
    pub fn begin(&mut self, table: &Table) -> io::Result<()> {
        self.reports.iter_mut().try_for_each(|report| report.begin(table))
    }

    /// Reports a run.
    pub fn run(&mut self, table: &Table, mut run: RunReport) -> io::Result<()> {
        if let Some(baseline) = self.baseline.as_mut().filter(|_| !run.over_runs) {
            baseline.apply(table, &mut run, self.policy);
        }
        if let Some(recording) = self.recording.as_mut().filter(|_| !run.over_runs) {
            recording.add(table, &run);
        }
        if !self.measures {
            run.measured = None;
        }
        let run = &run;
        self.totals.add(run);
        let judged = run.results.iter().filter(|result| result.status != Status::Skipped).map(|result| result.item);
        self.judged.extend(judged);
        let over_runs = run.over_runs;
        self.reports.iter_mut().try_for_each(|report| match over_runs {
            true => report.over_runs(table, run),
            false => report.run(table, run),
        })
    }

    /// Reports many runs, by their counts.
    pub fn chunk(&mut self, chunk: &ChunkTotals) {
        self.totals.add_chunk(chunk);
        let counts = chunk.counts.iter().enumerate();
        let judged = counts.filter(|(_, counts)| {
            let all = Status::ALL.into_iter().zip(*counts);
            all.into_iter().any(|(status, count)| status != Status::Skipped && *count > 0)
        });
        self.judged.extend(judged.map(|(item, _)| item));
        self.reports.iter_mut().for_each(|report| report.chunk(chunk));
    }

    /// Reports runs by finished lines.
    pub fn lines(&mut self, lines: &[u8]) -> io::Result<()> {
        self.reports.iter_mut().try_for_each(|report| report.lines(lines))
    }

    /// Reports what cannot be read.
    pub fn unreadable(&mut self, what: &Unreadable) -> io::Result<()> {
        if self.passed_over.takes(what) {
            return Ok(());
        }
        self.totals.unreadable += 1;
        self.reports.iter_mut().try_for_each(|report| report.unreadable(what))
    }

    /// Counts runs that were given and have no verdicts.
    pub fn not_judged(&mut self, lost: Lost) {
        self.totals.not_judged = self.totals.not_judged.saturating_add(lost.runs);
        self.totals.not_judged_at_least |= lost.more;
    }

    /// Whether some run was judged by an assertion, by its place in the table.
    pub fn has_judged(&self, item: usize) -> bool {
        self.judged.contains(&item)
    }

    /// Hands on what is written so far.
    pub fn flush(&mut self) -> io::Result<()> {
        self.reports.iter_mut().try_for_each(|report| report.flush())
    }

    /// Ends every report, and gives their files their names when all of them are whole.
    pub fn end(&mut self, table: &Table, exit: Exit) -> io::Result<()> {
        let ending = Ending { totals: &self.totals, passed: exit == Exit::Holds, exit: exit as u8 };
        self.reports.iter_mut().try_for_each(|report| report.end(table, &ending))?;
        self.reports.clear();
        self.files.drain(..).try_for_each(ReportFile::finish)
    }

    /// Reports what is given as it is.
    pub fn show(&mut self, table: &Table, run: &RunReport) -> io::Result<()> {
        self.totals.add(run);
        self.reports.iter_mut().try_for_each(|report| report.run(table, run))
    }

    /// The counts so far.
    pub fn totals(&self) -> &Totals {
        &self.totals
    }
}

/// The time, in nanoseconds since 1970.
fn now() -> Option<u64> {
    let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).ok()?;
    u64::try_from(since.as_nanos()).ok()
}
