//! What is to be checked: what the command line says, else what the project says.

use super::{Arguments, CheckAllow, CheckDeny, before};
use crate::commands::console::ColorChoice;
use crate::commands::exit::Stop;
use crate::commands::rules::{self, Rules};
use crate::commands::{inputs, project, targets};
use averment::Limits;
use averment_ide::project::Project;
use averment_report::gate::Policy;
use averment_traces::read::is_named_like_a_trace;
use clap::ValueEnum as _;
use std::path::{Path, PathBuf};

/// What is to be checked: what the command line says, else what the project says.
pub(super) struct CheckInputs<'a> {
    pub(super) arguments: &'a Arguments,
    pub(super) project: Option<Project>,
    pub(super) rules: Vec<PathBuf>,
    pub(super) traces: Vec<String>,
    /// True when the rules are those of the project.
    pub(super) of_project: bool,
}

impl<'a> CheckInputs<'a> {
    pub(super) fn new(arguments: &'a Arguments, color: ColorChoice) -> Result<Self, Stop> {
        // `aver check -r rules.assert run.json`: where rules are named so, a trace may stand first.
        let stands_first = |path: &&PathBuf| !arguments.more_rules.is_empty() && is_trace(path);
        let (trace, first) = arguments.rules.iter().partition::<Vec<_>, _>(stands_first);
        let mut named: Vec<PathBuf> = first.into_iter().chain(&arguments.more_rules).cloned().collect();
        let trace = trace.into_iter().map(|path| path.to_string_lossy().into_owned());
        let mut traces: Vec<String> = trace.chain(arguments.traces.iter().cloned()).collect();
        let found = arguments.project.load(&named, color)?;
        // `aver check run.json` in a project: the rules are known, and a trace is named.
        let of_project = |project: &Project| !project.rules.is_empty();
        if let ([only], [], Some(_)) =
            (named.as_slice(), traces.as_slice(), found.as_ref().filter(|one| of_project(one)))
            && is_trace(only)
        {
            traces = vec![only.to_string_lossy().into_owned()];
            named = Vec::new();
        }
        if traces.is_empty() && !before::is_before(arguments) && arguments.made.is_none() {
            traces = found.as_ref().map(|project| project.traces.clone()).unwrap_or_default();
        }
        let rules = project::rules(&named, found.as_ref())?;
        Ok(Self { arguments, rules, traces, of_project: named.is_empty(), project: found })
    }

    pub(super) fn denies(&self, what: CheckDeny) -> bool {
        let words = self.project.iter().flat_map(|project| &project.deny);
        self.arguments.deny.contains(&what)
            || words.into_iter().any(|word| CheckDeny::from_str(word, false) == Ok(what))
    }

    /// What fails a run.
    pub(super) fn policy(&self) -> Policy {
        Policy {
            deny_vacuous: self.denies(CheckDeny::Vacuous),
            deny_unjudged: self.denies(CheckDeny::Unjudged),
            deny_unexercised: self.denies(CheckDeny::Unexercised),
            allow_undecided: self.allows(CheckAllow::Undecided),
        }
    }

    /// The folders that rules may read by name: those of the command line, and those that a trusted project asks for.
    pub(super) fn read(&self) -> Vec<PathBuf> {
        let granted = self.project.iter().filter(|_| self.arguments.project.trust_project);
        let granted = granted.flat_map(|project| &project.requested.read);
        self.arguments.allow_read.iter().chain(granted).cloned().collect()
    }

    /// The file of what is known to fail.
    pub(super) fn baseline(&self) -> Option<&Path> {
        let of_project = || self.project.as_ref()?.baseline.as_deref();
        self.arguments.baseline.as_deref().or_else(of_project)
    }

    pub(super) fn allows(&self, what: CheckAllow) -> bool {
        let words = self.project.iter().flat_map(|project| &project.allow);
        self.arguments.allow.contains(&what)
            || words.into_iter().any(|word| CheckAllow::from_str(word, false) == Ok(what))
    }
}

/// Whether a file is named like a trace.
fn is_trace(path: &std::path::Path) -> bool {
    path.file_name().is_some_and(|name| is_named_like_a_trace(&name.to_string_lossy()))
}

