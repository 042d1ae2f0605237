//! The program, by its public face alone: a rule file and a run go in, verdicts come out.

use crate::model::BAD;
use crate::truth::Verdict;
use serde_json::Value;

pub struct Rules(averment::Rules);

impl Rules {
    /// The diagnostics as text where it does not compile.
    pub fn compile(text: &str) -> Result<Rules, String> {
        let definition = if text.contains("no bad in") { BAD.0 } else { "" };
        averment::Rules::from_text("rules.assert", &format!("{definition}{text}"))
            .map(Rules)
            .map_err(|error| error.to_string())
    }

    /// One verdict for each assertion.
    pub fn verdicts(&self, run: &Value) -> Result<Vec<Verdict>, String> {
        let outcome = self.0.check_json(&run.to_string()).map_err(|error| error.to_string())?;
        let word =
            |verdict: averment::truth::Verdict| Verdict::parse(verdict.as_str()).expect("a verdict of the language");
        Ok(outcome.results.iter().map(|result| word(result.verdict)).collect())
    }
}
