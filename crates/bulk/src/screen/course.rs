//! Statements about the calls whose patterns ask for nothing but names: counts and places of names decide them.

use super::Answer;
use averment_base::truth::Truth;
use averment_base::value::{Number as Value, Value as Any};
use averment_engine::bytecode::program::{CodeId, PatternId};
use averment_engine::ir::{Course, TimesRange};
use averment_engine::vm::course::plan::Plan;
use averment_syntax::ast::{Quantifier, SequenceMode};

/// How often and where calls match one distinct pattern. Places count the executed calls.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Seen {
    pub(super) count: u32,
    pub(super) first: u32,
    pub(super) last: u32,
}

/// A distinct pattern in a statement.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Step {
    shape: u32,
    /// Nothing but the name decides.
    by_name: bool,
}

impl Step {
    /// The number of its distinct pattern.
    pub(super) fn shape(self) -> u32 {
        self.shape
    }

    /// Whether nothing but the name of a call decides whether it matches.
    pub(super) fn is_by_name(self) -> bool {
        self.by_name
    }
}

/// A statement that names may decide.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Statement {
    Require(Step, Option<TimesRange>),
    Never(Vec<Step>),
    /// With its test of the number.
    Count(Step, Number),
    Only(Vec<Step>),
    First(Step),
    Last(Step),
    /// Every target has an earlier step.
    Before(Step, Vec<Step>),
    /// Every step has each of the targets later.
    After(Step, Vec<Step>),
    NeverAfter(Vec<Step>, Step),
    NeverBefore(Vec<Step>, Step),
    Sequence(Vec<Step>),
    IfThen(Step, Step),
    Iff(Step, Step),
    Either(Vec<Step>),
    NotBoth(Step, Step),
    /// With the number of its condition, where its read set is known.
    Each(Quantifier, Step, Option<u32>),
    /// What only a step of the first patterns can make anything but vacuous, and the other patterns.
    Idle(Vec<Step>, Vec<Step>),
}

/// The test of a number of calls.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Number {
    condition: u32,
    /// The answers for small numbers, where nothing else of the run decides.
    known: Vec<Answer>,
}

/// Answers are kept for numbers below this one.
const SMALL: u32 = 64;

impl Number {
    /// A test by the number of its condition.
    fn new(condition: u32) -> Self {
        Self { condition, known: Vec::new() }
    }

    /// The answer for a small number, where nothing else of the run decides.
    pub(super) fn known(&self, number: u32) -> Option<Answer> {
        self.known.get(number as usize).copied()
    }

    /// The number of its condition.
    pub(super) fn condition(&self) -> u32 {
        self.condition
    }

    /// The answers for all small numbers.
    pub(super) fn all_known(&self) -> &[Answer] {
        &self.known
    }

    /// Keeps the answers for small numbers; `truth` evaluates the test of one.
    pub(super) fn learn(&mut self, mut truth: impl FnMut(u32) -> Option<Truth>) {
        self.known = (0..SMALL).map(|number| of_count(truth(number))).collect();
    }
}

/// The answer where the test of the number of calls has this truth. What something missing decides is for the monitor.
pub(super) fn of_count(truth: Option<Truth>) -> Answer {
    match truth {
        Some(Truth::True) => Answer::Pass,
        Some(Truth::False) => Answer::Fail,
        _ => Answer::Open,
    }
}

/// A number of calls as a value.
pub(super) fn number_of<'a>(count: u32) -> Any<'a> {
    Any::Number(Value::Integer(i64::from(count)))
}

impl Statement {
    /// The steps it speaks of.
    pub(super) fn steps(&self) -> Vec<Step> {
        use Statement as S;
        match self {
            S::Require(step, _) | S::Count(step, _) | S::First(step) | S::Last(step) | S::Each(_, step, _) => {
                vec![*step]
            }
            S::Never(steps) | S::Only(steps) | S::Sequence(steps) | S::Either(steps) => steps.clone(),
            S::Idle(steps, others) => [steps.as_slice(), others].concat(),
            S::Before(step, steps)
            | S::After(step, steps)
            | S::NeverAfter(steps, step)
            | S::NeverBefore(steps, step) => steps.iter().copied().chain([*step]).collect(),
            S::IfThen(one, other) | S::Iff(one, other) | S::NotBoth(one, other) => vec![*one, *other],
        }
    }

