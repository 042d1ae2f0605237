//! Modifiers and settings: read, checked, and handed down from rules and blocks to what stands in them.

use super::Checker;
use super::scope::Scope;
use crate::ir::{Denied, Expr, Settings, Severity};
use averment_base::diagnostic::{Diagnostic, Slug, suggest};
use averment_base::source::Span;
use averment_syntax::ast::{self, ItemKind, Modifier, ModifierKind, Setting};
use averment_syntax::words::GATED;

/// The severities, in the order of the reference.
const SEVERITIES: [(&str, Severity); 3] =
    [("error", Severity::Error), ("warn", Severity::Warn), ("info", Severity::Info)];

/// What the modifiers of one statement or body say.
#[derive(Debug, Clone, Default)]
pub struct Own<'a> {
    /// `weight`.
    pub weight: Option<f64>,
    /// `severity`.
    pub severity: Option<Severity>,
    /// `must`.
    pub must: bool,
    /// `threshold`.
    pub threshold: Option<f64>,
    /// `message`.
    pub message: Option<Expr>,
    /// `as`.
    pub metric: Option<String>,
    /// `class`.
    pub class: Option<(String, Option<String>)>,
    /// The lines `classify` of a body, by number.
    pub classifiers: Vec<u32>,
    /// `tags`.
    pub tags: Vec<String>,
    /// `when`.
    pub when: Vec<Expr>,
    /// `id`.
    pub id: Option<&'a ast::Name>,
    /// `expect fail`.
    pub expect_fail: Option<Option<String>>,
    /// `deny` and `allow`.
    pub denied: Denied,
    /// Whether it is counted over all runs, and fails none.
    pub over_runs: bool,
}

/// What an assertion has from the rule and the blocks around it.
#[derive(Debug, Clone)]
pub struct Inherited {
    /// The severity unless it has its own.
    pub severity: Severity,
    /// The weight unless it has its own; only a block hands one down.
    pub weight: f64,
    must: bool,
    message: Option<Expr>,
    class: Option<(String, Option<String>)>,
    classifiers: Vec<u32>,
    /// All tags.
    pub tags: Vec<String>,
    /// All conditions.
    pub when: Vec<Expr>,
    expect_fail: Option<Option<String>>,
    /// What is denied and allowed.
    pub denied: Denied,
}

