//! Modifiers and settings: read, checked, and handed down from rules and blocks to what stands in them.

use super::Checker;
use super::scope::NameScope;
use crate::ir::{AssertionSettings, DenySettings, Severity, TypedExpr};
use averment_base::diagnostic::{Diagnostic, Slug, suggest};
use averment_base::source::Span;
use averment_syntax::ast::{self, BodySetting, ItemKind, Modifier, ModifierKind};
use averment_syntax::words::GATED;

const SEVERITIES: [(&str, Severity); 3] =
    [("error", Severity::Error), ("warn", Severity::Warn), ("info", Severity::Info)];

/// Modifiers of a single statement or body.
#[derive(Debug, Clone, Default)]
pub struct OwnModifiers<'a> {
    /// `weight`.
    pub weight: Option<f64>,
    /// `severity`.
    pub severity: Option<Severity>,
    /// `must`.
    pub must: bool,
    /// `threshold`.
    pub threshold: Option<f64>,
    /// `message`.
    pub message: Option<TypedExpr>,
    /// `as`.
    pub metric: Option<String>,
    /// `class`.
    pub class: Option<(String, Option<String>)>,
    /// The lines `classify` of a body, by number.
    pub classifiers: Vec<u32>,
    /// `tags`.
    pub tags: Vec<String>,
    /// `when`.
    pub when: Vec<TypedExpr>,
    /// `id`.
    pub id: Option<&'a ast::Name>,
    /// `expect fail`.
    pub expect_fail: Option<Option<String>>,
    /// `deny` and `allow`.
    pub denied: DenySettings,
    /// True if it is counted over all runs and fails none.
    pub over_runs: bool,
}

/// Settings that an assertion inherits from its rule and blocks.
#[derive(Debug, Clone)]
pub struct InheritedSettings {
    /// The severity unless it has its own.
    pub severity: Severity,
    /// The weight unless it has its own; only a block hands one down.
    pub weight: f64,
    must: bool,
    message: Option<TypedExpr>,
    class: Option<(String, Option<String>)>,
    classifiers: Vec<u32>,
    /// All tags.
    pub tags: Vec<String>,
    /// All conditions.
    pub when: Vec<TypedExpr>,
    expect_fail: Option<Option<String>>,
    /// Modifiers `deny` and `allow`.
    pub denied: DenySettings,
}

impl InheritedSettings {
    /// At the top of a file, or in a body of a default severity.
    pub fn new(severity: Severity) -> Self {
        Self {
            severity,
            weight: 1.0,
            must: false,
            message: None,
            class: None,
            classifiers: Vec::new(),
            tags: Vec::new(),
            when: Vec::new(),
            expect_fail: None,
            denied: DenySettings::default(),
        }
    }

    /// Settings passed down through a body that has its own; its weight counts for the whole body.
    pub fn inherit_through(&self, own: &OwnModifiers<'_>) -> Self {
        let mut tags = self.tags.clone();
        tags.extend(own.tags.iter().filter(|tag| !self.tags.contains(tag)).cloned());
        Self {
            severity: own.severity.unwrap_or(self.severity),
            weight: 1.0,
            must: self.must || own.must,
            message: own.message.clone().or_else(|| self.message.clone()),
            class: own.class.clone().or_else(|| self.class.clone()),
            classifiers: own.classifiers.iter().chain(&self.classifiers).copied().collect(),
            tags,
            when: self.when.iter().chain(&own.when).cloned().collect(),
            expect_fail: own.expect_fail.clone().or_else(|| self.expect_fail.clone()),
            denied: own.denied.or_outer(self.denied),
        }
    }

    /// Replaces the default severity.
    pub fn with_severity(&self, severity: Severity) -> Self {
        Self { severity, ..self.clone() }
    }

    /// The settings of an assertion.
    pub fn resolve_settings(&self, own: OwnModifiers<'_>) -> AssertionSettings<TypedExpr> {
        let weight = own.weight.unwrap_or(self.weight);
        let (threshold, metric, over_runs) = (own.threshold, own.metric.clone(), own.over_runs);
        let all = self.inherit_through(&own);
        AssertionSettings {
            weight,
            severity: all.severity,
            must: all.must,
            threshold,
            message: all.message,
            metric,
            class: all.class,
            classifiers: all.classifiers,
            tags: all.tags,
            when: all.when,
            expect_fail: all.expect_fail,
            over_runs,
            denied: all.denied,
        }
    }
}

