//! One run while it is judged.

use super::atom::Base;
use super::course::{self, Calls, Number, Statement, Step};
use super::formula::Formula;
use super::texts::Haystack;
use super::{Answer, Form, Group, Item, Screen};
use averment_base::truth::Truth;
use averment_base::value::{Text, Value};
use averment_engine::vm::prepare::Prepared;
use averment_syntax::ast::Quantifier;
use averment_traces::facts::{Call, Facts, Field, Held, Stretch};
use smallvec::SmallVec;

/// One run while it is judged.
pub(super) struct Judging<'j, 'a> {
    pub(super) screen: &'j Screen,
    pub(super) prepared: &'j Prepared,
    pub(super) facts: &'j Facts<'a>,
    pub(super) stretch: Option<Stretch<'a>>,
    pub(super) calls: Calls<'j>,
    /// The truth of each test of the run, as far as it is known.
    pub(super) truths: &'j mut [Option<Truth>],
    /// The value at each place, as far as it was looked at; the inner `None` is for one that cannot be read here.
    pub(super) values: SmallVec<[Option<Option<Value<'a>>>; 8]>,
    /// Which tests of each field's search are met by some text.
    pub(super) found: &'j [Vec<bool>; 2],
    /// The same as a list.
    pub(super) hits: &'j [Vec<u32>; 2],
}

impl<'a> Judging<'_, 'a> {
    /// The answer of an assertion by its place in the list.
    pub(super) fn numbered(&mut self, number: u32) -> Answer {
        let screen = self.screen;
        screen.items.get(number as usize).map_or(Answer::Open, |item| self.item(item))
    }

    pub(super) fn item(&mut self, item: &Item) -> Answer {
        let mut undecided = false;
        for when in &item.when {
            match self.formula(when).map(Truth::plain) {
                None => return Answer::Open,
                Some(Some(true)) => {}
                Some(Some(false)) => return Answer::Skipped,
                Some(None) => undecided = true,
            }
        }
        if undecided {
            return Answer::Undecided;
        }
        match &item.check {
            Form::Open => Answer::Open,
            Form::Expression(formula) => self.formula(formula).map_or(Answer::Open, Answer::of_truth),
            _ if self.facts.unusual || !self.facts.records_calls => Answer::Open,
            Form::Course(statement) => self.course(statement),
            Form::NoneIn(field, targets) => self.none_in(*field, targets),
        }
    }

    fn none_in(&self, field: Field, targets: &[u32]) -> Answer {
        let found = self.found.get(field as usize).map_or(&[][..], Vec::as_slice);
        if targets.iter().any(|target| found.get(*target as usize) != Some(&false)) {
            return if self.is_plain(field) { Answer::Fail } else { Answer::Open };
        }
        self.none_found(field)
    }

    /// Whether what was found in a field stands in a value of it: in bytes it may be the text of a key that comes again. Values that
    /// can be read have no such key.
    fn is_plain(&self, field: Field) -> bool {
        let mut held = self.facts.calls.iter().filter_map(|call| call.fields.get(field as usize));
        self.stretch.is_none() || held.all(|held| self.value(*held, &[]).is_some())
    }

    /// The answer where nothing is found.
    fn none_found(&self, field: Field) -> Answer {
        let Some(texts) = self.facts.texts.get(field as usize) else { return Answer::Open };
        // Nothing to look at: the monitor says of what.
        if texts.any || (texts.perhaps && self.has_leaf(field)) { Answer::Pass } else { Answer::Open }
    }

    /// Whether a field of some call surely holds a text, a number or a boolean.
    fn has_leaf(&self, field: Field) -> bool {
        let held = self.facts.calls.iter().filter_map(|call| call.fields.get(field as usize));
        let mut values = held.map_while(|held| self.value(*held, &[]));
        values.any(|value| {
            let mut open = vec![value];
            while let Some(value) = open.pop() {
                match value {
                    Value::Text(_) | Value::Number(_) | Value::Boolean(_) => return true,
                    Value::List(items) => open.extend(items.iter().map(|item| item.value)),
                    Value::Object(object) => open.extend(object.entries().iter().map(|entry| entry.node.value)),
                    _ => {}
                }
            }
            false
        })
    }

    fn course(&mut self, statement: &Statement) -> Answer {
        let calls = self.calls;
        match statement {
            Statement::Count(step, number) if step.is_by_name() || calls.seen(*step).count == 0 => {
                let count = calls.seen(*step).count;
                number.known(count).unwrap_or_else(|| self.count(number, count))
            }
            Statement::Each(quantifier, step, Some(condition)) if step.is_by_name() && calls.seen(*step).count > 0 => {
                self.each(*quantifier, *step, condition)
            }
            _ => course::judge(statement, &calls),
        }
    }

