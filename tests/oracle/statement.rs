//! The table of statements of `docs/reference/course.md`, line by line, under one set of answers to everything unknown.

use crate::answers::Answers;
use crate::condition::{Scope, asserted_truth, condition_truth};
use crate::matching::{Env, World, kind_of};
use crate::model::{BAD, Comparison, Condition, CountTest, Pattern, Quantifier, Simple, Statement, Within};
use crate::run::{Found, Kind, Step};
use crate::truth::{Truth, Verdict, sure};
use crate::value;
use serde_json::Value;

/// What a statement says on the steps of a window, and whether no further step can change it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Judged {
    Pass { for_good: bool },
    Fail { for_good: bool },
    Vacuous,
    Undecided,
}

impl Judged {
    /// The verdict in a window to which steps may still be added, or not.
    pub fn verdict(self, complete: bool) -> Verdict {
        match self {
            Judged::Pass { for_good } if complete || for_good => Verdict::Pass,
            Judged::Fail { for_good } if complete || for_good => Verdict::Fail,
            Judged::Vacuous if complete => Verdict::Vacuous,
            _ => Verdict::Undecided,
        }
    }
}

/// A statement that fails for good when it fails.
pub fn safety(holds: bool, vacuous: bool) -> Judged {
    match (holds, vacuous) {
        (false, _) => Judged::Fail { for_good: true },
        (true, true) => Judged::Vacuous,
        (true, false) => Judged::Pass { for_good: false },
    }
}

/// A statement that passes for good when it passes.
pub fn reached(holds: bool) -> Judged {
    if holds { Judged::Pass { for_good: true } } else { Judged::Fail { for_good: false } }
}

/// A statement that every further step may change.
fn open(holds: bool, vacuous: bool) -> Judged {
    match (holds, vacuous) {
        (false, _) => Judged::Fail { for_good: false },
        (true, true) => Judged::Vacuous,
        (true, false) => Judged::Pass { for_good: false },
    }
}

/// One statement on one world, with the answers that it is judged under.
pub struct Judge<'w, 'a> {
    pub world: &'w World<'a>,
    pub answers: &'w mut Answers,
    /// The call list: executed calls, or the others where every pattern says `proposed`.
    pub calls: Vec<usize>,
}

/// Judges a statement that is neither a group nor a block nor an expression.
pub fn judge(world: &World, statement: &Statement, answers: &mut Answers) -> Judged {
    let patterns = statement.patterns();
    let mut judge = Judge { world, answers, calls: call_list(world, &patterns) };
    let judged = judge.statement(statement);
    match judged {
        Judged::Pass { .. } if judge.vacuous_by_missing(statement) => Judged::Vacuous,
        _ => judged,
    }
}

/// The verdict of a statement under one set of answers.
pub fn judged(world: &World, statement: &Statement, answers: &mut Answers) -> Verdict {
    let patterns = statement.patterns();
    let verdict = judge(world, statement, answers).verdict(world.complete);
    let occurs = |pattern: &&Pattern| world.steps.iter().any(|step| world.may_match(pattern, *step));
    if world.run.died() && !patterns.iter().any(occurs) {
        // There was nothing to look at.
        return match verdict {
            Verdict::Pass if world.complete => Verdict::Vacuous,
            Verdict::Fail if world.complete => Verdict::FailByMissing,
            verdict => verdict,
        };
    }
    let mut judge = Judge { world, answers, calls: call_list(world, &patterns) };
    if let (Verdict::Fail, Statement::CallsMatch(it)) = (verdict, statement) {
        let calls: Vec<&Step> = judge.calls.iter().map(|index| world.step(*index)).collect();
        return match it.fails_unproved(&calls, world.complete) {
            true if world.complete => Verdict::FailByMissing,
            true => Verdict::FailSoFar,
            false => verdict,
        };
    }
    match verdict {
        Verdict::Fail if !world.complete && !judge.fails_by_evidence(statement) => Verdict::FailSoFar,
        Verdict::Fail if world.complete && judge.fails_by_missing(statement) => Verdict::FailByMissing,
        verdict => verdict,
    }
}

fn simples<'p>(patterns: &[&'p Pattern]) -> Vec<&'p Simple> {
    patterns.iter().flat_map(|pattern| &pattern.alternatives).collect()
}

/// The calls that statements about neighbours speak of.
pub fn call_list(world: &World, patterns: &[&Pattern]) -> Vec<usize> {
    let proposed = !patterns.is_empty() && simples(patterns).iter().all(|simple| simple.proposed);
    let listed = |index: &&usize| world.step(**index).kind == Kind::Call && world.step(**index).executed != proposed;
    world.steps.iter().filter(listed).copied().collect()
}

