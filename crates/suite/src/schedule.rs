//! Runs all sessions of suites in the order of their schedule; results are in the order of the rules.

use crate::folder::{SuiteFolder, load_session, save_session, session_place, shared_workspace as shared_place};
use crate::folder_copy;
use crate::place::{EndedSession, SessionNumber, SessionPlace};
use crate::plan::{CaseExecution, PlannedSuite, Schedule, WorkspacePlan};
use crate::record::SessionOutcome;
use crate::run_line::broken_off;
use crate::runs::{SessionVerdict, SuiteContext, SuiteEvent};
use crate::session::{self, begin_record};
use crate::snapshots::{TokenOwner, TokenSnapshots};
use crate::workspace::{self, LaunchMeans, WorkspaceBuild, WorkspaceFailure};
use std::collections::HashSet;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

/// The result of running suites.
#[derive(Debug, Default)]
pub struct SuiteResults {
    /// The runs of all repetitions, one per line.
    pub lines: String,
    /// The names of the runs.
    pub names: Vec<String>,
    /// The number of sessions, including failed ones that were retried.
    pub sessions: usize,
    /// The number of sessions that ended in an earlier execution.
    pub kept: usize,
    /// The number of retried sessions.
    pub retried: usize,
}

struct Repetition {
    session: EndedSession,
    judged: SessionVerdict,
}

#[derive(Default)]
struct ExecutionResult {
    repetitions: Vec<Repetition>,
    sessions: usize,
    kept: usize,
}

/// Runs suites. Returns `None` if stopped before the end; ended sessions are kept.
///
/// # Errors
/// If a result cannot be saved.
pub fn run_suites(
    suites: &[PlannedSuite],
    folder: &SuiteFolder,
    snapshots: &mut [Option<TokenSnapshots>],
    runs: &SuiteContext<'_>,
) -> std::io::Result<Option<SuiteResults>> {
    let mut made = SuiteResults::default();
    for (number, suite) in suites.iter().enumerate() {
        let executions: Vec<CaseExecution<'_>> = suite.executions().collect();
        let Some(done) = run_suite(suite, &executions, folder, runs)? else { return Ok(None) };
        for (execution, mut done) in executions.iter().zip(done) {
            made.sessions = made.sessions.saturating_add(done.sessions);
            made.kept = made.kept.saturating_add(done.kept);
            made.retried = made.retried.saturating_add(done.sessions.saturating_sub(done.repetitions.len()));
            if let Some(Some(snapshots)) = snapshots.get_mut(number) {
                compare_snapshots(execution, &mut done, snapshots);
            }
            for repetition in &done.repetitions {
                made.lines.push_str(&repetition.session.run);
                made.lines.push('\n');
                made.names.push(repetition.session.record.report_name(suite.repeat));
            }
        }
    }
    folder.remove_empty();
    Ok(Some(made))
}

