//! The prefilter: decides as many assertions as it can from the projection of a run, without reading the run in full.
//!
//! Its answers equal those of the machine. An assertion that it cannot answer stays open, and the run is read and evaluated for it. The
//! engine decides a statement from the names of the calls where these suffice. The machine evaluates conditions on a run that holds only
//! what they read ([`projected_run`]); verdicts are remembered for later runs with the same values ([`values`]). For `no PREDICATE in
//! calls[*].args` and `.result`, it searches the literals that the predicate needs, and evaluates the predicate only if one occurs.
//! Nothing in it is specific to one rule.

mod assertion_reads;
mod build;
mod call_reads;
mod condition_reads;
mod default_evaluation;
mod default_verdicts;
mod evaluator;
mod find_need;
mod judging;
mod literals;
mod need;
mod parts;
mod predicate;
pub mod projected_run;
mod temporal;
mod values;

pub use assertion_reads::AssertionReads;
use averment_base::truth::{Truth, Verdict};
use averment_engine::bytecode::program::{CodeId, Program};
use averment_engine::vm::evaluate::EvaluateOptions;
use averment_engine::vm::machine::Machine;
use averment_engine::vm::over_runs::RunContribution;
use averment_engine::vm::prepare::PreparedProgram;
use averment_engine::vm::profile::{CostCenter, Profile};
use averment_engine::vm::temporal::by_name::{self, FIRST_ORDERS, NameMatches, NamedCalls};
use averment_engine::vm::temporal::plan::TemporalPlan;
use averment_runs::run::{CallTimes, Run};
use averment_traces::projection::{CallField, FieldMask, ReadSet, RunProjection, ScannedChunk};
use bumpalo::Bump;
use call_reads::CallReads;
use condition_reads::ConditionReads;
use default_verdicts::DefaultVerdicts;
use evaluator::ConditionEvaluator;
use judging::PrefilterRun;
use literals::{Haystack, LiteralSearch};
use predicate::SearchLiteral;
use rustc_hash::{FxHashMap, FxHashSet};
use std::cell::RefCell;
use std::collections::BTreeSet;
use temporal::CallStatement;
use values::ClassAnswers;

/// The prefilter's answer for an assertion.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum PrefilterAnswer {
    /// None: the run has to be read.
    Open,
    /// It passes.
    Pass,
    /// It fails.
    Fail,
    /// Vacuous because nothing it mentions occurs; the reason is the same in every run.
    Idle,
    /// Vacuous for a reason specific to this run.
    Vacuous,
    /// The run does not record what it needs.
    Undecided,
    /// Its `when` is false.
    Skipped,
}

impl PrefilterAnswer {
    /// All answers, in their order.
    pub const ALL: [Self; 7] =
        [Self::Open, Self::Pass, Self::Fail, Self::Idle, Self::Vacuous, Self::Undecided, Self::Skipped];

    /// The verdict; `None` for an open one.
    #[must_use]
    pub fn as_verdict(self) -> Option<Verdict> {
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

/// A program with what assertions are evaluated with.
#[derive(Debug, Clone, Copy)]
pub struct EvaluationRules<'p> {
    /// The program.
    pub program: &'p Program,
    /// What was prepared of it.
    pub prepared: &'p PreparedProgram,
    /// How runs are judged.
    pub options: &'p EvaluateOptions,
    /// Where costs are noted, while a profile is made.
    pub profile: Option<&'p RefCell<Profile>>,
}

impl<'p> EvaluationRules<'p> {
    /// A machine of the program for a run.
    #[must_use]
    pub fn machine<'a>(self, run: &'a Run<'a>, arena: &'a Bump) -> Machine<'a>
    where
        'p: 'a,
    {
        Machine::new(self.program, self.prepared, run, arena, self.options.limits).noting_costs(self.profile)
    }

    /// Counts what is done from here on as work of an assertion, while somebody asks.
    fn begin_cost(self, assertion: u32) {
        self.note_cost(|profile| profile.begin(CostCenter::Assertion(assertion)));
    }

    /// Ends what began last.
    fn end_cost(self) {
        self.note_cost(Profile::end);
    }

    fn note_cost(self, note: impl FnOnce(&mut Profile)) {
        if let Some(Ok(mut profile)) = self.profile.map(RefCell::try_borrow_mut) {
            note(&mut profile);
        }
    }
}

