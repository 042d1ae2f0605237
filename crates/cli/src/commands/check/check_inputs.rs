//! The inputs of a check: rules, traces and settings, from the command line or from the project.

use super::options::{redacted_paths, rule_permissions};
use super::{CheckAllow, CheckArgs, CheckDeny, before_run};
use crate::commands::console::ColorChoice;
use crate::commands::exit::CommandError;
use crate::commands::last_failed::LastFailed;
use crate::commands::project::ReportFolder;
use crate::commands::rules::{self, CompiledRules};
use crate::commands::targets::{self, OutputTarget};
use crate::commands::watch::UsedPaths;
use crate::commands::{inputs, project};
use averment::Limits;
use averment::stages::JudgeSettings;
use averment_engine::vm::select::RuleSelection;
use averment_ide::project::Project;
use averment_report::ReportedCommand;
use averment_report::gate::GatePolicy;
use averment_traces::read::is_named_like_a_trace;
use clap::ValueEnum as _;
use std::path::{Component, Path, PathBuf};

/// The inputs of a check: from the command line, otherwise from the project.
pub(super) struct CheckInputs<'a> {
    pub(super) arguments: &'a CheckArgs,
    pub(super) project: Option<Project>,
    pub(super) rules: Vec<PathBuf>,
    pub(super) traces: Vec<String>,
    pub(super) uses_project_rules: bool,
}

impl<'a> CheckInputs<'a> {
    pub(super) fn new(arguments: &'a CheckArgs, color: ColorChoice) -> Result<Self, CommandError> {
        // `aver check -r rules.assert run.json`: with `-r`, the first positional argument may be a trace.
        let stands_first = |path: &&PathBuf| !arguments.more_rules.is_empty() && is_trace(path);
        let (trace, first) = arguments.rules.iter().partition::<Vec<_>, _>(stands_first);
        let mut named: Vec<PathBuf> = first.into_iter().chain(&arguments.more_rules).cloned().collect();
        let trace = trace.into_iter().map(|path| path.to_string_lossy().into_owned());
        let mut traces: Vec<String> = trace.chain(arguments.traces.iter().cloned()).collect();
        let found = arguments.project.load_project(&named, color)?;
        // `aver check run.json` in a project: the project names the rules, so the only argument is a trace.
        let of_project = |project: &Project| !project.rules.is_empty();
        if let ([only], [], Some(_)) =
            (named.as_slice(), traces.as_slice(), found.as_ref().filter(|one| of_project(one)))
            && is_trace(only)
        {
            traces = vec![only.to_string_lossy().into_owned()];
            named = Vec::new();
        }
        if traces.is_empty() && !before_run::is_before_run(arguments) && arguments.supplied.is_none() {
            traces = found.as_ref().map(|project| project.traces.clone()).unwrap_or_default();
        }
        if let ([only], []) = (named.as_slice(), traces.as_slice())
            && brings_runs(only)
        {
            traces = vec![only.to_string_lossy().into_owned()];
        }
        let rules = project::rule_paths(&named, found.as_ref())?;
        Ok(Self { arguments, rules, traces, uses_project_rules: named.is_empty(), project: found })
    }

