//! The screen: decides as many assertions as it can from the facts of a run, without reading the run in full.
//!
//! What it says is what the monitors and the machine say; what it cannot say stays open, and the run is read and evaluated for it. It
//! knows statements about calls whose patterns ask for nothing but names, expressions made of tests against literals, conditions of single
//! calls, and `no PREDICATE in calls[*].args` and `.result`. Nothing in it knows a particular rule.

mod atom;
mod build;
mod course;
mod formula;
mod sequences;
mod texts;

use super::course::plan::Plan;
use super::prepare::Prepared;
use super::select::Selection;
use crate::bytecode::program::Program;
use crate::syntax::ast::Quantifier;
use crate::trace::facts::{Demand, Facts, Field, Held, Stretch};
use crate::truth::{Truth, Verdict};
use crate::value::{Number, Text, Value};
use atom::{Atom, Base};
use course::{Calls, Seen, Statement, Step};
use formula::Formula;
use rustc_hash::FxHashMap;
use texts::{Haystack, Search};

/// What the screen says of an assertion.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum Answer {
    /// Nothing: the run has to be looked at.
    Open,
    /// It passes.
    Pass,
    /// It fails.
    Fail,
    /// It is vacuous because nothing that it speaks of occurs: for the same reason in every run.
    Idle,
    /// It is vacuous for a reason of this run.
    Vacuous,
    /// The run does not record what it needs.
    Undecided,
    /// Its `when` is false.
    Skipped,
}

impl Answer {
    /// The verdict; `None` for an open one.
    #[must_use]
    pub fn verdict(self) -> Option<Verdict> {
        Some(match self {
            Self::Open => return None,
            Self::Pass => Verdict::Pass,
            Self::Fail => Verdict::Fail,
            Self::Idle | Self::Vacuous => Verdict::Vacuous,
            Self::Undecided => Verdict::Undecided,
            Self::Skipped => Verdict::Skipped,
        })
    }

    fn of_truth(truth: Truth) -> Self {
        match truth.verdict() {
            Verdict::Pass => Self::Pass,
            Verdict::Fail => Self::Fail,
            Verdict::Vacuous => Self::Vacuous,
            _ => Self::Undecided,
        }
    }
}

/// An assertion as the screen sees it.
#[derive(Debug)]
struct Item {
    /// Its number in the program.
    assertion: u32,
    when: Vec<Formula>,
    check: Form,
}

#[derive(Debug)]
enum Form {
    Expression(Formula),
    Course(Statement),
    /// No text of a field of all calls meets any of these, by their numbers in the field's search.
    NoneIn(Field, Vec<u32>),
    /// It has to be looked at.
    Open,
}

/// A value that tests look at: an entry of the facts, and the way from there.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Place {
    root: usize,
    way: Vec<String>,
}

/// The screen of a program.
#[derive(Debug)]
pub struct Screen {
    items: Vec<Item>,
    atoms: Vec<Atom>,
    /// The place that each test of the run looks at.
    places: Vec<Place>,
    place_of: Vec<Option<u32>>,
    /// Texts and expressions that are looked for in the same value, where they are several.
    groups: Vec<Group>,
    /// The group of each test.
    group_of: Vec<Option<u32>>,
    /// The tests of each field's search.
    searched: [Vec<u32>; 2],
    searches: [Option<Search>; 2],
    /// How many assertions it can say nothing of in any run.
    open: usize,
}

/// Tests that look for something in the same text.
#[derive(Debug)]
struct Group {
    /// Their numbers.
    atoms: Vec<u32>,
    search: Search,
}

/// Memory of the screen for one thread.
#[derive(Debug, Default)]
pub struct Scratch {
    /// The distinct patterns of each name that was seen.
    names: FxHashMap<Box<str>, u32>,
    shapes: Vec<Vec<u32>>,
    /// The number of the name of each call.
    classes: Vec<u32>,
    seen: Vec<Seen>,
    touched: Vec<u32>,
    truths: Vec<Option<Truth>>,
}

/// Names that are remembered at most.
const NAMES: usize = 10_000;

impl Screen {
    /// The screen of the selected assertions of a program. What it asks of runs is added to `demand`, which several programs may share.
    #[must_use]
    pub fn new(program: &Program, prepared: &Prepared, selection: &Selection, demand: &mut Demand) -> Self {
        build::screen(program, prepared.plan(program), selection, demand)
    }

    fn group_of(&self, atom: u32) -> Option<&Group> {
        self.groups.get(self.group_of.get(atom as usize).copied().flatten()? as usize)
    }

    /// Whether every run has to be read in full for some assertion.
    #[must_use]
    pub fn always_open(&self) -> bool {
        self.open > 0
    }

