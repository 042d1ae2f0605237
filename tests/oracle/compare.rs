//! The program against the reference evaluator: first difference wins, made as small as it gets.

use crate::expression;
use crate::generate_expression;
use crate::generate_run;
use crate::generated::{Coverage, reference, rule_of};
use crate::print_expression;
use crate::program;
use crate::run::Run;
use crate::selection::speaks_of_the_record;
use crate::source::{Source, shrink};
use crate::truth::Verdict;
use serde_json::Value;

/// How many pairs of a rule and a run; fewer by default, so that every change can be checked.
fn cases() -> u64 {
    setting("AVERMENT_ORACLE_CASES", 5000)
}

fn seed() -> u64 {
    setting("AVERMENT_ORACLE_SEED", 1)
}

fn setting(name: &str, default: u64) -> u64 {
    match std::env::var(name) {
        Ok(text) => text.parse().unwrap_or_else(|_| panic!("{name} is no number: `{text}`")),
        Err(_) => default,
    }
}

const RUNS_PER_RULE: u64 = 10;
/// Differences that are shown at once, each of another shape.
const SHOWN: usize = 12;

/// A rule and a run with what both sides say of them.
struct Difference {
    rule: String,
    run: Value,
    expected: String,
    found: String,
}

impl Difference {
    /// What kind of difference it is: the statement's words without the tools, and both verdicts.
    fn shape(&self) -> String {
        let words = self.rule.split_whitespace().filter(|word| word.len() > 3 && word.chars().all(char::is_alphabetic));
        format!("{} {} {}", words.collect::<Vec<_>>().join(" "), self.expected, self.found)
    }
}

impl std::fmt::Display for Difference {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        writeln!(f, "{}\n  on {}", self.rule, self.run)?;
        writeln!(f, "  reference: {}\n  program:   {}", self.expected, self.found)
    }
}

fn said(verdicts: &[Verdict]) -> String {
    verdicts.iter().map(Verdict::to_string).collect::<Vec<_>>().join(" ")
}

fn program_says(rules: &Result<program::Rules, String>, run: &Value) -> String {
    match rules {
        Ok(rules) => rules.verdicts(run).map_or_else(|error| error, |verdicts| said(&verdicts)),
        Err(diagnostics) => format!("does not compile: {diagnostics}"),
    }
}

/// The difference of two lists of choices, if there is one.
fn statement_difference(rule: &[u32], run: &[u32]) -> Option<Difference> {
    let (rule, statements) = rule_of(&mut Source::replay(rule));
    let run = generate_run::run(&mut Source::replay(run));
    let expected = said(&reference(&statements, &run).ok()?);
    let found = program_says(&program::Rules::compile(&rule), &run);
    (expected != found).then_some(Difference { rule, run, expected, found })
}

fn expression_difference(rule: &[u32], run: &[u32]) -> Option<Difference> {
    let expr = generate_expression::condition(&mut Source::replay(rule), 3, &[]);
    let run = generate_expression::run(&mut Source::replay(run));
    let rule = print_expression::print(&expr);
    let expected = expression::verdict(&expr, &Run::read(&run)).to_string();
    let found = program_says(&program::Rules::compile(&rule), &run);
    (expected != found).then_some(Difference { rule, run, expected, found })
}

/// Collects differences of different shapes, each made small.
#[derive(Default)]
struct Differences {
    shown: Vec<Difference>,
    all: usize,
}

impl Differences {
    fn add(&mut self, choices: [Vec<u32>; 2], differ: fn(&[u32], &[u32]) -> Option<Difference>) {
        self.all += 1;
        if self.shown.len() >= SHOWN {
            return;
        }
        let compiles = |difference: &Difference| !difference.found.starts_with("does not");
        let Some(first) = differ(&choices[0], &choices[1]) else { return };
        let mut parts = choices;
        shrink(&mut parts, |parts| differ(&parts[0], &parts[1]).is_some_and(|it| compiles(&it) == compiles(&first)));
        let Some(smallest) = differ(&parts[0], &parts[1]) else { return };
        if self.shown.iter().all(|known| known.shape() != smallest.shape()) {
            self.shown.push(smallest);
        }
    }

    fn assert_none(&self, pairs: u64) {
        let text: String = self.shown.iter().map(|difference| format!("\n{difference}")).collect();
        assert!(self.all == 0, "{} of {pairs} pairs differ (seed {}):\n{text}", self.all, seed());
    }
}