/// One match of a step.
#[derive(Clone, Debug)]
pub struct Hit {
    pub step: usize,
    pub bound: Env,
}

pub fn agrees(part: &Env, whole: &Env) -> bool {
    part.iter().all(|(name, value)| whole.get(name) == Some(value))
}

/// The same values, where a match that leaves a name open counts for every value of it.
pub fn is_same(a: &Env, b: &Env) -> bool {
    a.iter().all(|(name, value)| b.get(name).is_none_or(|other| other == value))
}

impl Judge<'_, '_> {
    fn statement(&mut self, statement: &Statement) -> Judged {
        use Statement as S;
        match statement {
            S::Require(a) => reached(self.occurs(a)),
            S::RequireTimes(a, from, to) => self.count(a, &CountTest::Range(*from, *to)),
            S::Count(a, test) => self.count(a, test),
            S::Never(all) => safety(!all.iter().any(|a| self.occurs(a)), false),
            S::Only(all) => self.only(all),
            S::First(a) => self.first(a),
            S::Last(a) => {
                let last = self.calls.last().copied();
                open(last.is_some_and(|last| self.fits(a, last)), false)
            }
            S::Before { adjacency, a, targets, within, .. } => self.before(*adjacency, a, targets, *within),
            S::After { adjacency, a, targets, within } => self.after(*adjacency, a, targets, *within),
            S::Sequence { mode, patterns, within } => self.sequence(*mode, patterns, *within),
            S::NeverAfter { b, a, until, within } => self.never_after(b, a, until.as_ref(), *within),
            S::NeverBefore { b, a, within } => self.never_before(b, a, *within),
            S::NeverBetween { b, a, c } => self.never_between(b, a, c),
            S::Nested(a, b) => self.nested(a, b),
            S::Together(a, b) => reached(self.some_together(a, b)),
            S::Apart(a, b) => {
                let vacuous = !self.occurs(a) || !self.occurs(b);
                safety(!self.some_together(a, b), vacuous)
            }
            S::If(a, b) => open(self.implies(a, b), !self.occurs(a)),
            S::Iff(a, b) => {
                let holds = self.implies(a, b) && self.implies(b, a);
                open(holds, !self.occurs(a) && !self.occurs(b))
            }
            S::Either(all) => reached(all.iter().any(|a| self.occurs(a))),
            S::NotBoth(a, b) => {
                let both =
                    self.world.environments(&[a, b]).iter().any(|env| self.occurs_in(a, env) && self.occurs_in(b, env));
                safety(!both, !self.occurs(a) && !self.occurs(b))
            }
            S::NeverRepeat(a, limit) => self.never_repeat(a, *limit),
            S::Flow(flow) => self.flow(flow),
            S::NoBad(a) => self.no_bad(a),
            S::CallsMatch(it) => {
                let calls: Vec<&Step> = self.calls.iter().map(|index| self.world.step(*index)).collect();
                it.judge(&calls, &mut || self.answers.yes("arguments of calls".to_owned()))
            }
            S::Quantified(quantifier, a, condition) => self.quantified(*quantifier, a, condition),
            _ => unreachable!("groups, blocks and expressions are judged elsewhere"),
        }
    }

    // ---- The words of the page

    /// The bindings with which a step matches.
    pub fn base(&mut self, pattern: &Pattern, index: usize) -> Vec<Env> {
        self.world.base(pattern, index, self.answers)
    }

    /// A step matches under any environment, tests on other patterns' bindings aside.
    pub fn fits(&mut self, pattern: &Pattern, index: usize) -> bool {
        !self.base(pattern, index).is_empty()
    }

    pub fn matches(&mut self, pattern: &Pattern, index: usize, env: &Env) -> bool {
        self.world.matches(pattern, index, env, self.answers)
    }

    pub fn occurs(&mut self, pattern: &Pattern) -> bool {
        self.world.steps.iter().any(|index| self.fits(pattern, *index))
    }

    pub fn occurs_in(&mut self, pattern: &Pattern, env: &Env) -> bool {
        self.world.steps.iter().any(|index| self.world.matches(pattern, *index, env, self.answers))
    }

    /// Every match of every step.
    pub fn every(&mut self, pattern: &Pattern) -> Vec<Hit> {
        let mut hits = Vec::new();
        for step in &self.world.steps {
            let found = self.world.base(pattern, *step, self.answers);
            hits.extend(found.into_iter().map(|bound| Hit { step: *step, bound }));
        }
        hits
    }

