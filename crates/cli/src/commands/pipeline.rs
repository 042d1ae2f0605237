//! From traces to reports: some threads judge, this one writes, in the order of the traces. An interruption ends the reports and leaves.

use super::console::say;
use super::deadline::Deadline;
use super::inputs::Input;
use super::outputs::Outputs;
use super::progress::Progress;
use averment::Batch;
use averment_base::memory;
use averment_bulk::all_runs;
use averment_bulk::faults::Point;
use averment_bulk::feed::{self, Lost};
use averment_bulk::judge::Done;
use averment_bulk::ordered::{Next, Ordered};
use averment_bulk::pipeline::Pipeline;
use averment_bulk::workers::{Broken, Finished};
use averment_report::table::Table;
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

/// How the work ended.
#[derive(Debug, Clone, Copy, Default)]
pub struct End {
    /// Ctrl-C.
    pub interrupted: bool,
    /// The time of the command was over.
    pub late: bool,
    /// Runs whose evaluation broke down; the first [`NAMED`] are named already.
    pub faults: u64,
    /// What is missing because threads broke down.
    pub broken: Broken,
    /// There was no memory to go on, and a thread was left where it stood.
    pub exhausted: bool,
}

impl End {
    /// Whether the work ended before all was done.
    pub fn is_cut(&self) -> bool {
        self.interrupted || self.late
    }

    /// Whether every run that was given was judged, as far as it could be read.
    pub fn is_complete(&self) -> bool {
        !self.exhausted && self.faults == 0 && self.broken.dead == 0 && self.broken.lost == Lost::default()
    }

    /// How many runs have no verdicts, as far as that is known. How many an interruption left is not: at least the one that was waited for.
    pub fn not_judged(&self) -> Lost {
        let Lost { runs, more } = self.broken.lost;
        let known = self.faults.saturating_add(runs).saturating_add(u64::from(more && runs == 0));
        Lost { runs: known.max(u64::from(self.is_cut())), more: more || self.is_cut() }
    }

    /// What is said of evaluations that were not named, and of threads that broke down; nothing where there is neither.
    pub fn in_words(&self) -> String {
        self.unnamed() + &self.of_threads()
    }

    fn unnamed(&self) -> String {
        match self.faults.saturating_sub(NAMED) {
            0 => String::new(),
            1 => "error: the evaluation of 1 more run broke down\n".to_owned(),
            more => format!("error: the evaluation of {more} more runs broke down\n"),
        }
    }

    fn of_threads(&self) -> String {
        let Broken { lost: Lost { runs, more }, dead } = self.broken;
        let least = if more { "at least " } else { "" };
        if self.exhausted {
            return match runs {
                0 => "error: there was no memory to go on\n".to_owned(),
                1 => format!("error: {least}1 run was not judged: there was no memory to go on\n"),
                _ => format!("error: {least}{runs} runs were not judged: there was no memory to go on\n"),
            };
        }
        match (runs, more) {
            (0, false) if dead == 0 => String::new(),
            (0, false) => "error: a thread broke down; the others judged every run\n".to_owned(),
            (0, true) => "error: runs were not judged, and it is not known how many: a thread broke down\n".to_owned(),
            (1, _) => format!("error: {least}1 run was not judged: a thread broke down\n"),
            (runs, _) => format!("error: {least}{runs} runs were not judged: a thread broke down\n"),
        }
    }

    /// Adds what is missing when the threads have ended.
    fn add(&mut self, broken: Broken) {
        let own = &mut self.broken;
        own.dead = own.dead.saturating_add(broken.dead);
        own.lost.runs = own.lost.runs.saturating_add(broken.lost.runs);
        own.lost.more |= broken.lost.more;
    }
}

/// So many runs whose evaluation broke down are named; the others are counted.
const NAMED: u64 = 10;
/// With more chunks than this the writer lets some gather before it looks again: being woken for each costs more than writing it.
const FEW: usize = 8;
/// How long they gather: less than it takes to judge the chunks that may be on their way.
const GATHER: Duration = Duration::from_millis(1);
/// How often an interruption is looked for while there is nothing to write.
const GLANCE: Duration = Duration::from_millis(40);
/// How long nothing comes before it is sure that the threads wait for one that is left.
const QUIET: Duration = Duration::from_millis(500);

/// Judges every run of the traces and reports it.
pub fn run(
    pipeline: &Arc<Pipeline>,
    traces: Vec<Input>,
    outputs: &mut Outputs,
    deadline: Option<&Deadline>,
) -> io::Result<End> {
    let interrupted = super::signals::interruptions()?;
    let total = feed::length(&traces);
    let watching = Watching::begin();
    let mut chunks = Batch::start(pipeline, traces);
    let progress = Progress::new(total);
    let mut writer = Writer { pipeline, table: &pipeline.table, outputs, progress, end: End::default(), deadline };
    writer.write_all(&mut chunks, &interrupted)?;
    if writer.end.exhausted {
        writer.end.add(chunks.leave());
    } else if !writer.end.is_cut() {
        writer.end.add(chunks.join());
    }
    if !writer.end.is_cut()
        && !writer.end.exhausted
        && let Some(report) = all_runs::report(pipeline, chunks.over_runs())
    {
        writer.progress.hide_while(|| writer.outputs.run(&pipeline.table, report))?;
    }
    drop(watching);
    Ok(writer.end)
}

