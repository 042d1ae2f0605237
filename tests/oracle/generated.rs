//! Generated rules on generated runs.

use crate::answers::TooMany;
use crate::denied;
use crate::evaluate::{collect, evaluate};
use crate::expression;
use crate::generate_expression;
use crate::generate_run;
use crate::model::{Statement, Within};
use crate::parse;
use crate::print;
use crate::run::Run;
use crate::selection::speaks_of_the_record;
use crate::source::Source;
use crate::truth::Verdict;
use std::collections::BTreeMap;

/// The rule of some choices, as its text and as it is read back.
pub fn rule_of(source: &mut Source) -> (String, Vec<Statement>) {
    let text = print::statement(&denied::rule(source));
    let statements = parse::statements(&text);
    (text, statements)
}

/// How often each statement and modifier came out with each verdict.
#[derive(Default)]
pub struct Coverage {
    rows: BTreeMap<String, BTreeMap<Verdict, usize>>,
    totals: BTreeMap<Verdict, usize>,
    pub skipped: usize,
}

impl Coverage {
    pub fn record(&mut self, statements: &[Statement], verdicts: &[Verdict]) {
        for verdict in verdicts {
            *self.totals.entry(*verdict).or_default() += 1;
            for feature in features(statements) {
                *self.rows.entry(feature).or_default().entry(*verdict).or_default() += 1;
            }
        }
    }

    pub fn share(&self, verdict: Verdict) -> f64 {
        let all: usize = self.totals.values().sum();
        self.totals.get(&verdict).copied().unwrap_or(0) as f64 / all.max(1) as f64
    }

    pub fn table(&self) -> String {
        let words: Vec<String> = Verdict::ALL.iter().map(|verdict| format!("{:>9}", verdict.to_string())).collect();
        let mut out = format!("{:<32}{}\n", "", words.concat());
        let all = ("all".to_owned(), &self.totals);
        for (name, counts) in self.rows.iter().map(|(name, counts)| (name.clone(), counts)).chain([all]) {
            let counts = Verdict::ALL.iter().map(|verdict| format!("{:>9}", counts.get(verdict).copied().unwrap_or(0)));
            out.push_str(&format!("{name:<32}{}\n", counts.collect::<String>()));
        }
        out.push_str(&format!("left out, too many unknowns: {}\n", self.skipped));
        out
    }
}

/// The names of what occurs in a rule, for the table.
fn features(statements: &[Statement]) -> Vec<String> {
    let mut out = Vec::new();
    for statement in statements {
        walk(statement, &mut out);
        let mut patterns = Vec::new();
        collect(statement, &mut patterns);
        let binds = patterns.iter().any(|pattern| pattern.alternatives.iter().any(|simple| !simple.binds().is_empty()));
        out.extend(binds.then(|| "~ with bindings".to_owned()));
        let text = print::statement(statement);
        for word in ["where", "proposed", " | ", "contains $", "!= $", "> $", " ok", " failed"] {
            out.extend(text.contains(word).then(|| format!("~ {}", word.trim())));
        }
    }
    out.sort();
    out.dedup();
    out
}

fn walk(statement: &Statement, out: &mut Vec<String>) {
    use Statement as S;
    let within = match statement {
        S::Before { within, .. } | S::After { within, .. } | S::Sequence { within, .. } => *within,
        S::NeverAfter { within, .. } | S::NeverBefore { within, .. } => *within,
        _ => None,
    };
    out.extend(within.map(|within| match within {
        Within::Calls(_) => "~ within calls".to_owned(),
        Within::Turns(_) => "~ within turns".to_owned(),
        Within::Milliseconds(_) => "~ within time".to_owned(),
    }));
    match statement {
        S::Not(inner) | S::When(inner, _) | S::Gated(inner, _) => walk(inner, out),
        S::AnyOf(body) | S::AllOf(body) | S::NoneOf(body) | S::AtLeast(_, body) | S::Block(_, body) => {
            body.iter().for_each(|inner| walk(inner, out));
        }
        _ => {}
    }
    out.push(statement.kind());
}

/// The verdicts of all assertions of a rule on one run.
pub fn reference(statements: &[Statement], run: &serde_json::Value) -> Result<Vec<Verdict>, TooMany> {
    let run = Run::read(run);
    let verdicts: Result<Vec<Vec<Verdict>>, TooMany> =
        statements.iter().map(|statement| evaluate(statement, &run)).collect();
    Ok(verdicts?.concat())
}

