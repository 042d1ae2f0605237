//! Which assertions judge a run: those that the user selects, and of a case only those whose run is its own.

use super::over_runs;
use crate::bytecode::program::{CompiledAssertion, CompiledCheck, Program};
use averment_base::value::Value;
use averment_checker::ir::{ProgramRule, RuleRole};
use averment_runs::normal::of_meta;
use averment_runs::run::Run;

/// Rules with this tag are always selected.
const ALWAYS: &str = "always";

/// The user's selection. Names of one list combine with OR, the lists with AND; an empty list selects everything.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RuleSelection {
    /// Ids of rules, cases and assertions.
    pub rules: Vec<String>,
    /// Ids of cases.
    pub cases: Vec<String>,
    /// Tags of rules or assertions.
    pub tags: Vec<String>,
    /// Conditions on the world before or after a run.
    pub phases: Vec<WorldPhase>,
}

/// When a condition on the world is looked at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WorldPhase {
    /// Before a run: `pre`.
    Pre,
    /// After it: `post`.
    Post,
}

impl WorldPhase {
    /// The phase of the assertions of a rule; `None` of those outside of `pre` and `post`.
    #[must_use]
    pub fn of_rule(rule: &ProgramRule) -> Option<Self> {
        match rule.role {
            RuleRole::Pre => Some(Self::Pre),
            RuleRole::Post => Some(Self::Post),
            _ => None,
        }
    }
}

impl RuleSelection {
    /// True if an assertion is judged on single runs: selected, or counted by a selected one over all runs.
    #[must_use]
    pub fn is_judged(&self, program: &Program, number: u32, assertion: &CompiledAssertion) -> bool {
        if matches!(assertion.check, CompiledCheck::OverRuns(_)) {
            return false;
        }
        let rule = assertion.rule.and_then(|rule| program.rules.get(rule as usize));
        let may_be_counted = assertion.settings.over_runs || rule.is_some_and(|rule| rule.over_runs);
        self.is_selected(program, assertion)
            || may_be_counted && over_runs::is_counted(program, number, &|one| self.is_selected(program, one))
    }

    /// Whether an assertion is selected.
    #[must_use]
    pub fn is_selected(&self, program: &Program, assertion: &CompiledAssertion) -> bool {
        let rule = assertion.rule.and_then(|rule| program.rules.get(rule as usize));
        let rule_id = rule.map(|rule| rule.id.as_str());
        let listed = |list: &[String], name: Option<&str>| name.is_some_and(|name| list.iter().any(|one| one == name));
        let by_rule = self.rules.is_empty() || listed(&self.rules, rule_id) || listed(&self.rules, Some(&assertion.id));
        let is_case = rule.is_some_and(|rule| matches!(rule.role, RuleRole::Case { .. }));
        let by_case = self.cases.is_empty() || is_case && listed(&self.cases, rule_id);
        let by_tag = self.tags.is_empty()
            || rule.is_some_and(|rule| listed(&rule.tags, Some(ALWAYS)))
            || assertion.settings.tags.iter().any(|tag| listed(&self.tags, Some(tag)))
            || rule.is_some_and(|rule| rule.tags.iter().any(|tag| listed(&self.tags, Some(tag))));
        let phase = rule.and_then(WorldPhase::of_rule);
        let by_phase = self.phases.is_empty() || phase.is_some_and(|phase| self.phases.contains(&phase));
        by_rule && by_case && by_tag && by_phase
    }
}

/// Why a rule does not judge a run: it is a case, and the run is of another one; or an invariant, and what was asked was asked for another one.
#[must_use]
pub fn other_case_reason(rule: &ProgramRule, run: &Run<'_>, assume: bool) -> Option<String> {
    let prompt = match &rule.role {
        RuleRole::Case { prompt } => prompt,
        RuleRole::Invariant => return other_invariant_reason(rule, run),
        _ => return None,
    };
    let of_case = match run.root_value("meta").value {
        Value::Object(meta) => meta.get(of_meta::CASE).and_then(|case| value_text(&case.value)),
        _ => None,
    };
    let of_prompt = value_text(&run.root_value("prompt").value);
    let is_own = match (of_case, of_prompt) {
        (Some(case), _) => case == rule.id,
        (None, Some(of_prompt)) => prompt.as_deref().is_some_and(|prompt| prompt == of_prompt),
        (None, None) => assume,
    };
    (!is_own).then(|| not_of_case_reason(&rule.id))
}

/// Why a case does not judge a run of another one.
#[must_use]
pub fn not_of_case_reason(case: &str) -> String {
    format!("the run is not of the case `{case}`")
}

fn other_invariant_reason(rule: &ProgramRule, run: &Run<'_>) -> Option<String> {
    let Value::Object(meta) = run.root_value("meta").value else { return None };
    let Value::Object(probe) = meta.get(of_meta::PROBE)?.value else { return None };
    let of_probe = probe.get("invariant")?.value;
    let is_other = value_text(&of_probe).is_some_and(|name| name != rule.id);
    is_other.then(|| format!("what was asked was not asked for `{}`", rule.id))
}

fn value_text<'run>(value: &Value<'run>) -> Option<&'run str> {
    match value {
        Value::Text(text) => Some(text.as_str()),
        _ => None,
    }
}