    /// Whether both match under some environment that agrees with the bindings of the first.
    pub fn pair(&mut self, pattern: &Pattern, hit: &Hit, other: &Pattern, step: usize) -> bool {
        let envs = self.world.environments(&[pattern, other]);
        envs.iter().any(|env| {
            agrees(&hit.bound, env) && self.matches(pattern, hit.step, env) && self.matches(other, step, env)
        })
    }

    /// Whether the bound of `within` holds from one step to another.
    pub fn bound(&mut self, from: usize, to: usize, within: Option<Within>) -> bool {
        let (a, b) = (self.world.step(from), self.world.step(to));
        let known = match within {
            None => Some(true),
            Some(Within::Calls(most)) => Some(b.position - a.position <= most),
            Some(Within::Turns(most)) => a.turn.zip(b.turn).map(|(a, b)| b - a <= most),
            Some(Within::Milliseconds(most)) => a.start.zip(b.start).map(|(a, b)| b - a <= most as f64),
        };
        known.unwrap_or_else(|| self.answers.yes(format!("bound from {from} to {to}")))
    }

    // ---- Statements

    fn count(&mut self, a: &Pattern, test: &CountTest) -> Judged {
        let found = self.every(a);
        // A match that leaves a name open counts for every value of it.
        let counted = |hit: &Hit| found.iter().filter(|other| agrees(&other.bound, &hit.bound)).count() as i64;
        let most = found.iter().map(|hit| hit.bound.len()).max().unwrap_or(0);
        let mut counts: Vec<i64> = found.iter().filter(|hit| hit.bound.len() == most).map(counted).collect();
        if counts.is_empty() {
            counts.push(0);
        }
        let binds = a.alternatives.iter().any(|simple| !simple.binds().is_empty());
        if counts.iter().all(|n| accepts(test, *n)) {
            // The first to come may lack what the pattern asks for: the count is vacuous then.
            return Judged::Pass { for_good: only_below(test) && !binds && !found.is_empty() };
        }
        let exceeded = counts.iter().any(|n| upper(test).is_some_and(|most| *n > most));
        Judged::Fail { for_good: exceeded }
    }

    fn only(&mut self, all: &[Pattern]) -> Judged {
        let calls = self.calls.clone();
        let strange = calls.iter().any(|index| !all.iter().any(|a| self.fits(a, *index)));
        safety(!strange, calls.is_empty())
    }

    fn first(&mut self, a: &Pattern) -> Judged {
        match self.calls.first().copied() {
            None => Judged::Fail { for_good: false },
            Some(first) if self.fits(a, first) => Judged::Pass { for_good: true },
            Some(_) => Judged::Fail { for_good: true },
        }
    }

    fn implies(&mut self, a: &Pattern, b: &Pattern) -> bool {
        let steps = self.world.steps.clone();
        self.every(a).iter().all(|hit| steps.iter().any(|s| self.pair(a, hit, b, *s)))
    }

    /// A step that matches both closes; one that closes has to close the latest that is open.
    fn nested(&mut self, a: &Pattern, b: &Pattern) -> Judged {
        let envs = self.world.environments(&[a, b]);
        let mut open: Vec<usize> = Vec::new();
        for step in self.world.steps.clone() {
            if self.fits(b, step) {
                let fits = open.pop().is_some_and(|latest| {
                    envs.iter().any(|env| self.matches(a, latest, env) && self.matches(b, step, env))
                });
                if !fits {
                    return Judged::Fail { for_good: true };
                }
            } else if self.fits(a, step) {
                open.push(step);
            }
        }
        self::open(open.is_empty(), !self.occurs(a))
    }

    fn some_together(&mut self, a: &Pattern, b: &Pattern) -> bool {
        let (steps, envs) = (self.world.steps.clone(), self.world.environments(&[a, b]));
        let pairs = steps.iter().flat_map(|s| steps.iter().map(move |t| (*s, *t))).filter(|(s, t)| s != t);
        pairs.into_iter().any(|(s, t)| {
            let matched = envs.iter().any(|env| self.matches(a, s, env) && self.matches(b, t, env));
            matched && self.together(s, t)
        })
    }

    /// In one turn, or overlapping in time.
    fn together(&mut self, s: usize, t: usize) -> bool {
        let (a, b) = (self.world.step(s), self.world.step(t));
        let turns = a.turn.zip(b.turn).map(|(x, y)| x == y);
        let times = match (a.start, a.end, b.start, b.end) {
            (Some(x), _, Some(y), _) if x == y => Some(true),
            (Some(x), Some(x_end), Some(y), Some(y_end)) => Some(x < y_end && y < x_end),
            _ => None,
        };
        match (turns, times) {
            (Some(true), _) | (_, Some(true)) => true,
            (_, Some(false)) | (Some(false), None) => false,
            (None, None) => {
                let (first, second) = (s.min(t), s.max(t));
                self.answers.yes(format!("together {first} {second}"))
            }
        }
    }