#[test]
fn generated_verdicts_are_spread() {
    let mut coverage = Coverage::default();
    for number in 0..600 {
        let (_, statements) = rule_of(&mut Source::seeded(7, 2 * number));
        let mut runs = Source::seeded(7, 2 * number + 1);
        for _ in 0..5 {
            let run = generate_run::run(&mut runs);
            match reference(&statements, &run) {
                Ok(verdicts) => coverage.record(&statements, &verdicts),
                Err(TooMany) => coverage.skipped += 1,
            }
        }
    }
    println!("{}", coverage.table());
    for verdict in [Verdict::Pass, Verdict::Fail, Verdict::Vacuous, Verdict::Undecided] {
        let share = coverage.share(verdict);
        assert!((0.1..0.5).contains(&share), "{verdict}: {share:.2}");
    }
}

/// A statement that the generator does not know would be compared in written cases alone.
#[test]
fn every_word_that_begins_a_statement_is_generated() {
    let text: String = (0..3000).map(|number| rule_of(&mut Source::seeded(9, number)).0 + "\n").collect();
    let words: std::collections::BTreeSet<&str> =
        text.split(|letter: char| !letter.is_ascii_alphanumeric() && letter != '_').collect();
    // What looks at the world around a run, at arguments by their schemas, at one entry or number of the run or at many runs has no place in
    // the reference.
    let elsewhere = ["args", "score", "file", "env", "tool", "http", "run", "in"];
    let statements = averment_syntax::statements::WORDS.iter().filter(|word| !elsewhere.contains(word));
    let missing: Vec<&&str> = statements.filter(|word| !words.contains(*word)).collect();
    assert!(missing.is_empty(), "the reference generates no {missing:?}: `tests/oracle/generate_rule.rs`");
}

#[test]
fn generated_expressions_have_every_verdict() {
    let mut totals: BTreeMap<Verdict, usize> = BTreeMap::new();
    for number in 0..3000 {
        let expr = generate_expression::condition(&mut Source::seeded(8, 2 * number), 3, &[]);
        let run = generate_expression::run(&mut Source::seeded(8, 2 * number + 1));
        *totals.entry(expression::verdict(&expr, &Run::read(&run))).or_default() += 1;
    }
    println!("{totals:?}");
    for (verdict, share) in
        [(Verdict::Pass, 450), (Verdict::Fail, 600), (Verdict::Vacuous, 150), (Verdict::Undecided, 150)]
    {
        assert!(totals.get(&verdict).copied().unwrap_or(0) >= share, "{totals:?}");
    }
}

fn has_expression(statements: &[Statement]) -> bool {
    use Statement as S;
    statements.iter().any(|statement| match statement {
        S::Expression(_) => true,
        S::Not(inner) | S::When(inner, _) | S::Gated(inner, _) => has_expression(std::slice::from_ref(inner)),
        S::AnyOf(body) | S::AllOf(body) | S::NoneOf(body) | S::AtLeast(_, body) | S::Block(_, body) => {
            has_expression(body)
        }
        _ => false,
    })
}

/// What is said of a run that is not complete stays true, whatever comes.
#[test]
fn verdicts_for_good_stay() {
    let mut decided = 0;
    for number in 0..1500 {
        let (text, statements) = rule_of(&mut Source::seeded(9, 2 * number));
        // A fail of an expression speaks of what is recorded so far.
        let may_fail_so_far = speaks_of_the_record(&text) || has_expression(&statements);
        let mut run = generate_run::run(&mut Source::seeded(9, 2 * number + 1));
        let key = if run.get("steps").is_some() { "steps" } else { "calls" };
        let single = ["messages", "commands", "reads", "writes"].iter().all(|key| run.get(*key).is_none());
        let Some(steps) = run.get(key).and_then(serde_json::Value::as_array).cloned().filter(|_| single) else {
            continue;
        };
        let whole = Run::read(&run);
        for length in 0..steps.len() {
            run[key] = serde_json::Value::Array(steps[..length].to_vec());
            run["complete"] = serde_json::Value::Bool(false);
            if !Run::read(&run).is_prefix_of(&whole) {
                continue;
            }
            let Ok(before) = reference(&statements, &run) else { continue };
            run[key] = serde_json::Value::Array(steps.clone());
            for complete in [false, true] {
                run["complete"] = serde_json::Value::Bool(complete);
                let Ok(behind) = reference(&statements, &run) else { continue };
                for (early, late) in before.iter().zip(&behind) {
                    if *early == Verdict::Pass || *early == Verdict::Fail && !may_fail_so_far {
                        decided += 1;
                        assert_eq!(early, late, "after {length} steps, complete {complete}:\n{text}\n{run}");
                    }
                }
            }
        }
    }
    assert!(decided > 1000, "only {decided} verdicts were decided early");
}
