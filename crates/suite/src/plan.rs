//! The plan of a run: the selected cases and runners with the settings of their suites, in file order.

use crate::agents::AgentSpec;
use crate::snapshots::SnapshotRules;
use averment_base::diagnostic::{Diagnostic, Slug};
use averment_base::source::Span;
use averment_checker::ir::{CasePlan, SessionSettings, SuitePlan};
use std::path::{Path, PathBuf};
use std::time::Duration;

mod folders;
mod words;

use words::{misspelled_name, word_at};

/// Default time limit of a session, in milliseconds.
const USUAL_TIME: u64 = 120_000;

/// A suite with its selected cases and runners.
#[derive(Debug)]
pub struct PlannedSuite {
    /// Its name.
    pub name: String,
    /// The workspace of its agents.
    pub workspace: WorkspacePlan,
    /// Its runners.
    pub runners: Vec<PlannedRunner>,
    /// Its cases.
    pub cases: Vec<PlannedCase>,
    /// Repetitions of each case.
    pub repeat: u64,
    /// Retries of a failed session.
    pub retries: u64,
    /// The order of sessions.
    pub schedule: Schedule,
    /// Maximum concurrent sessions.
    pub parallel: Option<usize>,
    /// The rules for comparing token usage.
    pub snapshots: Option<SnapshotRules>,
}

/// The order of sessions. Whatever the schedule, the first case runs serially on all runners before the others.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Schedule {
    /// One at a time.
    Serial,
    /// Several concurrently.
    Parallel,
    /// Sessions of one runner serially, different runners in parallel.
    IsolatedByRunner,
}

/// A case on a runner.
#[derive(Debug, Clone, Copy)]
pub struct CaseExecution<'a> {
    /// The suite.
    pub suite: &'a PlannedSuite,
    /// The case.
    pub case: &'a PlannedCase,
    /// The runner.
    pub runner: &'a PlannedRunner,
}

/// A case.
#[derive(Debug)]
pub struct PlannedCase {
    /// Its name.
    pub name: String,
    /// The prompt.
    pub prompt: String,
    timeout: Option<u64>,
    max_steps: Option<u64>,
}

/// A runner.
#[derive(Debug)]
pub struct PlannedRunner {
    /// Its name.
    pub name: String,
    /// The agent, if it is a built-in one.
    pub agent: Option<&'static AgentSpec>,
    /// The model; empty if none is given.
    pub model: String,
    /// The program and its own arguments.
    pub command: Vec<String>,
    /// The file to which it writes its transcript, relative to its working folder or to the folder of the session.
    pub trace: Option<String>,
    /// Variables set for it.
    pub variables: Vec<(String, String)>,
    /// Variables of this process that are passed on to it.
    pub passed: Vec<String>,
    timeout: Option<u64>,
    max_steps: Option<u64>,
}

/// The workspace of agents.
#[derive(Debug)]
pub enum WorkspacePlan {
    /// An existing folder.
    Existing(PathBuf),
    /// A folder created for the sessions.
    Created {
        /// True for one folder per session; otherwise all share one.
        isolated: bool,
        /// The source of its contents.
        of: WorkspaceSource,
        /// The command to run in it before the agent.
        bootstrap: Option<Bootstrap>,
        /// Variables for the agent and the bootstrap command.
        variables: Vec<(String, String)>,
    },
}

/// The source of a workspace.
#[derive(Debug)]
pub enum WorkspaceSource {
    /// An empty folder.
    Empty,
    /// A copy of a folder.
    Template(PathBuf),
    /// A working tree of a Git repository, at a revision.
    Worktree(PathBuf, String),
}

/// A command that prepares a workspace.
#[derive(Debug)]
pub struct Bootstrap {
    /// Its words.
    pub words: Vec<String>,
    /// The time limit; the session's limit if not set.
    pub time: Option<Duration>,
}

/// The selection. An empty list selects everything of its kind.
#[derive(Debug, Clone, Default)]
pub struct SuiteSelection {
    /// Names of cases.
    pub cases: Vec<String>,
    /// Tags of cases.
    pub tags: Vec<String>,
    /// Tags of the project, used if no others are given here or in a suite.
    pub usual_tags: Vec<String>,
    /// Names of runners.
    pub runners: Vec<String>,
}

