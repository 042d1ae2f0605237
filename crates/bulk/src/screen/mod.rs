//! The screen: decides as many assertions as it can from the facts of a run, without reading the run in full.
//!
//! What it says is what the monitors and the machine say; what it cannot say stays open, and the run is read and evaluated for it. It
//! knows statements about calls whose patterns ask for nothing but names, expressions made of tests against literals, conditions of single
//! calls, and `no PREDICATE in calls[*].args` and `.result`. Nothing in it knows a particular rule.

mod atom;
mod build;
mod course;
mod formula;
mod judging;
mod sequences;
mod sight;
mod standing;
mod texts;
mod windows;

use atom::Atom;
use averment_base::truth::{Truth, Verdict};
use averment_engine::bytecode::program::Program;
use averment_engine::vm::course::plan::Plan;
use averment_engine::vm::prepare::Prepared;
use averment_engine::vm::select::Selection;
use averment_traces::facts::{Demand, Facts, Field, Stretch};
use course::{Calls, Seen, Statement};
use formula::Formula;
use judging::Judging;
use rustc_hash::FxHashMap;
pub use sight::Sight;
use smallvec::SmallVec;
use standing::Standing;
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

    /// The answer that a verdict is; open where the verdict is that of a fault.
    #[must_use]
    pub fn of_verdict(verdict: Verdict) -> Self {
        match verdict {
            Verdict::Pass => Self::Pass,
            Verdict::Fail => Self::Fail,
            Verdict::Vacuous => Self::Vacuous,
            Verdict::Undecided => Self::Undecided,
            Verdict::Skipped => Self::Skipped,
            Verdict::Error => Self::Open,
        }
    }

    fn of_truth(truth: Truth) -> Self {
        Self::of_verdict(truth.verdict())
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
    standing: Standing,
}

/// Tests that look for something in the same text.
#[derive(Debug)]
struct Group {
    /// Their numbers.
    atoms: Vec<u32>,
    /// What is true of each where nothing is found.
    without: Vec<Truth>,
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
    /// Which tests of each field's search are met by some text.
    found: [Vec<bool>; 2],
    /// The same as a list.
    hits: [Vec<u32>; 2],
    /// Assertions that a run was looked at for, a bit for each.
    done: Vec<u64>,
}

/// Names that are remembered at most.
const NAMES: usize = 10_000;

impl Screen {
    /// The screen of the selected assertions of a program. What it asks of runs is added to `demand`, which several programs may share.
    #[must_use]
    pub fn new(program: &Program, prepared: &Prepared, selection: &Selection, demand: &mut Demand) -> Self {
        build::screen(program, prepared, selection, demand)
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
    pub fn assertions(&self) -> impl ExactSizeIterator<Item = u32> + '_ {
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
        self.search(facts, stretch, prepared, &mut scratch.found, &mut scratch.hits);
        let Scratch { classes, shapes, seen, truths, found, hits, touched, done, .. } = scratch;
        let calls = Calls { seen, names: classes, shapes };
        let values = SmallVec::new();
        let mut judging = Judging { screen: self, prepared, facts, stretch, calls, truths, values, found, hits };
        if facts.unusual || !facts.records_calls {
            answers.extend(self.items.iter().map(|item| judging.item(item)));
        } else {
            self.standing.judge(&mut judging, touched, done, answers);
        }
    }

    /// Searches the texts of each field.
    fn search(
        &self,
        facts: &Facts<'_>,
        stretch: Option<Stretch<'_>>,
        prepared: &Prepared,
        all: &mut [Vec<bool>; 2],
        hits: &mut [Vec<u32>; 2],
    ) {
        let each = self.searches.iter().zip(&self.searched).zip(&facts.texts).zip(all).zip(hits);
        for ((((search, searched), texts), found), hits) in each {
            let Some(search) = search else { continue };
            hits.drain(..).filter_map(|hit| found.get_mut(hit as usize).map(|found| *found = false)).for_each(drop);
            found.resize(searched.len(), false);
            let wanted = |target: u32| self.atoms.get(*searched.get(target as usize)? as usize)?.searched();
            let mut note = |target| {
                if let Some(found) = found.get_mut(target as usize).filter(|found| !**found) {
                    *found = true;
                    hits.push(target);
                }
            };
            search.run(Haystack::all(texts), &wanted, prepared, &mut note);
            let place = |(start, end): &(usize, usize)| stretch.and_then(|stretch| stretch.text.get(*start..*end));
            for long in texts.long.iter().filter_map(place) {
                search.run(Haystack::one(long), &wanted, prepared, &mut note);
            }
        }
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
