//! From traces to reports: one thread reads, some judge, this one writes, in the order of the traces.
//!
//! What is between reading and writing is bounded, so that memory does not depend on the number of runs. The threads are never waited for:
//! an interruption ends the reports and leaves.

use super::console::say;
use super::feed::{self, Feeder};
use super::inputs::Input;
use super::judge::{Done, Judge};
use super::outputs::Outputs;
use super::profile;
use super::progress::Progress;
use super::unused::Unused;
use crate::bytecode::program::Program;
use crate::limits::LONG;
use crate::report::gate::Policy;
use crate::report::model::Detail;
use crate::report::profile::Costs;
use crate::report::table::Table;
use crate::report::tally::Tally;
use crate::trace::read::Part;
use crate::vm::evaluate::EvaluateOptions;
use crate::vm::prepare::Prepared;
use std::collections::BTreeMap;
use std::io;
use std::num::NonZeroUsize;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, SyncSender, TryRecvError, channel, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

/// Everything that judging a run needs.
pub struct Pipeline {
    /// The programs, in the order of the table.
    pub programs: Vec<Program>,
    /// What reports say of their assertions.
    pub table: Table,
    /// How runs are judged.
    pub options: EvaluateOptions,
    /// What fails a run.
    pub policy: Policy,
    /// How many failures reports draw, in all and of one assertion; `None` where one shows every finding.
    pub drawn: Option<(usize, usize)>,
    /// What reports show.
    pub detail: Detail,
    /// How runs are read.
    pub reading: feed::Reading,
    /// The names of `--map` that were not seen.
    pub unused: Unused,
    /// How many pieces are judged at a time; `None` for as many as there are processors.
    pub threads: Option<NonZeroUsize>,
    /// Bytes of a piece.
    pub chunk: usize,
    /// Whether counts and finished lines are enough for all reports.
    pub compact: bool,
    /// Whether lines of `jsonl` are wanted.
    pub lines: bool,
    /// Held by the thread that reads a large run in full.
    pub large: Mutex<()>,
    /// Where threads note what judging costs, while a profile is made.
    pub profile: Option<Mutex<Costs>>,
}

/// How the work ended.
#[derive(Debug, Clone, Copy, Default)]
pub struct End {
    /// Ctrl-C.
    pub interrupted: bool,
    /// Runs whose evaluation broke down.
    pub faults: u64,
}

/// The results of one piece, with its number and length.
struct Finished {
    number: usize,
    bytes: u64,
    done: Vec<Done>,
    tally: Tally,
}

/// Pieces that may be on their way for each thread.
const AHEAD: usize = 16;
/// With more pieces than this the writer lets some gather before it looks again: being woken for each costs more than writing it.
const FEW: usize = 8;
/// How long they gather: less than it takes to judge the pieces that may be on their way.
const GATHER: Duration = Duration::from_millis(1);
/// How often an interruption is looked for while there is nothing to write.
const GLANCE: Duration = Duration::from_millis(40);
/// The stack of a thread that judges. Rules and traces are nested to a limit that fits easily.
const STACK: usize = 16 << 20;

/// Judges every run of the traces and reports it.
pub fn run(pipeline: &Arc<Pipeline>, traces: Vec<Input>, outputs: &mut Outputs) -> io::Result<End> {
    let interrupted = interruptions()?;
    let total = feed::length(&traces);
    let threads = threads(pipeline.threads, total);
    let (permit, permits) = sync_channel::<()>(AHEAD * threads);
    let (finish, finished) = channel::<Finished>();
    let feeder = Arc::new(Mutex::new(Feeder::new(traces, &pipeline.reading, pipeline.chunk)));
    for _ in 0..threads {
        let (pipeline, feeder, permit, finish) =
            (Arc::clone(pipeline), Arc::clone(&feeder), permit.clone(), finish.clone());
        thread::Builder::new().stack_size(STACK).spawn(move || judge_all(&pipeline, &feeder, &permit, &finish))?;
    }
    drop((finish, permit));
    let mut writer = Writer { table: &pipeline.table, outputs, progress: Progress::new(total), end: End::default() };
    writer.write_all(&finished, &permits, &interrupted)?;
    Ok(writer.end)
}

/// A flag that Ctrl-C sets; a second one ends the process at once.
pub fn interruptions() -> io::Result<Arc<AtomicBool>> {
    let flag = Arc::new(AtomicBool::new(false));
    for signal in [signal_hook::consts::SIGINT, signal_hook::consts::SIGTERM] {
        signal_hook::flag::register_conditional_shutdown(signal, 130, Arc::clone(&flag))?;
        signal_hook::flag::register(signal, Arc::clone(&flag))?;
    }
    Ok(flag)
}

/// Small traces are judged by one thread: starting more would cost more than they save.
fn threads(asked: Option<NonZeroUsize>, length: Option<u64>) -> usize {
    let all = || thread::available_parallelism().map_or(1, NonZeroUsize::get);
    match (asked, length) {
        (Some(asked), _) => asked.get().min(256),
        (None, Some(length)) if length < feed::BATCH as u64 => 1,
        (None, _) => all(),
    }
}

