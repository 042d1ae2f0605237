//! STOP: manifests of skills.

mod conformance;
mod documents;
mod meaning;
mod refused;

use crate::judged::Given;
use averment::Verdict;

/// A check of the vectors that no output satisfies.
const CONTRADICTORY: &str = r#""equals":"c","greater_than":1"#;

/// Returns a manifest with the four required keys, followed by `rest`.
fn manifest(rest: &str) -> String {
    format!("sop: \"0.1\"\nname: a-skill\nversion: 1.0.0\ndescription: A skill\n{rest}")
}

/// Returns STOP's word for a verdict.
fn word(verdict: Verdict) -> &'static str {
    let dialect = averment_dialects::DIALECTS.iter().find(|dialect| dialect.name() == "STOP").unwrap();
    dialect.verdicts.word_for(verdict).expect("no check has a `when`").word.as_ref()
}

/// Returns the words for all checks of a manifest on a run. Also asserts that the imported text is formatted and has no lint findings.
fn words(text: &str, run: &str) -> Result<Vec<&'static str>, String> {
    let given = Given { name: "skill.yaml", text, ..Given::default() };
    let judged = given.judge(run)?;
    // For contradictory checks, the linter rightly reports a finding.
    if !text.contains(CONTRADICTORY) {
        given.imports_cleanly();
    }
    Ok(judged.results.iter().map(|(_, verdict, _)| word(*verdict)).collect())
}

/// Returns the imported text of a manifest.
fn imported(text: &str) -> String {
    Given { name: "skill.yaml", text, ..Given::default() }.imported().unwrap()
}

/// Returns the diagnostics of an unusable manifest.
fn refused(text: &str) -> String {
    Given { name: "skill.yaml", text, ..Given::default() }.imported().unwrap_err()
}