    fn never_repeat(&mut self, a: &Pattern, limit: usize) -> Judged {
        let (mut run, mut longest) = (0, 0);
        let (mut nearly, mut counting) = (0, 0);
        let mut previous: Option<usize> = None;
        for index in self.calls.clone() {
            if !self.fits(a, index) {
                (previous, run, nearly) = (None, 0, 0);
                continue;
            }
            let repeats = previous.is_some_and(|before| self.same_call(before, index));
            run = if repeats { run + 1 } else { 1 };
            longest = longest.max(run);
            let counts = repeats || previous.is_some_and(|before| self.counts_up(before, index));
            nearly = if counts { nearly + 1 } else { 1 };
            counting = counting.max(nearly);
            previous = Some(index);
        }
        safety(longest <= limit, longest == 0 || counting > limit)
    }

    /// The same call but for whole numbers that went up by one, and what is nearly equal, which came to the same.
    fn counts_up(&self, a: usize, b: usize) -> bool {
        let (a, b) = (self.world.step(a), self.world.step(b));
        let result = |step: &Step| match step.field("result") {
            Found::Value(value) if !value.is_null() => Some(value),
            _ => None,
        };
        let same = match (result(a), result(b)) {
            (Some(x), Some(y)) => value::equal(&x, &y),
            (x, y) => x.is_none() && y.is_none(),
        };
        let failed = |step: &Step| step.status() == Some("failed");
        let (Some(Value::Object(x)), Some(Value::Object(y))) = (a.args(), b.args()) else { return false };
        let whole = |value: &Value| value.as_f64().filter(|number| number.fract() == 0.0);
        let fits = |(key, one): (&String, &Value)| {
            y.get(key).is_some_and(|other| {
                value::equality(one, other, value::equal) != sure(false)
                    || whole(one).zip(whole(other)).is_some_and(|(one, other)| one + 1.0 == other)
            })
        };
        a.text() == b.text() && x.len() == y.len() && (same || failed(a) && failed(b)) && x.iter().all(fits)
    }

    fn same_call(&self, a: usize, b: usize) -> bool {
        let (a, b) = (self.world.step(a), self.world.step(b));
        let same_args = match (a.args(), b.args()) {
            (Some(x), Some(y)) => value::equal(x, y),
            (None, None) => true,
            _ => false,
        };
        a.text() == b.text() && same_args
    }

    /// No text inside any A is one of the bad ones.
    fn no_bad(&mut self, a: &Pattern) -> Judged {
        let found = self.every(a);
        let bad =
            found.iter().any(|hit| self.world.step(hit.step).texts().iter().any(|text| BAD.1.contains(&text.as_str())));
        // Of a call with nothing recorded but its name nobody knows what it held.
        let bare = found.iter().any(|hit| {
            let step = self.world.step(hit.step);
            step.kind == Kind::Call && ["args", "result"].iter().all(|name| step.field(name) == Found::Absent)
        });
        let unknown = !bad && bare && self.answers.yes("what a call held".to_owned());
        safety(!bad && !unknown, found.is_empty())
    }

    fn quantified(&mut self, quantifier: Quantifier, a: &Pattern, condition: &Condition) -> Judged {
        let found = self.every(a);
        let decided = self.truths(quantifier, a, condition);
        let missing = !found.is_empty() && decided.iter().all(|truth| truth.is_by_missing());
        let mut truths = Vec::new();
        for (Hit { step: index, .. }, truth) in found.iter().zip(decided) {
            truths.push(truth.plain.unwrap_or_else(|| self.answers.yes(format!("condition at {index}"))));
        }
        let judged = match quantifier {
            Quantifier::Each => safety(truths.iter().all(|truth| *truth), found.is_empty()),
            Quantifier::Some => reached(truths.iter().any(|truth| *truth)),
            Quantifier::No => safety(!truths.iter().any(|truth| *truth), found.is_empty()),
        };
        match judged {
            Judged::Pass { .. } if missing => Judged::Vacuous,
            _ => judged,
        }
    }

