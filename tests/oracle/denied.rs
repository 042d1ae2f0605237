//! What an assertion does to its run: its verdict, what it denies and allows itself, what its rule and who checks say, by section 7 of
//! `docs/reference/language.md`.

use crate::cases::written;
use crate::evaluate::evaluate;
use crate::generate_rule;
use crate::generate_run;
use crate::generated::{reference, rule_of};
use crate::model::{Denied, Statement};
use crate::parse;
use crate::print;
use crate::run::Run;
use crate::source::Source;
use crate::truth::Verdict;
use serde_json::Value;

/// A generated statement, group or block, of which any assertion may deny and allow something itself.
pub fn rule(source: &mut Source) -> Statement {
    let rule = generate_rule::rule(source);
    gated(source, rule)
}

/// What an assertion, one in a block included, denies and allows itself.
fn gated(source: &mut Source, statement: Statement) -> Statement {
    if let Statement::Block(header, body) = statement {
        return Statement::Block(header, body.into_iter().map(|inner| gated(source, inner)).collect());
    }
    match source.chance(15) {
        true => Statement::Gated(Box::new(statement), denied(source)),
        false => statement,
    }
}

/// At least one word.
fn denied(source: &mut Source) -> Denied {
    let mut say = |must: bool| (must || source.chance(40)).then(|| source.chance(50));
    let vacuous = say(false);
    Denied { vacuous, undecided: say(vacuous.is_none()) }
}

/// The words of each assertion of a statement, in the order of their verdicts.
fn words_of(statement: &Statement, out: &mut Vec<Denied>) {
    match statement {
        Statement::Block(_, body) => body.iter().for_each(|inner| words_of(inner, out)),
        Statement::Gated(_, denied) => out.push(*denied),
        _ => out.push(Denied::default()),
    }
}

/// Whether a verdict fails its run. What stands nearer to the assertion counts first; `--deny` and `--allow` of who checks come last.
fn fails(verdict: Verdict, nearest_first: &[Denied]) -> bool {
    let denies = |said: fn(&Denied) -> Option<bool>| nearest_first.iter().find_map(said);
    match verdict.told() {
        Verdict::Fail | Verdict::Error => true,
        Verdict::Vacuous => denies(|denied| denied.vacuous).unwrap_or(false),
        Verdict::Undecided => denies(|denied| denied.undecided).unwrap_or(true),
        _ => false,
    }
}

/// Whether the program lets a run pass. Who checks can deny what is vacuous and allow what is undecided, not the other way round.
fn program_passes(text: &str, run: &Value, checks: Denied) -> Result<bool, String> {
    let definitions = crate::model::definitions(text);
    let rules = averment::Rules::builder().text("rules.assert", format!("{definitions}{text}"));
    let rules = rules.deny_vacuous(checks.vacuous == Some(true)).allow_undecided(checks.undecided == Some(false));
    let rules = rules.build().map_err(|error| error.to_string())?;
    rules.check_one(run.to_string()).map(|outcome| outcome.passed()).map_err(|error| error.to_string())
}

#[test]
fn what_is_denied_fails_its_run_and_what_is_allowed_does_not() {
    let (mut changed, mut passes, mut compared) = (0, 0, 0);
    for number in 0..1500 {
        let mut source = Source::seeded(21, 2 * number);
        let (text, statements) = rule_of(&mut source);
        let mut words = Vec::new();
        statements.iter().for_each(|statement| words_of(statement, &mut words));
        let rule = if source.chance(50) { denied(&mut source) } else { Denied::default() };
        let checks =
            Denied { vacuous: source.chance(40).then_some(true), undecided: source.chance(40).then_some(false) };
        let text = format!("rule r{} {{\n{text}\n}}", print::modifiers(rule));
        let run = generate_run::run(&mut Source::seeded(21, 2 * number + 1));
        let Ok(verdicts) = reference(&statements, &run) else { continue };
        assert_eq!(verdicts.len(), words.len(), "{text}");
        let of = |all: &dyn Fn(Denied) -> Vec<Denied>| {
            !verdicts.iter().zip(&words).any(|(verdict, own)| fails(*verdict, &all(*own)))
        };
        let expected = of(&|own| vec![own, rule, checks]);
        changed += usize::from(expected != of(&|_| vec![checks]));
        passes += usize::from(expected);
        compared += 1;
        assert_eq!(program_passes(&text, &run, checks), Ok(expected), "{text}\n{run}\n{verdicts:?} {checks:?}");
    }
    println!("{compared} compared, {passes} pass, {changed} by what they deny and allow");
    assert!(changed > 100 && passes > 300 && compared > passes + 300, "{changed} {passes} {compared}");
}

/// What is denied is no other verdict.
#[test]
fn what_is_denied_stays_what_it_is() {
    for case in written().iter().filter(|case| case.verdicts.len() == 1 && !case.rule.contains('\n')) {
        for words in [" deny vacuous deny undecided", " allow vacuous allow undecided"] {
            let rule = format!("{}{words}", case.rule);
            let [statement] = &parse::statements(&rule)[..] else { continue };
            assert_eq!(evaluate(statement, &Run::read(&case.run)), Ok(case.verdicts.clone()), "{rule}");
        }
    }
}