impl<'a> Checker<'a> {
    pub(super) fn read_modifiers(
        &mut self,
        scope: &NameScope<'a>,
        modifiers: impl Iterator<Item = &'a Modifier>,
    ) -> OwnModifiers<'a> {
        let mut own = OwnModifiers::default();
        let mut seen: Vec<&'static str> = Vec::new();
        for modifier in modifiers {
            let word = word_of(&modifier.kind);
            if seen.contains(&word) && !matches!(word, "tags" | "when" | "deny" | "allow") {
                let message = format!("`{word}` occurs twice");
                self.report_diagnostic(
                    Diagnostic::new(Slug::Duplicate, modifier.span, message).with_help("keep one of them"),
                );
                continue;
            }
            seen.push(word);
            self.read_modifier(scope, modifier, &mut own);
        }
        own
    }

    fn read_modifier(&mut self, scope: &NameScope<'a>, modifier: &'a Modifier, own: &mut OwnModifiers<'a>) {
        match &modifier.kind {
            ModifierKind::Weight(number) => own.weight = self.read_weight(number),
            ModifierKind::Severity(name) => own.severity = self.read_severity(name),
            ModifierKind::Must => own.must = true,
            ModifierKind::Threshold(number) => own.threshold = self.read_threshold(number),
            ModifierKind::Message(text) => {
                let plain = NameScope { step: self.message_step.clone(), response: false, ..scope.clone() };
                self.says = true;
                own.message = Some(self.text_literal(&plain, text).expr);
                self.says = false;
            }
            ModifierKind::As(name) => own.metric = Some(name.text.clone()),
            ModifierKind::Class(id, label) => {
                let id = self.plain_text(id);
                let label = label.as_ref().and_then(|label| self.plain_text(label));
                own.class = id.map(|id| (id, label));
            }
            ModifierKind::Tags(names) => {
                for name in names {
                    if !own.tags.contains(&name.text) {
                        own.tags.push(name.text.clone());
                    }
                }
            }
            ModifierKind::When(condition) => own.when.push(self.condition_expr(scope, condition)),
            ModifierKind::Id(name) => own.id = Some(name),
            ModifierKind::ExpectFail(why) => {
                own.expect_fail = Some(why.as_ref().and_then(|why| self.plain_text(why)));
            }
            ModifierKind::Deny(names) => names.iter().for_each(|name| self.read_gated(name, true, &mut own.denied)),
            ModifierKind::Allow(names) => names.iter().for_each(|name| self.read_gated(name, false, &mut own.denied)),
        }
    }

    pub(super) fn plain_text(&mut self, text: &'a ast::TextLiteral) -> Option<String> {
        self.literals.push(text.span);
        let value = self.text_literal(&NameScope::of_file(0), text).expr;
        match self.constant_value(&value) {
            Some(crate::ir::Constant::Text(text)) => Some(text),
            _ => {
                self.report_diagnostic(
                    Diagnostic::new(Slug::TypeMismatch, text.span, "this text is known before any run")
                        .with_help("write it without `${…}`"),
                );
                None
            }
        }
    }

    fn read_weight(&mut self, number: &ast::NumberLiteral) -> Option<f64> {
        match value_of(number) {
            Some(weight) if weight >= 0.0 => Some(weight),
            _ => {
                self.report_diagnostic(
                    Diagnostic::new(Slug::Impossible, number.span, "a weight is not negative")
                        .with_help("write `weight 0` to record an assertion without scoring it"),
                );
                None
            }
        }
    }

    fn read_threshold(&mut self, number: &ast::NumberLiteral) -> Option<f64> {
        match value_of(number) {
            Some(threshold) if (0.0..=1.0).contains(&threshold) => Some(threshold),
            found => {
                let help = match found.filter(|value| (10.0..=100.0).contains(value)) {
                    Some(percent) => format!("write `{}` or `{percent}%`", percent / 100.0),
                    None => "write `0.8` or `80%`".to_owned(),
                };
                self.report_diagnostic(
                    Diagnostic::new(Slug::Impossible, number.span, "a threshold lies between 0 and 1").with_help(help),
                );
                None
            }
        }
    }

    fn read_gated(&mut self, name: &ast::Name, denies: bool, denied: &mut DenySettings) {
        let place = match name.text.as_str() {
            "vacuous" => &mut denied.vacuous,
            "undecided" => &mut denied.undecided,
            "unjudged" => &mut denied.unjudged,
            "unexercised" => &mut denied.unexercised,
            _ => return self.report_not_gated(name),
        };
        if let Some(before) = place.replace(denies) {
            let said = if before { "deny" } else { "allow" };
            let message = format!("`{said} {}` is already set here", name.text);
            self.report_diagnostic(Diagnostic::new(Slug::Duplicate, name.span, message).with_help("keep one of them"));
        }
    }

    fn report_not_gated(&mut self, name: &ast::Name) {
        let meant = match name.text.as_str() {
            "skipped" | "empty" => Some("vacuous"),
            "unused" | "idle" => Some("unexercised"),
            "unknown" | "missing" | "absent" | "unrecorded" => Some("undecided"),
            word => suggest::suggest_name(word, GATED.iter().copied()),
        };
        let message = format!("`{}` is nothing to deny or to allow", name.text);
        let all = format!("`deny` and `allow` take {}", GATED.join(", "));
        let help = meant.map_or(all.clone(), |meant| format!("did you mean `{meant}`? {all}"));
        self.report_diagnostic(Diagnostic::new(Slug::UnknownModifier, name.span, message).with_help(help));
    }

    fn read_severity(&mut self, name: &ast::Name) -> Option<Severity> {
        if let Some((_, severity)) = SEVERITIES.iter().find(|(word, _)| *word == name.text) {
            return Some(*severity);
        }
        let words = SEVERITIES.map(|(word, _)| word);
        let all = format!("The severities are {}", words.join(", "));
        let near = suggest::suggest_name(&name.text, words);
        let mut diagnostic =
            Diagnostic::new(Slug::UnknownSeverity, name.span, format!("unknown severity `{}`", name.text))
                .with_help(near.map_or(all.clone(), |near| format!("did you mean `{near}`? {all}")));
        if let Some(near) = near {
            diagnostic = diagnostic.with_fix(format!("replace with `{near}`"), name.span, near);
        }
        self.report_diagnostic(diagnostic);
        None
    }

    pub(super) fn whole_number(&mut self, number: &ast::NumberLiteral, what: &str) -> Option<u64> {
        let value = number.value.parse::<u64>().ok().filter(|_| number.unit == ast::NumberUnit::None);
        if value.is_none() {
            self.report_diagnostic(
                Diagnostic::new(
                    Slug::Impossible,
                    number.span,
                    format!("{what} is a whole number, not `{}`", number.text),
                )
                .with_help("write `0`, `1`, `2`, …"),
            );
        }
        value
    }
}

