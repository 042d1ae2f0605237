//! Writes conditions on the past as expressions over the events of a run.
//!
//! A condition holds at an event for some values of its variables, so it is written from the outside in. The test of the history comes first; inside
//! of it come the tests of the values that it bound. Each variable is replaced by the expression it was bound to.

use super::lowering::{PolicyLowering, ReadKind, ReadValue, known};
use super::tree::{EventPattern, PastAggregate, PastCondition, PastTerm};
use crate::writer::quote_text;
use averment_base::diagnostic::Slug;
use std::collections::BTreeMap;

/// Values of the variables, and the events in scope.
#[derive(Debug, Clone, Default)]
pub(super) struct PastScope {
    values: BTreeMap<String, ReadValue>,
    events: Vec<String>,
}

impl PastScope {
    fn with_value(&self, name: &str, value: ReadValue) -> Self {
        let mut scope = self.clone();
        scope.values.insert(name.to_owned(), value);
        scope
    }

    fn with_event(&self, event: &str) -> Self {
        let mut scope = self.clone();
        scope.events.push(event.to_owned());
        scope
    }

    fn without(&self, name: &str) -> Self {
        let mut scope = self.clone();
        scope.values.remove(name);
        scope
    }
}

/// The output form of a condition.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum MatchForm {
    /// True if any values satisfy the condition.
    Truth,
    /// A list with one row for each combination of values.
    Rows,
}

/// Writes the rest of a condition, given the values bound so far.
type Behind<'f> = dyn FnMut(&mut PolicyLowering<'_>, &PastScope) -> Option<String> + 'f;

/// Returns the condition that selects an event, and the test of the selected event.
type AskedOf<'f> = dyn FnMut(&mut PolicyLowering<'_>, &str, &PastScope) -> Option<(String, String)> + 'f;

/// The event at which a condition is evaluated, and the output form.
#[derive(Clone, Copy)]
struct MatchPlace<'p> {
    /// The variable of the event.
    event: &'p str,
    form: MatchForm,
}

impl<'p> MatchPlace<'p> {
    fn at(self, event: &'p str) -> Self {
        Self { event, ..self }
    }

    fn guarded(self, guard: &str, inner: &str) -> String {
        match (self.form, inner, guard) {
            (_, inner, "true") => inner.to_owned(),
            (MatchForm::Truth, "true", guard) => guard.to_owned(),
            (MatchForm::Truth, inner, guard) => format!("{guard} and {inner}"),
            (MatchForm::Rows, inner, guard) => format!("(if {guard} then {inner} else [])"),
        }
    }
}