    /// The answer for a run in which no call fits any of its steps; `None` where something else of the run decides.
    pub(super) fn standing(&self, with_calls: bool) -> Option<Answer> {
        if let Self::Count(_, number) = self {
            return number.known(0);
        }
        // The name of a call that fits nothing.
        let names = if with_calls { &[u32::MAX][..] } else { &[] };
        Some(judge(self, &Calls { seen: &[], names, shapes: &[] }))
    }
}

/// Makes steps of patterns.
struct Steps<'p>(&'p Plan);

impl Steps<'_> {
    fn one(&self, pattern: PatternId) -> Option<Step> {
        let shape = self.0.of_calls(pattern)?;
        Some(Step { shape, by_name: self.0.is_by_name(shape) })
    }

    fn all(&self, patterns: &[PatternId]) -> Option<Vec<Step>> {
        patterns.iter().map(|pattern| self.one(*pattern)).collect()
    }
}

/// A statement in this form; `None` for one that only the monitors decide.
pub(super) fn of(
    course: &Course<PatternId, CodeId>,
    plan: &Plan,
    condition: &mut dyn FnMut(CodeId, PatternId) -> Option<u32>,
    number: &mut dyn FnMut(CodeId) -> Option<u32>,
) -> Option<Statement> {
    use Statement as S;
    let steps = Steps(plan);
    Some(match course {
        Course::Require { step, times } => S::Require(steps.one(*step)?, *times),
        Course::Never { steps: never } => S::Never(steps.all(never)?),
        Course::Count { step, test } => S::Count(steps.one(*step)?, Number::new(number(*test)?)),
        Course::Only { steps: only } => S::Only(steps.all(only)?),
        Course::First { step } => S::First(steps.one(*step)?),
        Course::Last { step } => S::Last(steps.one(*step)?),
        Course::Before { each: false, immediately: false, step, targets, within: None } => {
            S::Before(steps.one(*step)?, steps.all(targets)?)
        }
        Course::After { each: false, immediately: false, step, targets, within: None } => {
            S::After(steps.one(*step)?, steps.all(targets)?)
        }
        Course::Before { immediately: false, step, targets, .. } => {
            S::Idle(steps.all(targets)?, vec![steps.one(*step)?])
        }
        Course::After { immediately: false, step, targets, .. } => {
            S::Idle(vec![steps.one(*step)?], steps.all(targets)?)
        }
        Course::NeverAfter { steps: never, open, until: None, within: None } => {
            S::NeverAfter(steps.all(never)?, steps.one(*open)?)
        }
        Course::NeverBefore { steps: never, close, within: None } => {
            S::NeverBefore(steps.all(never)?, steps.one(*close)?)
        }
        Course::Sequence { mode: SequenceMode::Gaps, steps: sequence, within: None } => {
            S::Sequence(steps.all(sequence)?)
        }
        Course::IfThen { condition, consequence } => S::IfThen(steps.one(*condition)?, steps.one(*consequence)?),
        Course::Iff { left, right } => S::Iff(steps.one(*left)?, steps.one(*right)?),
        Course::Either { steps: either } => S::Either(steps.all(either)?),
        Course::NotBoth { left, right } => S::NotBoth(steps.one(*left)?, steps.one(*right)?),
        Course::Each { quantifier, step, condition: code } => {
            S::Each(*quantifier, steps.one(*step)?, condition(*code, *step))
        }
        Course::NoneInSteps { step, .. } => S::Idle(vec![steps.one(*step)?], Vec::new()),
        _ => return None,
    })
}

