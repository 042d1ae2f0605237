//! From traces to reports: one thread reads, some judge, this one writes, in the order of the traces.
//!
//! What is between reading and writing is bounded, so that memory does not depend on the number of runs. The threads are never waited for:
//! an interruption ends the reports and leaves.

use super::console::say;
use super::feed::{self, Document};
use super::inputs::Input;
use super::outputs::Outputs;
use super::progress::Progress;
use crate::bytecode::program::Program;
use crate::report::gate::Policy;
use crate::report::model::{self, Detail, RunReport, Unreadable};
use crate::report::table::Table;
use crate::trace::read::RawRun;
use crate::vm::evaluate::{EvaluateOptions, evaluate};
use crate::vm::prepare::Prepared;
use bumpalo::Bump;
use std::collections::BTreeMap;
use std::io;
use std::num::NonZeroUsize;
use std::panic::{AssertUnwindSafe, catch_unwind};
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
    /// What reports show.
    pub detail: Detail,
    /// How runs are read.
    pub reading: feed::Reading,
    /// How many runs are judged at a time; `None` for all processors.
    pub threads: Option<NonZeroUsize>,
}

/// How the work ended.
#[derive(Debug, Clone, Copy, Default)]
pub struct End {
    /// Ctrl-C.
    pub interrupted: bool,
    /// Runs whose evaluation broke down.
    pub faults: u64,
}

/// What came of a piece of a trace.
enum Done {
    Run(Box<RunReport>),
    Unreadable(Unreadable),
    /// The evaluation broke down: the run's name.
    Fault(String),
}

/// The results of one document, with its number and length.
struct Finished {
    number: usize,
    bytes: u64,
    done: Vec<Done>,
}

/// Documents that may be on their way for each thread.
const AHEAD: usize = 4;
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
    let (give, take) = sync_channel::<(usize, Document)>(threads);
    let (finish, finished) = channel::<Finished>();
    let take = Arc::new(Mutex::new(take));
    for _ in 0..threads {
        let (pipeline, take, finish) = (Arc::clone(pipeline), Arc::clone(&take), finish.clone());
        thread::Builder::new().stack_size(STACK).spawn(move || judge_all(&pipeline, &take, &finish))?;
    }
    drop(finish);
    let reading = pipeline.reading.clone();
    thread::Builder::new().spawn(move || read_all(traces, &reading, &permit, &give))?;
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

fn read_all(
    traces: Vec<Input>,
    reading: &feed::Reading,
    permit: &SyncSender<()>,
    give: &SyncSender<(usize, Document)>,
) {
    let mut number = 0;
    for trace in &traces {
        for document in feed::documents(trace, reading) {
            // The other ends are gone only when the command is ending.
            if permit.send(()).is_err() || give.send((number, document)).is_err() {
                return;
            }
            number += 1;
        }
    }
}

fn judge_all(pipeline: &Pipeline, take: &Mutex<Receiver<(usize, Document)>>, finish: &Sender<Finished>) {
    let prepared: Vec<Prepared> = pipeline.programs.iter().map(Prepared::new).collect();
    let mut arena = Bump::new();
    loop {
        let next = take.lock().unwrap_or_else(PoisonError::into_inner).recv();
        let Ok((number, document)) = next else { return };
        let bytes = document.bytes();
        let done = judge(pipeline, &prepared, &document, &mut arena);
        if finish.send(Finished { number, bytes, done }).is_err() {
            return;
        }
    }
}

/// Judges every run of a document. What was made for one run is forgotten before the next.
fn judge(pipeline: &Pipeline, prepared: &[Prepared], document: &Document, arena: &mut Bump) -> Vec<Done> {
    let mut done = Vec::new();
    for raw in document.runs() {
        done.push(match raw {
            Ok(raw) => judge_one(pipeline, prepared, raw, arena),
            Err(unreadable) => Done::Unreadable(unreadable),
        });
        arena.reset();
    }
    done
}

fn judge_one(pipeline: &Pipeline, prepared: &[Prepared], raw: &RawRun, arena: &Bump) -> Done {
    // A defect in one evaluation must not take the other runs with it.
    let judged = catch_unwind(AssertUnwindSafe(|| {
        let run = feed::parse(raw, arena, &pipeline.reading)?;
        let programs = pipeline.programs.iter().zip(prepared);
        let outcomes: Vec<_> =
            programs.map(|(program, prepared)| evaluate(program, prepared, &run, arena, &pipeline.options)).collect();
        Ok(model::build(&pipeline.table, &run, &outcomes, pipeline.policy, pipeline.detail))
    }));
    match judged {
        Ok(Ok(report)) => Done::Run(Box::new(report)),
        Ok(Err(unreadable)) => Done::Unreadable(unreadable),
        Err(_) => Done::Fault(raw.source.name()),
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
            match self.next(finished)? {
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

    /// What is finished next. Before waiting for it, what is written so far is handed on.
    fn next(&mut self, finished: &Receiver<Finished>) -> io::Result<Next> {
        match finished.try_recv() {
            Ok(one) => return Ok(Next::Finished(one)),
            Err(TryRecvError::Disconnected) => return Ok(Next::End),
            Err(TryRecvError::Empty) => self.progress.hide_while(|| self.outputs.flush())?,
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
                Done::Unreadable(what) => outputs.unreadable(what)?,
                Done::Fault(name) => {
                    end.faults += 1;
                    say(&format!("error: the evaluation of {name} broke down; its verdicts are missing\n"));
                }
            }
        }
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