/// Settings that override those of suites.
#[derive(Debug, Clone, Default)]
pub struct SettingOverrides {
    /// `repeat`.
    pub repeat: Option<u64>,
    /// `retries`.
    pub retries: Option<u64>,
    /// `schedule`.
    pub schedule: Option<Schedule>,
    /// `parallel`.
    pub parallel: Option<usize>,
    /// `timeout`, in milliseconds.
    pub timeout: Option<u64>,
    /// `max_steps`.
    pub max_steps: Option<u64>,
    /// The working folder of agents, if no workspace is created.
    pub cwd: Option<PathBuf>,
    /// The file of snapshots.
    pub snapshots: Option<PathBuf>,
}

/// The reason why nothing can be run.
#[derive(Debug)]
pub enum PlanError {
    /// An error in the rule file.
    Rules(Box<Diagnostic>),
    /// An invalid selection: a message and a suggestion.
    Chosen(String, String),
}

impl PlanError {
    fn at_span(span: Span, message: impl Into<String>, help: impl Into<String>) -> Self {
        Self::Rules(Box::new(Diagnostic::new(Slug::Misplaced, span, message.into()).with_help(help.into())))
    }

    fn of_project(self) -> Self {
        match self {
            Self::Chosen(message, help) => Self::Chosen(
                format!("{message}, which `tags` of the project chooses"),
                format!("{help}; `--tag` chooses others, and `--no-project` all"),
            ),
            rules => rules,
        }
    }
}

impl PlannedSuite {
    /// Returns true if a folder is inside of the workspace template, which would then be copied into itself.
    #[must_use]
    pub fn copies_folder(&self, folder: &Path) -> bool {
        let WorkspacePlan::Created { of: WorkspaceSource::Template(template), .. } = &self.workspace else {
            return false;
        };
        template.canonicalize().is_ok_and(|template| folder.starts_with(template))
    }

    /// Returns its cases on its runners, case by case.
    pub fn executions(&self) -> impl Iterator<Item = CaseExecution<'_>> {
        self.cases
            .iter()
            .flat_map(move |case| self.runners.iter().map(move |runner| CaseExecution { suite: self, case, runner }))
    }
}

impl CaseExecution<'_> {
    /// Returns the time limit of a session.
    #[must_use]
    pub fn time_limit(&self) -> Duration {
        Duration::from_millis(self.case.timeout.or(self.runner.timeout).unwrap_or(USUAL_TIME))
    }

    /// Returns the step limit of a session.
    #[must_use]
    pub fn max_steps(&self) -> Option<u64> {
        self.case.max_steps.or(self.runner.max_steps)
    }
}

/// Creates the plan. Paths are relative to `base`, the folder of the rule file.
///
/// # Errors
/// Contradictory settings, or a selection of something that does not exist.
pub fn plan_suites(
    plans: &[SuitePlan],
    base: &Path,
    chosen: &SuiteSelection,
    over: &SettingOverrides,
) -> Result<Vec<PlannedSuite>, PlanError> {
    let Some(first) = plans.first() else {
        let help = "write `suite \"NAME\" { runner NAME { agent codex; model \"…\" }  case NAME { prompt \"…\" … } }`";
        return Err(PlanError::Chosen("there is no suite in the rules".to_owned(), help.to_owned()));
    };
    check_names("case", &chosen.cases, plans.iter().flat_map(|plan| plan.cases.iter().map(|case| case.name.as_str())))?;
    check_names(
        "runner",
        &chosen.runners,
        plans.iter().flat_map(|plan| plan.runners.iter().map(|one| one.0.as_str())),
    )?;
    let tags = plans.iter().flat_map(|plan| plan.cases.iter().flat_map(|case| case.tags.iter().map(String::as_str)));
    check_names("tag", &chosen.tags, tags.clone())?;
    if chosen.tags.is_empty() && plans.iter().any(|plan| plan.settings.word_list("select").is_empty()) {
        check_names("tag", &chosen.usual_tags, tags).map_err(PlanError::of_project)?;
    }
    let suites = plans.iter().map(|plan| plan_suite(plan, base, chosen, over)).collect::<Result<Vec<_>, _>>()?;
    if suites.iter().all(|suite| suite.executions().next().is_none()) {
        let message = format!("nothing of the suite `{}` is chosen", first.name);
        return Err(PlanError::Chosen(
            message,
            "name fewer cases, tags and runners: what is named has to fit all".to_owned(),
        ));
    }
    Ok(suites)
}

