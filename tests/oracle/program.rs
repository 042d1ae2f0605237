//! The program, by its public face alone: a rule file and a run go in, verdicts come out.

use crate::model::BAD;
use crate::truth::Verdict;
use averment_base::limits::Limits;
use averment_engine::vm::evaluate::{EvaluateOptions, evaluate, evaluate_profiled};
use averment_engine::vm::outcome::Outcome;
use averment_engine::vm::prepare::Prepared;
use averment_engine::vm::profile::Profile;
use averment_traces::read::read_str;
use bumpalo::Bump;
use serde_json::Value;

pub struct Rules(averment_fixtures::Rules);

impl Rules {
    /// The diagnostics as text where it does not compile.
    pub fn compile(text: &str) -> Result<Rules, String> {
        let definition = if text.contains("no bad in") { BAD.0 } else { "" };
        averment_fixtures::Rules::from_text("rules.assert", &format!("{definition}{text}"))
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

    /// What is found of each assertion, words and evidence included: in the common way, and in the one that plays every match of every
    /// statement.
    pub fn findings(&self, run: &Value) -> Option<[Vec<String>; 2]> {
        let (arena, limits, options) = (Bump::new(), Limits::default(), EvaluateOptions::default());
        let text = run.to_string();
        let run = read_str(&text, &arena, &limits).ok()?;
        let program = self.0.program();
        let prepared = Prepared::new(program);
        let common = evaluate(program, &prepared, &run, &arena, &options);
        let full = evaluate_profiled(
            program,
            &prepared,
            &run,
            &arena,
            &options,
            &mut Profile::new(|| std::time::Duration::ZERO),
        );
        let said = |outcome: &Outcome| outcome.results.iter().map(|result| format!("{result:?}")).collect();
        Some([said(&common), said(&full)])
    }
}
