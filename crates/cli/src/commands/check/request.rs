//! Settings from the command line and the project, before the rules are read.

use super::check_inputs::{CheckInputs, load_rules, refuse_overlaps};
use super::options::{profile_target, refuse_times};
use super::{CheckAllow, before_run};
use crate::commands::console::ColorChoice;
use crate::commands::deadline::Deadline;
use crate::commands::exclude::ExcludePatterns;
use crate::commands::exit::CommandError;
use crate::commands::inputs::{self, NamedTraces, TraceInput};
use crate::commands::params::ParamValues;
use crate::commands::profile::ProfileTarget;
use crate::commands::project::ReportFolder;
use crate::commands::rules::CompiledRules;
use crate::commands::sizes;
use crate::commands::targets::{self, OutputTarget};
use averment::load::ForeignOptions;
use averment_base::limits::Limits;
use averment_report::ReportedCommand;
use std::path::Path;
use std::time::Instant;

/// Settings of a check that do not depend on the rules.
pub(super) struct CheckRequest<'a> {
    pub(super) given: &'a CheckInputs<'a>,
    pub(super) color: ColorChoice,
    pub(super) deadline: Option<&'a Deadline>,
    pub(super) limits: Limits,
    /// The run that is about to begin; replaces the traces.
    pub(super) upcoming: Option<TraceInput>,
    pub(super) named: NamedTraces<'a>,
    pub(super) values: ParamValues,
    pub(super) profile: Option<ProfileTarget>,
    pub(super) started: Instant,
    folder: ReportFolder<'a>,
    /// Targets of `--format` and `--report`.
    targets: Vec<OutputTarget>,
}

impl<'a> CheckRequest<'a> {
    pub(super) fn new(
        given: &'a CheckInputs<'a>,
        color: ColorChoice,
        deadline: Option<&'a Deadline>,
    ) -> Result<Self, CommandError> {
        let (arguments, project) = (given.arguments, given.project.as_ref());
        let limits = sizes::run_limits(arguments.max_run_size.as_deref())?;
        let upcoming = before_run::upcoming_run(arguments, given)?;
        let folder = arguments.project.report_folder(arguments.reports.report_dir.as_deref(), project, color);
        Ok(Self {
            limits: Limits { cancel: deadline.map(Deadline::cancel), ..limits },
            upcoming,
            targets: given.named_targets(folder)?,
            folder,
            profile: profile_target(arguments)?,
            named: inputs::traces_by_name(&given.traces, &ExcludePatterns::new(&arguments.exclude)?)?,
            values: ParamValues::new(&arguments.param_file, &arguments.param)?,
            started: Instant::now(),
            given,
            color,
            deadline,
        })
    }

    pub(super) fn load_rules(&self) -> Result<CompiledRules, CommandError> {
        let foreign = ForeignOptions {
            in_folder: self.folder.folder.is_some(),
            undecided: self.given.is_allowed(CheckAllow::Unread),
            ..self.given.arguments.compat.foreign_options(&self.values.texts)
        };
        load_rules(self.given, self.limits, foreign)
    }

    /// Returns all report targets, including those that the rules request. Refuses an output that is also an input or another output.
    pub(super) fn settle_targets(&self, rules: &CompiledRules) -> Result<Vec<OutputTarget>, CommandError> {
        let arguments = self.given.arguments;
        let folder = self.folder.with_requested(&rules.reports);
        let targets = targets::add_folder(self.targets.clone(), ReportedCommand::Check, folder)?;
        refuse_times(arguments, &targets)?;
        let profile = self.profile.as_ref().and_then(ProfileTarget::file_path);
        let others = profile.into_iter().chain(arguments.record.output_file());
        let written: Vec<&Path> = targets::target_files(&targets).chain(others).collect();
        refuse_overlaps(self.given, &written, &self.named)?;
        targets::refuse_overwrite(written.into_iter(), rules.file_names().map(Path::new))?;
        Ok(targets)
    }
}
