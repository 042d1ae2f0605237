//! The settings for rules, as `lib/core.js` writes them.

use crate::answer::Refusal;
use crate::exchange::Slot;
use averment::{ChosenLimits, Limits, Memory, Rules, RulesBuilder};
use averment_base::diagnostic::{Family, Slug};
use averment_ide::lint::{LintLevel, LintLevels};
use serde::Deserialize;
use serde_json::{Map, Value};
use std::collections::BTreeMap;

/// The rules and their settings.
#[derive(Default, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "camelCase")]
pub struct RuleSettings {
    /// Names and texts of rule files.
    pub sources: Vec<(String, String)>,
    /// Texts of the files that rules name, by path.
    pub files: BTreeMap<String, String>,
    params: Map<String, Value>,
    /// Names and texts of catalogs.
    pub tools: Vec<(String, String)>,
    limits: ChosenLimits,
    only_rules: Vec<String>,
    only_cases: Vec<String>,
    only_tags: Vec<String>,
    deny: Vec<DeniedOutcome>,
    allow_undecided: bool,
    allow_empty: bool,
    strict: bool,
    trace_names: Option<String>,
    redact: Vec<String>,
    levels: BTreeMap<String, String>,
    all_lints: bool,
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

pub fn read_settings() -> Result<RuleSettings, Refusal> {
    serde_json::from_slice(&Slot::Settings.take()).map_err(|error| Refusal::Given(error.to_string()))
}

impl RuleSettings {
    pub fn into_builder(self) -> RulesBuilder {
        let denies = |what| self.deny.contains(&what);
        let mut builder = Rules::builder()
            .limits(self.limits.to_limits())
            .deny_vacuous(denies(DeniedOutcome::Vacuous))
            .deny_unjudged(denies(DeniedOutcome::Unjudged))
            .deny_unexercised(denies(DeniedOutcome::Unexercised))
            .deny_near_names(denies(DeniedOutcome::NearNames))
            .deny_undecided(denies(DeniedOutcome::Undecided))
            .allow_undecided(self.allow_undecided)
            .allow_empty(self.allow_empty)
            .strict(self.strict);
        if !self.files.is_empty() {
            builder = builder.files(Memory::new(self.files));
        }
        builder = self.sources.into_iter().fold(builder, |builder, (name, text)| builder.text(name, text));
        builder = self.params.into_iter().fold(builder, |builder, (name, value)| builder.param(name, value));
        builder = self.tools.into_iter().fold(builder, |builder, (name, json)| builder.tools(name, json));
        builder = self.only_rules.into_iter().fold(builder, RulesBuilder::only_rule);
        builder = self.only_cases.into_iter().fold(builder, RulesBuilder::only_case);
        builder = self.only_tags.into_iter().fold(builder, RulesBuilder::only_tag);
        builder = self.redact.into_iter().fold(builder, RulesBuilder::redact);
        self.trace_names.into_iter().fold(builder, RulesBuilder::trace_names)
    }

    pub fn limits(&self) -> Limits {
        self.limits.to_limits()
    }

    /// Returns the chosen levels of lints and families.
    pub fn lint_levels(&self) -> Result<LintLevels, Refusal> {
        let mut levels = LintLevels { least: self.all_lints.then_some(LintLevel::Info), ..LintLevels::default() };
        for (name, word) in &self.levels {
            let Some(level) = LintLevel::parse(word) else {
                let words = LintLevel::WORDS.join(", ");
                return Err(Refusal::Given(format!("`{word}` is no level of a lint; the levels are {words}")));
            };
            match (Slug::parse(name).filter(|slug| slug.is_configurable()), Family::parse(name)) {
                (Some(slug), _) => levels.slugs.push((slug, level)),
                (None, Some(family)) => levels.families.push((family, level)),
                (None, None) => return Err(Refusal::Given(format!("there is no lint or family of lints `{name}`"))),
            }
        }
        Ok(levels)
    }
}