/// Where the projection of a run comes from, and what evaluates the rest.
#[derive(Clone, Copy)]
pub enum ProjectionSource<'a> {
    /// The bytes of a line.
    Line(ScannedChunk<'a>),
    /// The run read in full, and an arena for computed values.
    Run(&'a Run<'a>, &'a Bump),
}

/// An assertion as the prefilter sees it; conditions are given by number.
#[derive(Debug)]
struct PrefilterItem {
    assertion: u32,
    when: Vec<u32>,
    check: ItemCheck,
    /// The parts of calls that decide it, with call names and entries, if that is so.
    parts: Option<DecidingParts>,
}

/// What decides an assertion beside the names of the calls and entries of the run.
#[derive(Debug)]
struct DecidingParts {
    /// The unique patterns whose calls are looked at.
    patterns: Box<[u32]>,
    /// True if it asks when calls started and ended.
    times: bool,
    /// True if it asks how calls ended.
    statuses: bool,
    /// The entries of the run that are read beside them, by name.
    entries: Box<[u32]>,
}

#[derive(Debug)]
enum ItemCheck {
    Expression(u32),
    /// An expression over steps that parts of the calls decide; `true` if nothing else does.
    Selected {
        of_calls: bool,
    },
    Temporal(CallStatement),
    NoneIn {
        field: CallField,
        literals: Vec<u32>,
        /// The answer if there are values and none contains a literal.
        default: PrefilterAnswer,
    },
    Open,
}

#[derive(Debug)]
struct UniqueCondition {
    code: CodeId,
    reads: ConditionReads,
}

#[derive(Debug)]
struct EntryRead {
    name: u32,
    held: usize,
    mask: FieldMask,
}

/// The prefilter of a program.
#[derive(Debug)]
pub struct Prefilter {
    items: Vec<PrefilterItem>,
    conditions: Vec<UniqueCondition>,
    roots: Vec<EntryRead>,
    /// The names of entries that no place of the line holds, by number.
    computed: Vec<u32>,
    fields: FxHashMap<u32, [Option<FieldMask>; 2]>,
    /// Unique patterns whose conditions ask for the name of the tool.
    tool_tests: FxHashSet<u32>,
    /// Unique patterns that ask how their calls ended.
    ended: FxHashSet<u32>,
    searched: [Vec<SearchLiteral>; 2],
    searches: [Option<LiteralSearch>; 2],
    /// The assertions that have every run read in full, whatever stands in it, by number in the program.
    always_read: Vec<u32>,
    default_verdicts: DefaultVerdicts,
    over_runs: Vec<u32>,
}

/// Memory of the prefilter for one thread.
#[derive(Debug, Default)]
pub struct PrefilterScratch {
    names: FxHashMap<Box<str>, u32>,
    unique_patterns: Vec<Vec<u32>>,
    /// By the number of a name, like the patterns.
    call_reads: Vec<CallReads>,
    classes: Vec<u32>,
    times: Vec<Option<CallTimes>>,
    seen: Vec<NameMatches>,
    touched: Vec<u32>,
    truths: Vec<Option<Option<Truth>>>,
    remembered: ClassAnswers,
    orders: Vec<PrefilterAnswer>,
    found: [Vec<bool>; 2],
    hits: [Vec<u32>; 2],
    /// A bit per assertion that was evaluated for the run.
    done: Vec<u64>,
    /// Assertions whose `when` was false in some run because something is missing.
    pub(crate) skipped: BTreeSet<u32>,
    forgotten: Vec<Box<str>>,
    /// Contributions to assertions over runs, if `looked`.
    pub(crate) given: Vec<RunContribution>,
    pub(crate) looked: bool,
    /// Whether a value of the run was read, and not the names of its calls alone.
    pub(crate) has_read: bool,
}

/// Tool names remembered.
const NAMES: usize = 10_000;

impl Prefilter {
    /// The prefilter of the selected assertions of a program. What it reads of runs is added to `read_set`, which several programs may share.
    #[must_use]
    pub fn new(rules: EvaluationRules<'_>, read_set: &mut ReadSet) -> Self {
        build::build_prefilter(rules, read_set)
    }

    /// The assertions that have every run read in full, whatever stands in it, by number in the program.
    #[must_use]
    pub fn always_read(&self) -> &[u32] {
        &self.always_read
    }

    /// The assertions, by number in the program, in the order of the answers.
    pub fn assertion_numbers(&self) -> impl ExactSizeIterator<Item = u32> + '_ {
        self.items.iter().map(|item| item.assertion)
    }

    /// Answers for every assertion, in order.
    pub fn judge_run<'a>(
        &self,
        rules: EvaluationRules<'a>,
        projection: &RunProjection<'a>,
        source: ProjectionSource<'a>,
        scratch: &mut PrefilterScratch,
        answers: &mut Vec<PrefilterAnswer>,
    ) {
        let plan = rules.prepared.temporal_plan(rules.program);
        scratch.count_names(self, plan, rules.prepared, projection);
        scratch.truths.clear();
        scratch.truths.resize(self.conditions.len(), None);
        scratch.orders.resize(rules.program.temporals.len() * FIRST_ORDERS, PrefilterAnswer::Open);
        self.search_texts(projection, source, rules.prepared, &mut scratch.found, &mut scratch.hits);
        let PrefilterScratch {
            classes,
            times,
            unique_patterns,
            call_reads,
            seen,
            truths,
            remembered,
            orders,
            found,
            hits,
            touched,
            done,
            skipped,
            given,
            looked,
            has_read,
            ..
        } = scratch;
        let is_sequential = by_name::is_sequential(times);
        let calls = NamedCalls { found: seen, classes, patterns: unique_patterns, times, is_sequential };
        let evaluator = ConditionEvaluator::new(self, rules, projection, source, call_reads);
        let mut judging = PrefilterRun {
            prefilter: self,
            rules,
            projection,
            source,
            calls,
            evaluator,
            truths,
            orders,
            found,
            hits,
            skipped,
        };
        if projection.unusual || !projection.records_calls {
            answers.extend(self.items.iter().map(|item| judging.answer_item(item)));
        } else {
            self.default_verdicts.answer_run(&mut judging, touched, done, remembered, answers);
        }
        given.clear();
        *looked = self
            .over_runs
            .iter()
            .all(|number| judging.evaluator.read_values(*number).map(|one| given.push(one)).is_some());
        *has_read = judging.evaluator.has_read();
    }

    fn search_texts(
        &self,
        projection: &RunProjection<'_>,
        source: ProjectionSource<'_>,
        prepared: &PreparedProgram,
        all: &mut [Vec<bool>; 2],
        hits: &mut [Vec<u32>; 2],
    ) {
        let each = self.searches.iter().zip(&self.searched).zip(&projection.texts).zip(all).zip(hits);
        for ((((search, searched), texts), found), hits) in each {
            let Some(search) = search else { continue };
            hits.drain(..).filter_map(|hit| found.get_mut(hit as usize).map(|found| *found = false)).for_each(drop);
            found.resize(searched.len(), false);
            let wanted = |literal: u32| searched.get(literal as usize);
            let mut note = |target| {
                if let Some(found) = found.get_mut(target as usize).filter(|found| !**found) {
                    *found = true;
                    hits.push(target);
                }
            };
            search.find_targets(Haystack::from_texts(texts), &wanted, prepared, &mut note);
            let ProjectionSource::Line(chunk) = source else { continue };
            for long in texts.long.iter().filter_map(|(start, end)| chunk.text.get(*start..*end)) {
                search.find_targets(Haystack::from_text(long), &wanted, prepared, &mut note);
            }
        }
    }
}

