//! Ways inside of the engine: what is told beside a verdict, what is evaluated with it and how its program was loaded do not change it.

use crate::forms::{Form, Written};
use averment_base::limits::Limits;
use averment_engine::bytecode::codec::{self, DecodedFile};
use averment_engine::bytecode::program::Program;
use averment_engine::vm::evaluate::{EvaluateOptions, derive_run, evaluate, evaluate_some, evaluate_with_coverage};
use averment_engine::vm::machine::Machine;
use averment_engine::vm::outcome::{AssertionOutcome, RunOutcome};
use averment_engine::vm::prepare::PreparedProgram;
use averment_engine::vm::profile::Profile;
use averment_runs::run::{Run, RunSource};
use averment_traces::error::ReadError;
use averment_traces::read::{self, RawRun};
use bumpalo::Bump;
use serde_json::Value;
use std::cell::RefCell;
use std::time::Duration;

/// Two that should be equal and are not: of which way, what was expected, what was found.
pub type Unequal = (&'static str, String, String);

/// A program with what is prepared of it, as it was compiled and as it is read back from a file.
struct Loaded {
    compiled: (Program, PreparedProgram),
    decoded: (Program, PreparedProgram),
}

impl Loaded {
    fn new(program: &Program) -> Loaded {
        let Ok(DecodedFile::Program(decoded)) = codec::decode(&codec::encode(program)) else {
            panic!("what was encoded is decoded")
        };
        let with = |program: Program| (program.clone(), PreparedProgram::new(&program));
        Loaded { compiled: with(program.clone()), decoded: with(*decoded) }
    }
}

/// The first way of the engine that says something else of one of the runs.
pub fn unequal(program: &Program, raw: &[Result<RawRun, ReadError>]) -> Option<Unequal> {
    let loaded = Loaded::new(program);
    let (limits, options) = (Limits::default(), EvaluateOptions::default());
    let plays_all = EvaluateOptions { plays_all: true, ..EvaluateOptions::default() };
    raw.iter().flatten().find_map(|raw| {
        let (arena, profile) = (Bump::new(), RefCell::new(Profile::new(|| Duration::ZERO)));
        let run = read::parse_run(raw, &arena, &limits).ok()?;
        let (program, prepared) = &loaded.compiled;
        let expected = said(&evaluate(program, prepared, &run, &arena, &options));
        let ways: [(&'static str, String); 6] = [
            ("with what it goes through", said(&evaluate_with_coverage(program, prepared, &run, &arena, &options).0)),
            ("with a profile", with_profile(Machine::new(program, prepared, &run, &arena, limits), &profile, &options)),
            ("with every match played", said(&evaluate(program, prepared, &run, &arena, &plays_all))),
            ("with derivations", said(&derive_run(program, prepared, &run, &arena, &options).0)),
            ("from a compiled file", said(&evaluate(&loaded.decoded.0, &loaded.decoded.1, &run, &arena, &options))),
            ("each assertion alone", each_alone(program, prepared, &run, &arena, &options)),
        ];
        ways.into_iter().find(|(_, found)| *found != expected).map(|(way, found)| (way, expected, found))
    })
}

fn said(outcome: &RunOutcome) -> String {
    outcome.results.iter().map(|result| format!("{result:?}\n")).collect()
}

fn with_profile<'run>(machine: Machine<'run>, profile: &'run RefCell<Profile>, options: &EvaluateOptions) -> String {
    let all: Vec<u32> = (0..machine.program.assertions.len() as u32).collect();
    let results = evaluate_some(machine.noting_costs(Some(profile)), options, &all);
    results.iter().map(|result| format!("{result:?}\n")).collect()
}

fn each_alone<'run>(
    program: &'run Program,
    prepared: &'run PreparedProgram,
    run: &'run Run<'run>,
    arena: &'run Bump,
    options: &EvaluateOptions,
) -> String {
    let numbers = 0..program.assertions.len() as u32;
    let alone = |number| evaluate_some(Machine::new(program, prepared, run, arena, options.limits), options, &[number]);
    numbers.flat_map(alone).map(|result| format!("{result:?}\n")).collect()
}