/// The number in its base unit.
pub fn value_of(number: &ast::NumberLiteral) -> Option<f64> {
    number.value.parse::<f64>().ok().filter(|value| value.is_finite())
}

/// The word that a modifier begins with.
pub fn word_of(kind: &ModifierKind) -> &'static str {
    match kind {
        ModifierKind::Weight(_) => "weight",
        ModifierKind::Severity(_) => "severity",
        ModifierKind::Must => "must",
        ModifierKind::Threshold(_) => "threshold",
        ModifierKind::Message(_) => "message",
        ModifierKind::As(_) => "as",
        ModifierKind::Class(..) => "class",
        ModifierKind::Tags(_) => "tags",
        ModifierKind::When(_) => "when",
        ModifierKind::Id(_) => "id",
        ModifierKind::ExpectFail(_) => "expect fail",
        ModifierKind::Deny(_) => "deny",
        ModifierKind::Allow(_) => "allow",
    }
}

/// The modifiers that open a body.
pub fn opening_modifiers(body: &[ast::SyntaxItem]) -> impl Iterator<Item = &Modifier> {
    body.iter().take_while(|item| !matches!(item.kind, ItemKind::Assertion(_))).filter_map(|item| match &item.kind {
        ItemKind::Setting(BodySetting::Modifier(modifier)) => Some(modifier),
        _ => None,
    })
}

/// The place of the modifier with a word.
pub fn place_of<'m>(mut modifiers: impl Iterator<Item = &'m Modifier>, word: &str) -> Option<Span> {
    modifiers.find(|modifier| word_of(&modifier.kind) == word).map(|modifier| modifier.span)
}
