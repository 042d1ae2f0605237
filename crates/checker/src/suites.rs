//! Rules, cases, suites, `pre` and `post`.

use super::Checker;
use super::blocks::BodyKind;
use super::body::AssertionPlace;
use super::settings::{self, InheritedSettings, OwnModifiers};
use super::suite_settings::{self, SettingOwner};
use crate::ir::{self, RuleRole, Severity};
use averment_base::diagnostic::{Diagnostic, Slug};
use averment_base::source::Span;
use averment_syntax::ast::{self, BodySetting, ItemKind, Modifier};

impl<'a> Checker<'a> {
    pub(super) fn check_rule(&mut self, place: &AssertionPlace<'a>, rule: &'a ast::RuleBlock) {
        let id = self.rule_id("rule", &rule.name);
        let sentence = rule.sentence.as_ref().and_then(|sentence| self.plain_text(sentence));
        let inner = self.open_rule(place, id, RuleRole::Rule, sentence, rule.name.span, &rule.modifiers, &rule.body);
        let mut opening = true;
        for item in &rule.body {
            self.body_item(&inner, item, BodyKind::Rule, &mut opening);
        }
    }

    /// The rules of a pack, or those that `use` chooses of it.
    pub(super) fn rules_of_pack(&mut self, used: &'a ast::UseItem, target: Option<usize>) {
        let Some(target) = target else { return };
        let place = AssertionPlace::of_file(target);
        let is_chosen = |rule: &ast::RuleBlock| {
            used.names.as_ref().is_none_or(|names| names.iter().any(|name| name.text == rule.name.text))
        };
        for rule in self.pack_rules(target).filter(|rule| is_chosen(rule)) {
            self.check_rule(&place, rule);
        }
    }

