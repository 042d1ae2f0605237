//! From assertions to formulas: conditions of the run, and how many steps of a pattern there are.

use super::build::Builder;
use super::formula::{Bounds, Formula, Literal, Place, Subject};
use super::key;
use super::numbers::{End, Numbers};
use super::patterns::{apart, is_free, within};
use super::solve::Facts;
use super::values::Values;
use crate::lint::meaning::{Says, meaning};
use averment_engine::ir::{Check, Expr, GroupKind, Member, Pattern, Temporal};
use std::rc::Rc;

/// Patterns that are counted: each of them is compared with every other.
const COUNTED: usize = 64;

/// Formulas of the assertions of one file, with what is known of the patterns in them.
pub struct Assertions<'m> {
    /// Where the formulas are built.
    pub builder: Builder<'m>,
    counted: Vec<(Subject, &'m Pattern)>,
    only: Vec<(Literal, &'m [Pattern])>,
}

impl<'m> Assertions<'m> {
    /// No assertion yet.
    #[must_use]
    pub fn new(module: &'m averment_engine::ir::Module) -> Self {
        Self { builder: Builder::new(module), counted: Vec::new(), only: Vec::new() }
    }

    /// The formula of an assertion; `text` is its text.
    pub fn bounds(&mut self, check: &'m Check<Pattern, Expr>, text: &str) -> Bounds {
        match check {
            Check::Expression(expr) => self.builder.condition(expr),
            Check::Temporal(temporal) => self.temporal(temporal, text),
            Check::Group { kind, members } if members.iter().all(|member| member.when.is_empty()) => {
                self.group(*kind, members, text)
            }
            // What is vacuous stays vacuous behind `not`, and a window has a run of its own.
            Check::Not(_) | Check::Group { .. } | Check::Scoped { .. } | Check::World(_) | Check::OverRuns(_) => {
                self.opaque(text)
            }
        }
    }

    fn opaque(&mut self, text: &str) -> Bounds {
        Bounds::exact(self.builder.unknown(format!("!{text}"), true))
    }

    fn group(&mut self, kind: GroupKind, members: &'m [Member<Pattern, Expr>], text: &str) -> Bounds {
        if !matches!(kind, GroupKind::All | GroupKind::Any) {
            return self.opaque(text);
        }
        let bounds: Vec<Bounds> = members
            .iter()
            .enumerate()
            .map(|(index, member)| self.bounds(&member.check, &format!("{text}\u{0}{index}")))
            .collect();
        let parts = bounds.into_iter().map(|one| (one.possible, one.certain));
        let (possible, certain) = parts.unzip::<_, _, Vec<_>, Vec<_>>();
        match kind {
            GroupKind::All => Bounds { possible: Formula::And(possible), certain: Formula::And(certain) },
            // A vacuous member holds and does not count: then the others decide.
            _ => Bounds { possible: Formula::Or(possible), certain: Formula::Known(false) },
        }
    }

    /// A statement that is not looked into, of which something is known where it holds.
    fn implying(&mut self, text: &str, implied: Vec<Formula>) -> Bounds {
        let Bounds { possible, certain } = self.opaque(text);
        let all = std::iter::once(possible).chain(implied).collect();
        Bounds { possible: Formula::And(all), certain }
    }

    fn temporal(&mut self, temporal: &'m Temporal<Pattern, Expr>, text: &str) -> Bounds {
        match meaning(temporal).says {
            Says::Often(steps, least, most) => self.exact(text, steps, |counts| all(counts, least, most)),
            Says::AnyOf(steps) => self
                .exact(text, steps, |counts| Formula::Or(counts.iter().map(|count| times(*count, 1, None)).collect())),
            Says::Number(step, test) => match self.count(step) {
                Some(count) => {
                    let before = self.builder.counted.replace(count);
                    let bounds = self.builder.condition(test);
                    self.builder.counted = before;
                    bounds
                }
                None => self.opaque(text),
            },
            Says::Implies(first, second) => {
                self.pair(text, first, second, |a, b| Formula::Or(vec![times(a, 0, Some(0)), times(b, 1, None)]))
            }
            Says::Excludes(left, right) => {
                self.pair(text, left, right, |a, b| Formula::Or(vec![times(a, 0, Some(0)), times(b, 0, Some(0))]))
            }
            Says::Has(steps) => self.with_steps(text, steps),
            Says::Needs(pairs) => {
                let implied = pairs.into_iter().filter_map(|(trigger, needed)| self.needs(trigger, needed)).collect();
                self.implying(text, implied)
            }
            Says::Only(steps) => {
                let bounds = self.opaque(text);
                if let Formula::Literal(holds) = &bounds.possible {
                    self.only.push((holds.clone(), steps));
                }
                bounds
            }
            Says::Unread => self.opaque(text),
        }
    }

    /// A statement that says only how often steps occur.
    fn exact(&mut self, text: &str, steps: &'m [Pattern], formula: impl FnOnce(&[Subject]) -> Formula) -> Bounds {
        let counts: Option<Vec<Subject>> = steps.iter().map(|step| self.count(step)).collect();
        match counts {
            Some(counts) => Bounds::exact(formula(&counts)),
            None => self.opaque(text),
        }
    }

    fn pair(
        &mut self,
        text: &str,
        left: &'m Pattern,
        right: &'m Pattern,
        formula: impl FnOnce(Subject, Subject) -> Formula,
    ) -> Bounds {
        match (self.count(left), self.count(right)) {
            (Some(left), Some(right)) => Bounds::exact(formula(left, right)),
            _ => self.opaque(text),
        }
    }

    /// A statement that holds only where each of the steps occurs.
    fn with_steps(&mut self, text: &str, steps: &'m [Pattern]) -> Bounds {
        let implied = steps.iter().filter_map(|step| Some(times(self.count(step)?, 1, None))).collect();
        self.implying(text, implied)
    }

    /// Where there is a `trigger` there is a `needed`.
    fn needs(&mut self, trigger: &'m Pattern, needed: &'m Pattern) -> Option<Formula> {
        let (trigger, needed) = (self.count(trigger)?, self.count(needed)?);
        Some(Formula::Or(vec![times(trigger, 0, Some(0)), times(needed, 1, None)]))
    }

    /// The number of steps of a pattern; none for one with bindings: it has a number for each value.
    fn count(&mut self, pattern: &'m Pattern) -> Option<Subject> {
        if !is_free(pattern) {
            return None;
        }
        let numbers = || Numbers::between(Some(End { at: 0.0, closed: true }), None);
        let universe = || Values { whole: true, ..Values::of_numbers(numbers()) };
        let subject =
            self.builder.subjects.number(format!("# {}", key::of_pattern(pattern)), universe, || Place::Count);
        if self.counted.len() < COUNTED && !self.counted.iter().any(|(known, _)| *known == subject) {
            self.counted.push((subject, pattern));
        }
        Some(subject)
    }

    /// What holds on every run: steps of a pattern are steps of every pattern that takes more, and `only` leaves no room for others.
    #[must_use]
    pub fn facts(&self) -> Facts {
        let mut facts = Facts::default();
        for (small, pattern) in &self.counted {
            for (large, other) in &self.counted {
                if small != large && within(pattern, other) {
                    facts.add(vec![often(*small, 0, Some(0)), often(*large, 1, None)]);
                }
            }
            for (holds, steps) in &self.only {
                let calls =
                    pattern.alternatives.iter().all(|one| one.kind == averment_runs::run::Kind::Call && !one.proposed);
                if calls && steps.iter().all(|step| apart(pattern, step)) {
                    facts.add(vec![holds.clone().negated(), often(*small, 0, Some(0))]);
                }
            }
        }
        facts
    }
}

/// A number of steps between two ends, both included.
fn times(count: Subject, least: u64, most: Option<u64>) -> Formula {
    Formula::Literal(often(count, least, most))
}

/// The same as a literal.
fn often(count: Subject, least: u64, most: Option<u64>) -> Literal {
    #[expect(clippy::cast_precision_loss, reason = "numbers of steps beyond the digits of a double do not occur")]
    let end = |at: u64| Some(End { at: at as f64, closed: true });
    let numbers = Numbers::between(end(least), most.and_then(end));
    let (holds, fails) = (Values::of_numbers(numbers.clone()), Values::of_numbers(numbers.not()));
    Literal { subject: count, holds: Rc::new(holds), fails: Rc::new(fails) }
}

fn all(counts: &[Subject], least: u64, most: Option<u64>) -> Formula {
    Formula::And(counts.iter().map(|count| times(*count, least, most)).collect())
}
