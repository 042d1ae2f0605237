//! The results of chunks in the order of the traces, whichever thread was done first.

use crate::all_runs::OverRuns;
use crate::workers::{Broken, Finished, Judging, Workers};
use std::collections::BTreeMap;
use std::sync::mpsc::{Receiver, RecvTimeoutError, TryRecvError};
use std::time::Duration;

/// What there is to take.
pub enum Next {
    /// The results of the next chunk.
    Finished(Finished),
    /// Nothing yet.
    Nothing,
    /// Nothing any more.
    End,
}

/// Hands out the results of chunks in their order.
pub struct Ordered {
    finished: Receiver<Finished>,
    permits: Receiver<()>,
    /// The threads, until they are joined.
    workers: Option<Workers>,
    /// Chunks that were done before one in front of them.
    early: BTreeMap<usize, Finished>,
    /// How many were handed out.
    taken: usize,
    /// The number of the next.
    next: usize,
    /// Whether the chunk that was handed out last still counts as one on its way.
    held: bool,
    /// What the runs that were handed out say together.
    over_runs: OverRuns,
}

impl Ordered {
    /// The results of these threads.
    #[must_use]
    pub fn new(judging: Judging) -> Self {
        let Judging { finished, permits, workers } = judging;
        Self {
            finished,
            permits,
            workers: Some(workers),
            early: BTreeMap::new(),
            taken: 0,
            next: 0,
            held: false,
            over_runs: OverRuns::default(),
        }
    }

    /// How many chunks were handed out.
    #[must_use]
    pub fn taken(&self) -> usize {
        self.taken
    }

    /// The next chunk, where it is there already. The one before it counts as written then.
    pub fn ready(&mut self) -> Next {
        if std::mem::take(&mut self.held) {
            let _ = self.permits.try_recv();
        }
        loop {
            if let Some(one) = self.early.remove(&self.next) {
                return self.hand_out(one);
            }
            match self.finished.try_recv() {
                Ok(one) => self.early.insert(one.number, one),
                Err(TryRecvError::Empty) => return Next::Nothing,
                Err(TryRecvError::Disconnected) => return self.rest(),
            };
        }
    }

    /// The next chunk; it is waited for, at most so long.
    pub fn wait(&mut self, at_most: Option<Duration>) -> Next {
        loop {
            match self.ready() {
                Next::Nothing => {}
                next => return next,
            }
            let received = match at_most {
                Some(time) => self.finished.recv_timeout(time),
                None => self.finished.recv().map_err(|_| RecvTimeoutError::Disconnected),
            };
            match received {
                Ok(one) => self.early.insert(one.number, one),
                Err(RecvTimeoutError::Timeout) => return Next::Nothing,
                Err(RecvTimeoutError::Disconnected) => return self.rest(),
            };
        }
    }

    /// What is missing when there is nothing to take any more: waits for the threads, which have nothing to do. Asked again, it is nothing.
    pub fn join(&mut self) -> Broken {
        self.workers.take().map(|workers| workers.join(self.taken)).unwrap_or_default()
    }

    /// What is missing when one of the threads is left where it stands, which nobody waits for.
    pub fn leave(&mut self) -> Broken {
        self.workers.take().map(|workers| workers.leave(self.taken)).unwrap_or_default()
    }

    /// The next chunk that is there, behind one that does not come.
    pub fn skip(&mut self) -> Next {
        self.rest()
    }

    /// What lies behind a chunk that never came is known all the same.
    fn rest(&mut self) -> Next {
        match self.early.pop_first() {
            Some((_, one)) => self.hand_out(one),
            None => Next::End,
        }
    }

    /// What the runs that were handed out say together.
    #[must_use]
    pub fn over_runs(&self) -> &OverRuns {
        &self.over_runs
    }

    fn hand_out(&mut self, mut one: Finished) -> Next {
        self.over_runs.add(&mut one);
        self.taken += 1;
        self.next = one.number + 1;
        self.held = true;
        Next::Finished(one)
    }
}
