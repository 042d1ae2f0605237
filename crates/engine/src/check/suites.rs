//! Rules, cases, suites, `pre` and `post`.

use super::Checker;
use super::body::{AssertionPlace, BodyKind};
use super::settings::{self, Inherited, Own};
use crate::ir::{self, RuleRole, Severity};
use averment_base::diagnostic::{Diagnostic, Slug};
use averment_base::source::Span;
use averment_syntax::ast::{self, ExprKind, ItemKind, Modifier, Setting};

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

    /// `case NAME {…}`; gives its number.
    pub(super) fn case(
        &mut self,
        place: &AssertionPlace<'a>,
        name: &'a ast::Name,
        modifiers: &'a [Modifier],
        body: &'a [ast::Item],
    ) -> u32 {
        let id = self.rule_id("case", name);
        let prompt = self.case_prompt(body);
        let inner = self.open_rule(place, id, RuleRole::Case { prompt }, None, name.span, modifiers, body);
        let mut opening = true;
        let mut seen: Vec<&str> = Vec::new();
        for item in body {
            match &item.kind {
                ItemKind::Setting(Setting::Key { key, .. }) if seen.contains(&key.text.as_str()) => {
                    self.report_key_repeated(key);
                }
                ItemKind::Setting(Setting::Key { key, value, timeout }) => {
                    seen.push(&key.text);
                    self.case_key(item, key, value.as_ref(), timeout.as_ref());
                }
                ItemKind::Pre { body } => self.nested_world(&inner, Severity::Error, body, BodyKind::Pre),
                ItemKind::Post { body } => self.nested_world(&inner, Severity::Warn, body, BodyKind::Post),
                _ => self.body_item(&inner, item, BodyKind::Case, &mut opening),
            }
        }
        inner.rule.unwrap_or(0)
    }

    fn case_prompt(&mut self, body: &'a [ast::Item]) -> Option<String> {
        body.iter().find_map(|item| match &item.kind {
            ItemKind::Setting(Setting::Key { key, value: Some(value), .. }) if key.text == "prompt" => {
                match &value.kind {
                    ExprKind::Text(text) => self.plain_text(text),
                    _ => None,
                }
            }
            _ => None,
        })
    }

    fn case_key(
        &mut self,
        item: &ast::Item,
        key: &ast::Name,
        value: Option<&ast::Expr>,
        timeout: Option<&ast::Number>,
    ) {
        match key.text.as_str() {
            "prompt" => {}
            "timeout" => self.check_timeout(value, timeout),
            _ => self.report_misplaced(item, BodyKind::Case),
        }
    }

    /// A timeout is a duration.
    fn check_timeout(&mut self, value: Option<&ast::Expr>, timeout: Option<&ast::Number>) {
        let number = timeout.or_else(|| match value.map(|value| &value.kind) {
            Some(ExprKind::Number(number)) => Some(number),
            _ => None,
        });
        let Some(number) = number else { return };
        if number.unit != ast::Unit::Duration {
            self.report(
                Diagnostic::new(Slug::TypeMismatch, number.span, "a timeout is a duration")
                    .help(format!("write `timeout {}s`", number.value)),
            );
        }
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
        for item in body {
            match &item.kind {
                ItemKind::Case { name, modifiers, body } => cases.push(self.case(&inner, name, modifiers, body)),
                ItemKind::Workspace { settings, .. } => {
                    self.keys("workspace", settings, &["template", "bootstrap", "timeout"])
                }
                ItemKind::Runner { settings, .. } => {
                    self.keys("runner", settings, &["agent", "model", "command", "env", "timeout"]);
                }
                ItemKind::Setting(Setting::Modifier(_)) => {}
                ItemKind::Test(_) => self.report_misplaced(item, BodyKind::Suite),
                _ => self.common_item(&inner, item, BodyKind::Suite),
            }
        }
        self.module.suites.push(ir::Suite { name: name.text.clone(), threshold: own.threshold, cases });
    }

    /// The settings of a workspace or runner: known keys, each once.
    fn keys(&mut self, what: &str, settings: &'a [Setting], known: &[&'static str]) {
        let mut seen: Vec<&str> = Vec::new();
        for setting in settings {
            match setting {
                Setting::Modifier(modifier) => {
                    let word = settings::word_of(&modifier.kind);
                    let message = format!("a {what} has no setting `{word}`");
                    self.report(
                        Diagnostic::new(Slug::Misplaced, modifier.span, message)
                            .help(format!("it has {}", known.join(", "))),
                    );
                }
                // The grammar has none here.
                Setting::Classify { .. } => {}
                Setting::Key { key, value, timeout } => {
                    self.check_key(what, key, known, &seen);
                    seen.push(&key.text);
                    let own = if key.text == "timeout" { value.as_ref() } else { None };
                    self.check_timeout(own, timeout.as_ref());
                }
            }
        }
    }

    fn check_key(&mut self, what: &str, key: &ast::Name, known: &[&'static str], seen: &[&str]) {
        if !known.contains(&key.text.as_str()) {
            let mut diagnostic =
                Diagnostic::new(Slug::Misplaced, key.span, format!("a {what} has no setting `{}`", key.text));
            diagnostic = match averment_base::diagnostic::suggest::nearest(&key.text, known.iter().copied()) {
                Some(near) => diagnostic.help(format!("did you mean `{near}`?")).fix(
                    format!("replace with `{near}`"),
                    key.span,
                    near,
                ),
                None => diagnostic.help(format!("it has {}", known.join(", "))),
            };
            self.report(diagnostic);
        } else if seen.contains(&key.text.as_str()) {
            self.report_key_repeated(key);
        }
    }

    fn report_key_repeated(&mut self, key: &ast::Name) {
        let message = format!("`{}` stands twice", key.text);
        self.report(Diagnostic::new(Slug::Duplicate, key.span, message).help("keep one of them"));
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
