//! Why two steps that match their patterns are no pair: they have other values, or a test of one fails with the values of the other.

use super::super::timeline::Env;
use super::super::view::{Hit, PairFit, WindowView, merge_envs, same_values};
use super::near::MOST_COMPARED;
use super::values_differ;
use crate::vm::context::ExpressionScope;
use crate::vm::outcome::{Role, VerdictEvidence};

pub(in super::super) struct JoinMismatch {
    pub(in super::super) words: String,
    pub(in super::super) test: Option<String>,
}

/// `` for which `id > $x` holds ``.
pub(in super::super) fn for_which(test: &str) -> String {
    [" for which `", test, "` holds"].concat()
}

impl JoinMismatch {
    /// What is asked of the one that is wanted, and why the one that is there does not fit.
    pub(in super::super) fn to_words(mismatch: Option<Self>) -> (String, String) {
        let Some(Self { words, test }) = mismatch else { return Default::default() };
        (test.as_deref().map(for_which).unwrap_or_default(), [": ", &words].concat())
    }
}

struct FailedTest {
    test: String,
    values: String,
}

impl WindowView<'_, '_> {
    /// The missing step, if the nearest match only fails its own test: `` a for which `id > $x` holds ``.
    pub(in super::super) fn describe_wanted(&mut self, operand: usize, hit: &Hit, before: bool) -> String {
        let thing = self.describe_operand(operand, &hit.env);
        match self.refusing_match(operand, hit, before) {
            Some((test, _)) => thing + &for_which(&test),
            None => thing,
        }
    }

    /// The nearest match of an operand with matching values that fails a test of `hit`, and that test.
    pub(in super::super) fn refusing_match(
        &mut self,
        operand: usize,
        hit: &Hit,
        before: bool,
    ) -> Option<(String, VerdictEvidence)> {
        if !self.has_joins(hit.operand) {
            return None;
        }
        for near in self.comparable_matches(operand, hit, before) {
            if let Some(failed) = self.failed_test(hit, &merge_envs(&near.env, &hit.env), Some(operand)) {
                let (name, own) = (self.describe_step(near.step), self.describe_step(hit.step));
                let label = [&name, " does not fit: for ", &own, " ", &failed.values].concat();
                return Some((failed.test, self.step_proof(near.step, operand, Role::NearMiss, label)));
            }
        }
        None
    }

    pub(in super::super) fn fitting_match(&mut self, operand: usize, hit: &Hit, before: bool) -> Option<Hit> {
        if !self.has_joins(operand) && !self.has_joins(hit.operand) {
            return self
                .hits_near(operand, hit.step, before)
                .find(|near| same_values(&near.env, &hit.env) == PairFit::Yes);
        }
        self.comparable_matches(operand, hit, before).into_iter().find(|near| self.is_pair(near, hit))
    }

    pub(in super::super) fn is_pair(&mut self, near: &Hit, hit: &Hit) -> bool {
        let values = merge_envs(&hit.env, &near.env);
        let mut holds = |hit: &Hit| {
            !self.has_joins(hit.operand)
                || self.joins_of(hit.operand, hit.event, &values).is_ok_and(|fit| fit == PairFit::Yes)
        };
        holds(near) && holds(hit)
    }

    fn comparable_matches(&self, operand: usize, hit: &Hit, before: bool) -> Vec<Hit> {
        let near = self.hits_near(operand, hit.step, before).take(MOST_COMPARED);
        near.filter(|near| near.step != hit.step && same_values(&near.env, &hit.env) == PairFit::Yes).collect()
    }

    /// The first failing test on other steps' values; with `of`, only tests that use a binding of that operand.
    fn failed_test(&mut self, hit: &Hit, env: &Env, of: Option<usize>) -> Option<FailedTest> {
        let written = self.written_of(hit)?;
        let (alternative, step) = self.matched_alternative(hit.operand, hit.event)?;
        let bindings = self.binding_values(env);
        let scope = ExpressionScope::of_step(step).with_bindings(&bindings);
        for (code, own) in alternative.joins.iter().zip(&written.joins) {
            let asked = self.plan.used_bindings(*code);
            let uses = of.is_none_or(|operand| asked.iter().any(|name| self.operand_names(operand).contains(name)));
            if uses
                && self.plan.is_answerable(*code, &bindings)
                && self.machine.evaluate_truth(*own, &scope).is_ok_and(|truth| truth.plain_answer() == Some(false))
            {
                let values = self.machine.explain_condition(*own, &scope).reason;
                return Some(FailedTest { test: self.machine.code_text(*own), values });
            }
        }
        None
    }

    pub(in super::super) fn join_mismatch(&mut self, near: &Hit, env: &Env, others: &[Hit]) -> Option<JoinMismatch> {
        let written = self.written_of(near).map_or(&[][..], std::slice::from_ref);
        let differing = self.operand_names(near.operand).iter().filter(|name| values_differ(&near.env, env, **name));
        let values: Vec<String> = differing.filter_map(|name| self.binding_words(*name, written, &near.env)).collect();
        if !values.is_empty() {
            return Some(JoinMismatch { words: format!("it has {}", values.join(" and ")), test: None });
        }
        let all = merge_envs(env, &near.env);
        if let Some(failed) = self.failed_test(near, &all, None) {
            return Some(JoinMismatch { words: failed.values, test: None });
        }
        others.iter().find_map(|other| {
            let failed = self.failed_test(other, &all, None)?;
            let words = format!("for {} {}", self.describe_step(other.step), failed.values);
            Some(JoinMismatch { words, test: Some(failed.test) })
        })
    }
}
