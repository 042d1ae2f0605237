//! What the flags mean: what is drawn, known, hidden, permitted.

use super::Arguments;
use crate::commands::baseline::BaselineFile;
use crate::commands::exit::Stop;
use crate::commands::outputs::Drawing;
use crate::commands::project::ReportFolder;
use crate::commands::rules::Rules;
use crate::commands::targets::OutputTarget;
use crate::commands::{profile, signals, units};
use averment::Permissions;
use averment_base::diagnostic::suggest::nearest;
use averment_ide::project::Project;
use averment_report::show::{Section, Show};
use averment_report::{Command, Format};
use averment_traces::redact_path::RedactPath;
use std::sync::Arc;

/// The paths whose values no report shows: those of the command line and those of the project.
pub(super) fn redacted(given: &[RedactPath], project: Option<&Project>) -> Result<Arc<[RedactPath]>, Stop> {
    let of_project = project.into_iter().flat_map(|project| {
        let file = project.file.display();
        project.report.redact.iter().map(move |path| {
            RedactPath::parse(path).map_err(|problem| Stop::usage(format!("`redact` of `{file}`: {problem}"), ""))
        })
    });
    given.iter().cloned().map(Ok).chain(of_project).collect()
}

/// What is known to fail.
pub(super) fn baseline(arguments: &Arguments, project: Option<&Project>) -> Result<Option<BaselineFile>, Stop> {
    let file = arguments.baseline.as_deref().or_else(|| project?.baseline.as_deref());
    match file {
        Some(file) => BaselineFile::open(file, arguments.update_baseline).map(Some),
        None if arguments.update_baseline => {
            let help = "write `--baseline FILE`, or `baseline = \"FILE\"` into `averment.toml`";
            Err(Stop::usage("`--update-baseline` needs a file to write", help))
        }
        None => Ok(None),
    }
}

/// How much of what fails is drawn.
pub(super) fn drawing(arguments: &Arguments) -> Drawing {
    let Arguments { max_failures, all_violations, quiet, .. } = *arguments;
    let only = (!arguments.show.is_empty()).then(|| arguments.show.clone());
    Drawing { max_failures, all_violations, show: Show { only, quiet }, command: Command::Check }
}

/// A section of the report for people.
pub(super) fn section(word: &str) -> Result<Section, String> {
    Section::parse(word).ok_or_else(|| {
        let known = Section::ALL.map(Section::as_str);
        match nearest(word, known) {
            Some(near) => format!("did you mean `{near}`?"),
            None => format!("it is one of {}", known.join(", ")),
        }
    })
}

/// The targets with those reports in the folder that the rules ask for, where they are a file of another system that does, and no project
/// says otherwise.
pub(super) fn asked(
    targets: Vec<OutputTarget>,
    arguments: &Arguments,
    format: Option<&str>,
    folder: ReportFolder<'_>,
    rules: &Rules,
) -> Result<Vec<OutputTarget>, Stop> {
    if folder.folder.is_none() || !folder.formats.is_empty() || rules.reports.is_empty() {
        return Ok(targets);
    }
    let folder = ReportFolder { formats: &rules.reports, ..folder };
    arguments.reports.targets(Command::Check, format, folder)
}

/// Refuses times where no report has a place for them.
pub(super) fn timed(arguments: &Arguments, targets: &[OutputTarget]) -> Result<(), Stop> {
    if arguments.timings && targets.iter().all(|target| target.format != Format::Assay) {
        let help = "write `--format assay`; `--profile` says what a check cost";
        return Err(Stop::usage("no report of this check says times", help));
    }
    Ok(())
}

/// Where the profile goes, if there is to be one.
pub(super) fn target(arguments: &Arguments) -> Result<Option<profile::ProfileTarget>, Stop> {
    let parse = |word: &str| profile::ProfileTarget::parse(word, arguments.rules.as_deref());
    arguments.profile.as_deref().map(parse).transpose()
}

/// What rules may do: what the command line says, and what a trusted project asks for.
pub(super) fn permissions(arguments: &Arguments, project: Option<&Project>) -> Result<Permissions, Stop> {
    let folder = std::env::current_dir().unwrap_or_default();
    let allowed = Permissions::of_command_line(folder);
    for folder in &arguments.allow_read {
        if !folder.is_dir() {
            return Err(Stop::usage(format!("`{}` is no folder", folder.display()), "`--allow-read` takes a folder"));
        }
    }
    let command_time = match &arguments.run_timeout {
        None => allowed.command_time,
        Some(text) => units::time(text)
            .ok_or_else(|| Stop::usage(format!("`{text}` is no time"), "write a time such as `10s` or `2m`"))?,
    };
    let granted = project.filter(|_| arguments.project.trust_project).map(|project| &project.requested);
    let read = arguments.allow_read.iter().chain(granted.iter().flat_map(|granted| &granted.read)).cloned().collect();
    let run = arguments.allow_run || granted.is_some_and(|granted| granted.run);
    signals::may_run(run);
    Ok(Permissions { read, run, command_time, ..allowed })
}
