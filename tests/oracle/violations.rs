//! Which steps fail a statement: the table of violations of `docs/reference/course.md`, for runs that leave nothing unknown.

use crate::answers::Answers;
use crate::condition::{asserted_truth, condition_truth};
use crate::generate_run;
use crate::generated::rule_of;
use crate::matching::{Domain, Env, World};
use crate::model::{Adjacency, Condition, Pattern, Quantifier, Statement};
use crate::program::{self, Place};
use crate::run::{Kind, Run};
use crate::source::Source;
use crate::statement::{Hit, Judge, call_list, judge};
use crate::truth::Verdict;
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};

/// The steps that fail a statement; `None` for one whose violations this does not tell, or where something is unknown.
fn expected(statement: &Statement, run: &Run) -> Option<BTreeSet<Place>> {
    use Statement as S;
    if let S::Gated(inner, _) = statement {
        return expected(inner, run);
    }
    let told = matches!(
        statement,
        S::Never(_)
            | S::Only(_)
            | S::After { .. }
            | S::NeverAfter { .. }
            | S::NeverBetween { .. }
            | S::If(..)
            | S::Iff(..)
            | S::NotBoth(..)
            | S::Quantified(..)
    );
    if !told {
        return None;
    }
    let patterns = statement.patterns();
    let domain = Domain::of(run, &patterns);
    let world = World::whole(run, &domain);
    let mut answers = Answers::default();
    if judge(&world, statement, &mut answers).verdict(true) != Verdict::Fail || !world.complete {
        return None;
    }
    let calls = call_list(&world, &patterns);
    let mut all = Violations(Judge { world: &world, answers: &mut answers, calls });
    let steps = all.of(statement)?;
    let place = |step: usize| {
        let kind = run.steps[step].kind;
        (kind.list(), run.steps[..step].iter().filter(|other| other.kind == kind).count())
    };
    (answers.asked() == 0).then(|| steps.into_iter().map(place).collect())
}

struct Violations<'w, 'a>(Judge<'w, 'a>);

impl Violations<'_, '_> {
    fn of(&mut self, statement: &Statement) -> Option<Vec<usize>> {
        use Statement as S;
        let steps = self.0.world.steps.clone();
        Some(match statement {
            S::Never(all) => steps.into_iter().filter(|s| all.iter().any(|a| self.0.fits(a, *s))).collect(),
            S::Only(all) => {
                let calls = self.0.calls.clone();
                calls.into_iter().filter(|call| !all.iter().any(|a| self.0.fits(a, *call))).collect()
            }
            S::After { adjacency: Adjacency::Plain, a, targets, within } => {
                let mut unmet = Vec::new();
                for b in targets {
                    let lacks = |this: &mut Self, hit: &Hit| {
                        let mut later = steps.iter().filter(|s| **s > hit.step);
                        !later.any(|s| this.0.pair(a, hit, b, *s) && this.0.bound(hit.step, *s, *within))
                    };
                    unmet.extend(self.lacking(a, lacks));
                }
                unmet
            }
            S::NeverAfter { b, a, until: None, within } => {
                let mut caught = Vec::new();
                for one in b {
                    let is_caught = |this: &mut Self, hit: &Hit| {
                        let mut earlier = steps.iter().filter(|t| **t < hit.step);
                        earlier.any(|t| this.0.pair(one, hit, a, *t) && this.0.bound(*t, hit.step, *within))
                    };
                    caught.extend(self.lacking(one, is_caught));
                }
                caught
            }
            S::NeverBetween { b, a, c } => {
                let mut caught = Vec::new();
                for one in b {
                    let envs = self.0.world.environments(&[one, a]);
                    let closes_behind = |this: &mut Self, t: usize, s: usize, env: &Env| {
                        let end = steps.iter().copied().find(|r| *r > t && this.0.closes(c, *r, env));
                        end.is_some_and(|end| end > s)
                    };
                    let is_caught = |this: &mut Self, s: usize, env: &Env| {
                        let opens: Vec<usize> = steps.iter().copied().filter(|t| *t < s).collect();
                        this.0.matches(one, s, env)
                            && opens.into_iter().any(|t| this.0.matches(a, t, env) && closes_behind(this, t, s, env))
                    };
                    caught.extend(steps.iter().filter(|s| envs.iter().any(|env| is_caught(self, **s, env))));
                }
                caught
            }
            S::If(a, b) => self.lacking(a, |this, hit| !steps.iter().any(|s| this.0.pair(a, hit, b, *s))),
            S::Iff(a, b) => {
                let mut alone = self.lacking(a, |this, hit| !steps.iter().any(|s| this.0.pair(a, hit, b, *s)));
                alone.extend(self.lacking(b, |this, hit| !steps.iter().any(|s| this.0.pair(b, hit, a, *s))));
                alone
            }
            S::NotBoth(a, b) => {
                let mut later = Vec::new();
                for (own, other) in [(a, b), (b, a)] {
                    let before = |hit: &Hit| steps.iter().copied().filter(|s| *s <= hit.step).collect::<Vec<_>>();
                    later.extend(
                        self.lacking(own, |this, hit| before(hit).into_iter().any(|s| this.0.pair(own, hit, other, s))),
                    );
                }
                later
            }
            S::Quantified(quantifier @ (Quantifier::Each | Quantifier::No), a, condition) => {
                self.lacking(a, |this, hit| this.decides(*quantifier, hit, condition))
            }
            _ => return None,
        })
    }