/// Takes pieces and judges them, until there is none. Reading is a matter of whoever comes next: the bytes of a piece stay with the
/// processor that judges them.
fn judge_all(pipeline: &Pipeline, feeder: &Mutex<Feeder>, permit: &SyncSender<()>, finish: &Sender<Finished>) {
    let prepared: Vec<Prepared> = pipeline.programs.iter().map(Prepared::new).collect();
    let mut work = work(pipeline, &prepared);
    let mut buffer = Vec::new();
    loop {
        let mut feeder = feeder.lock().unwrap_or_else(PoisonError::into_inner);
        // Waits while too much is judged and not written. The other end is gone only when the command is ending.
        if permit.send(()).is_err() {
            return;
        }
        let Some((number, part)) = feeder.next(&mut buffer) else { return };
        pipeline.unused.look(&part, &buffer);
        let bytes = match &part {
            Part::Lines(_) => buffer.len(),
            Part::Runs(runs) => runs.iter().flatten().map(|run| run.text().len()).sum(),
        };
        // Long runs are judged one at a time, while nothing else is read: memory holds one of them, whatever the number of threads.
        let alone = (bytes > LONG.max(2 * pipeline.chunk)).then_some(feeder);
        let bytes = u64::try_from(bytes).unwrap_or(u64::MAX);
        let (done, tally) = work(part, &mut buffer);
        drop(alone);
        if finish.send(Finished { number, bytes, done, tally }).is_err() {
            return;
        }
    }
}

/// What judges a piece.
type Work<'p> = Box<dyn FnMut(Part, &mut Vec<u8>) -> (Vec<Done>, Tally) + 'p>;

fn work<'p>(pipeline: &'p Pipeline, prepared: &'p [Prepared]) -> Work<'p> {
    match &pipeline.profile {
        None => {
            let mut judge = Judge::new(pipeline, prepared);
            Box::new(move |part, buffer| judge.part(part, buffer))
        }
        Some(costs) => {
            let mut judge = profile::Judge::new(pipeline, prepared, costs);
            Box::new(move |part, buffer| (judge.part(part, buffer), Tally::default()))
        }
    }
}

/// Writes results in order.
struct Writer<'a> {
    table: &'a Table,
    outputs: &'a mut Outputs,
    progress: Progress,
    end: End,
}

impl Writer<'_> {
    fn write_all(
        &mut self,
        finished: &Receiver<Finished>,
        permits: &Receiver<()>,
        stop: &AtomicBool,
    ) -> io::Result<()> {
        let (mut next, mut early) = (0, BTreeMap::new());
        while !stop.load(Ordering::Relaxed) {
            match self.next(finished, next > FEW)? {
                // What comes with Ctrl-C is cut off by it: a pipe whose writer ended on it, too.
                Next::Finished(_) if stop.load(Ordering::Relaxed) => break,
                Next::Finished(one) => early.insert(one.number, one),
                Next::Nothing => continue,
                Next::End => return Ok(()),
            };
            while let Some(one) = early.remove(&next) {
                self.progress.hide_while(|| Self::write(self.table, self.outputs, &mut self.end, &one))?;
                self.progress.add(one.bytes);
                next += 1;
                let _ = permits.try_recv();
            }
        }
        self.end.interrupted = true;
        Ok(())
    }

    /// What is finished next. Before waiting for it, what is written so far is handed on; with `many`, some may gather.
    fn next(&mut self, finished: &Receiver<Finished>, many: bool) -> io::Result<Next> {
        match finished.try_recv() {
            Ok(one) => return Ok(Next::Finished(one)),
            Err(TryRecvError::Disconnected) => return Ok(Next::End),
            Err(TryRecvError::Empty) => self.progress.hide_while(|| self.outputs.flush())?,
        }
        if many {
            thread::sleep(GATHER);
        }
        Ok(match finished.recv_timeout(GLANCE) {
            Ok(one) => Next::Finished(one),
            Err(RecvTimeoutError::Timeout) => Next::Nothing,
            Err(RecvTimeoutError::Disconnected) => Next::End,
        })
    }

    fn write(table: &Table, outputs: &mut Outputs, end: &mut End, finished: &Finished) -> io::Result<()> {
        for done in &finished.done {
            match done {
                Done::Run(run) => outputs.run(table, run)?,
                Done::Lines(lines) => outputs.lines(lines)?,
                Done::Unreadable(what) => outputs.unreadable(what)?,
                Done::Fault(name) => {
                    end.faults += 1;
                    say(&format!("error: the evaluation of {name} broke down; its verdicts are missing\n"));
                }
            }
        }
        outputs.tally(&finished.tally);
        Ok(())
    }
}

/// What there is to write.
enum Next {
    Finished(Finished),
    /// Nothing yet.
    Nothing,
    /// Nothing any more.
    End,
}