/// What is known of the calls of a run.
#[derive(Clone, Copy)]
pub(super) struct Calls<'a> {
    /// By distinct pattern.
    pub(super) seen: &'a [Seen],
    /// The number of the name of each call.
    pub(super) names: &'a [u32],
    /// The distinct patterns that each name may match, sorted.
    pub(super) shapes: &'a [Vec<u32>],
}

/// Whether a step occurs, as far as names tell.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Occurs {
    Yes,
    No,
    /// Its name does; whether the call matches has to be looked at.
    Perhaps,
}

impl Calls<'_> {
    pub(super) fn seen(&self, step: Step) -> Seen {
        self.seen.get(step.shape as usize).copied().unwrap_or_default()
    }

    /// How many calls have a name that fits a distinct pattern.
    pub(super) fn count(&self, shape: u32) -> u32 {
        self.seen.get(shape as usize).map_or(0, |seen| seen.count)
    }

    fn occurs(&self, step: Step) -> Occurs {
        match (self.seen(step).count, step.by_name) {
            (0, _) => Occurs::No,
            (_, true) => Occurs::Yes,
            (_, false) => Occurs::Perhaps,
        }
    }

    fn any(&self, steps: &[Step]) -> Occurs {
        let each = steps.iter().map(|step| self.occurs(*step));
        each.fold(Occurs::No, |all, one| match (all, one) {
            (Occurs::Yes, _) | (_, Occurs::Yes) => Occurs::Yes,
            (Occurs::Perhaps, _) | (_, Occurs::Perhaps) => Occurs::Perhaps,
            _ => Occurs::No,
        })
    }

    /// Whether all are told by their names.
    fn are_sure(&self, steps: &[Step]) -> bool {
        steps.iter().all(|step| self.occurs(*step) != Occurs::Perhaps)
    }

    /// Whether the name of the call at a place fits a step.
    pub(super) fn matches(&self, call: usize, step: Step) -> bool {
        let shapes = self.names.get(call).and_then(|name| self.shapes.get(*name as usize));
        shapes.is_some_and(|shapes| shapes.binary_search(&step.shape).is_ok())
    }

    /// Whether the call at a place is one of these; its conditions are not looked at.
    fn is_one_of(&self, call: usize, steps: &[Step]) -> bool {
        steps.iter().any(|step| self.matches(call, *step))
    }

    /// Whether the steps come in this order, with gaps.
    fn come_in_order(&self, steps: &[Step]) -> bool {
        let mut wanted = steps.iter();
        let mut next = wanted.next();
        for call in 0..self.names.len() {
            match next {
                None => return true,
                Some(step) if self.matches(call, *step) => next = wanted.next(),
                Some(_) => {}
            }
        }
        next.is_none()
    }
}

fn pass_if(holds: bool) -> Answer {
    if holds { Answer::Pass } else { Answer::Fail }
}

/// A statement that speaks of what occurs: open where that is not sure, vacuous where it does not occur.
fn unless_idle(occurs: Occurs, then: impl FnOnce() -> Answer) -> Answer {
    match occurs {
        Occurs::No => Answer::Idle,
        Occurs::Perhaps => Answer::Open,
        Occurs::Yes => then(),
    }
}

/// The answer of a statement. Tests of a number and conditions of calls that occur are decided elsewhere.
pub(super) fn judge(statement: &Statement, calls: &Calls<'_>) -> Answer {
    match by_names(statement, calls) {
        // Something missing may have decided the condition of every call: that is a reason of this run.
        Answer::Idle if !calls.are_sure(&statement.steps()) => Answer::Vacuous,
        answer => answer,
    }
}

