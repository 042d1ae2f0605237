//! STOP: manifests of skills.

mod conformance;
mod documents;
mod meaning;
mod refused;

use crate::judged::Given;
use averment::Verdict;

/// A check of the vectors that no output meets.
const CONTRADICTORY: &str = r#""equals":"c","greater_than":1"#;

/// A manifest with these assertions, and whatever else stands behind its four keys.
fn manifest(rest: &str) -> String {
    format!("sop: \"0.1\"\nname: a-skill\nversion: 1.0.0\ndescription: A skill\n{rest}")
}

/// What a check says of a run, by the word of STOP.
fn word(verdict: Verdict) -> &'static str {
    let dialect = averment_dialects::DIALECTS.iter().find(|dialect| dialect.name() == "STOP").unwrap();
    dialect.verdicts.word_for(verdict).expect("no check has a `when`").word.as_ref()
}

/// The words for all checks of a manifest on a run; what it is imported as is formatted, without a finding, and says the same.
fn words(text: &str, run: &str) -> Result<Vec<&'static str>, String> {
    let given = Given { name: "skill.yaml", text, ..Given::default() };
    let judged = given.judge(run)?;
    // Of checks that exclude each other the linter says so, as it should.
    if !text.contains(CONTRADICTORY) {
        given.imports_cleanly();
    }
    Ok(judged.results.iter().map(|(_, verdict, _)| word(*verdict)).collect())
}

/// What a manifest is imported as.
fn imported(text: &str) -> String {
    Given { name: "skill.yaml", text, ..Given::default() }.imported().unwrap()
}

/// What is said of a manifest that cannot be used.
fn refused(text: &str) -> String {
    Given { name: "skill.yaml", text, ..Given::default() }.imported().unwrap_err()
}
