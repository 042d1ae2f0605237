//! From traces to results: some threads take pieces of the traces and judge them, in turn.
//!
//! What is between reading and writing is bounded, so that memory does not depend on the number of runs. The threads are never waited for:
//! whoever takes the results may leave at any time.

use crate::feed::{self, Feeder, Input};
use crate::judge::{Done, Judge};
use crate::profile;
use crate::unused::Unused;
use averment_base::limits::LONG;
use averment_engine::bytecode::program::Program;
use averment_engine::vm::evaluate::EvaluateOptions;
use averment_engine::vm::prepare::Prepared;
use averment_report::gate::Policy;
use averment_report::model::Detail;
use averment_report::profile::Costs;
use averment_report::table::Table;
use averment_report::tally::Tally;
use averment_traces::read::Part;
use std::io;
use std::num::NonZeroUsize;
use std::sync::mpsc::{Receiver, Sender, SyncSender, channel, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;

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

/// The results of one piece, with its number and length.
pub struct Finished {
    /// The number of the piece, from 0.
    pub number: usize,
    /// Its length.
    pub bytes: u64,
    /// What came of its runs, in order.
    pub done: Vec<Done>,
    /// Counts of the runs that need nothing else.
    pub tally: Tally,
}

/// Pieces that may be on their way for each thread.
const AHEAD: usize = 16;
/// The stack of a thread that judges. Rules and traces are nested to a limit that fits easily.
const STACK: usize = 16 << 20;

/// What the judging threads hand over: pieces as they are done, and a permit for each piece that is on its way.
pub struct Judging {
    /// The results of pieces, in no order; it ends with the last one.
    pub finished: Receiver<Finished>,
    /// One is taken for every piece that is written, so that not too much is judged ahead of it.
    pub permits: Receiver<()>,
}

/// Starts the threads that judge the traces; `total` is their length, where that is known.
///
/// # Errors
/// A thread that cannot be started.
pub fn start(pipeline: &Arc<Pipeline>, traces: Vec<Input>, total: Option<u64>) -> io::Result<Judging> {
    let threads = threads(pipeline.threads, total);
    let (permit, permits) = sync_channel::<()>(AHEAD * threads);
    let (finish, finished) = channel::<Finished>();
    let feeder = Arc::new(Mutex::new(Feeder::new(traces, &pipeline.reading, pipeline.chunk)));
    for _ in 0..threads {
        let (pipeline, feeder, permit, finish) =
            (Arc::clone(pipeline), Arc::clone(&feeder), permit.clone(), finish.clone());
        thread::Builder::new().stack_size(STACK).spawn(move || judge_all(&pipeline, &feeder, &permit, &finish))?;
    }
    Ok(Judging { finished, permits })
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
