//! Reads the expected verdict from the name of a case file: `NAME.VERDICT.json`, `NAME.VERDICT.RULE.json`, or folders `VERDICT/NAME.json`,
//! `RULE/VERDICT/NAME.json`. Several rules are separated by commas.

use crate::trial::{STATED, TrialProblem};
use averment_base::truth::Verdict;
use std::path::Path;

/// The expectation in a case's file name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CaseName {
    /// The expected verdict.
    pub expect: Verdict,
    /// The rules with this verdict; empty for all.
    pub rules: Vec<String>,
}

/// Reads the path of a case file below the folder of cases.
///
/// # Errors
/// If the path contains no verdict or more than one.
pub fn read_name(path: &Path) -> Result<CaseName, TrialProblem> {
    let parts: Vec<String> = path.components().map(|part| part.as_os_str().to_string_lossy().into_owned()).collect();
    let (file, folders) = match parts.split_last() {
        Some((file, folders)) => (file.as_str(), folders),
        None => ("", [].as_slice()),
    };
    let stem = file.rsplit_once('.').map_or(file, |(stem, _)| stem);
    match (of_file(stem), of_folders(folders)) {
        (Some(file), Some(folders)) if file.expect != folders.expect => Err(TrialProblem::new(
            format!("its name says `{}` and its folder `{}`", file.expect.as_str(), folders.expect.as_str()),
            "let one of them say it",
        )),
        (Some(file), Some(folders)) if file.rules.is_empty() => Ok(folders),
        (Some(file), _) => Ok(file),
        (None, Some(folders)) => Ok(folders),
        (None, None) => Err(TrialProblem::new(
            "its name does not say what it has to come out as".to_owned(),
            format!("name it `{}.fail.json`, or put it into a folder `fail`", before_dot(stem)),
        )),
    }
}

fn before_dot(stem: &str) -> &str {
    stem.split('.').next().unwrap_or(stem)
}

pub(super) fn stated_verdict(word: &str) -> Option<Verdict> {
    Verdict::parse(word).filter(|verdict| STATED.contains(verdict))
}

/// Reads `NAME.fail.RULE`: everything after the verdict names rules, which may contain dots.
fn of_file(stem: &str) -> Option<CaseName> {
    let mut rest = stem;
    loop {
        let (word, behind) = rest.split_once('.').map_or((rest, ""), |(word, behind)| (word, behind));
        if let Some(expect) = stated_verdict(word) {
            return Some(CaseName { expect, rules: split_names(behind) });
        }
        if behind.is_empty() {
            return None;
        }
        rest = behind;
    }
}

/// Reads the innermost folder named after a verdict; its parent folder names rules.
fn of_folders(folders: &[String]) -> Option<CaseName> {
    let at = folders.iter().rposition(|folder| stated_verdict(folder).is_some())?;
    let expect = stated_verdict(folders.get(at)?)?;
    let around = at.checked_sub(1).and_then(|around| folders.get(around));
    Some(CaseName { expect, rules: around.map(|around| split_names(around)).unwrap_or_default() })
}

fn split_names(text: &str) -> Vec<String> {
    text.split(',').map(str::trim).filter(|name| !name.is_empty()).map(str::to_owned).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(path: &str) -> Option<(Verdict, String)> {
        read_name(Path::new(path)).ok().map(|name| (name.expect, name.rules.join("+")))
    }

    #[test]
    fn names_and_folders_say_the_verdict_and_the_rules() {
        let says = |verdict, rules: &str| Some((verdict, rules.to_owned()));
        assert_eq!(read("large.fail.json"), says(Verdict::Fail, ""));
        assert_eq!(read("large.fail.approval.json"), says(Verdict::Fail, "approval"));
        assert_eq!(read("large.v2.fail.app.rov-al,limits.jsonl"), says(Verdict::Fail, "app.rov-al+limits"));
        assert_eq!(read("fail/large.json"), says(Verdict::Fail, ""));
        assert_eq!(read("approval/fail/large.json"), says(Verdict::Fail, "approval"));
        assert_eq!(read("approval/vacuous/more/none.json"), says(Verdict::Vacuous, "approval"));
        assert_eq!(read("approval/fail/large.fail.json"), says(Verdict::Fail, "approval"));
        assert_eq!(read("pass.json"), says(Verdict::Pass, ""));
    }

    #[test]
    fn a_name_without_a_verdict_or_with_two_is_told() {
        assert!(read_name(Path::new("large.json")).unwrap_err().help.contains("`large.fail.json`"));
        assert!(read_name(Path::new("skipped/large.json")).is_err());
        assert!(read_name(Path::new("pass/large.fail.json")).unwrap_err().reason.contains("its folder `pass`"));
    }
}