    /// The steps with a match of which something is so.
    fn lacking(&mut self, pattern: &Pattern, mut is_so: impl FnMut(&mut Self, &Hit) -> bool) -> Vec<usize> {
        let hits = self.0.every(pattern);
        hits.iter().filter(|hit| is_so(self, hit)).map(|hit| hit.step).collect()
    }

    fn decides(&mut self, quantifier: Quantifier, hit: &Hit, condition: &Condition) -> bool {
        let world = self.0.world;
        let value_of = |name: &str| world.value(&hit.bound, name).or_else(|| world.value(&world.fixed, name));
        let truth = match quantifier {
            Quantifier::Each => asserted_truth(condition, world.scope(hit.step), &value_of),
            Quantifier::Some | Quantifier::No => condition_truth(condition, world.scope(hit.step), &value_of),
        };
        match truth.plain {
            Some(holds) => holds != matches!(quantifier, Quantifier::Each),
            None => self.0.answers.yes(format!("condition at {}", hit.step)),
        }
    }
}

#[test]
fn the_violations_of_a_failure_are_the_steps_that_the_page_says() {
    let (mut compared, mut several) = (BTreeMap::<String, u32>::new(), 0);
    for number in 0..1_500 {
        let mut source = Source::seeded(11, number * 11);
        let (text, statements) = rule_of(&mut source);
        let Ok(rules) = program::Rules::compile(&text) else { continue };
        for place in 1..=10 {
            let value = generate_run::run(&mut Source::seeded(11, number * 11 + place));
            let run = Run::read(&value);
            let Some(found) = rules.violations(&value) else { continue };
            // A block is several assertions, which are not told apart here.
            if found.len() != statements.len() {
                continue;
            }
            for (statement, found) in statements.iter().zip(found) {
                let (Some(expected), Some(found)) = (expected(statement, &run), found) else { continue };
                assert_eq!(found, expected, "{text}\n  on {value}");
                several += u32::from(expected.len() > 1);
                *compared.entry(statement.kind()).or_default() += 1;
            }
        }
    }
    println!("{compared:?}, {several} with several violations");
    assert!(several > 300 && compared.len() >= 8, "{compared:?}, {several}");
}

/// Runs of calls, of which any may be bad by itself.
fn calls(bad: &[bool]) -> Value {
    let call =
        |bad: &bool| json!({"tool": if *bad { "drop" } else { "look" }, "args": {"n": if *bad { 9 } else { 1 }}});
    json!({"calls": bad.iter().map(call).collect::<Vec<_>>()})
}

#[test]
fn a_violating_step_that_is_mended_takes_its_violation_with_it_and_no_other() {
    for rule in
        ["never drop", "each any: args.n <= 5", "no any: args.n > 5", "only look", "all x in calls: x.args.n <= 5"]
    {
        let rules = program::Rules::compile(rule).unwrap();
        let violations = |bad: &[bool]| rules.violations(&calls(bad)).unwrap().remove(0).unwrap_or_default();
        for bits in 1..64_u32 {
            let bad: Vec<bool> = (0..6).map(|at| bits >> at & 1 == 1).collect();
            let all = violations(&bad);
            let expected: BTreeSet<Place> = (0..6).filter(|at| bad[*at]).map(|at| (Kind::Call.list(), at)).collect();
            assert_eq!(all, expected, "{rule} on {bad:?}");
            for at in (0..6).filter(|at| bad[*at]) {
                let mut mended = bad.clone();
                mended[at] = false;
                let mut left = expected.clone();
                left.remove(&(Kind::Call.list(), at));
                assert_eq!(violations(&mended), left, "{rule} on {mended:?}");
            }
        }
    }
}
