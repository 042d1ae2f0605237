//! Flags of commands that record runs and judge them as `aver check` does.

use super::check;
use super::exit::{CommandError, Exit};
use super::{help_headings, params, project, rules, targets};
use std::path::{Path, PathBuf};

/// Options for judging and reporting the recorded runs.
#[derive(Debug, clap::Args)]
pub struct JudgeFlags {
    #[command(flatten, next_help_heading = help_headings::OUTPUT)]
    reports: targets::ReportArguments,
    /// Print failures only
    #[arg(help_heading = help_headings::OUTPUT, short, long)]
    quiet: bool,
    /// Show all violations of a failure, not only the first 3
    #[arg(help_heading = help_headings::OUTPUT, long)]
    all_violations: bool,
    /// Do not fail on the failures in this file
    #[arg(help_heading = help_headings::FAILING, long, value_name = "FILE")]
    baseline: Option<PathBuf>,
    /// Write the current failures to the baseline
    #[arg(help_heading = help_headings::FAILING, long)]
    update_baseline: bool,
    /// Also fail on: vacuous, unjudged, unexercised, near-names, undecided (also where a rule allows it)
    #[arg(help_heading = help_headings::FAILING, long, value_name = "WHAT")]
    deny: Vec<String>,
    /// Do not fail on: undecided, empty (nothing to check)
    #[arg(help_heading = help_headings::FAILING, long, value_name = "WHAT")]
    allow: Vec<String>,
    /// Pass if at least this share of the runs passes: 0.95, 95%
    #[arg(help_heading = help_headings::FAILING, long, value_name = "SHARE")]
    min_pass_rate: Option<String>,
    /// Hide the values at this path in all reports
    #[arg(help_heading = help_headings::OUTPUT, long, value_name = "PATH")]
    redact: Vec<String>,
    /// Compute missing costs from this TOML or JSON file with the prices of models
    #[arg(help_heading = help_headings::READING, long, value_name = "FILE")]
    prices: Option<PathBuf>,
    /// Set a parameter of the rules
    #[arg(help_heading = help_headings::VALUES, long, value_name = "NAME=VALUE")]
    pub param: Vec<String>,
    /// Set parameters from a file with one JSON object
    #[arg(help_heading = help_headings::VALUES, long, value_name = "FILE")]
    pub param_file: Vec<PathBuf>,
    #[command(flatten, next_help_heading = help_headings::READING)]
    pub compat: rules::CompatFlag,
    #[command(flatten, next_help_heading = help_headings::LIMITS)]
    pub read: rules::ReadFlag,
    #[command(flatten)]
    pub project: project::ProjectArguments,
}

impl JudgeFlags {
    /// Returns the values of the parameters.
    pub fn param_values(&self) -> Result<params::ParamValues, CommandError> {
        params::ParamValues::new(&self.param_file, &self.param)
    }

    /// True if `--allow empty` permits a check of nothing.
    #[cfg_attr(not(feature = "probe"), expect(dead_code, reason = "a probe alone asks"))]
    pub fn allows_nothing(&self) -> bool {
        self.allow.iter().flat_map(|given| given.split(',')).any(|what| what == "empty")
    }

    /// Returns the arguments of `aver check` for the supplied runs.
    pub fn check_args(
        &self,
        named: &Path,
        made: check::SuppliedRuns,
        further: &[&str],
    ) -> Result<check::CheckArgs, CommandError> {
        check::CheckArgs::with_supplied(self.check_words(named, further), made).map_err(|error| {
            let _ = error.print();
            CommandError::AlreadyReported(Exit::Usage)
        })
    }

    fn check_words(&self, named: &Path, further: &[&str]) -> Vec<String> {
        let path = |path: &PathBuf| path.to_string_lossy().into_owned();
        let mut words: Vec<String> = further.iter().map(|&word| word.to_owned()).collect();
        let mut put = |flag: &str, value: String| words.push(format!("--{flag}={value}"));
        self.reports.format.iter().for_each(|value| put("format", value.clone()));
        self.reports.report.iter().for_each(|value| put("report", value.clone()));
        self.reports.report_dir.iter().for_each(|value| put("report-dir", path(value)));
        self.baseline.iter().for_each(|value| put("baseline", path(value)));
        self.deny.iter().for_each(|value| put("deny", value.clone()));
        self.allow.iter().for_each(|value| put("allow", value.clone()));
        self.min_pass_rate.iter().for_each(|value| put("min-pass-rate", value.clone()));
        self.redact.iter().for_each(|value| put("redact", value.clone()));
        self.prices.iter().for_each(|value| put("prices", path(value)));
        self.param.iter().for_each(|value| put("param", value.clone()));
        self.param_file.iter().for_each(|value| put("param-file", path(value)));
        self.read.allow_read.iter().for_each(|value| put("allow-read", path(value)));
        self.project.project.iter().for_each(|value| put("project", path(value)));
        self.compat.flag_word().iter().for_each(|value| put("compat", value.clone()));
        let flags = [
            ("quiet", self.quiet),
            ("all-violations", self.all_violations),
            ("update-baseline", self.update_baseline),
            ("no-project", self.project.no_project),
            ("trust-project", self.project.trust_project),
        ];
        words.extend(flags.into_iter().filter(|(_, set)| *set).map(|(flag, _)| format!("--{flag}")));
        words.extend(["--".to_owned(), path(&named.to_owned())]);
        words
    }
}