fn run_suite(
    suite: &PlannedSuite,
    executions: &[CaseExecution<'_>],
    folder: &SuiteFolder,
    runs: &SuiteContext<'_>,
) -> std::io::Result<Option<Vec<ExecutionResult>>> {
    let means = runs.launch_means();
    let no_workspace = make_shared(suite, executions, folder, means);
    let state = ScheduleState { folder, runs, no_workspace, rejected: Mutex::default(), done: Mutex::default() };
    // The first case shows whether the agents know their models.
    let (first, others) = executions.split_at(suite.runners.len().min(executions.len()));
    state.run_lanes(&[(0..first.len()).collect()], executions, 1)?;
    let rest = first.len()..first.len().saturating_add(others.len());
    let threads = suite.parallel.unwrap_or_else(|| std::thread::available_parallelism().map_or(1, usize::from));
    match suite.schedule {
        Schedule::Serial => state.run_lanes(&[rest.collect()], executions, 1)?,
        Schedule::Parallel => {
            let lanes: Vec<Vec<usize>> = rest.map(|number| vec![number]).collect();
            state.run_lanes(&lanes, executions, threads)?;
        }
        Schedule::IsolatedByRunner => {
            let of_runner =
                |runner: usize| rest.clone().filter(move |number| number % suite.runners.len().max(1) == runner);
            let lanes: Vec<Vec<usize>> = (0..suite.runners.len()).map(|runner| of_runner(runner).collect()).collect();
            state.run_lanes(&lanes, executions, threads)?;
        }
    }
    if runs.stop.load(Ordering::Relaxed) {
        return Ok(None);
    }
    let mut done = state.done.into_inner().unwrap_or_else(PoisonError::into_inner);
    done.sort_by_key(|(number, _)| *number);
    let done: Vec<ExecutionResult> = done.into_iter().map(|(_, done)| done).collect();
    if let WorkspacePlan::Created { isolated: false, .. } = &suite.workspace
        && done.iter().all(|done| done.repetitions.iter().all(|one| one.judged.passed && !one.judged.expected))
    {
        folder_copy::remove_folder(&shared_place(folder.path(), suite))?;
    }
    Ok(Some(done))
}

fn make_shared(
    suite: &PlannedSuite,
    executions: &[CaseExecution<'_>],
    folder: &SuiteFolder,
    means: LaunchMeans<'_>,
) -> Option<WorkspaceFailure> {
    let WorkspacePlan::Created { isolated: false, of, bootstrap, variables } = &suite.workspace else { return None };
    let time = executions.iter().map(CaseExecution::time_limit).max().unwrap_or_default();
    let place = shared_place(folder.path(), suite);
    let mut told = variables.clone();
    told.push(("AVERMENT_WORKSPACE".to_owned(), place.to_string_lossy().into_owned()));
    told.push(("AVERMENT_SESSION".to_owned(), folder.path().to_string_lossy().into_owned()));
    told.extend(workspace::skillgym_variables(&place, folder.path(), folder.path()));
    let making = WorkspaceBuild {
        of,
        bootstrap: bootstrap.as_ref(),
        variables: &told,
        folder: &place,
        logs: folder.path(),
        time,
    };
    workspace::make_workspace(&making, means).err()
}

struct ScheduleState<'a> {
    folder: &'a SuiteFolder,
    runs: &'a SuiteContext<'a>,
    no_workspace: Option<WorkspaceFailure>,
    rejected: Mutex<HashSet<String>>,
    done: Mutex<Vec<(usize, ExecutionResult)>>,
}

impl ScheduleState<'_> {
    /// Runs lanes concurrently, and the executions of a lane serially.
    fn run_lanes(&self, lanes: &[Vec<usize>], executions: &[CaseExecution<'_>], threads: usize) -> std::io::Result<()> {
        let (next, error) = (AtomicUsize::new(0), Mutex::new(None));
        let work = || {
            while let Some(lane) = lanes.get(next.fetch_add(1, Ordering::Relaxed)) {
                for number in lane {
                    let Some(execution) = executions.get(*number).filter(|_| !self.is_stopped()) else { return };
                    match self.run_execution(execution) {
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

    fn run_execution(&self, execution: &CaseExecution<'_>) -> std::io::Result<ExecutionResult> {
        let mut done = ExecutionResult::default();
        for repetition in 1..=execution.suite.repeat {
            for attempt in 1..=execution.suite.retries.saturating_add(1) {
                if self.is_stopped() {
                    return Ok(done);
                }
                let Some((repetition, was_kept)) =
                    self.run_session(execution, SessionNumber { repetition, attempt })?
                else {
                    return Ok(done);
                };
                done.sessions = done.sessions.saturating_add(1);
                done.kept = done.kept.saturating_add(usize::from(was_kept));
                let outcome = repetition.session.record.outcome;
                if outcome == SessionOutcome::ModelRejected {
                    let mut rejected = self.rejected.lock().unwrap_or_else(PoisonError::into_inner);
                    rejected.insert(execution.runner.name.clone());
                }
                let is_last = repetition.judged.passed
                    || outcome == SessionOutcome::ModelRejected
                    || attempt > execution.suite.retries;
                if is_last {
                    done.repetitions.push(repetition);
                    break;
                }
            }
        }
        Ok(done)
    }

    fn run_session(
        &self,
        execution: &CaseExecution<'_>,
        number: SessionNumber,
    ) -> std::io::Result<Option<(Repetition, bool)>> {
        let place = session_place(self.folder.path(), execution, number);
        let name = begin_record(execution, number).report_name(execution.suite.repeat);
        let kept = load_session(&place);
        let was_kept = kept.is_some();
        let session = match kept {
            Some(session) => session,
            None => {
                (self.runs.on_event)(SuiteEvent::Begins(&name));
                match self.refuse_session(execution, number) {
                    Some(session) => session,
                    None => match session::run_session(execution, number, &place, self.runs)? {
                        Some(session) => session,
                        None => return Ok(None),
                    },
                }
            }
        };
        let judged = (self.runs.judge)(&session.run);
        let session = if was_kept { session } else { self.settle_session(execution, &place, session, &judged)? };
        (self.runs.on_event)(SuiteEvent::Ends {
            name: &name,
            record: &session.record,
            passed: judged.passed,
            kept: was_kept,
        });
        Ok(Some((Repetition { session, judged }, was_kept)))
    }

    fn settle_session(
        &self,
        execution: &CaseExecution<'_>,
        place: &SessionPlace,
        mut session: EndedSession,
        judged: &SessionVerdict,
    ) -> std::io::Result<EndedSession> {
        if let WorkspacePlan::Created { isolated, .. } = &execution.suite.workspace {
            if *isolated && judged.passed && !judged.expected {
                folder_copy::remove_folder(&place.cwd)?;
            } else if place.cwd.is_dir() {
                session.record.workspace = Some(place.cwd.to_string_lossy().into_owned());
            }
        }
        let questions = if judged.passed { &[][..] } else { &judged.questions };
        save_session(place, &session, questions)?;
        Ok(session)
    }

    /// Returns the failed session if it cannot start: its agent rejects the model, or there is no workspace.
    fn refuse_session(&self, execution: &CaseExecution<'_>, number: SessionNumber) -> Option<EndedSession> {
        let rejected = self.rejected.lock().unwrap_or_else(PoisonError::into_inner);
        let failure = match &self.no_workspace {
            Some(failure) => failure.clone(),
            None if rejected.contains(&execution.runner.name) => {
                let why = format!("the agent does not know the model `{}`", execution.runner.model);
                (SessionOutcome::ModelRejected, why)
            }
            None => return None,
        };
        drop(rejected);
        let mut record = begin_record(execution, number);
        (record.outcome, record.why) = failure;
        let id = record.report_name(execution.suite.repeat);
        let run = broken_off(&record, &id);
        Some(EndedSession { record, run })
    }
}

fn compare_snapshots(execution: &CaseExecution<'_>, done: &mut ExecutionResult, snapshots: &mut TokenSnapshots) {
    let owner = TokenOwner {
        case: &execution.case.name,
        runner: &execution.runner.name,
        agent: execution.runner.agent.map(|agent| agent.name),
        model: &execution.runner.model,
    };
    let succeeded = |one: &&Repetition| one.judged.passed && one.session.record.outcome == SessionOutcome::Completed;
    let runs: Vec<&str> = done.repetitions.iter().filter(succeeded).map(|one| one.session.run.as_str()).collect();
    let Some(found) = snapshots.compare_tokens(owner, &runs) else { return };
    let last = done
        .repetitions
        .iter_mut()
        .rev()
        .find(|one| one.judged.passed && one.session.record.outcome == SessionOutcome::Completed);
    if let Some(last) = last {
        // The first occurrence of this text comes before anything that an agent wrote.
        let meta = "\"meta\":{";
        last.session.run = last.session.run.replacen(meta, &format!("{meta}\"snapshot\":{found},"), 1);
    }
}