impl PrefilterScratch {
    pub(crate) fn name_count(&self) -> usize {
        self.names.len() + self.forgotten.len()
    }

    pub(crate) fn call_names(&self) -> impl Iterator<Item = &str> {
        self.names.keys().chain(&self.forgotten).map(|name| &**name)
    }

    fn count_names(
        &mut self,
        prefilter: &Prefilter,
        plan: &TemporalPlan,
        prepared: &PreparedProgram,
        projection: &RunProjection<'_>,
    ) {
        for unique in self.touched.drain(..) {
            if let Some(seen) = self.seen.get_mut(unique as usize) {
                *seen = NameMatches::default();
            }
        }
        self.seen.resize(plan.pattern_count(), NameMatches::default());
        if self.unique_patterns.len() > NAMES {
            self.forgotten.extend(self.names.drain().map(|(name, _)| name));
            self.unique_patterns.clear();
            self.call_reads.clear();
        }
        self.classes.clear();
        self.times.clear();
        self.times.extend(projection.calls.iter().map(|call| call.times));
        for (place, call) in (0_u32..).zip(&projection.calls) {
            let class = match self.names.get(call.name) {
                Some(class) => *class,
                None => {
                    let class = u32::try_from(self.unique_patterns.len()).unwrap_or(u32::MAX);
                    let patterns = plan.of_name(call.name, prepared);
                    self.call_reads.push(prefilter.reads_of_name(call.name, &patterns));
                    self.unique_patterns.push(patterns);
                    self.names.insert(call.name.into(), class);
                    class
                }
            };
            self.classes.push(class);
            for unique in self.unique_patterns.get(class as usize).into_iter().flatten() {
                let Some(seen) = self.seen.get_mut(*unique as usize) else { continue };
                if seen.count == 0 {
                    self.touched.push(*unique);
                }
                seen.add_call(place);
            }
        }
    }
}