    #[expect(clippy::too_many_arguments, reason = "each is a part of the header, and they are read in one place")]
    pub(super) fn open_rule(
        &mut self,
        place: &AssertionPlace<'a>,
        id: String,
        role: RuleRole,
        sentence: Option<String>,
        span: Span,
        modifiers: &'a [Modifier],
        body: &'a [ast::SyntaxItem],
    ) -> AssertionPlace<'a> {
        let all: Vec<&'a Modifier> = modifiers.iter().chain(settings::opening_modifiers(body)).collect();
        let own = self.read_modifiers(&place.scope, all.iter().copied());
        self.report_unbound();
        let own = OwnModifiers { classifiers: self.body_classifiers(body), ..own };
        if let (Some(_), Some(span)) = (own.id, settings::place_of(all.iter().copied(), "id")) {
            self.report_diagnostic(
                Diagnostic::new(Slug::Misplaced, span, "a rule has its name as its id")
                    .with_help("put `id` after one of its assertions"),
            );
        }
        let inherited = place.inherited.inherit_through(&own);
        self.module.rules.push(rule_of(id, role, sentence, span, &own, &inherited));
        let rule = super::to_number(self.module.rules.len().saturating_sub(1));
        AssertionPlace { rule: Some(rule), inherited, ..place.clone() }
    }

    /// `case NAME {…}`; gives its number, and itself as something that is run.
    pub(super) fn check_case(
        &mut self,
        place: &AssertionPlace<'a>,
        name: &'a ast::Name,
        modifiers: &'a [Modifier],
        body: &'a [ast::SyntaxItem],
    ) -> (u32, ir::CasePlan) {
        let id = self.rule_id("case", name);
        let mut plan = ir::CasePlan { name: id.clone(), span: name.span, ..ir::CasePlan::default() };
        for item in body {
            match &item.kind {
                ItemKind::Setting(setting @ BodySetting::Key { key, .. })
                    if suite_settings::is_of(SettingOwner::Case, &key.text) =>
                {
                    self.read_setting(SettingOwner::Case, setting, &mut plan.settings);
                }
                ItemKind::Setting(BodySetting::Key { .. }) => self.report_misplaced(item, BodyKind::Case),
                _ => {}
            }
        }
        let prompt = plan.settings.text_value("prompt").map(str::to_owned);
        plan.prompt.clone_from(&prompt);
        let inner = self.open_rule(place, id, RuleRole::Case { prompt }, None, name.span, modifiers, body);
        let mut opening = true;
        for item in body {
            match &item.kind {
                ItemKind::Setting(BodySetting::Key { .. }) => {}
                ItemKind::Pre { body } => self.nested_world(&inner, Severity::Error, body, BodyKind::Pre),
                ItemKind::Post { body } => self.nested_world(&inner, Severity::Warn, body, BodyKind::Post),
                _ => self.body_item(&inner, item, BodyKind::Case, &mut opening),
            }
        }
        let rule = inner.rule.unwrap_or(0);
        plan.tags = self.module.rules.get(rule as usize).map(|rule| rule.tags.clone()).unwrap_or_default();
        (rule, plan)
    }

    /// `pre` and `post` of a case: its assertions with another default severity.
    fn nested_world(
        &mut self,
        place: &AssertionPlace<'a>,
        severity: Severity,
        body: &'a [ast::SyntaxItem],
        kind: BodyKind,
    ) {
        let own = self.read_modifiers(&place.scope, settings::opening_modifiers(body));
        self.report_unbound();
        let own = OwnModifiers { classifiers: self.body_classifiers(body), ..own };
        let inherited = place.inherited.with_severity(severity).inherit_through(&own);
        let inner = AssertionPlace { inherited, ..place.clone() };
        let mut opening = true;
        for item in body {
            self.body_item(&inner, item, kind, &mut opening);
        }
    }

    /// `pre {…}` and `post {…}` of a file or suite: separate rules.
    pub(super) fn world_body(
        &mut self,
        place: &AssertionPlace<'a>,
        span: Span,
        body: &'a [ast::SyntaxItem],
        kind: BodyKind,
    ) {
        let (word, role, severity) = match kind {
            BodyKind::Pre => ("pre", RuleRole::Pre, Severity::Error),
            _ => ("post", RuleRole::Post, Severity::Warn),
        };
        let count = self.module.rules.iter().filter(|rule| rule.role == role).count();
        let id = if count == 0 { word.to_owned() } else { format!("{word}-{}", count.saturating_add(1)) };
        let place = AssertionPlace { inherited: place.inherited.with_severity(severity), ..place.clone() };
        let header = Span { end: span.start.saturating_add(u32::try_from(word.len()).unwrap_or(0)), ..span };
        let inner = self.open_rule(&place, id, role, None, header, &[], body);
        let mut opening = true;
        for item in body {
            self.body_item(&inner, item, kind, &mut opening);
        }
    }

    pub(super) fn check_suite(
        &mut self,
        place: &AssertionPlace<'a>,
        name: &'a ast::Name,
        modifiers: &'a [Modifier],
        body: &'a [ast::SyntaxItem],
    ) {
        let own = self.read_modifiers(&place.scope, modifiers.iter().chain(settings::opening_modifiers(body)));
        self.report_unbound();
        let own = OwnModifiers { classifiers: self.body_classifiers(body), ..own };
        let inner = AssertionPlace { inherited: place.inherited.inherit_through(&own), ..place.clone() };
        let mut cases = Vec::new();
        let mut plan = ir::SuitePlan { name: name.text.clone(), span: name.span, ..ir::SuitePlan::default() };
        for item in body {
            match &item.kind {
                ItemKind::Case { name, modifiers, body } => {
                    let (rule, case) = self.check_case(&inner, name, modifiers, body);
                    cases.push(rule);
                    plan.cases.push(case);
                }
                ItemKind::Workspace { mode, settings } => self.read_workspace(&mut plan, mode, settings),
                ItemKind::Runner { name, settings } => self.read_runner(&mut plan, name, settings),
                ItemKind::Setting(setting @ BodySetting::Key { .. }) => {
                    self.read_setting(SettingOwner::Suite, setting, &mut plan.settings);
                }
                ItemKind::Setting(BodySetting::Modifier(_)) => {}
                ItemKind::Test(_) => self.report_misplaced(item, BodyKind::Suite),
                _ => self.common_item(&inner, item, BodyKind::Suite),
            }
        }
        self.module.suites.push(ir::ProgramSuite { name: name.text.clone(), threshold: own.threshold, cases });
        self.module.plans.push(plan);
    }
}

fn rule_of(
    id: String,
    role: RuleRole,
    sentence: Option<String>,
    span: Span,
    own: &OwnModifiers<'_>,
    inherited: &InheritedSettings,
) -> ir::ProgramRule {
    ir::ProgramRule {
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
