//! The program, by its public face alone: a rule file and a run go in, verdicts come out.

use crate::model::definitions;
use crate::truth::Verdict;
use averment_base::limits::Limits;
use averment_engine::vm::evaluate::{EvaluateOptions, evaluate};
use averment_engine::vm::outcome::{AssertionOutcome, RunOutcome, VerdictEvidence};
use averment_engine::vm::prepare::PreparedProgram;
use averment_traces::read::read_str;
use bumpalo::Bump;
use serde_json::Value;
use std::collections::BTreeSet;

/// A step by its kind and its number among those.
pub type Place = (&'static str, usize);

pub struct Rules(averment_fixtures::Rules);

impl Rules {
    /// The diagnostics as text where it does not compile.
    pub fn compile(text: &str) -> Result<Rules, String> {
        averment_fixtures::Rules::from_text("rules.assert", &format!("{}{text}", definitions(text)))
            .map(Rules)
            .map_err(|error| error.to_string())
    }

    /// One verdict for each assertion.
    pub fn verdicts(&self, run: &Value) -> Result<Vec<Verdict>, String> {
        let outcome = self.0.check_json(&run.to_string()).map_err(|error| error.to_string())?;
        let word = |verdict: averment_base::truth::Verdict| {
            Verdict::parse(verdict.as_str()).expect("a verdict of the language")
        };
        Ok(outcome.results.iter().map(|result| word(result.verdict)).collect())
    }

    /// The steps of the violations of each assertion that fails, by kind and number among those of the kind.
    pub fn violations(&self, run: &Value) -> Option<Vec<Option<BTreeSet<Place>>>> {
        let (arena, limits) = (Bump::new(), Limits::default());
        let text = run.to_string();
        let run = read_str(&text, &arena, &limits).ok()?;
        let program = self.0.program();
        let prepared = PreparedProgram::new(program);
        let outcome = evaluate(program, &prepared, &run, &arena, &EvaluateOptions::default());
        let place = |evidence: &Vec<VerdictEvidence>| {
            let step = evidence.iter().find_map(|one| one.step)? as usize;
            let kind = run.steps.get(step)?.kind;
            Some((kind.list_key(), run.steps[..step].iter().filter(|other| other.kind == kind).count()))
        };
        let of_one = |result: &AssertionOutcome| {
            let listed = &result.violations.listed;
            assert!(listed.len() as u64 == result.violations.count, "all are listed, and counted: {result:?}");
            match listed.is_empty() {
                true => place(&result.evidence).into_iter().collect(),
                false => listed.iter().filter_map(|one| place(&one.evidence)).collect(),
            }
        };
        let fails = |result: &&AssertionOutcome| result.verdict == averment_base::truth::Verdict::Fail;
        Some(outcome.results.iter().map(|result| Some(result).filter(fails).map(of_one)).collect())
    }

    /// What is found of each assertion, words and evidence included: in the common way, and in the one that plays every match of every
    /// statement.
    pub fn findings(&self, run: &Value) -> Option<[Vec<String>; 2]> {
        let (arena, limits, options) = (Bump::new(), Limits::default(), EvaluateOptions::default());
        let text = run.to_string();
        let run = read_str(&text, &arena, &limits).ok()?;
        let program = self.0.program();
        let prepared = PreparedProgram::new(program);
        let common = evaluate(program, &prepared, &run, &arena, &options);
        let full = evaluate(program, &prepared, &run, &arena, &EvaluateOptions { plays_all: true, ..options });
        let said = |outcome: &RunOutcome| outcome.results.iter().map(|result| format!("{result:?}")).collect();
        Some([said(&common), said(&full)])
    }
}