fn check_names<'a>(what: &str, named: &[String], there: impl Iterator<Item = &'a str>) -> Result<(), PlanError> {
    let there: Vec<&str> = there.collect();
    let Some(unknown) = named.iter().find(|name| !there.contains(&name.as_str())) else { return Ok(()) };
    let mut all: Vec<String> = there.iter().map(|name| format!("`{name}`")).collect();
    all.sort();
    all.dedup();
    let all = if all.is_empty() { "there is none".to_owned() } else { format!("there are {}", all.join(", ")) };
    let help = match averment_base::diagnostic::suggest::suggest_name(unknown, there) {
        Some(near) => format!("did you mean `{near}`?"),
        None => all,
    };
    Err(PlanError::Chosen(format!("the suite has no {what} `{unknown}`"), help))
}

fn plan_suite(
    plan: &SuitePlan,
    base: &Path,
    chosen: &SuiteSelection,
    over: &SettingOverrides,
) -> Result<PlannedSuite, PlanError> {
    let settings = &plan.settings;
    let takes = |list: &[String], name: &str| list.is_empty() || list.iter().any(|one| one == name);
    let named = [&chosen.tags, settings.word_list("select"), &chosen.usual_tags];
    let tags = named.into_iter().find(|tags| !tags.is_empty()).unwrap_or_default();
    let tagged = |case: &CasePlan| tags.is_empty() || case.tags.iter().any(|tag| tags.contains(tag));
    let time = over.timeout.or(settings.time_value("timeout"));
    let steps = over.max_steps.or(settings.count_value("max_steps"));
    let cases = plan.cases.iter().filter(|case| takes(&chosen.cases, &case.name) && tagged(case));
    let cases: Vec<PlannedCase> = cases.map(plan_case).collect::<Result<_, _>>()?;
    let runners = plan.runners.iter().filter(|(name, ..)| takes(&chosen.runners, name));
    let runners: Vec<PlannedRunner> = runners
        .map(|(name, span, own)| plan_runner(name, *span, own, base, settings, time, steps))
        .collect::<Result<_, _>>()?;
    if plan.runners.is_empty() && !cases.is_empty() {
        let help = "write `runner NAME { agent claude-code; model \"…\" }`, or `runner NAME { command [\"…\"] }`";
        return Err(PlanError::at_span(plan.span, format!("the suite `{}` has no runner", plan.name), help));
    }
    let named = |prompt: &PlannedCase| prompt.prompt.starts_with('-');
    if let Some(case) = plan.cases.iter().find(|one| cases.iter().any(|case| case.name == one.name && named(case))) {
        let message = "a prompt that begins with `-` is read as an option by agents";
        return Err(PlanError::at_span(case.span, message, "put a word before it"));
    }
    let uncounted = plan.cases.iter().find(|one| one.settings.count_value("max_steps").is_some());
    if let (Some(case), Some(runner)) = (uncounted, runners.iter().find(|runner| runner.agent.is_none())) {
        let message = format!("steps of the runner `{}` cannot be counted", runner.name);
        return Err(PlanError::at_span(case.span, message, "name its `agent`, or leave `max_steps` out"));
    }
    let schedule = settings.text_value("schedule").and_then(Schedule::parse).unwrap_or(Schedule::Serial);
    Ok(PlannedSuite {
        name: plan.name.clone(),
        workspace: folders::plan_workspace(plan, base, over)?,
        runners,
        cases,
        repeat: over.repeat.or(settings.count_value("repeat")).unwrap_or(1),
        retries: over.retries.or(settings.count_value("retries")).unwrap_or(0),
        schedule: over.schedule.unwrap_or(schedule),
        parallel: over.parallel.or(settings.count_value("parallel").and_then(|count| usize::try_from(count).ok())),
        snapshots: SnapshotRules::read_rules(settings, base, over.snapshots.as_deref())
            .map_err(|(span, message, help)| PlanError::at_span(span, message, help))?,
    })
}

