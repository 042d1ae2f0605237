//! The screen: decides as many assertions as it can from the facts of a run, without reading the run in full.
//!
//! What it says is what the monitors and the machine say; what it cannot say stays open, and the run is read and evaluated for it. It
//! knows statements about calls whose patterns ask for nothing but names, expressions made of tests against literals, conditions of single
//! calls, and `no PREDICATE in calls[*].args` and `.result`. Nothing in it knows a particular rule.

mod atom;
mod course;
mod formula;
mod sequences;
mod texts;

use super::course::plan::Plan;
use super::prepare::Prepared;
use super::select::Selection;
use crate::bytecode::program::{Assertion, Check, CodeId, CourseId, Program};
use crate::ir::{Course, RuleRole};
use crate::syntax::ast::Quantifier;
use crate::trace::facts::{Demand, Facts, Field, Held, Stretch};
use crate::truth::{Truth, Verdict};
use crate::value::{Number, Text, Value};
use atom::{Atom, Base, Searched};
use course::{Calls, Seen, Statement, Step};
use formula::Formula;
use rustc_hash::FxHashMap;
use texts::Search;

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
    /// The tests of each field's search.
    searched: [Vec<u32>; 2],
    searches: [Option<Search>; 2],
    /// How many assertions it can say nothing of in any run.
    open: usize,
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
        Builder {
            program,
            plan: prepared.plan(program),
            reader: formula::Reader::new(program),
            searched: Default::default(),
        }
        .build(selection, demand)
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
            let wanted: smallvec::SmallVec<[Searched<'_>; 8]> =
                searched.iter().filter_map(|atom| self.atoms.get(*atom as usize)?.searched()).collect();
            search.run(texts, &wanted, prepared, &mut |target| {
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
            return Answer::Fail;
        }
        // Nothing to look at: the monitor says of what.
        match self.facts.texts.get(field as usize).is_some_and(|texts| texts.any) {
            true => Answer::Pass,
            false => Answer::Open,
        }
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
        let truth = atom.truth(&value, self.prepared)?;
        if let Some(known) = self.truths.get_mut(number as usize) {
            *known = Some(truth);
        }
        Some(truth)
    }
}

/// Makes a screen.
struct Builder<'p> {
    program: &'p Program,
    plan: &'p Plan,
    reader: formula::Reader<'p>,
    searched: [Vec<u32>; 2],
}

impl Builder<'_> {
    fn build(mut self, selection: &Selection, demand: &mut Demand) -> Screen {
        let mut items = Vec::new();
        for (number, assertion) in (0_u32..).zip(&self.program.assertions) {
            if selection.selects(self.program, assertion) {
                items.push(self.item(number, assertion));
            }
        }
        let mut screen = Screen {
            open: items.iter().filter(|item| matches!(item.check, Form::Open)).count(),
            items,
            atoms: self.reader.atoms,
            places: Vec::new(),
            place_of: Vec::new(),
            searches: [None, None],
            searched: self.searched,
        };
        screen.find_places(demand);
        for ((search, searched), texts) in screen.searches.iter_mut().zip(&screen.searched).zip(&mut demand.texts) {
            if !searched.is_empty() {
                let wanted = searched.iter().filter_map(|atom| screen.atoms.get(*atom as usize)?.searched());
                *search = Some(Search::new(self.program, wanted));
                *texts = true;
            }
        }
        screen
    }

    fn item(&mut self, number: u32, assertion: &Assertion) -> Item {
        let open = Item { assertion: number, when: Vec::new(), check: Form::Open };
        let rule = assertion.rule.and_then(|rule| self.program.rules.get(rule as usize));
        let special = rule.is_some_and(|rule| matches!(rule.role, RuleRole::Case { .. } | RuleRole::Invariant));
        if special || assertion.settings.threshold.is_some() {
            return open;
        }
        let when: Option<Vec<Formula>> =
            assertion.settings.when.iter().map(|code| self.reader.formula(*code, None)).collect();
        match (when, self.form(&assertion.check)) {
            (Some(when), Some(check)) => Item { assertion: number, when, check },
            _ => open,
        }
    }

    fn form(&mut self, check: &Check) -> Option<Form> {
        match check {
            Check::Expression(code) => Some(Form::Expression(self.reader.formula(*code, None)?)),
            Check::Course(CourseId(number)) => {
                let program = self.program;
                match &program.courses.get(*number as usize)?.course {
                    Course::NoneIn { values, predicate } => self.none_in(*values, *predicate),
                    course => self.course(course).map(Form::Course),
                }
            }
            _ => None,
        }
    }

    fn course(&mut self, course: &Course<crate::bytecode::program::PatternId, CodeId>) -> Option<Statement> {
        let reader = std::cell::RefCell::new(&mut self.reader);
        let mut condition = |code| reader.borrow_mut().formula(code, None);
        let mut number = |code| reader.borrow_mut().formula(code, Some(Base::Value));
        course::of(course, self.plan, &mut condition, &mut number)
    }

    fn none_in(&mut self, values: CodeId, predicate: CodeId) -> Option<Form> {
        let subject = self.reader.subject(values)?;
        let field = match (&subject.base, subject.way.as_slice()) {
            (Base::Calls, [field]) => Field::parse(field)?,
            _ => return None,
        };
        let mut atoms = Vec::new();
        self.reader.formula(predicate, Some(Base::Value))?.alternatives(&mut atoms)?;
        let searched = self.searched.get_mut(field as usize)?;
        let mut targets = Vec::new();
        for atom in atoms {
            let known = self.reader.atoms.get(atom as usize)?;
            let plain = known.subject.base == Base::Value && known.subject.way.is_empty() && !known.negated;
            known.searched().filter(|_| plain)?;
            let at = searched.iter().position(|other| *other == atom).unwrap_or_else(|| {
                searched.push(atom);
                searched.len() - 1
            });
            targets.push(u32::try_from(at).ok()?);
        }
        Some(Form::NoneIn(field, targets))
    }
}

impl Screen {
    /// Finds out what every test looks at.
    fn find_places(&mut self, demand: &mut Demand) {
        for atom in &self.atoms {
            let place = match &atom.subject.base {
                Base::Root(name) => {
                    let known = demand.roots.iter().position(|root| root == name);
                    let root = known.unwrap_or_else(|| {
                        demand.roots.push(name.clone());
                        demand.roots.len() - 1
                    });
                    let place = Place { root, way: atom.subject.way.clone() };
                    let known = self.places.iter().position(|other| *other == place);
                    Some(known.unwrap_or_else(|| {
                        self.places.push(place);
                        self.places.len() - 1
                    }))
                }
                Base::Field(field) => {
                    if let Some(asked) = demand.fields.get_mut(*field as usize) {
                        *asked = true;
                    }
                    None
                }
                _ => None,
            };
            self.place_of.push(place.and_then(|place| u32::try_from(place).ok()));
        }
    }
}