/// The first run that is judged otherwise because it is written otherwise.
pub fn unequal_forms(program: &Program, runs: &[Written]) -> Option<Unequal> {
    let prepared = PreparedProgram::new(program);
    let judged = |text: &str| {
        let raw = RawRun::new(text.to_owned(), RunSource::default());
        let (arena, options) = (Bump::new(), EvaluateOptions::default());
        let run = read::parse_run(&raw, &arena, &options.limits).ok()?;
        let outcome = evaluate(program, &prepared, &run, &arena, &options);
        Some(outcome.results.iter().map(without_places).collect::<String>())
    };
    runs.iter().filter(|run| run.form == Form::Varied).find_map(|run| {
        let (expected, found) =
            (judged(&run.normal)?, judged(&run.text).unwrap_or_else(|| "cannot be read".to_owned()));
        (expected != found).then_some(("written otherwise", expected, found))
    })
}

/// What is said of each rule of a file, and of the same rule alone.
pub fn unequal_together(alone: &[&Program], together: &Program, raw: &[Result<RawRun, ReadError>]) -> Option<Unequal> {
    let prepared: Vec<PreparedProgram> = alone.iter().map(|program| PreparedProgram::new(program)).collect();
    let all = PreparedProgram::new(together);
    let options = EvaluateOptions::default();
    raw.iter().flatten().find_map(|raw| {
        let arena = Bump::new();
        let run = read::parse_run(raw, &arena, &options.limits).ok()?;
        let each = alone.iter().zip(&prepared);
        let single = each.flat_map(|(program, prepared)| evaluate(program, prepared, &run, &arena, &options).results);
        let expected: String = single.map(|one| without_rule(&one)).collect();
        let joint = evaluate(together, &all, &run, &arena, &options).results;
        let found: String = joint.iter().map(without_rule).collect();
        (expected != found).then_some(("alone and together", expected, found))
    })
}

/// An outcome without places in the rules.
fn without_rule(outcome: &AssertionOutcome) -> String {
    let mut outcome = outcome.clone();
    outcome.assertion = 0;
    let of_violations = outcome.violations.listed.iter_mut().flat_map(|violation| &mut violation.evidence);
    outcome.evidence.iter_mut().chain(of_violations).for_each(|evidence| evidence.rule_span = None);
    let judged: Vec<bool> = std::mem::take(&mut outcome.gates).into_iter().map(|gate| gate.judged).collect();
    format!("{outcome:?} {judged:?}\n")
}

/// A value that `[*]` may have put together in the order of keys.
fn unordered(value: Value) -> Value {
    match value {
        Value::Array(mut items) => {
            items.sort_by_key(Value::to_string);
            Value::Array(items)
        }
        value => value,
    }
}

/// What an outcome says whatever the order of keys in the values that it shows.
fn without_places(outcome: &AssertionOutcome) -> String {
    let mut said = format!("{} {:?} {:?}\n", outcome.verdict.as_str(), outcome.status, outcome.score);
    let mut found = Vec::new();
    said += &format!("  {} violations\n", outcome.violations.count);
    for evidence in &outcome.evidence {
        let value = evidence.value.as_deref().and_then(|text| serde_json::from_str::<Value>(text).ok()).map(unordered);
        let shown = format!("{:?} {} {value:?} {:?}\n", evidence.step, evidence.path, evidence.found);
        match evidence.found {
            // Of several places in one value the first is decisive: with other keys in front it is another one.
            Some(_) => found.push(format!("  found {shown}")),
            None => said += &format!("  {:?} {shown}", evidence.role),
        }
    }
    found.sort();
    said + &found.concat()
}