    /// The condition of each match.
    fn truths(&mut self, quantifier: Quantifier, a: &Pattern, condition: &Condition) -> Vec<Truth> {
        let found = self.every(a);
        let truth = |Hit { step: index, bound: env, .. }: &Hit| {
            let scope: Scope = self.world.scope(*index);
            let value_of =
                |name: &str| self.world.value(env, name).or_else(|| self.world.value(&self.world.fixed, name));
            match quantifier {
                Quantifier::Each => asserted_truth(condition, scope, &value_of),
                Quantifier::Some | Quantifier::No => condition_truth(condition, scope, &value_of),
            }
        };
        found.iter().map(truth).collect()
    }

    /// It holds; was the condition of every candidate of one of its patterns decided by something missing?
    fn vacuous_by_missing(&mut self, statement: &Statement) -> bool {
        if let Statement::Either(all) = statement {
            // Every alternative that occurs is decided so.
            return all.iter().all(|a| self.world.decided_by_missing(a, &[]) || !self.occurs(a));
        }
        let patterns = statement.patterns();
        patterns.iter().any(|pattern| self.world.decided_by_missing(pattern, &patterns))
    }

    /// It fails for good: will what is there have decided it, whatever comes?
    fn fails_by_evidence(&mut self, statement: &Statement) -> bool {
        if let Statement::Never(all) = statement {
            return all.iter().any(|a| self.occurs(a) && self.world.decided_by_evidence(a));
        }
        if let Statement::Quantified(quantifier, a, condition) = statement {
            let truths = self.truths(*quantifier, a, condition);
            if truths.iter().all(|truth| truth.is_by_missing()) {
                return false;
            }
        }
        statement.patterns().iter().all(|pattern| self.world.decided_by_evidence(pattern))
    }

    /// It fails; was the condition of every candidate of one of its patterns decided by something missing?
    fn fails_by_missing(&mut self, statement: &Statement) -> bool {
        if let Statement::Never(all) = statement {
            // Each that occurs fails it by itself.
            return all.iter().all(|a| self.world.decided_by_missing(a, &[]) || !self.occurs(a));
        }
        if let Statement::Quantified(quantifier, a, condition) = statement {
            let truths = self.truths(*quantifier, a, condition);
            if !truths.is_empty() && truths.iter().all(|truth| truth.is_by_missing()) {
                return true;
            }
        }
        let patterns = statement.patterns();
        patterns.iter().any(|pattern| self.world.decided_by_missing(pattern, &patterns))
    }
}

fn accepts(test: &CountTest, n: i64) -> bool {
    match test {
        CountTest::Compare(Comparison::Eq, m) => n == *m,
        CountTest::Compare(Comparison::Ne, m) => n != *m,
        CountTest::Compare(Comparison::Lt, m) => n < *m,
        CountTest::Compare(Comparison::Le, m) => n <= *m,
        CountTest::Compare(Comparison::Gt, m) => n > *m,
        CountTest::Compare(Comparison::Ge, m) => n >= *m,
        CountTest::Range(from, to) => from.is_none_or(|from| n >= from) && to.is_none_or(|to| n <= to),
        CountTest::List(list) => list.contains(&n),
    }
}

/// The largest count that the test accepts; `None` when there is none.
fn upper(test: &CountTest) -> Option<i64> {
    match test {
        CountTest::Compare(Comparison::Eq | Comparison::Le, m) => Some(*m),
        CountTest::Compare(Comparison::Lt, m) => Some(*m - 1),
        CountTest::Compare(..) => None,
        CountTest::Range(_, to) => *to,
        CountTest::List(list) => list.iter().max().copied(),
    }
}

/// A test that stays true once it is.
fn only_below(test: &CountTest) -> bool {
    match test {
        CountTest::Compare(comparison, _) => matches!(comparison, Comparison::Gt | Comparison::Ge),
        CountTest::Range(_, to) => to.is_none(),
        CountTest::List(_) => false,
    }
}

/// Whether all steps that match or may match these patterns are ordered among each other, and with the calls where they are related to them.
pub fn kinds_ordered(world: &World, patterns: &[&Pattern], with_calls: bool) -> bool {
    let matched = |index: &&usize| patterns.iter().any(|pattern| world.may_match(pattern, **index));
    let kinds = world.steps.iter().filter(matched).map(|index| world.step(*index).kind);
    let kinds: Vec<Kind> = kinds.chain(with_calls.then_some(Kind::Call)).collect();
    kinds.iter().all(|a| kinds.iter().all(|b| world.run.ordered(*a, *b)))
}

/// Whether the run records every kind of step that the patterns speak of.
pub fn recorded(world: &World, patterns: &[&Pattern]) -> bool {
    simples(patterns).iter().all(|simple| world.run.recorded.contains(&kind_of(simple)))
}
