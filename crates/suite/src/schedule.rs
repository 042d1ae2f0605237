//! All sessions of suites, in the order of their schedule; what comes of them stands in the order of the rules.

use crate::copied;
use crate::folder::{Folder, keep, kept, place, shared as shared_place};
use crate::place::{Number, Place, Session};
use crate::plan::{Execution, Schedule, Suite, Workspace};
use crate::record::Outcome;
use crate::run_line::broken_off;
use crate::runs::{Event, Judged, Runs};
use crate::session::{self, begun};
use crate::snapshots::{Owner, Snapshots};
use crate::workspace::{self, Failure, Making, Means};
use std::collections::HashSet;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

/// What has come of suites.
#[derive(Debug, Default)]
pub struct Made {
    /// The runs of all repetitions, one a line.
    pub lines: String,
    /// What these are called.
    pub names: Vec<String>,
    /// How many sessions there were, those that failed and were tried again with them.
    pub sessions: usize,
    /// How many of them had ended before.
    pub kept: usize,
    /// How many were tried again.
    pub retried: usize,
}

/// One repetition: its last session.
struct Repetition {
    session: Session,
    judged: Judged,
}

/// What stands of an execution.
#[derive(Default)]
struct Done {
    repetitions: Vec<Repetition>,
    sessions: usize,
    kept: usize,
}

/// Runs suites. `None` where it was stopped before the end: what had ended is kept.
///
/// # Errors
/// What is kept cannot be written.
pub fn run(
    suites: &[Suite],
    folder: &Folder,
    snapshots: &mut [Option<Snapshots>],
    runs: &Runs<'_>,
) -> std::io::Result<Option<Made>> {
    let mut made = Made::default();
    for (number, suite) in suites.iter().enumerate() {
        let executions: Vec<Execution<'_>> = suite.executions().collect();
        let Some(done) = of_suite(suite, &executions, folder, runs)? else { return Ok(None) };
        for (execution, mut done) in executions.iter().zip(done) {
            made.sessions = made.sessions.saturating_add(done.sessions);
            made.kept = made.kept.saturating_add(done.kept);
            made.retried = made.retried.saturating_add(done.sessions.saturating_sub(done.repetitions.len()));
            if let Some(Some(snapshots)) = snapshots.get_mut(number) {
                compare(execution, &mut done, snapshots);
            }
            for repetition in &done.repetitions {
                made.lines.push_str(&repetition.session.run);
                made.lines.push('\n');
                made.names.push(repetition.session.record.name(suite.repeat));
            }
        }
    }
    folder.tidy();
    Ok(Some(made))
}