impl PolicyLowering<'_> {
    /// Writes whether a condition holds at the current request.
    pub(super) fn past_truth(&mut self, condition: &PastCondition) -> Option<String> {
        let scope = PastScope::default().with_event("now");
        self.truth_at(condition, "now", &scope)
    }

    fn truth_at(&mut self, condition: &PastCondition, event: &str, scope: &PastScope) -> Option<String> {
        let place = MatchPlace { event, form: MatchForm::Truth };
        let text = self.matches(condition, place, scope, &mut |_, _| Some("true".to_owned()))?;
        Some(format!("({text})"))
    }

    fn matches(
        &mut self,
        condition: &PastCondition,
        place: MatchPlace<'_>,
        scope: &PastScope,
        then: &mut Behind<'_>,
    ) -> Option<String> {
        let event = place.event;
        match condition {
            PastCondition::And(parts) => self.matches_all(parts, place, scope, then),
            PastCondition::Not(inner) => {
                let guard = format!("not {}", self.truth_at(inner, event, scope)?);
                Some(place.guarded(&guard, &then(self, scope)?))
            }
            PastCondition::Event(pattern) => self.matches_event(pattern, place, scope, then),
            PastCondition::Timepoint(name) => match scope.values.get(name) {
                Some(bound) => {
                    let guard = format!("{}.place == {event}.place", bound.text);
                    Some(place.guarded(&guard, &then(self, scope)?))
                }
                None => {
                    then(self, &scope.with_value(name, ReadValue { text: event.to_owned(), kind: ReadKind::Timepoint }))
                }
            },
            PastCondition::Formerly { within, body } => self.at_some(place, scope, &mut |lowering, one, inside| {
                let asked = lowering.matches(body, place.at(one), inside, then)?;
                Some((format!("past({one}, {event}, events, {within}){}", lowering.mine(one)), asked))
            }),
            PastCondition::Previous { within, body } => self.at_some(place, scope, &mut |lowering, one, inside| {
                let asked = lowering.matches(body, place.at(one), inside, then)?;
                Some((lowering.just_before(one, event, *within), asked))
            }),
            PastCondition::Since { left, within, right } => self.at_some(place, scope, &mut |lowering, one, inside| {
                let later = lowering.new_variable();
                let asked = lowering.matches(right, place.at(one), inside, &mut |lowering, inner| {
                    let held = lowering.truth_at(left, &later, &inner.with_event(&later))?;
                    let mine = lowering.mine(&later);
                    let guard = format!(
                        "(all {later} in events: not (between_events({one}, {later}, {event}, events){mine}) or {held})"
                    );
                    Some(place.guarded(&guard, &then(lowering, inner)?))
                })?;
                Some((format!("past({one}, {event}, events, {within}){}", lowering.mine(one)), asked))
            }),
            PastCondition::Exists { variable, body } => {
                let outer = scope.values.get(variable).cloned();
                self.matches(body, place, &scope.without(variable), &mut |lowering, inner| {
                    let mut behind = inner.without(variable);
                    if let Some(outer) = &outer {
                        behind = behind.with_value(variable, outer.clone());
                    }
                    then(lowering, &behind)
                })
            }
            PastCondition::Compare { operator, left, right } => {
                let unbound = |term: &PastTerm| match term {
                    PastTerm::Variable(name, _) if !scope.values.contains_key(name) => Some(name.clone()),
                    _ => None,
                };
                let bound = match (unbound(left), unbound(right)) {
                    (Some(name), None) if *operator == "==" => Some((name, right)),
                    (None, Some(name)) if *operator == "==" => Some((name, left)),
                    _ => None,
                };
                if let Some((name, term)) = bound {
                    let value = self.term_value(term, event, scope)?;
                    return then(self, &scope.with_value(&name, value));
                }
                let left = self.term_value(left, event, scope)?;
                let right = self.term_value(right, event, scope)?;
                let guard = self.compare(operator, &left, &right);
                Some(place.guarded(&guard, &then(self, scope)?))
            }
        }
    }

    fn matches_all(
        &mut self,
        parts: &[PastCondition],
        place: MatchPlace<'_>,
        scope: &PastScope,
        then: &mut Behind<'_>,
    ) -> Option<String> {
        match parts.split_first() {
            None => then(self, scope),
            Some((first, rest)) => {
                self.matches(first, place, scope, &mut |lowering, inner| lowering.matches_all(rest, place, inner, then))
            }
        }
    }

    /// Writes a search for an event; `asked` returns the condition that selects the event, and the test of it.
    fn at_some(&mut self, place: MatchPlace<'_>, scope: &PastScope, asked: &mut AskedOf<'_>) -> Option<String> {
        let one = self.new_variable();
        let inside = scope.with_event(&one);
        let (chosen, inner) = asked(self, &one, &inside)?;
        if place.form == MatchForm::Truth {
            return Some(format!("(any {one} in events: {})", place.guarded(&chosen, &inner)));
        }
        let name = format!("rows_{one}");
        let outer = scope.events.join(", ");
        self.made.push(format!("def {name}({outer}, {one}, events) = if {chosen} then {inner} else []"));
        Some(format!("flatten(({name}({outer}, it, events) of events))"))
    }

    fn just_before(&mut self, one: &str, event: &str, within: u64) -> String {
        let mine = self.mine(one);
        if mine.is_empty() {
            return format!("just_before({one}, {event}, events, {within})");
        }
        let later = self.new_variable();
        let others = self.mine(&later);
        format!(
            "past({one}, {event}, events, {within}) and before_event({one}, {event}){mine} and (no {later} in events: \
             before_event({later}, {event}) and between_events({one}, {later}, {event}, events){others})"
        )
    }

    /// Returns a test for whether an event has the same owner as the current request.
    fn mine(&self, event: &str) -> String {
        let pins = self.kinds.universal_pins();
        pins.iter().map(|pin| format!(" and {}", self.pinned(pin, event))).collect()
    }

    fn pinned(&self, pin: &super::event_kinds::PinnedField, event: &str) -> String {
        let own = self.field_of(event, &pin.field, false);
        let wanted = match pin.root {
            Some(root) => self.scope_value("now", root, &pin.path),
            None => self.field_of("now", &pin.path, true),
        };
        known(&[&own, &wanted], format!("{} == {}", own.text, wanted.text))
    }

    fn matches_event(
        &mut self,
        pattern: &EventPattern,
        place: MatchPlace<'_>,
        scope: &PastScope,
        then: &mut Behind<'_>,
    ) -> Option<String> {
        let event = place.event;
        self.check_action(&pattern.action)?;
        let Some(kind) = self.kinds.find(&pattern.kind).cloned() else {
            let names: Vec<&str> = self.kinds.kinds.iter().map(|kind| kind.name.as_str()).collect();
            let help = format!("the kinds are {}", crate::shape::listed_names(&names));
            self.said.error(
                Slug::UnknownType,
                pattern.kind_span,
                format!("there is no kind of event `{}`", pattern.kind),
                help,
            );
            return None;
        };
        let mut guards =
            vec![format!("is_event({event}, {}, {})", quote_text(kind.role.word()), quote_text(&pattern.action.id))];
        let mut inner = scope.clone();
        for (path, span, term) in &pattern.fields {
            if path.first().is_some_and(|first| first == "output")
                && kind.role != super::event_kinds::EventRole::Response
            {
                let message = format!("a {} has no output", kind.name);
                self.said.error(Slug::UnknownField, *span, message, "ask for it in a response");
                return None;
            }
            let field = self.field_of(event, path, false);
            let test = match term {
                PastTerm::Anything => known(&[&field], format!("{} exists", field.text)),
                PastTerm::Variable(name, _) if !inner.values.contains_key(name) => {
                    let exists = known(&[&field], format!("{} exists", field.text));
                    inner = inner.with_value(name, field);
                    exists
                }
                term => {
                    let value = self.term_value(term, event, &inner)?;
                    self.compare("==", &field, &value)
                }
            };
            guards.push(test);
        }
        guards.extend(kind.pins.iter().map(|pin| self.pinned(pin, event)));
        Some(place.guarded(&guards.join(" and "), &then(self, &inner)?))
    }

    fn term_value(&mut self, term: &PastTerm, event: &str, scope: &PastScope) -> Option<ReadValue> {
        Some(match term {
            PastTerm::Literal(text) => ReadValue::plain(text.as_str()),
            PastTerm::Entity(name) => {
                let whole = format!("{}::\"{}\"", name.kind, name.id);
                ReadValue { text: quote_text(&whole), kind: ReadKind::Entity(name.clone()) }
            }
            PastTerm::Variable(name, place) => match scope.values.get(name) {
                Some(value) => value.clone(),
                None => {
                    let help = format!(
                        "bind it in front: by a field of an event (`input.user: {name}`), by `tp({name})`, or by `==`"
                    );
                    self.said.error(Slug::UnknownName, *place, format!("nothing gives `{name}` a value here"), help);
                    return None;
                }
            },
            PastTerm::Scope(root, path) => self.scope_value("now", *root, path),
            PastTerm::Context(path) => self.field_of("now", path, true),
            PastTerm::Anything => ReadValue::plain("null"),
            PastTerm::List(parts) => {
                let parts: Option<Vec<ReadValue>> =
                    parts.iter().map(|part| self.term_value(part, event, scope)).collect();
                let parts: Vec<String> = parts?.into_iter().map(|part| part.text).collect();
                ReadValue::plain(format!("[{}]", parts.join(", ")))
            }
            PastTerm::Arithmetic(operator, left, right) => {
                let left = self.term_value(left, event, scope)?;
                let right = self.term_value(right, event, scope)?;
                ReadValue::plain(format!("within_long({} {operator} {})", left.text, right.text))
            }
            PastTerm::Aggregate(aggregate) => ReadValue::plain(self.aggregate(aggregate, event, scope)?),
        })
    }

    fn aggregate(&mut self, aggregate: &PastAggregate, event: &str, scope: &PastScope) -> Option<String> {
        let mut inside = scope.clone();
        for name in &aggregate.variables {
            inside.values.remove(name);
        }
        let place = MatchPlace { event, form: MatchForm::Rows };
        let rows = self.matches(&aggregate.body, place, &inside, &mut |_, found| {
            let one = |name: &String| {
                let value = found.values.get(name)?;
                Some(match value.kind {
                    ReadKind::Timepoint => format!("{}.place", value.text),
                    _ => value.text.clone(),
                })
            };
            let row: Vec<String> = aggregate.variables.iter().filter_map(one).collect();
            Some(format!("[[{}]]", row.join(", ")))
        })?;
        let Some(summed) = &aggregate.summed else { return Some(format!("length(distinct({rows}))")) };
        let at = aggregate.variables.iter().position(|name| name == summed).unwrap_or(0);
        Some(format!("within_long(sum((it[{at}] of (distinct({rows}) where it[{at}] is integer))))"))
    }
}