    /// The assertions, by number in the program, in the order of the answers.
    pub fn assertions(&self) -> impl Iterator<Item = u32> + '_ {
        self.items.iter().map(|item| item.assertion)
    }

    /// Answers for every assertion, in order. `stretch` reads values that the facts hold as bytes.
    pub fn judge<'a>(
        &self,
        program: &Program,
        prepared: &Prepared,
        facts: &Facts<'a>,
        stretch: Option<Stretch<'a>>,
        scratch: &mut Scratch,
        answers: &mut Vec<Answer>,
    ) {
        let plan = prepared.plan(program);
        scratch.count(plan, prepared, facts);
        scratch.truths.clear();
        scratch.truths.resize(self.atoms.len(), None);
        let Scratch { classes, shapes, seen, truths, .. } = scratch;
        let found = self.search(facts, prepared);
        let mut judging = Judging {
            screen: self,
            prepared,
            facts,
            stretch,
            calls: Calls { seen, names: classes, shapes },
            truths,
            found,
        };
        answers.extend(self.items.iter().map(|item| judging.item(item)));
    }

    /// Which tests of each field's search are met by some text.
    fn search(&self, facts: &Facts<'_>, prepared: &Prepared) -> [Vec<bool>; 2] {
        let mut all = [Vec::new(), Vec::new()];
        let each = self.searches.iter().zip(&self.searched).zip(&facts.texts).zip(&mut all);
        for (((search, searched), texts), found) in each {
            let Some(search) = search else { continue };
            found.resize(searched.len(), false);
            let wanted = |target: u32| self.atoms.get(*searched.get(target as usize)? as usize)?.searched();
            search.run(Haystack::all(texts), &wanted, prepared, &mut |target| {
                if let Some(found) = found.get_mut(target as usize) {
                    *found = true;
                }
            });
        }
        all
    }
}

impl Scratch {
    /// Counts the names of a run.
    fn count(&mut self, plan: &Plan, prepared: &Prepared, facts: &Facts<'_>) {
        for shape in self.touched.drain(..) {
            if let Some(seen) = self.seen.get_mut(shape as usize) {
                *seen = Seen::default();
            }
        }
        self.seen.resize(plan.count(), Seen::default());
        if self.shapes.len() > NAMES {
            self.names.clear();
            self.shapes.clear();
        }
        self.classes.clear();
        for (place, call) in (0_u32..).zip(&facts.calls) {
            let class = match self.names.get(call.name) {
                Some(class) => *class,
                None => {
                    let class = u32::try_from(self.shapes.len()).unwrap_or(u32::MAX);
                    self.shapes.push(plan.of_name(call.name, prepared));
                    self.names.insert(call.name.into(), class);
                    class
                }
            };
            self.classes.push(class);
            for shape in self.shapes.get(class as usize).into_iter().flatten() {
                let Some(seen) = self.seen.get_mut(*shape as usize) else { continue };
                if seen.count == 0 {
                    self.touched.push(*shape);
                    seen.first = place;
                }
                seen.last = place;
                seen.count = seen.count.wrapping_add(1);
            }
        }
    }
}

/// One run while it is judged.
struct Judging<'j, 'a> {
    screen: &'j Screen,
    prepared: &'j Prepared,
    facts: &'j Facts<'a>,
    stretch: Option<Stretch<'a>>,
    calls: Calls<'j>,
    truths: &'j mut [Option<Truth>],
    found: [Vec<bool>; 2],
}

impl<'a> Judging<'_, 'a> {
    fn item(&mut self, item: &Item) -> Answer {
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
            // In bytes it may be the text of a key that comes again.
            return if self.stretch.is_some() { Answer::Open } else { Answer::Fail };
        }
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
            Statement::Count(step, test) if step.is_by_name() || calls.seen(*step).count == 0 => {
                self.count(test, calls.seen(*step).count)
            }
            Statement::Each(quantifier, step, Some(condition)) if step.is_by_name() && calls.seen(*step).count > 0 => {
                self.each(*quantifier, *step, condition)
            }
            _ => course::judge(statement, &calls),
        }
    }

    /// The test of a number of calls.
    fn count(&mut self, test: &Formula, number: u32) -> Answer {
        let value = Value::Number(Number::Integer(i64::from(number)));
        let screen = self.screen;
        let truth = test.truth(&mut |number| match screen.atoms.get(number as usize)? {
            atom if atom.subject.base == Base::Value => atom.truth(&value, self.prepared),
            _ => self.of_run(number),
        });
        // What something missing decides is for the monitor.
        match truth {
            Some(Truth::True) => Answer::Pass,
            Some(Truth::False) => Answer::Fail,
            _ => Answer::Open,
        }
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

    fn of_call(&mut self, number: u32, call: &crate::trace::facts::Call<'a>) -> Option<Truth> {
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
            (None, Held::Value(value)) => Some(crate::trace::facts::inside(value, way)),
            (None, Held::Bytes(..)) => None,
        }
    }

    fn formula(&mut self, formula: &Formula) -> Option<Truth> {
        formula.truth(&mut |atom| self.of_run(atom))
    }

    /// The truth of a test of the run, made once.
    fn of_run(&mut self, number: u32) -> Option<Truth> {
        if let Some(Some(truth)) = self.truths.get(number as usize) {
            return Some(*truth);
        }
        let screen = self.screen;
        let atom = screen.atoms.get(number as usize)?;
        let place = screen.places.get(screen.place_of.get(number as usize).copied().flatten()? as usize)?;
        let value = self.value(*self.facts.roots.get(place.root)?, &place.way)?;
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
}

impl Judging<'_, '_> {
    /// Makes all tests of a group on their text.
    fn together(&mut self, group: &Group, text: &str) {
        let atoms = |number: u32| self.screen.atoms.get(number as usize);
        for number in &group.atoms {
            if let (Some(place), Some(atom)) = (self.truths.get_mut(*number as usize), atoms(*number)) {
                *place = Some(Truth::from_bool(atom.negated));
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