impl Inherited {
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
            denied: Denied::default(),
        }
    }

    /// What is handed down through a body with settings of its own. Its weight counts for the body as a whole.
    pub fn through(&self, own: &Own<'_>) -> Self {
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
            denied: own.denied.or(self.denied),
        }
    }

    /// The same with another default severity.
    pub fn defaulting(&self, severity: Severity) -> Self {
        Self { severity, ..self.clone() }
    }

    /// The settings of an assertion.
    pub fn settings(&self, own: Own<'_>) -> Settings<Expr> {
        let weight = own.weight.unwrap_or(self.weight);
        let (threshold, metric, over_runs) = (own.threshold, own.metric.clone(), own.over_runs);
        let all = self.through(&own);
        Settings {
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
    /// Reads modifiers; `scope` is what a `when` among them sees.
    pub(super) fn modifiers(&mut self, scope: &Scope<'a>, modifiers: impl Iterator<Item = &'a Modifier>) -> Own<'a> {
        let mut own = Own::default();
        let mut seen: Vec<&'static str> = Vec::new();
        for modifier in modifiers {
            let word = word_of(&modifier.kind);
            if seen.contains(&word) && !matches!(word, "tags" | "when" | "deny" | "allow") {
                let message = format!("`{word}` stands twice");
                self.report(Diagnostic::new(Slug::Duplicate, modifier.span, message).help("keep one of them"));
                continue;
            }
            seen.push(word);
            self.modifier(scope, modifier, &mut own);
        }
        own
    }

    fn modifier(&mut self, scope: &Scope<'a>, modifier: &'a Modifier, own: &mut Own<'a>) {
        match &modifier.kind {
            ModifierKind::Weight(number) => own.weight = self.weight(number),
            ModifierKind::Severity(name) => own.severity = self.severity(name),
            ModifierKind::Must => own.must = true,
            ModifierKind::Threshold(number) => own.threshold = self.threshold(number),
            ModifierKind::Message(text) => {
                let plain = Scope { step: self.message_step.clone(), response: false, ..scope.clone() };
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
            ModifierKind::When(condition) => own.when.push(self.condition(scope, condition)),
            ModifierKind::Id(name) => own.id = Some(name),
            ModifierKind::ExpectFail(why) => {
                own.expect_fail = Some(why.as_ref().and_then(|why| self.plain_text(why)));
            }
            ModifierKind::Deny(names) => names.iter().for_each(|name| self.gated(name, true, &mut own.denied)),
            ModifierKind::Allow(names) => names.iter().for_each(|name| self.gated(name, false, &mut own.denied)),
        }
    }

    /// A text that is known before any run.
    pub(super) fn plain_text(&mut self, text: &'a ast::Text) -> Option<String> {
        self.literals.push(text.span);
        let value = self.text_literal(&Scope::of_file(0), text).expr;
        match self.constant(&value) {
            Some(crate::ir::Constant::Text(text)) => Some(text),
            _ => {
                self.report(
                    Diagnostic::new(Slug::TypeMismatch, text.span, "this text is known before any run")
                        .help("write it without `${…}`"),
                );
                None
            }
        }
    }

    fn weight(&mut self, number: &ast::Number) -> Option<f64> {
        match value_of(number) {
            Some(weight) if weight >= 0.0 => Some(weight),
            _ => {
                self.report(
                    Diagnostic::new(Slug::Impossible, number.span, "a weight is not negative")
                        .help("write `weight 0` to record an assertion without scoring it"),
                );
                None
            }
        }
    }

    fn threshold(&mut self, number: &ast::Number) -> Option<f64> {
        match value_of(number) {
            Some(threshold) if (0.0..=1.0).contains(&threshold) => Some(threshold),
            found => {
                let help = match found.filter(|value| (10.0..=100.0).contains(value)) {
                    Some(percent) => format!("write `{}` or `{percent}%`", percent / 100.0),
                    None => "write `0.8` or `80%`".to_owned(),
                };
                self.report(
                    Diagnostic::new(Slug::Impossible, number.span, "a threshold lies between 0 and 1").help(help),
                );
                None
            }
        }
    }

    /// One word behind `deny` or `allow`.
    fn gated(&mut self, name: &ast::Name, denies: bool, denied: &mut Denied) {
        let place = match name.text.as_str() {
            "vacuous" => &mut denied.vacuous,
            "undecided" => &mut denied.undecided,
            "unjudged" => &mut denied.unjudged,
            "unexercised" => &mut denied.unexercised,
            _ => return self.report_not_gated(name),
        };
        if let Some(before) = place.replace(denies) {
            let said = if before { "deny" } else { "allow" };
            let message = format!("`{said} {}` stands here already", name.text);
            self.report(Diagnostic::new(Slug::Duplicate, name.span, message).help("keep one of them"));
        }
    }

    fn report_not_gated(&mut self, name: &ast::Name) {
        let meant = match name.text.as_str() {
            "skipped" | "empty" => Some("vacuous"),
            "unused" | "idle" => Some("unexercised"),
            "unknown" | "missing" | "absent" | "unrecorded" => Some("undecided"),
            word => suggest::nearest(word, GATED.iter().copied()),
        };
        let message = format!("`{}` is nothing to deny or to allow", name.text);
        let all = format!("`deny` and `allow` speak of {}", GATED.join(", "));
        let help = meant.map_or(all.clone(), |meant| format!("did you mean `{meant}`? {all}"));
        self.report(Diagnostic::new(Slug::UnknownModifier, name.span, message).help(help));
    }

    fn severity(&mut self, name: &ast::Name) -> Option<Severity> {
        if let Some((_, severity)) = SEVERITIES.iter().find(|(word, _)| *word == name.text) {
            return Some(*severity);
        }
        let words = SEVERITIES.map(|(word, _)| word);
        let all = format!("The severities are {}", words.join(", "));
        let near = suggest::nearest(&name.text, words);
        let mut diagnostic =
            Diagnostic::new(Slug::UnknownSeverity, name.span, format!("unknown severity `{}`", name.text))
                .help(near.map_or(all.clone(), |near| format!("did you mean `{near}`? {all}")));
        if let Some(near) = near {
            diagnostic = diagnostic.fix(format!("replace with `{near}`"), name.span, near);
        }
        self.report(diagnostic);
        None
    }

    /// A whole number that is not negative.
    pub(super) fn whole(&mut self, number: &ast::Number, what: &str) -> Option<u64> {
        let value = number.value.parse::<u64>().ok().filter(|_| number.unit == ast::Unit::None);
        if value.is_none() {
            self.report(
                Diagnostic::new(
                    Slug::Impossible,
                    number.span,
                    format!("{what} is a whole number, not `{}`", number.text),
                )
                .help("write `0`, `1`, `2`, …"),
            );
        }
        value
    }
}

/// The number in its base unit.
pub fn value_of(number: &ast::Number) -> Option<f64> {
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
pub fn opening(body: &[ast::Item]) -> impl Iterator<Item = &Modifier> {
    body.iter().take_while(|item| !matches!(item.kind, ItemKind::Assertion(_))).filter_map(|item| match &item.kind {
        ItemKind::Setting(Setting::Modifier(modifier)) => Some(modifier),
        _ => None,
    })
}

/// The place of the modifier with a word.
pub fn place_of<'m>(mut modifiers: impl Iterator<Item = &'m Modifier>, word: &str) -> Option<Span> {
    modifiers.find(|modifier| word_of(&modifier.kind) == word).map(|modifier| modifier.span)
}