/// The rules, compiled.
pub(super) fn load(
    given: &CheckInputs<'_>,
    limits: Limits,
    foreign: averment::stages::load::Options<'_>,
) -> Result<Rules, Stop> {
    swapped(given.arguments)?;
    let mut files = Vec::new();
    for path in &given.rules {
        let found = inputs::rules(std::slice::from_ref(path))?;
        if found.is_empty() {
            let message = format!("there is no `.assert` file in `{}`", path.display());
            return Err(Stop::usage(message, "name a rule file or another folder"));
        }
        files.extend(found);
    }
    files.extend(given.arguments.made.iter().map(|made| made.rules.clone()));
    let from_input = |input: &inputs::Input| *input == inputs::Input::Stdin;
    if files.iter().any(from_input) && given.traces.iter().any(|trace| trace == "-") {
        return Err(Stop::usage("rules and traces cannot both come from standard input", "name one of them as a file"));
    }
    let tools = rules::tools(given.project.as_ref(), limits)?;
    let read = given.read();
    let reading = rules::Reading { read: &read, ..rules::Reading::plain(limits) }.with(&tools).foreign(foreign);
    let mut rules = rules::load(&files, reading)?;
    if let Some(project) = &given.project {
        rules.take_levels(&project.lint);
    }
    Ok(rules)
}

/// Rules and traces in the wrong order are seen by their endings.
fn swapped(arguments: &Arguments) -> Result<(), Stop> {
    let ending = |path: &std::path::Path| path.extension().and_then(|ending| ending.to_str()).unwrap_or("").to_owned();
    let rules = arguments.traces.iter().find(|trace| ending(std::path::Path::new(trace.as_str())) == "assert");
    match (rules, arguments.rules.as_deref().filter(|first| is_trace(first))) {
        (Some(rules), Some(trace)) => Err(Stop::usage(
            format!("`{}` is a trace, and rules stand first", trace.display()),
            format!("write `aver check {rules} {}`", trace.display()),
        )),
        (Some(rules), None) => {
            Err(Stop::usage(format!("`{rules}` is a rule file, not a trace"), format!("write `-r {rules}`")))
        }
        (None, _) => Ok(()),
    }
}

/// The traces to read; none at all is wrong usage unless allowed.
pub(super) fn traces(
    arguments: &Arguments,
    given: &CheckInputs<'_>,
    named: inputs::Named<'_>,
    before: Option<inputs::Input>,
    selects_any: bool,
) -> Result<Vec<inputs::Input>, Stop> {
    let empty_allowed = given.allows(CheckAllow::Empty);
    if !selects_any && !empty_allowed {
        let Arguments { rule, case, tag, phase, .. } = arguments;
        let selected = !(rule.is_empty() && case.is_empty() && tag.is_empty() && phase.is_empty());
        let message = if selected { "no assertion is selected" } else { "the rules hold no assertion" };
        return Err(Stop::usage(format!("nothing to check: {message}"), "`--allow empty` lets it pass"));
    }
    if let Some(before) = before {
        return Ok(vec![before]);
    }
    if given.traces.is_empty() && !empty_allowed {
        return Err(Stop::usage("no trace is given", "name files, folders, or `-` for standard input"));
    }
    crate::commands::console::say(&named.notes);
    let empty: Vec<String> =
        named.found.iter().filter(|(_, found)| found.is_empty()).map(|(name, _)| format!("`{name}`")).collect();
    if !empty.is_empty() && !empty_allowed {
        return Err(Stop::usage(
            format!("nothing to check: there is no trace in {}", empty.join(", ")),
            "`--allow empty` lets it pass",
        ));
    }
    Ok(named.found.into_iter().flat_map(|(_, found)| found).collect())
}

/// Everything that the check writes is something else than what it reads and than each other. It is asked before the first word of the rules
/// is looked at: a report of rules that do not compile is written, too.
pub(super) fn compare(given: &CheckInputs<'_>, outputs: &[&Path], named: &inputs::Named<'_>) -> Result<(), Stop> {
    let arguments = given.arguments;
    let project = given.project.as_ref();
    let of_project = project.into_iter().flat_map(|one| one.baseline.iter().chain(&one.prices).chain([&one.file]));
    let files = arguments.map.iter().chain(&arguments.prices).chain(&arguments.expected).chain(&arguments.param_file);
    let rules: Vec<inputs::Input> = given
        .rules
        .iter()
        .filter(|path| path.exists())
        .map(|path| inputs::rules(std::slice::from_ref(path)))
        .collect::<Result<Vec<_>, Stop>>()?
        .concat();
    let traces = named.found.iter().flat_map(|(_, found)| targets::paths(found));
    let read = files.chain(of_project).chain(&given.rules).map(PathBuf::as_path).chain(traces);
    let baseline = given.baseline();
    targets::refuse(outputs.iter().copied(), read.chain(baseline))?;
    targets::refuse(outputs.iter().copied(), targets::paths(&rules))?;
    // A baseline is read and written anew by design; nothing else goes into it.
    targets::apart(outputs.iter().copied().chain(baseline.filter(|_| arguments.update_baseline)), "outputs")
}
