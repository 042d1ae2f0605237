//! From traces to reports: some threads judge, this one writes, in the order of the traces. An interruption ends the reports and leaves.

use super::console::say;
use super::inputs::Input;
use super::outputs::Outputs;
use super::progress::Progress;
use averment_bulk::feed;
use averment_bulk::judge::Done;
use averment_bulk::pipeline::{self, Finished, Judging, Pipeline};
use averment_report::table::Table;
use std::collections::BTreeMap;
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, TryRecvError};
use std::thread;
use std::time::Duration;

/// How the work ended.
#[derive(Debug, Clone, Copy, Default)]
pub struct End {
    /// Ctrl-C.
    pub interrupted: bool,
    /// Runs whose evaluation broke down.
    pub faults: u64,
}

/// With more pieces than this the writer lets some gather before it looks again: being woken for each costs more than writing it.
const FEW: usize = 8;
/// How long they gather: less than it takes to judge the pieces that may be on their way.
const GATHER: Duration = Duration::from_millis(1);
/// How often an interruption is looked for while there is nothing to write.
const GLANCE: Duration = Duration::from_millis(40);

/// Judges every run of the traces and reports it.
pub fn run(pipeline: &Arc<Pipeline>, traces: Vec<Input>, outputs: &mut Outputs) -> io::Result<End> {
    let interrupted = interruptions()?;
    let total = feed::length(&traces);
    let Judging { finished, permits } = pipeline::start(pipeline, traces, total)?;
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