/// While it is there, a thread that cannot have memory is left where it stands, and what waits for it looks for that.
struct Watching;

impl Watching {
    fn begin() -> Self {
        memory::watch(true);
        Self
    }
}

impl Drop for Watching {
    fn drop(&mut self) {
        memory::watch(false);
    }
}

/// Writes results in order.
struct Writer<'a> {
    pipeline: &'a Pipeline,
    table: &'a Table,
    outputs: &'a mut Outputs,
    progress: Progress,
    end: End,
    deadline: Option<&'a Deadline>,
}

impl Writer<'_> {
    fn write_all(&mut self, chunks: &mut Ordered, stop: &AtomicBool) -> io::Result<()> {
        let mut last = Instant::now();
        while !stop.load(Ordering::Relaxed) {
            if self.deadline.is_some_and(Deadline::is_over) {
                self.end.late = true;
                return Ok(());
            }
            let next = match self.next(chunks)? {
                // One that is left had the next chunk. The others go on as far as they can.
                Next::Nothing if memory::is_exhausted() && last.elapsed() > QUIET => match chunks.skip() {
                    Next::Finished(one) => Next::Finished(one),
                    Next::Nothing | Next::End => {
                        self.end.exhausted = true;
                        return Ok(());
                    }
                },
                next => next,
            };
            match next {
                // What comes with Ctrl-C is cut off by it: a pipe whose writer ended on it, too.
                Next::Finished(_) if stop.load(Ordering::Relaxed) => break,
                Next::Finished(one) => {
                    last = Instant::now();
                    let bytes = one.bytes;
                    let Self { pipeline, table, outputs, progress, end, .. } = self;
                    pipeline.faults.reach(Point::Merging);
                    progress.hide_while(|| Self::write(pipeline, table, outputs, end, one))?;
                    self.progress.add(bytes);
                }
                Next::Nothing => {}
                Next::End => return Ok(()),
            }
        }
        self.end.interrupted = true;
        Ok(())
    }

    /// What is finished next. Before waiting for it, what is written so far is handed on; after many, some may gather.
    fn next(&mut self, chunks: &mut Ordered) -> io::Result<Next> {
        match chunks.ready() {
            Next::Nothing => self.progress.hide_while(|| self.outputs.flush())?,
            next => return Ok(next),
        }
        if chunks.taken() > FEW {
            thread::sleep(GATHER);
        }
        Ok(chunks.wait(Some(GLANCE)))
    }

    fn write(
        pipeline: &Pipeline,
        table: &Table,
        outputs: &mut Outputs,
        end: &mut End,
        finished: Finished,
    ) -> io::Result<()> {
        for done in finished.done {
            pipeline.faults.reach(Point::Writing);
            match done {
                Done::Run(run) => outputs.run(table, *run)?,
                Done::Lines(lines) => outputs.lines(&lines)?,
                Done::Unreadable(what) => outputs.unreadable(&what)?,
                Done::Fault(name) => {
                    end.faults += 1;
                    if end.faults <= NAMED {
                        say(&format!("error: the evaluation of {name} broke down; its verdicts are missing\n"));
                    }
                }
            }
        }
        outputs.chunk(&finished.totals);
        outputs.records(&finished.records);
        end.add(Broken { lost: Lost { runs: finished.lost, more: false }, dead: 0 });
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::{Broken, End, Lost};

    fn broken(runs: u64, more: bool, dead: usize) -> End {
        End { broken: Broken { lost: Lost { runs, more }, dead }, ..End::default() }
    }

    #[test]
    fn what_was_not_judged_is_said_in_words() {
        let said = |runs, more, dead| broken(runs, more, dead).in_words();
        assert_eq!(said(0, false, 0), "");
        assert_eq!(said(1, false, 0), "error: 1 run was not judged: a thread broke down\n");
        assert_eq!(said(7, true, 1), "error: at least 7 runs were not judged: a thread broke down\n");
        assert_eq!(said(0, false, 1), "error: a thread broke down; the others judged every run\n");
        assert!(said(0, true, 1).contains("it is not known how many"));
        let faults = |faults| End { faults, ..End::default() }.in_words();
        assert_eq!(faults(10), "");
        assert_eq!(faults(11), "error: the evaluation of 1 more run broke down\n");
        assert_eq!(faults(3_000), "error: the evaluation of 2990 more runs broke down\n");
    }

    #[test]
    fn an_end_is_complete_only_where_nothing_broke_down() {
        assert!(End::default().is_complete());
        let ends = [End { faults: 1, ..End::default() }, broken(0, false, 1), broken(0, true, 0)];
        assert!(ends.iter().all(|end| !end.is_complete()));
        assert_eq!(ends.map(|end| end.not_judged().runs), [1, 0, 1]);
        assert_eq!(ends.map(|end| end.not_judged().more), [false, false, true]);
        let cut = End { interrupted: true, ..End::default() };
        assert_eq!(cut.not_judged(), Lost { runs: 1, more: true });
    }
}
