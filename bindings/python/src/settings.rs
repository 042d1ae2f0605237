//! The settings for rules, as the Python part writes them.

use averment::{ChosenLimits, Permissions, RulesBuilder};
use serde::Deserialize;
use serde_json::{Map, Value};
use std::path::PathBuf;
use std::time::Duration;

/// All settings except the rules themselves.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RuleSettings {
    params: Map<String, Value>,
    tools: Vec<(String, String)>,
    limits: ChosenLimits,
    permissions: PermissionSettings,
    only_rules: Vec<String>,
    only_cases: Vec<String>,
    only_tags: Vec<String>,
    deny: Vec<DeniedOutcome>,
    allow_undecided: bool,
    allow_empty: bool,
    strict: bool,
    trace_names: Option<String>,
    redact: Vec<String>,
}

/// Outcomes that fail a run in addition to failures, as in `--deny`.
#[derive(Deserialize, PartialEq, Eq)]
#[serde(rename_all = "kebab-case")]
enum DeniedOutcome {
    Vacuous,
    Unjudged,
    Unexercised,
    NearNames,
    Undecided,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct PermissionSettings {
    working_directory: Option<PathBuf>,
    read: Vec<PathBuf>,
    run: bool,
    environment: bool,
    command_seconds: f64,
}

impl RuleSettings {
    pub fn apply_to(self, mut builder: RulesBuilder) -> RulesBuilder {
        let denies = |what| self.deny.contains(&what);
        builder = builder
            .limits(self.limits.to_limits())
            .permissions(self.permissions.into_permissions())
            .deny_vacuous(denies(DeniedOutcome::Vacuous))
            .deny_unjudged(denies(DeniedOutcome::Unjudged))
            .deny_unexercised(denies(DeniedOutcome::Unexercised))
            .deny_near_names(denies(DeniedOutcome::NearNames))
            .deny_undecided(denies(DeniedOutcome::Undecided))
            .allow_undecided(self.allow_undecided)
            .allow_empty(self.allow_empty)
            .strict(self.strict)
            .draw_failures(true);
        builder = self.params.into_iter().fold(builder, |builder, (name, value)| builder.param(name, value));
        builder = self.tools.into_iter().fold(builder, |builder, (name, json)| builder.tools(name, json));
        builder = self.only_rules.into_iter().fold(builder, RulesBuilder::only_rule);
        builder = self.only_cases.into_iter().fold(builder, RulesBuilder::only_case);
        builder = self.only_tags.into_iter().fold(builder, RulesBuilder::only_tag);
        builder = self.redact.into_iter().fold(builder, RulesBuilder::redact);
        builder = self.trace_names.into_iter().fold(builder, RulesBuilder::trace_names);
        builder
    }
}

impl PermissionSettings {
    fn into_permissions(self) -> Permissions {
        let usual = Permissions::default();
        Permissions {
            working_directory: self.working_directory,
            read: self.read,
            run: self.run,
            environment: self.environment,
            command_time: Duration::try_from_secs_f64(self.command_seconds).unwrap_or(usual.command_time),
            ..usual
        }
    }
}
