//! Written cases: `cases/*.json`, each with a rule, a run and the verdict that the page gives them.

use crate::evaluate::evaluate;
use crate::parse;
use crate::print;
use crate::run::Run;
use crate::truth::Verdict;
use serde_json::Value;

pub struct Case {
    pub name: String,
    pub rule: String,
    pub run: Value,
    /// One for each assertion.
    pub verdicts: Vec<Verdict>,
}

pub fn written() -> Vec<Case> {
    let folder = averment_fixtures::root().join("tests/oracle/cases");
    let mut files: Vec<_> =
        std::fs::read_dir(folder).expect("a folder of cases").map(|file| file.unwrap().path()).collect();
    files.sort();
    files.iter().flat_map(|file| read(file)).collect()
}

fn read(file: &std::path::Path) -> Vec<Case> {
    let text = std::fs::read_to_string(file).expect("a readable case");
    let cases: Vec<Value> = serde_json::from_str(&text).unwrap_or_else(|error| panic!("{}: {error}", file.display()));
    let text =
        |case: &Value, key: &str| case[key].as_str().unwrap_or_else(|| panic!("{case} has no `{key}`")).to_owned();
    let stem = file.file_stem().unwrap().to_string_lossy().into_owned();
    let case = |case: &Value| Case {
        name: format!("{stem}: {}", text(case, "name")),
        rule: text(case, "rule"),
        run: case["run"].clone(),
        verdicts: text(case, "verdict").split(' ').map(|word| Verdict::parse(word).expect("a verdict")).collect(),
    };
    cases.iter().map(case).collect()
}

fn judge(case: &Case) -> Vec<Verdict> {
    let run = Run::read(&case.run);
    let statements = parse::statements(&case.rule);
    statements.iter().flat_map(|statement| evaluate(statement, &run).expect("few unknowns")).collect()
}

#[test]
fn the_reference_evaluator_gives_every_written_verdict() {
    let cases = written();
    let wrong: Vec<String> = cases
        .iter()
        .filter_map(|case| {
            let found = judge(case);
            (found != case.verdicts)
                .then(|| format!("{}\n  {}\n  expected {:?}, found {found:?}", case.name, case.rule, case.verdicts))
        })
        .collect();
    assert!(wrong.is_empty(), "{} of {} cases:\n{}", wrong.len(), cases.len(), wrong.join("\n"));
    assert!(cases.len() >= 60, "only {} cases", cases.len());
}

#[test]
fn rules_are_printed_as_they_were_read() {
    for case in written() {
        let statements = parse::statements(&case.rule);
        let printed: Vec<String> = statements.iter().map(print::statement).collect();
        assert_eq!(parse::statements(&printed.join("\n")), statements, "{}: {}", case.name, printed.join("\n"));
    }
}

#[test]
fn every_form_of_a_statement_about_the_course_has_a_written_case() {
    let rules: Vec<String> = written().into_iter().map(|case| case.rule).collect();
    let begin = |words: &str| rules.iter().flat_map(|rule| rule.split(['\n', '{'])).any(|line| begins(line, words));
    // What is asked of catalogues, of the world, of many runs and of a computed number is no question of the course.
    let others = [
        "args valid",
        "score",
        "file",
        "env … is set",
        "tool … is available",
        "http … status",
        "run",
        "in at least … of runs",
    ];
    let forms = averment_syntax::statements::FORMS.iter().map(|form| form.words);
    for words in forms.filter(|words| !others.contains(words)) {
        assert!(begin(words), "`{words}` has no case in tests/oracle/cases");
    }
}

fn begins(line: &str, words: &str) -> bool {
    line.trim().strip_prefix(words).is_some_and(|rest| !rest.starts_with(char::is_alphabetic))
}