fn of_suite(
    suite: &Suite,
    executions: &[Execution<'_>],
    folder: &Folder,
    runs: &Runs<'_>,
) -> std::io::Result<Option<Vec<Done>>> {
    let means = runs.means();
    let no_workspace = shared(suite, executions, folder, means);
    let state = State { folder, runs, no_workspace, rejected: Mutex::default(), done: Mutex::default() };
    // The first case tells whether the agents know their models.
    let (first, others) = executions.split_at(suite.runners.len().min(executions.len()));
    state.lanes(&[(0..first.len()).collect()], executions, 1)?;
    let rest = first.len()..first.len().saturating_add(others.len());
    let threads = suite.parallel.unwrap_or_else(|| std::thread::available_parallelism().map_or(1, usize::from));
    match suite.schedule {
        Schedule::Serial => state.lanes(&[rest.collect()], executions, 1)?,
        Schedule::Parallel => {
            let lanes: Vec<Vec<usize>> = rest.map(|number| vec![number]).collect();
            state.lanes(&lanes, executions, threads)?;
        }
        Schedule::IsolatedByRunner => {
            let of_runner =
                |runner: usize| rest.clone().filter(move |number| number % suite.runners.len().max(1) == runner);
            let lanes: Vec<Vec<usize>> = (0..suite.runners.len()).map(|runner| of_runner(runner).collect()).collect();
            state.lanes(&lanes, executions, threads)?;
        }
    }
    if runs.stop.load(Ordering::Relaxed) {
        return Ok(None);
    }
    let mut done = state.done.into_inner().unwrap_or_else(PoisonError::into_inner);
    done.sort_by_key(|(number, _)| *number);
    let done: Vec<Done> = done.into_iter().map(|(_, done)| done).collect();
    if let Workspace::Made { isolated: false, .. } = &suite.workspace
        && done.iter().all(|done| done.repetitions.iter().all(|one| one.judged.passed && !one.judged.expected))
    {
        copied::remove(&shared_place(folder.path(), suite))?;
    }
    Ok(Some(done))
}

/// Makes the workspace that all sessions share; why there is none.
fn shared(suite: &Suite, executions: &[Execution<'_>], folder: &Folder, means: Means<'_>) -> Option<Failure> {
    let Workspace::Made { isolated: false, of, bootstrap, variables } = &suite.workspace else { return None };
    let time = executions.iter().map(Execution::time).max().unwrap_or_default();
    let place = shared_place(folder.path(), suite);
    let mut told = variables.clone();
    told.push(("AVERMENT_WORKSPACE".to_owned(), place.to_string_lossy().into_owned()));
    told.push(("AVERMENT_SESSION".to_owned(), folder.path().to_string_lossy().into_owned()));
    let making =
        Making { of, bootstrap: bootstrap.as_ref(), variables: &told, folder: &place, logs: folder.path(), time };
    workspace::make(&making, means).err()
}

/// What the threads share.
struct State<'a> {
    folder: &'a Folder,
    runs: &'a Runs<'a>,
    no_workspace: Option<Failure>,
    /// Runners whose model is not known to their agent.
    rejected: Mutex<HashSet<String>>,
    done: Mutex<Vec<(usize, Done)>>,
}

impl State<'_> {
    /// Runs lanes of executions at the same time, those of a lane one by one.
    fn lanes(&self, lanes: &[Vec<usize>], executions: &[Execution<'_>], threads: usize) -> std::io::Result<()> {
        let (next, error) = (AtomicUsize::new(0), Mutex::new(None));
        let work = || {
            while let Some(lane) = lanes.get(next.fetch_add(1, Ordering::Relaxed)) {
                for number in lane {
                    let Some(execution) = executions.get(*number).filter(|_| !self.is_stopped()) else { return };
                    match self.execution(execution) {
                        Ok(done) => self.done.lock().unwrap_or_else(PoisonError::into_inner).push((*number, done)),
                        Err(found) => {
                            error.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(found);
                            return;
                        }
                    }
                }
            }
        };
        std::thread::scope(|scope| {
            for _ in 1..threads.min(lanes.len()) {
                scope.spawn(work);
            }
            work();
        });
        error.into_inner().unwrap_or_else(PoisonError::into_inner).map_or(Ok(()), Err)
    }

    fn is_stopped(&self) -> bool {
        self.runs.stop.load(Ordering::Relaxed)
    }

    /// All repetitions of a case with a runner.
    fn execution(&self, execution: &Execution<'_>) -> std::io::Result<Done> {
        let mut done = Done::default();
        for repetition in 1..=execution.suite.repeat {
            for attempt in 1..=execution.suite.retries.saturating_add(1) {
                if self.is_stopped() {
                    return Ok(done);
                }
                let Some((repetition, was_kept)) = self.session(execution, Number { repetition, attempt })? else {
                    return Ok(done);
                };
                done.sessions = done.sessions.saturating_add(1);
                done.kept = done.kept.saturating_add(usize::from(was_kept));
                let outcome = repetition.session.record.outcome;
                if outcome == Outcome::ModelRejected {
                    let mut rejected = self.rejected.lock().unwrap_or_else(PoisonError::into_inner);
                    rejected.insert(execution.runner.name.clone());
                }
                let is_last =
                    repetition.judged.passed || outcome == Outcome::ModelRejected || attempt > execution.suite.retries;
                if is_last {
                    done.repetitions.push(repetition);
                    break;
                }
            }
        }
        Ok(done)
    }

    /// A session, or what is kept of it.
    fn session(&self, execution: &Execution<'_>, number: Number) -> std::io::Result<Option<(Repetition, bool)>> {
        let place = place(self.folder.path(), execution, number);
        let name = begun(execution, number).name(execution.suite.repeat);
        let kept = kept(&place);
        let was_kept = kept.is_some();
        let session = match kept {
            Some(session) => session,
            None => {
                (self.runs.told)(Event::Begins(&name));
                match self.refused(execution, number) {
                    Some(session) => session,
                    None => match session::run(execution, number, &place, self.runs)? {
                        Some(session) => session,
                        None => return Ok(None),
                    },
                }
            }
        };
        let judged = (self.runs.judge)(&session.run);
        let session = if was_kept { session } else { self.settle(execution, &place, session, &judged)? };
        (self.runs.told)(Event::Ends { name: &name, record: &session.record, passed: judged.passed, kept: was_kept });
        Ok(Some((Repetition { session, judged }, was_kept)))
    }

    /// Keeps a session, and its workspace where it failed.
    fn settle(
        &self,
        execution: &Execution<'_>,
        place: &Place,
        mut session: Session,
        judged: &Judged,
    ) -> std::io::Result<Session> {
        if let Workspace::Made { isolated, .. } = &execution.suite.workspace {
            if *isolated && judged.passed && !judged.expected {
                copied::remove(&place.cwd)?;
            } else if place.cwd.is_dir() {
                session.record.workspace = Some(place.cwd.to_string_lossy().into_owned());
            }
        }
        let questions = if judged.passed { &[][..] } else { &judged.questions };
        keep(place, &session, questions)?;
        Ok(session)
    }

    /// A session that need not begin: its agent does not know the model, or there is no workspace.
    fn refused(&self, execution: &Execution<'_>, number: Number) -> Option<Session> {
        let rejected = self.rejected.lock().unwrap_or_else(PoisonError::into_inner);
        let failure = match &self.no_workspace {
            Some(failure) => failure.clone(),
            None if rejected.contains(&execution.runner.name) => {
                let why = format!("the agent does not know the model `{}`", execution.runner.model);
                (Outcome::ModelRejected, why)
            }
            None => return None,
        };
        drop(rejected);
        let mut record = begun(execution, number);
        (record.outcome, record.why) = failure;
        let id = record.name(execution.suite.repeat);
        let run = broken_off(&record, &id);
        Some(Session { record, run })
    }
}

/// Puts what is to be said of tokens into the last run of an execution that succeeded.
fn compare(execution: &Execution<'_>, done: &mut Done, snapshots: &mut Snapshots) {
    let owner = Owner {
        case: &execution.case.name,
        runner: &execution.runner.name,
        agent: execution.runner.agent.map(|agent| agent.name),
        model: &execution.runner.model,
    };
    let succeeded = |one: &&Repetition| one.judged.passed && one.session.record.outcome == Outcome::Completed;
    let runs: Vec<&str> = done.repetitions.iter().filter(succeeded).map(|one| one.session.run.as_str()).collect();
    let Some(found) = snapshots.compare(owner, &runs) else { return };
    let last = done
        .repetitions
        .iter_mut()
        .rev()
        .find(|one| one.judged.passed && one.session.record.outcome == Outcome::Completed);
    if let Some(last) = last {
        // The first of these signs stands before anything that an agent said.
        let meta = "\"meta\":{";
        last.session.run = last.session.run.replacen(meta, &format!("{meta}\"snapshot\":{found},"), 1);
    }
}
