//! Conversion of flags into settings for drawing, baselines, redaction and permissions.

use super::CheckArgs;
use crate::commands::baseline::BaselineFile;
use crate::commands::exit::CommandError;
use crate::commands::outputs::DrawOptions;
use crate::commands::targets::OutputTarget;
use crate::commands::{profile, signals, units};
use averment::Permissions;
use averment_base::diagnostic::suggest::suggest_name;
use averment_ide::project::Project;
use averment_report::show::{Section, ShownSections};
use averment_report::{Format, ReportedCommand};
use averment_traces::redact_path::RedactPath;
use std::sync::Arc;

pub(super) fn redacted_paths(
    given: &[RedactPath],
    project: Option<&Project>,
) -> Result<Arc<[RedactPath]>, CommandError> {
    let of_project = project.into_iter().flat_map(|project| {
        let file = project.file.display();
        project.report.redact.iter().map(move |path| {
            RedactPath::parse(path)
                .map_err(|problem| CommandError::usage(format!("`redact` of `{file}`: {problem}"), ""))
        })
    });
    given.iter().cloned().map(Ok).chain(of_project).collect()
}

pub(super) fn open_baseline(
    arguments: &CheckArgs,
    project: Option<&Project>,
) -> Result<Option<BaselineFile>, CommandError> {
    let file = arguments.baseline.as_deref().or_else(|| project?.baseline.as_deref());
    match file {
        Some(file) => BaselineFile::open_file(file, arguments.update_baseline).map(Some),
        None if arguments.update_baseline => {
            let help = "write `--baseline FILE`, or `baseline = \"FILE\"` into `averment.toml`";
            Err(CommandError::usage("`--update-baseline` needs a file to write", help))
        }
        None => Ok(None),
    }
}

pub(super) fn draw_options(arguments: &CheckArgs) -> DrawOptions {
    let CheckArgs { max_failures, all_violations, quiet, .. } = *arguments;
    let only = (!arguments.show.is_empty()).then(|| arguments.show.clone());
    DrawOptions { max_failures, all_violations, show: ShownSections { only, quiet }, command: ReportedCommand::Check }
}

pub(super) fn parse_section(word: &str) -> Result<Section, String> {
    Section::parse(word).ok_or_else(|| {
        let known = Section::ALL.map(Section::as_str);
        match suggest_name(word, known) {
            Some(near) => format!("did you mean `{near}`?"),
            None => format!("it is one of {}", known.join(", ")),
        }
    })
}

pub(super) fn refuse_times(arguments: &CheckArgs, targets: &[OutputTarget]) -> Result<(), CommandError> {
    if arguments.timings && targets.iter().all(|target| target.format != Format::Assay) {
        let help = "write `--format assay`; `--profile` says what a check cost";
        return Err(CommandError::usage("no report of this check contains times", help));
    }
    Ok(())
}

pub(super) fn profile_target(arguments: &CheckArgs) -> Result<Option<profile::ProfileTarget>, CommandError> {
    let parse = |word: &str| profile::ProfileTarget::parse_word(word, arguments.rules.as_deref());
    arguments.profile.as_deref().map(parse).transpose()
}

/// Returns the permissions from the command line, and those that a trusted project requests.
pub(super) fn rule_permissions(arguments: &CheckArgs, project: Option<&Project>) -> Result<Permissions, CommandError> {
    let folder = std::env::current_dir().unwrap_or_default();
    let allowed = Permissions::of_command_line(folder);
    for folder in &arguments.allow_read {
        if !folder.is_dir() {
            return Err(CommandError::usage(
                format!("`{}` is no folder", folder.display()),
                "`--allow-read` takes a folder",
            ));
        }
    }
    let command_time = match &arguments.run_timeout {
        None => allowed.command_time,
        Some(text) => units::parse_time(text)
            .ok_or_else(|| CommandError::usage(format!("`{text}` is no time"), "write a time such as `10s` or `2m`"))?,
    };
    let granted = project.filter(|_| arguments.project.trust_project).map(|project| &project.requested);
    let read = arguments.allow_read.iter().chain(granted.iter().flat_map(|granted| &granted.read)).cloned().collect();
    let run = arguments.allow_run || granted.is_some_and(|granted| granted.run);
    signals::may_run(run);
    Ok(Permissions { read, run, command_time, ..allowed })
}
