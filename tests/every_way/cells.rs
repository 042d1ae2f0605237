//! Cases in which each kind of statement comes out with each verdict: drawn until there is one of each.

use crate::case::{Case, run};
use crate::forms::Form;
use crate::rules::{self, rule};
use crate::source::Source;
use averment_base::limits::Limits;
use averment_base::truth::Verdict;
use averment_engine::vm::evaluate::{EvaluateOptions, evaluate};
use averment_engine::vm::prepare::PreparedProgram;
use averment_traces::read::read_str;
use bumpalo::Bump;

const WANTED: [Verdict; 4] = [Verdict::Pass, Verdict::Fail, Verdict::Vacuous, Verdict::Undecided];

/// The kinds of statement of the generator, with the verdicts that one cannot have.
pub const KINDS: &[(&str, &[Verdict])] = &[
    ("After Each", &[]),
    ("After Immediately", &[]),
    ("After Plain", &[]),
    ("AllOf", &[]),
    ("AnyOf", &[]),
    ("Apart", &[]),
    ("AtLeast", &[]),
    ("Before Each", &[]),
    ("Before Immediately", &[]),
    ("Before Plain", &[]),
    ("Before Plain reversed", &[]),
    ("Before Starts", &[]),
    ("Before StartsEach", &[]),
    ("Block After", &[]),
    ("Block Before", &[]),
    ("Block Between", &[]),
    ("Block Each", &[]),
    ("Block When", &[]),
    ("CallsMatch", &[]),
    ("Count", &[]),
    ("Either", &[]),
    ("Expression", &[]),
    ("First", &[]),
    ("Flow", &[]),
    ("If", &[]),
    ("Iff", &[]),
    ("Last", &[]),
    ("Nested", &[]),
    ("Never", &[]),
    ("NeverAfter", &[]),
    ("NeverAfter until", &[]),
    ("NeverBefore", &[]),
    ("NeverBetween", &[]),
    ("NeverRepeat", &[]),
    ("NoBad", &[]),
    ("NoneOf", &[]),
    ("Not", &[]),
    ("NotBoth", &[]),
    ("Only", &[]),
    ("Quantified Each", &[]),
    ("Quantified No", &[]),
    ("Quantified Some", &[]),
    ("Require", &[]),
    ("RequireTimes", &[]),
    ("Sequence Exactly", &[]),
    ("Sequence Gaps", &[]),
    ("Sequence Only", &[]),
    ("Together", &[]),
    ("When", &[]),
];

#[test]
fn every_kind_that_is_generated_is_listed() {
    let kinds = (0..3000).map(|number| crate::generate_rule::rule(&mut Source::seeded(5, number)).kind());
    let missing: std::collections::BTreeSet<String> =
        kinds.filter(|kind| KINDS.iter().all(|(listed, _)| listed != kind)).collect();
    assert!(missing.is_empty(), "`KINDS` in tests/every_way/cells.rs lacks {missing:?}");
}

/// Rules of a kind that are tried, and runs for each.
const TRIED: (u64, u64) = (3000, 14);

/// A case for each kind.
pub fn cases(seed: u64) -> Vec<Case> {
    // One walk through the rules serves all kinds.
    let mut found: Vec<Found> = KINDS.iter().map(|(kind, impossible)| Found::new(kind, impossible)).collect();
    let mut number = 0;
    while found.iter().any(|one| !one.is_done()) && number < 250_000 {
        let mut source = Source::seeded(seed ^ 0xCE11, number);
        let kind = rule(&mut source).kind;
        if let Some(found) = found.iter_mut().find(|one| one.kind == kind && !one.is_done()) {
            found.try_rule(&source.choices, seed, number);
        }
        number += 1;
    }
    println!("seed {seed}: {number}");
    found.into_iter().enumerate().map(|(number, found)| found.case(number as u64)).collect()
}

/// What was found for a kind.
struct Found {
    kind: &'static str,
    wanted: Vec<Verdict>,
    tried: u64,
    rules: Vec<Vec<u32>>,
    runs: Vec<Vec<u32>>,
}

impl Found {
    fn new(kind: &'static str, impossible: &[Verdict]) -> Found {
        let wanted = WANTED.into_iter().filter(|verdict| !impossible.contains(verdict)).collect();
        Found { kind, wanted, tried: 0, rules: Vec::new(), runs: Vec::new() }
    }

    fn is_done(&self) -> bool {
        self.wanted.is_empty() || self.tried >= TRIED.0
    }

    /// Keeps the rule, and those of some runs that give it a verdict that is still wanted.
    fn try_rule(&mut self, choices: &[u32], seed: u64, number: u64) {
        self.tried += 1;
        let rule = rule(&mut Source::replay(choices));
        let program = rules::compile("rules.assert", &rules::file(&[(0, &rule)])).unwrap();
        let prepared = PreparedProgram::new(&program);
        let runs = self.runs.len();
        for place in 0..TRIED.1 {
            let mut source = Source::seeded(seed ^ 0xCE12, number * TRIED.1 + place);
            let written = run(&mut source);
            // Of a run in another form it is not known beforehand what it says.
            if !matches!(written.form, Form::Normal | Form::Varied) {
                continue;
            }
            let (arena, limits) = (Bump::new(), Limits::default());
            let read = read_str(&written.text, &arena, &limits).unwrap();
            let outcome = evaluate(&program, &prepared, &read, &arena, &EvaluateOptions::default());
            let wanted = |verdict: &Verdict| outcome.results.iter().any(|result| result.verdict == *verdict);
            if let Some(place) = self.wanted.iter().position(wanted) {
                self.wanted.remove(place);
                self.runs.push(source.choices);
            }
        }
        if self.runs.len() > runs {
            self.rules.push(choices.to_vec());
        }
    }

    fn case(self, number: u64) -> Case {
        Case { number, rules: self.rules, runs: self.runs, settings: Vec::new() }
    }
}