fn by_names(statement: &Statement, calls: &Calls<'_>) -> Answer {
    use Statement as S;
    let sure = |steps: &[Step]| calls.are_sure(steps);
    match statement {
        S::Require(step, _) | S::First(step) | S::Last(step) if !sure(&[*step]) => Answer::Open,
        S::Require(step, times) => {
            let count = u64::from(calls.seen(*step).count);
            let range = times.unwrap_or(TimesRange { least: 1, most: None });
            pass_if(count >= range.least && range.most.is_none_or(|most| count <= most))
        }
        S::Never(steps) | S::Either(steps) => match (calls.any(steps), matches!(statement, S::Never(_))) {
            (Occurs::Perhaps, _) => Answer::Open,
            (occurs, never) => pass_if((occurs == Occurs::Yes) != never),
        },
        S::Only(steps) if calls.names.is_empty() => {
            if steps.is_empty() {
                Answer::Open
            } else {
                Answer::Idle
            }
        }
        S::Only(steps) if !sure(steps) => Answer::Open,
        S::Only(steps) => pass_if((0..calls.names.len()).all(|call| calls.is_one_of(call, steps))),
        S::First(step) => pass_if(calls.is_one_of(0, &[*step])),
        S::Last(step) => pass_if(calls.names.len().checked_sub(1).is_some_and(|last| calls.is_one_of(last, &[*step]))),
        S::Sequence(steps) => {
            if sure(steps) {
                pass_if(calls.come_in_order(steps))
            } else {
                Answer::Open
            }
        }
        S::Idle(steps, _) => {
            if calls.any(steps) == Occurs::No {
                Answer::Idle
            } else {
                Answer::Open
            }
        }
        S::Each(quantifier, step, _) => match calls.seen(*step).count {
            0 if *quantifier == Quantifier::Some => Answer::Fail,
            0 => Answer::Idle,
            _ => Answer::Open,
        },
        _ => related(statement, calls),
    }
}

/// Statements that relate steps.
fn related(statement: &Statement, calls: &Calls<'_>) -> Answer {
    use Statement as S;
    let sure = |steps: &[Step]| calls.are_sure(steps);
    match statement {
        S::Before(step, targets) => unless_idle(calls.any(targets), || {
            if !sure(targets) || !sure(&[*step]) {
                return Answer::Open;
            }
            let source = calls.seen(*step);
            let met = |seen: Seen| seen.count == 0 || (source.count > 0 && source.first < seen.first);
            pass_if(targets.iter().all(|target| met(calls.seen(*target))))
        }),
        S::After(step, targets) => unless_idle(calls.occurs(*step), || {
            if !sure(targets) {
                return Answer::Open;
            }
            let source = calls.seen(*step);
            let met = |seen: Seen| seen.count > 0 && seen.last > source.last;
            pass_if(targets.iter().all(|target| met(calls.seen(*target))))
        }),
        S::NeverAfter(steps, open) => unless_idle(calls.occurs(*open), || {
            let first = calls.seen(*open).first;
            let caught = |seen: Seen| seen.count > 0 && seen.last > first;
            if sure(steps) { pass_if(!steps.iter().any(|step| caught(calls.seen(*step)))) } else { Answer::Open }
        }),
        S::NeverBefore(steps, close) => unless_idle(calls.occurs(*close), || {
            let first = calls.seen(*close).first;
            let caught = |seen: Seen| seen.count > 0 && seen.first < first;
            if sure(steps) { pass_if(!steps.iter().any(|step| caught(calls.seen(*step)))) } else { Answer::Open }
        }),
        S::IfThen(condition, consequence) => {
            unless_idle(calls.occurs(*condition), || match calls.occurs(*consequence) {
                Occurs::Perhaps => Answer::Open,
                occurs => pass_if(occurs == Occurs::Yes),
            })
        }
        S::Iff(left, right) | S::NotBoth(left, right) => {
            let (a, b) = (calls.occurs(*left), calls.occurs(*right));
            if a == Occurs::Perhaps || b == Occurs::Perhaps {
                return Answer::Open;
            }
            if a == Occurs::No && b == Occurs::No {
                return Answer::Idle;
            }
            pass_if((a == b) == matches!(statement, S::Iff(..)))
        }
        _ => Answer::Open,
    }
}