impl Schedule {
    /// Parses the keyword of a schedule.
    #[must_use]
    pub fn parse(word: &str) -> Option<Self> {
        match word {
            "serial" => Some(Self::Serial),
            "parallel" => Some(Self::Parallel),
            "isolated_by_runner" => Some(Self::IsolatedByRunner),
            _ => None,
        }
    }
}

fn plan_case(plan: &CasePlan) -> Result<PlannedCase, PlanError> {
    let prompt = plan.prompt.clone().filter(|prompt| !prompt.trim().is_empty());
    let missing = || {
        PlanError::at_span(
            plan.span,
            format!("the case `{}` asks the agent nothing", plan.name),
            "write `prompt \"…\"` into it",
        )
    };
    Ok(PlannedCase {
        name: plan.name.clone(),
        prompt: prompt.ok_or_else(missing)?,
        timeout: plan.settings.time_value("timeout"),
        max_steps: plan.settings.count_value("max_steps"),
    })
}

fn plan_runner(
    name: &str,
    span: Span,
    own: &SessionSettings,
    base: &Path,
    of_suite: &SessionSettings,
    time: Option<u64>,
    steps: Option<u64>,
) -> Result<PlannedRunner, PlanError> {
    let agent = own.text_value("agent").and_then(AgentSpec::find_named);
    let mut command: Vec<String> = own.word_list("command").to_vec();
    if command.is_empty() {
        let Some(agent) = agent else {
            let help = "write `agent claude-code` (codex, copilot, cursor-agent, opencode), or `command [\"…\"]`";
            return Err(PlanError::at_span(span, format!("the runner `{name}` names no agent and no command"), help));
        };
        command = agent.program.iter().map(|&word| word.to_owned()).collect();
    }
    let model = own.text_value("model").unwrap_or_default().to_owned();
    if agent.is_some() && model.trim().is_empty() {
        let message = format!("the runner `{name}` names no model");
        return Err(PlanError::at_span(span, message, "write `model \"…\"`: what an agent takes by itself changes"));
    }
    command.extend(own.word_list("args").iter().cloned());
    let max_steps = own.count_value("max_steps").or(steps);
    if agent.is_none() && max_steps.is_some() {
        let message = format!("steps of the runner `{name}` cannot be counted");
        return Err(PlanError::at_span(span, message, "name its `agent`, or leave `max_steps` out"));
    }
    if let (None, Some(setting), Some((word, near))) = (agent, own.get("command"), misspelled_name(&command)) {
        let message = format!("`{{{word}}}` stands for nothing");
        return Err(PlanError::at_span(setting.span, message, format!("did you mean `{{{near}}}`?")));
    }
    let trace = own.text_value("trace").map(str::to_owned);
    if let (Some(setting), Some(trace)) = (own.get("trace"), &trace) {
        let leaves = Path::new(trace).components().any(|part| !matches!(part, std::path::Component::Normal(_)));
        if leaves {
            let message = format!("`{trace}` leads out of the folder that the runner works in");
            return Err(PlanError::at_span(setting.span, message, "write a path below it, without `..`"));
        }
    }
    let mut variables: Vec<(String, String)> = of_suite.name_pairs("env").to_vec();
    let replaced = own.name_pairs("env");
    variables.retain(|(name, _)| !replaced.iter().any(|(own, _)| own == name));
    variables.extend(replaced.iter().cloned());
    Ok(PlannedRunner {
        name: name.to_owned(),
        agent,
        model,
        command: command.iter().map(|word| word_at(word, base)).collect(),
        trace,
        variables,
        passed: own.word_list("pass_env").to_vec(),
        timeout: own.time_value("timeout").or(time),
        max_steps,
    })
}
