//! Rules, cases, suites, `pre` and `post`.

use super::Checker;
use super::body::{AssertionPlace, BodyKind};
use super::settings::{self, Inherited, Own};
use super::suite_settings::{self, Owner};
use crate::ir::{self, RuleRole, Severity};
use averment_base::diagnostic::{Diagnostic, Slug};
use averment_base::source::Span;
use averment_syntax::ast::{self, ItemKind, Modifier, Setting};

impl<'a> Checker<'a> {
    /// `rule NAME "sentence" {…}`.
    pub(super) fn rule(&mut self, place: &AssertionPlace<'a>, rule: &'a ast::Rule) {
        let id = self.rule_id("rule", &rule.name);
        let sentence = rule.sentence.as_ref().and_then(|sentence| self.plain_text(sentence));
        let inner = self.open_rule(place, id, RuleRole::Rule, sentence, rule.name.span, &rule.modifiers, &rule.body);
        let mut opening = true;
        for item in &rule.body {
            self.body_item(&inner, item, BodyKind::Rule, &mut opening);
        }
    }

    /// Adds a rule with its settings; gives the place of what stands in it.
    #[expect(clippy::too_many_arguments, reason = "each is a part of the header, and they are read in one place")]
    pub(super) fn open_rule(
        &mut self,
        place: &AssertionPlace<'a>,
        id: String,
        role: RuleRole,
        sentence: Option<String>,
        span: Span,
        modifiers: &'a [Modifier],
        body: &'a [ast::Item],
    ) -> AssertionPlace<'a> {
        let all: Vec<&'a Modifier> = modifiers.iter().chain(settings::opening(body)).collect();
        let own = self.modifiers(&place.scope, all.iter().copied());
        let own = Own { classifiers: self.classifiers(body), ..own };
        if let (Some(_), Some(span)) = (own.id, settings::place_of(all.iter().copied(), "id")) {
            self.report(
                Diagnostic::new(Slug::Misplaced, span, "a rule has its name as its id")
                    .help("put `id` behind one of its assertions"),
            );
        }
        let inherited = place.inherited.through(&own);
        self.module.rules.push(rule_of(id, role, sentence, span, &own, &inherited));
        let rule = super::number(self.module.rules.len().saturating_sub(1));
        AssertionPlace { rule: Some(rule), inherited, ..place.clone() }
    }

    /// `case NAME {…}`; gives its number, and itself as something that is run.
    pub(super) fn case(
        &mut self,
        place: &AssertionPlace<'a>,
        name: &'a ast::Name,
        modifiers: &'a [Modifier],
        body: &'a [ast::Item],
    ) -> (u32, ir::CasePlan) {
        let id = self.rule_id("case", name);
        let mut plan = ir::CasePlan { name: id.clone(), span: name.span, ..ir::CasePlan::default() };
        for item in body {
            match &item.kind {
                ItemKind::Setting(setting @ Setting::Key { key, .. })
                    if suite_settings::is_of(Owner::Case, &key.text) =>
                {
                    self.setting(Owner::Case, setting, &mut plan.settings);
                }
                ItemKind::Setting(Setting::Key { .. }) => self.report_misplaced(item, BodyKind::Case),
                _ => {}
            }
        }
        let prompt = plan.settings.text("prompt").map(str::to_owned);
        plan.prompt.clone_from(&prompt);
        let inner = self.open_rule(place, id, RuleRole::Case { prompt }, None, name.span, modifiers, body);
        let mut opening = true;
        for item in body {
            match &item.kind {
                ItemKind::Setting(Setting::Key { .. }) => {}
                ItemKind::Pre { body } => self.nested_world(&inner, Severity::Error, body, BodyKind::Pre),
                ItemKind::Post { body } => self.nested_world(&inner, Severity::Warn, body, BodyKind::Post),
                _ => self.body_item(&inner, item, BodyKind::Case, &mut opening),
            }
        }
        let rule = inner.rule.unwrap_or(0);
        plan.tags = self.module.rules.get(rule as usize).map(|rule| rule.tags.clone()).unwrap_or_default();
        (rule, plan)
    }

    /// `pre` and `post` of a case: assertions of the case with another default severity.
    fn nested_world(&mut self, place: &AssertionPlace<'a>, severity: Severity, body: &'a [ast::Item], kind: BodyKind) {
        let own = self.modifiers(&place.scope, settings::opening(body));
        let own = Own { classifiers: self.classifiers(body), ..own };
        let inherited = place.inherited.defaulting(severity).through(&own);
        let inner = AssertionPlace { inherited, ..place.clone() };
        let mut opening = true;
        for item in body {
            self.body_item(&inner, item, kind, &mut opening);
        }
    }

    /// `pre {…}` and `post {…}` of a file or suite: rules of their own.
    pub(super) fn world_body(&mut self, place: &AssertionPlace<'a>, span: Span, body: &'a [ast::Item], kind: BodyKind) {
        let (word, role, severity) = match kind {
            BodyKind::Pre => ("pre", RuleRole::Pre, Severity::Error),
            _ => ("post", RuleRole::Post, Severity::Warn),
        };
        let count = self.module.rules.iter().filter(|rule| rule.role == role).count();
        let id = if count == 0 { word.to_owned() } else { format!("{word}-{}", count.saturating_add(1)) };
        let place = AssertionPlace { inherited: place.inherited.defaulting(severity), ..place.clone() };
        let header = Span { end: span.start.saturating_add(u32::try_from(word.len()).unwrap_or(0)), ..span };
        let inner = self.open_rule(&place, id, role, None, header, &[], body);
        let mut opening = true;
        for item in body {
            self.body_item(&inner, item, kind, &mut opening);
        }
    }

    /// `suite "name" {…}`.
    pub(super) fn suite(
        &mut self,
        place: &AssertionPlace<'a>,
        name: &'a ast::Name,
        modifiers: &'a [Modifier],
        body: &'a [ast::Item],
    ) {
        let own = self.modifiers(&place.scope, modifiers.iter().chain(settings::opening(body)));
        let own = Own { classifiers: self.classifiers(body), ..own };
        let inner = AssertionPlace { inherited: place.inherited.through(&own), ..place.clone() };
        let mut cases = Vec::new();
        let mut plan = ir::SuitePlan { name: name.text.clone(), span: name.span, ..ir::SuitePlan::default() };
        for item in body {
            match &item.kind {
                ItemKind::Case { name, modifiers, body } => {
                    let (rule, case) = self.case(&inner, name, modifiers, body);
                    cases.push(rule);
                    plan.cases.push(case);
                }
                ItemKind::Workspace { mode, settings } => self.workspace(&mut plan, mode, settings),
                ItemKind::Runner { name, settings } => self.runner(&mut plan, name, settings),
                ItemKind::Setting(setting @ Setting::Key { .. }) => {
                    self.setting(Owner::Suite, setting, &mut plan.settings);
                }
                ItemKind::Setting(Setting::Modifier(_)) => {}
                ItemKind::Test(_) => self.report_misplaced(item, BodyKind::Suite),
                _ => self.common_item(&inner, item, BodyKind::Suite),
            }
        }
        self.module.suites.push(ir::Suite { name: name.text.clone(), threshold: own.threshold, cases });
        self.module.plans.push(plan);
    }
}

fn rule_of(
    id: String,
    role: RuleRole,
    sentence: Option<String>,
    span: Span,
    own: &Own<'_>,
    inherited: &Inherited,
) -> ir::Rule {
    ir::Rule {
        id,
        role,
        sentence,
        weight: own.weight.unwrap_or(1.0),
        threshold: own.threshold,
        severity: inherited.severity,
        denied: inherited.denied,
        tags: inherited.tags.clone(),
        metric: own.metric.clone(),
        over_runs: false,
        span,
    }
}