    /// The test of a number of calls.
    fn count(&mut self, number: &Number, count: u32) -> Answer {
        let screen = self.screen;
        let prepared = self.prepared;
        number.answer(count, &screen.atoms, prepared, &mut |atom| self.of_run(atom))
    }

    /// `each A: condition` and its like.
    fn each(&mut self, quantifier: Quantifier, step: Step, condition: &Formula) -> Answer {
        let (mut decided, mut on_evidence) = (false, false);
        for (place, call) in self.facts.calls.iter().enumerate() {
            if !self.calls.matches(place, step) {
                continue;
            }
            let Some(truth) = condition.truth(&mut |atom| self.of_call(atom, call)) else { return Answer::Open };
            let Some(plain) = truth.plain() else { return Answer::Open };
            decided |= plain != (quantifier == Quantifier::Each);
            on_evidence |= !truth.by_missing();
        }
        match (decided, on_evidence, quantifier) {
            (true, true, Quantifier::Some) => Answer::Pass,
            (false, _, Quantifier::Some) | (true, _, Quantifier::Each | Quantifier::No) => Answer::Fail,
            (false, true, _) => Answer::Pass,
            _ => Answer::Vacuous,
        }
    }

    fn of_call(&mut self, number: u32, call: &Call<'a>) -> Option<Truth> {
        let atom = self.screen.atoms.get(number as usize)?;
        let held = match &atom.subject.base {
            Base::Tool => Held::Value(Value::Text(Text::Plain(call.name))),
            Base::Field(field) => *call.fields.get(*field as usize)?,
            _ => return self.of_run(number),
        };
        let value = self.value(held, &atom.subject.way)?;
        atom.truth(&value, self.prepared)
    }

    fn value(&self, held: Held<'a>, way: &[String]) -> Option<Value<'a>> {
        match (self.stretch, held) {
            (Some(stretch), _) => stretch.at(held, way),
            (None, Held::Value(value)) => Some(averment_traces::facts::inside(value, way)),
            (None, Held::Bytes(..) | Held::Written(..)) => None,
        }
    }

    fn formula(&mut self, formula: &Formula) -> Option<Truth> {
        formula.truth(&mut |atom| self.of_run(atom))
    }

    /// The truth of a test of the run, made once.
    pub(super) fn of_run(&mut self, number: u32) -> Option<Truth> {
        if let Some(Some(truth)) = self.truths.get(number as usize) {
            return Some(*truth);
        }
        let screen = self.screen;
        let atom = screen.atoms.get(number as usize)?;
        let value = self.at_place(screen.place_of.get(number as usize).copied().flatten()?)?;
        if let (Value::Text(text), Some(group)) = (&value, screen.group_of(number)) {
            self.together(group, text.as_str());
            return self.truths.get(number as usize).copied().flatten();
        }
        let truth = atom.truth(&value, self.prepared)?;
        if let Some(known) = self.truths.get_mut(number as usize) {
            *known = Some(truth);
        }
        Some(truth)
    }

    /// The value at a place, read once.
    pub(super) fn at_place(&mut self, number: u32) -> Option<Value<'a>> {
        if let Some(Some(value)) = self.values.get(number as usize) {
            return *value;
        }
        let place = self.screen.places.get(number as usize)?;
        let value = self.value(*self.facts.roots.get(place.root)?, &place.way);
        if self.values.is_empty() {
            self.values.resize(self.screen.places.len(), None);
        }
        if let Some(known) = self.values.get_mut(number as usize) {
            *known = Some(value);
        }
        value
    }

    /// Makes all tests of a group on their text.
    fn together(&mut self, group: &Group, text: &str) {
        let atoms = |number: u32| self.screen.atoms.get(number as usize);
        for (number, truth) in group.atoms.iter().zip(&group.without) {
            if let Some(place) = self.truths.get_mut(*number as usize) {
                *place = Some(*truth);
            }
        }
        let truths = &mut *self.truths;
        group.search.run(
            Haystack::one(text),
            &|target| atoms(*group.atoms.get(target as usize)?)?.searched(),
            self.prepared,
            &mut |target| {
                let number = group.atoms.get(target as usize).copied().unwrap_or(u32::MAX);
                if let (Some(place), Some(atom)) = (truths.get_mut(number as usize), atoms(number)) {
                    *place = Some(Truth::from_bool(!atom.negated));
                }
            },
        );
    }
}
