//! The flags of commands that make runs and have them judged as `aver check` judges.

use super::check;
use super::exit::{CommandError, Exit};
use super::{params, project, rules, targets};
use std::path::{Path, PathBuf};

/// How what was made is judged and reported.
#[derive(Debug, clap::Args)]
pub struct JudgeFlags {
    #[command(flatten)]
    reports: targets::ReportArguments,
    /// Of `human` only what fails, and nothing where nothing does
    #[arg(short, long)]
    quiet: bool,
    /// Draw all violations of a failure, not the first 3 alone
    #[arg(long)]
    all_violations: bool,
    /// Failures that are known, and fail nothing
    #[arg(long, value_name = "FILE")]
    baseline: Option<PathBuf>,
    /// Write what fails now into the baseline
    #[arg(long)]
    update_baseline: bool,
    /// What fails beside failures: vacuous, unjudged, unexercised, near-names
    #[arg(long, value_name = "WHAT")]
    deny: Vec<String>,
    /// What does not fail: undecided, empty (nothing to check)
    #[arg(long, value_name = "WHAT")]
    allow: Vec<String>,
    /// The part of the runs that has to pass, such as 0.95 or 95%
    #[arg(long, value_name = "SHARE")]
    min_pass_rate: Option<String>,
    /// A path whose values no report shows
    #[arg(long, value_name = "PATH")]
    redact: Vec<String>,
    /// What tokens cost: a TOML or JSON file with the prices of models
    #[arg(long, value_name = "FILE")]
    prices: Option<PathBuf>,
    /// A value for a parameter
    #[arg(long, value_name = "NAME=VALUE")]
    pub param: Vec<String>,
    /// Values for parameters: a file with one JSON object
    #[arg(long, value_name = "FILE")]
    pub param_file: Vec<PathBuf>,
    #[command(flatten)]
    pub compat: rules::CompatFlag,
    #[command(flatten)]
    pub read: rules::ReadFlag,
    #[command(flatten)]
    pub project: project::ProjectArguments,
}

impl JudgeFlags {
    /// The values of parameters.
    pub fn param_values(&self) -> Result<params::ParamValues, CommandError> {
        params::ParamValues::new(&self.param_file, &self.param)
    }

    /// True if checking nothing is allowed.
    #[cfg_attr(not(feature = "probe"), expect(dead_code, reason = "a probe alone asks"))]
    pub fn allows_nothing(&self) -> bool {
        self.allow.iter().flat_map(|given| given.split(',')).any(|what| what == "empty")
    }

    /// The arguments of `aver check` for the supplied runs.
    pub fn check_args(
        &self,
        named: &Path,
        made: check::SuppliedRuns,
        further: &[&str],
    ) -> Result<check::CheckArgs, CommandError> {
        check::CheckArgs::with_supplied(self.check_words(named, further), made).map_err(|error| {
            let _ = error.print();
            CommandError::Said(Exit::Usage)
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
