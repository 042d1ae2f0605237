//! The results of chunks in the order of the traces, whichever thread was done first.

use crate::all_runs::OverRunsTally;
use crate::feed::LostRuns;
use crate::workers::{FinishedChunk, JudgeThreads, JudgeWorkers, MissingRuns};
use std::collections::BTreeMap;
use std::sync::mpsc::{Receiver, RecvTimeoutError, TryRecvError};
use std::time::Duration;

/// How often it is asked whether to wait on.
const GLANCE: Duration = Duration::from_millis(40);

/// The next item in order.
#[expect(clippy::large_enum_variant, reason = "there is one of them at a time")]
pub enum NextChunk {
    /// The results of the next chunk.
    Finished(FinishedChunk),
    /// Nothing yet.
    Nothing,
    /// Nothing any more.
    End,
}

/// Hands out the results of chunks in their order.
pub struct OrderedChunks {
    finished: Receiver<FinishedChunk>,
    permits: Receiver<()>,
    workers: Option<JudgeWorkers>,
    /// Chunks that finished before an earlier one.
    early: BTreeMap<usize, FinishedChunk>,
    taken: usize,
    next: usize,
    /// True if the last chunk handed out still counts as in flight.
    held: bool,
    over_runs: OverRunsTally,
}

impl OrderedChunks {
    /// The results of these threads.
    #[must_use]
    pub fn new(judging: JudgeThreads) -> Self {
        let JudgeThreads { finished, permits, workers } = judging;
        Self {
            finished,
            permits,
            workers: Some(workers),
            early: BTreeMap::new(),
            taken: 0,
            next: 0,
            held: false,
            over_runs: OverRunsTally::default(),
        }
    }

    /// How many chunks were handed out.
    #[must_use]
    pub fn taken_count(&self) -> usize {
        self.taken
    }

    /// The next chunk, where it is there already. The one before it counts as written then.
    pub fn next_ready(&mut self) -> NextChunk {
        if std::mem::take(&mut self.held) {
            let _ = self.permits.try_recv();
        }
        loop {
            if let Some(one) = self.early.remove(&self.next) {
                return self.hand_out(one);
            }
            match self.finished.try_recv() {
                Ok(one) => self.early.insert(one.number, one),
                Err(TryRecvError::Empty) => return NextChunk::Nothing,
                Err(TryRecvError::Disconnected) => return self.next_early(),
            };
        }
    }

    /// The next chunk; it is waited for, at most so long.
    pub fn wait_next(&mut self, at_most: Option<Duration>) -> NextChunk {
        loop {
            match self.next_ready() {
                NextChunk::Nothing => {}
                next => return next,
            }
            let received = match at_most {
                Some(time) => self.finished.recv_timeout(time),
                None => self.finished.recv().map_err(|_| RecvTimeoutError::Disconnected),
            };
            match received {
                Ok(one) => self.early.insert(one.number, one),
                Err(RecvTimeoutError::Timeout) => return NextChunk::Nothing,
                Err(RecvTimeoutError::Disconnected) => return self.next_early(),
            };
        }
    }

    /// Waits for the idle threads and reports what is missing; nothing on the next call.
    pub fn join_workers(&mut self) -> MissingRuns {
        self.workers.take().map(|workers| workers.join_threads(self.taken)).unwrap_or_default()
    }

    /// Reports what is missing when a stuck thread is abandoned.
    pub fn leave_workers(&mut self) -> MissingRuns {
        self.workers.take().map(|workers| workers.leave_threads(self.taken)).unwrap_or_default()
    }

    /// Ends judging early and counts the runs behind the chunks that were handed out: those in work are waited for, and the rest is read
    /// without judging it, both while `go_on` says so.
    pub fn stop_judging(&mut self, go_on: &dyn Fn() -> bool) -> LostRuns {
        let Some(workers) = self.workers.take() else { return LostRuns::default() };
        workers.stop_taking();
        let mut rest = LostRuns::default();
        while go_on() {
            match self.wait_next(Some(GLANCE)) {
                NextChunk::Finished(one) => rest.add_runs(one.all_runs()),
                NextChunk::Nothing => {}
                NextChunk::End => break,
            }
        }
        rest.add_runs(workers.count_stopped(self.taken, go_on));
        rest
    }

    /// The next chunk that is there, behind one that does not come.
    pub fn skip_missing(&mut self) -> NextChunk {
        self.next_early()
    }

    /// Later chunks are still reported if one never arrives.
    fn next_early(&mut self) -> NextChunk {
        match self.early.pop_first() {
            Some((_, one)) => self.hand_out(one),
            None => NextChunk::End,
        }
    }

    /// The state over the runs handed out.
    #[must_use]
    pub fn over_runs(&self) -> &OverRunsTally {
        &self.over_runs
    }

    fn hand_out(&mut self, mut one: FinishedChunk) -> NextChunk {
        self.over_runs.add_chunk(&mut one);
        self.taken += 1;
        self.next = one.number + 1;
        self.held = true;
        NextChunk::Finished(one)
    }
}