#[test]
fn the_program_agrees_on_generated_rules_and_runs() {
    let (mut coverage, mut differences) = (Coverage::default(), Differences::default());
    let rules = cases() / RUNS_PER_RULE;
    for number in 0..rules {
        let stream = number * (RUNS_PER_RULE + 1);
        let mut rule_source = Source::seeded(seed(), stream);
        let (text, statements) = rule_of(&mut rule_source);
        let compiled = program::Rules::compile(&text);
        for place in 1..=RUNS_PER_RULE {
            let mut run_source = Source::seeded(seed(), stream + place);
            let run = generate_run::run(&mut run_source);
            let Ok(verdicts) = reference(&statements, &run) else {
                coverage.skipped += 1;
                continue;
            };
            coverage.record(&statements, &verdicts);
            if program_says(&compiled, &run) != said(&verdicts) {
                differences.add([rule_source.choices.clone(), run_source.choices], statement_difference);
            }
        }
    }
    println!("seed {}, {rules} rules on {RUNS_PER_RULE} runs each\n{}", seed(), coverage.table());
    differences.assert_none(rules * RUNS_PER_RULE);
}

#[test]
fn the_program_agrees_on_generated_expressions() {
    let mut differences = Differences::default();
    let expressions = cases() / RUNS_PER_RULE;
    for number in 0..expressions {
        let stream = number * (RUNS_PER_RULE + 1);
        let mut rule_source = Source::seeded(seed() ^ 0xE, stream);
        let expr = generate_expression::condition(&mut rule_source, 3, &[]);
        let compiled = program::Rules::compile(&print_expression::print(&expr));
        for place in 1..=RUNS_PER_RULE {
            let mut run_source = Source::seeded(seed() ^ 0xE, stream + place);
            let run = generate_expression::run(&mut run_source);
            let expected = expression::verdict(&expr, &Run::read(&run));
            if program_says(&compiled, &run) != expected.to_string() {
                differences.add([rule_source.choices.clone(), run_source.choices], expression_difference);
            }
        }
    }
    differences.assert_none(expressions * RUNS_PER_RULE);
}

#[test]
fn the_program_gives_every_written_verdict() {
    let wrong: Vec<String> = crate::cases::written()
        .iter()
        .filter_map(|case| {
            let found = program_says(&program::Rules::compile(&case.rule), &case.run);
            let expected = said(&case.verdicts);
            let (name, rule, run) = (&case.name, case.rule.clone(), case.run.clone());
            (found != expected).then(|| format!("{name}\n{}", Difference { rule, run, expected, found }))
        })
        .collect();
    assert!(wrong.is_empty(), "{} cases:\n{}", wrong.len(), wrong.join("\n"));
}

/// What the program says of a run that is not complete stays true, whatever comes.
#[test]
fn what_the_program_settles_early_stays() {
    for number in 0..cases() / RUNS_PER_RULE {
        let (text, _) = rule_of(&mut Source::seeded(seed() ^ 0x5, 2 * number));
        if speaks_of_the_record(&text) {
            continue;
        }
        let mut run = generate_run::run(&mut Source::seeded(seed() ^ 0x5, 2 * number + 1));
        let Ok(rules) = program::Rules::compile(&text) else { continue };
        let Some(steps) = run.get("calls").and_then(Value::as_array).cloned() else { continue };
        if run.as_object().is_some_and(|run| run.contains_key("messages")) {
            continue;
        }
        let whole = Run::read(&run);
        for length in 0..steps.len() {
            run["calls"] = Value::Array(steps[..length].to_vec());
            run["complete"] = Value::Bool(false);
            if !Run::read(&run).is_prefix_of(&whole) {
                continue;
            }
            let early = rules.verdicts(&run);
            run["calls"] = Value::Array(steps.clone());
            for complete in [false, true] {
                run["complete"] = Value::Bool(complete);
                let pairs = early.iter().flatten().zip(rules.verdicts(&run).into_iter().flatten());
                for (before, after) in pairs {
                    let settled = matches!(before, Verdict::Pass | Verdict::Fail);
                    assert!(
                        !settled || *before == after,
                        "{before} after {length} steps, then {after}:\n{text}\n{run}"
                    );
                }
            }
        }
    }
}

/// Of most statements few matches decide, and of two that are the same one is judged: verdicts, words and evidence are those of a look at
/// every match of each.
#[test]
fn what_decides_is_explained_like_all_that_matches() {
    let mut compared = 0;
    for number in 0..cases() / RUNS_PER_RULE {
        let stream = number * (RUNS_PER_RULE + 1);
        let (text, _) = rule_of(&mut Source::seeded(seed() ^ 0xD, stream));
        let Ok(rules) = program::Rules::compile(&format!("{text}\nrule again {{\n{text}\n}}")) else { continue };
        for place in 1..=RUNS_PER_RULE {
            let run = generate_run::run(&mut Source::seeded(seed() ^ 0xD, stream + place));
            let Some([common, full]) = rules.findings(&run) else { continue };
            let differing: Vec<_> = common.iter().zip(&full).filter(|(a, b)| a != b).collect();
            assert!(differing.is_empty(), "{text}\n{run}\n{differing:#?}");
            compared += 1;
        }
    }
    assert!(compared > cases() / 2, "only {compared} pairs were compared");
}