    /// Adds the paths from the command line and the project. A glob pattern counts as the folder that it begins with.
    pub(super) fn add_used_paths(&self, used: &mut UsedPaths) {
        let project = self.project.iter().flat_map(|one| one.baseline.iter().chain(&one.prices).chain([&one.file]));
        self.rules.iter().chain(project).for_each(|path| used.add_path(path));
        for trace in &self.traces {
            let is_plain = |part: &Component<'_>| !part.as_os_str().to_string_lossy().contains(['*', '?', '[', '{']);
            let path = Path::new(trace);
            let folder: PathBuf = path.components().take_while(is_plain).collect();
            match () {
                () if path.exists() => used.add_path(path),
                () if folder.as_os_str().is_empty() => used.add_path(Path::new(".")),
                () => used.add_path(&folder),
            }
        }
    }

    /// Opens the failed traces of the last check, for `--last-failed`.
    pub(super) fn open_last_failed(&self) -> Result<Option<LastFailed>, CommandError> {
        let rules = self.rules.iter().map(|path| path.to_string_lossy().into_owned());
        // The empty word separates rules from traces, because a trace can have the same name as a rule file.
        let words = rules.chain([String::new()]).chain(self.traces.iter().cloned());
        self.arguments.last_failed.then(|| LastFailed::open(words.collect())).transpose()
    }

    pub(super) fn is_denied(&self, what: CheckDeny) -> bool {
        let words = self.project.iter().flat_map(|project| &project.deny);
        self.arguments.deny.contains(&what)
            || words.into_iter().any(|word| CheckDeny::from_str(word, false) == Ok(what))
    }

    pub(super) fn gate_policy(&self) -> GatePolicy {
        GatePolicy {
            deny_vacuous: self.is_denied(CheckDeny::Vacuous),
            deny_unjudged: self.is_denied(CheckDeny::Unjudged),
            deny_unexercised: self.is_denied(CheckDeny::Unexercised),
            deny_near_names: self.is_denied(CheckDeny::NearNames),
            deny_undecided: self.is_denied(CheckDeny::Undecided),
            allow_undecided: !self.is_denied(CheckDeny::Undecided) && self.is_allowed(CheckAllow::Undecided),
        }
    }

    pub(super) fn readable_folders(&self) -> Vec<PathBuf> {
        let granted = self.project.iter().filter(|_| self.arguments.project.trust_project);
        let granted = granted.flat_map(|project| &project.requested.read);
        self.arguments.allow_read.iter().chain(granted).cloned().collect()
    }

    /// Returns the targets of `--format` and `--report`.
    pub(super) fn named_targets(&self, folder: ReportFolder<'_>) -> Result<Vec<OutputTarget>, CommandError> {
        let format = self.project.as_ref().and_then(|project| project.format.as_deref());
        self.arguments.reports.named_targets(ReportedCommand::Check, format, folder)
    }

    pub(super) fn rule_selection(&self) -> RuleSelection {
        let arguments = self.arguments;
        RuleSelection {
            rules: arguments.rule.clone(),
            cases: arguments.case.clone(),
            tags: match &arguments.supplied {
                Some(made) if made.is_chosen => Vec::new(),
                _ => project::selected_tags(&arguments.tag, self.project.as_ref()),
            },
            phases: before_run::selected_phases(arguments),
        }
    }

    /// Returns the settings for reading and judging runs.
    pub(super) fn judge_settings(
        &self,
        selection: RuleSelection,
        limits: Limits,
    ) -> Result<JudgeSettings, CommandError> {
        let (arguments, project) = (self.arguments, self.project.as_ref());
        let prices = arguments.prices.as_deref().or_else(|| project?.prices.as_deref());
        Ok(JudgeSettings {
            selection,
            limits,
            policy: self.gate_policy(),
            strict: arguments.strict,
            names: inputs::read_names(arguments.map.as_deref())?,
            prices: inputs::read_prices(prices)?,
            permissions: rule_permissions(arguments, project)?,
            redact: redacted_paths(&arguments.redact, project)?,
            expected: inputs::read_expected(arguments.expected.as_deref())?,
            withheld: arguments.supplied.iter().flat_map(|made| made.withheld.iter().cloned()).collect(),
            as_skillgym: arguments.compat.is_skillgym(),
            ..JudgeSettings::default()
        })
    }

    pub(super) fn baseline_path(&self) -> Option<&Path> {
        let of_project = || self.project.as_ref()?.baseline.as_deref();
        self.arguments.baseline.as_deref().or_else(of_project)
    }

    pub(super) fn is_allowed(&self, what: CheckAllow) -> bool {
        let words = self.project.iter().flat_map(|project| &project.allow);
        self.arguments.allow.contains(&what)
            || words.into_iter().any(|word| CheckAllow::from_str(word, false) == Ok(what))
    }
}

/// True if a rule file contains the runs that it checks, such as promptfoo results.
fn brings_runs(path: &Path) -> bool {
    let limits = Limits::default();
    let read =
        || averment::stages::load::read_limited(path, limits).ok().and_then(|bytes| String::from_utf8(bytes).ok());
    is_trace(path)
        && path.is_file()
        && read().is_some_and(|text| averment::stages::load::brings_runs(&path.to_string_lossy(), &text))
}

fn is_trace(path: &std::path::Path) -> bool {
    path.file_name().is_some_and(|name| is_named_like_a_trace(&name.to_string_lossy()))
}

pub(super) fn load_rules(
    given: &CheckInputs<'_>,
    limits: Limits,
    foreign: averment::stages::load::ForeignOptions<'_>,
) -> Result<CompiledRules, CommandError> {
    refuse_swapped(given.arguments)?;
    let mut files = Vec::new();
    for path in &given.rules {
        files.extend(inputs::some_rule_inputs(std::slice::from_ref(path))?);
    }
    files.extend(given.arguments.supplied.iter().map(|made| made.rules.clone()));
    let from_input = |input: &inputs::TraceInput| *input == inputs::TraceInput::Stdin;
    if files.iter().any(from_input) && given.traces.iter().any(|trace| trace == "-") {
        return Err(CommandError::usage(
            "rules and traces cannot both come from standard input",
            "name one of them as a file",
        ));
    }
    let tools = rules::project_tools(given.project.as_ref(), limits)?;
    let read = given.readable_folders();
    let reading = rules::RuleReadOptions { read: &read, ..rules::RuleReadOptions::with_limits(limits) }
        .with_tools(&tools)
        .with_foreign(foreign);
    let levels = given.project.as_ref().map(|project| project.lint.clone()).unwrap_or_default();
    rules::load_for_check(&files, reading, &levels)
}

/// Reports an error if rules and traces are in the wrong order, judged by their file extensions.
fn refuse_swapped(arguments: &CheckArgs) -> Result<(), CommandError> {
    let ending = |path: &std::path::Path| path.extension().and_then(|ending| ending.to_str()).unwrap_or("").to_owned();
    let rules = arguments.traces.iter().find(|trace| ending(std::path::Path::new(trace.as_str())) == "assert");
    match (rules, arguments.rules.as_deref().filter(|first| is_trace(first))) {
        (Some(rules), Some(trace)) => Err(CommandError::usage(
            format!("`{}` is a trace, but the rules come first", trace.display()),
            format!("write `aver check {rules} {}`", trace.display()),
        )),
        (Some(rules), None) => {
            Err(CommandError::usage(format!("`{rules}` is a rule file, not a trace"), format!("write `-r {rules}`")))
        }
        (None, _) => Ok(()),
    }
}

/// The traces to read; having none is a usage error unless allowed.
pub(super) fn select_traces(
    given: &CheckInputs<'_>,
    named: inputs::NamedTraces<'_>,
    before: Option<inputs::TraceInput>,
    selects_any: bool,
) -> Result<Vec<inputs::TraceInput>, CommandError> {
    let empty_allowed = given.is_allowed(CheckAllow::Empty);
    if !selects_any && !empty_allowed {
        let CheckArgs { rule, case, tag, phase, .. } = given.arguments;
        let selected = !(rule.is_empty() && case.is_empty() && tag.is_empty() && phase.is_empty());
        let message = if selected { "no assertion is selected" } else { "the rules hold no assertion" };
        let help = match selected {
            true => "select other rules, or let it pass with `--allow empty`",
            false => "write one, such as `never drop_table`, or let it pass with `--allow empty`",
        };
        return Err(CommandError::usage(format!("nothing to check: {message}"), help));
    }
    if let Some(before) = before {
        return Ok(vec![before]);
    }
    if given.traces.is_empty() && !empty_allowed {
        return Err(CommandError::usage("no trace is given", "name files, folders, or `-` for standard input"));
    }
    crate::commands::console::eprint_redacted(&named.notes);
    let empty: Vec<String> =
        named.found.iter().filter(|(_, found)| found.is_empty()).map(|(name, _)| format!("`{name}`")).collect();
    if !empty.is_empty() && !empty_allowed {
        return Err(CommandError::usage(
            format!("nothing to check: there is no trace in {}", empty.join(", ")),
            "name a trace or a folder with traces, or let it pass with `--allow empty`",
        ));
    }
    Ok(named.found.into_iter().flat_map(|(_, found)| found).collect())
}

/// Refuses outputs that are also inputs or other outputs.
pub(super) fn refuse_overlaps(
    given: &CheckInputs<'_>,
    outputs: &[&Path],
    named: &inputs::NamedTraces<'_>,
) -> Result<(), CommandError> {
    let arguments = given.arguments;
    let project = given.project.as_ref();
    let of_project = project.into_iter().flat_map(|one| one.baseline.iter().chain(&one.prices).chain([&one.file]));
    let files = arguments.map.iter().chain(&arguments.prices).chain(&arguments.expected).chain(&arguments.param_file);
    let rules: Vec<inputs::TraceInput> = given
        .rules
        .iter()
        .filter(|path| path.exists())
        .map(|path| inputs::quiet_rule_inputs(std::slice::from_ref(path)))
        .collect::<Result<Vec<_>, CommandError>>()?
        .concat();
    let traces = named.found.iter().flat_map(|(_, found)| targets::input_paths(found));
    let read = files.chain(of_project).chain(&given.rules).map(PathBuf::as_path).chain(traces);
    let baseline = given.baseline_path();
    targets::refuse_overwrite(outputs.iter().copied(), read.chain(baseline))?;
    targets::refuse_overwrite(outputs.iter().copied(), targets::input_paths(&rules))?;
    // A baseline may be both input and output, but no other output may use its file.
    targets::refuse_same_file(outputs.iter().copied().chain(baseline.filter(|_| arguments.update_baseline)), "outputs")
}
