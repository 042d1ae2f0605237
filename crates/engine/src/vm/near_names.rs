//! Names that a run has nearly: keys that a path does not find while another one stands there, and paths of files that differ by letter case.
//!
//! A rule with a misspelt name is silent on every run. What is found here is a sign of that, and never decides anything.

use super::context::ExpressionScope;
use super::evaluate::EvaluateOptions;
use super::judge::RunJudge;
use super::machine::Machine;
use super::named_tools::named_tools;
use super::near_paths::{asks_for_files, near_paths};
use super::near_texts::near_step_texts;
use super::near_values::{near_roles, near_values};
use super::prepare::PreparedProgram;
use super::select::RuleSelection;
use super::tool_facts::{asks_rules, fits_name};
use super::why::near_keys::NearKeys;
pub use super::why::near_keys::{NameCategory, NearName};
use crate::bytecode::ops::Op;
use crate::bytecode::program::{CompiledAssertion, CompiledPattern, Program};
use averment_base::near::{self, NearMiss};
use averment_base::source::{FileId, Span};
use averment_checker::ir::{Constant, NameTest, ToolClaim};
use averment_runs::run::{Run, StepKind};
use bumpalo::Bump;
use std::collections::BTreeSet;

/// What a run has of the names and texts in the rules.
#[derive(Debug, Default)]
pub struct FoundNames {
    /// Names and texts that it has nearly.
    pub near: BTreeSet<NearName>,
    /// Texts that it has.
    pub met: BTreeSet<String>,
}

/// Evaluates the assertions of a program on a run for what they look for and do not find; nothing of the world around it is looked at.
#[must_use]
pub fn near_names<'run>(
    program: &'run Program,
    prepared: &'run PreparedProgram,
    run: &'run Run<'run>,
    arena: &'run Bump,
    options: &EvaluateOptions,
) -> FoundNames {
    let keys = NearKeys { folded: prepared.folded_regexes(), ..NearKeys::default() };
    let keys = fact_texts(program, prepared, run, arena, options, keys);
    let mut machine = Machine::new(program, prepared, run, arena, options.limits);
    machine.observer.near_keys = Some(keys);
    let permissions = super::world::Permissions::default();
    let mut judge = RunJudge::new(machine, &permissions);
    judge.explains = false;
    for assertion in program.assertions.iter().filter(|assertion| options.selection.is_selected(program, assertion)) {
        judge.machine.refuel();
        // What cannot be evaluated is told where it is judged.
        let _ = judge.judge_assertion(assertion);
    }
    let mut keys = judge.machine.observer.near_keys.take().unwrap_or_default();
    near_paths(program, run, &mut keys);
    near_step_texts(program, prepared, run, &mut keys);
    let NearKeys { found: mut near, mut met, .. } = keys;
    near_values(program, run, &mut near);
    near_roles(program, run, &mut near, &mut met);
    FoundNames { near, met }
}

/// What `fails when` looks for in the calls of a run and does not find.
fn fact_texts<'run>(
    program: &'run Program,
    prepared: &'run PreparedProgram,
    run: &'run Run<'run>,
    arena: &'run Bump,
    options: &EvaluateOptions,
    keys: NearKeys,
) -> NearKeys {
    let codes: Vec<_> = program
        .tool_facts
        .iter()
        .filter_map(|fact| match fact.says {
            ToolClaim::Fails(code) => Some((fact, code)),
            _ => None,
        })
        .collect();
    if codes.is_empty() {
        return keys;
    }
    let mut machine = Machine::new_unadjusted(program, prepared, run, arena, options.limits);
    machine.observer.near_keys = Some(keys);
    for step in run.steps.iter().filter(|step| step.kind == StepKind::Call && asks_rules(run, step)) {
        for (_, code) in codes.iter().filter(|(fact, _)| fact.tools.iter().any(|test| fits_name(test, step.name))) {
            machine.refuel();
            // What cannot be evaluated says nothing of how a call ended.
            let _ = machine.evaluate_truth(*code, &ExpressionScope::of_step(step));
        }
    }
    machine.observer.near_keys.take().unwrap_or_default()
}

/// True if a program matches files, whose paths may differ in letter case.
#[must_use]
pub fn looks_for_files(program: &Program) -> bool {
    asks_for_files(program)
}

/// The names of tools and arguments that the catalogue of a program knows: two of them that are near each other are two names.
#[must_use]
pub fn known_names(program: &Program) -> Vec<String> {
    let mut known: Vec<String> = program.tools.iter().map(|tool| tool.name.clone()).collect();
    for tool in &program.tools {
        let schema = tool.arguments.and_then(|schema| program.schemas.get(schema as usize));
        let schema = schema.and_then(|schema| serde_json::from_str::<serde_json::Value>(&schema.json).ok());
        let keys = schema.as_ref().and_then(|schema| schema.get("properties")?.as_object());
        known.extend(keys.into_iter().flatten().map(|(key, _)| key.clone()));
    }
    known
}

/// True where one statement has a name in two spellings (`delete_repo | Delete_Repo`, `args.userId exists or args.user_id exists`):
/// whoever writes both means both. A slip is never meant.
#[must_use]
pub fn is_other_spelling(program: &Program, near: &NearName) -> bool {
    if matches!(near.what, NameCategory::LetterCase | NameCategory::ToolText) {
        return is_in_both_cases(program, near);
    }
    if near::near_miss(&near.wanted, &near.found).is_none_or(|how| how == NearMiss::Slip) {
        return false;
    }
    let statements = |name: &str| -> BTreeSet<usize> {
        let places = named_places(program, near.what, name);
        let of = |place: Span| {
            let around = |assertion: &CompiledAssertion| {
                let span = assertion.span;
                span.file == place.file && span.start <= place.start && place.end <= span.end
            };
            program.assertions.iter().position(around)
        };
        places.into_iter().filter_map(of).collect()
    };
    let wanted = statements(&near.wanted);
    !wanted.is_empty() && statements(&near.found).iter().any(|statement| wanted.contains(statement))
}

fn named_places(program: &Program, what: NameCategory, name: &str) -> Vec<Span> {
    match what {
        NameCategory::Tool => {
            let named = named_tools(program, &RuleSelection::default()).whole;
            named.into_iter().filter(|(known, _)| *known == name).map(|(_, span)| span).collect()
        }
        NameCategory::Key => {
            let keys = program.code.iter().zip(&program.spans).filter(|(op, _)| match op {
                Op::Field(key, _) | Op::StepField(key) => {
                    program.names.get(key.0 as usize).is_some_and(|known| known == name)
                }
                _ => false,
            });
            keys.map(|(_, span)| *span).collect()
        }
        _ => Vec::new(),
    }
}

/// True where one rule has a text in two letter cases, or in one and without letter case: whoever writes both means both.
fn is_in_both_cases(program: &Program, near: &NearName) -> bool {
    let folded = |text: &str| {
        let regex = text.strip_prefix('/').and_then(|rest| rest.rsplit_once('/')).map(|(pattern, _)| pattern);
        regex.unwrap_or(text).to_lowercase()
    };
    let wanted = folded(&near.wanted);
    let rule = rule_around(program, near.span);
    let is_other =
        |text: &str, span: Span| text != near.wanted && folded(text) == wanted && rule_around(program, span) == rule;
    let of_code = program.code.iter().zip(&program.spans).any(|(op, span)| match op {
        Op::Constant(literal) => match program.constants.get(literal.0 as usize) {
            Some(Constant::Text(text)) => is_other(text, *span),
            Some(Constant::List(items)) => {
                items.iter().any(|item| matches!(item, Constant::Text(text) if is_other(text, *span)))
            }
            _ => false,
        },
        Op::Regex(regex) => program.regexes.get(regex.0 as usize).is_some_and(|regex| is_other(&regex.text, *span)),
        _ => false,
    });
    let named = |pattern: &CompiledPattern| {
        pattern.alternatives.iter().any(|one| match &one.name {
            NameTest::Contains(text) | NameTest::Exactly(text) => is_other(text, pattern.span),
            NameTest::Matches(number) => {
                program.regexes.get(*number as usize).is_some_and(|regex| is_other(&regex.text, pattern.span))
            }
            _ => false,
        })
    };
    of_code || program.patterns.iter().any(named)
}

/// The file and the rule around a place; assertions outside of a rule belong together, and so do declarations.
fn rule_around(program: &Program, place: Span) -> (FileId, Option<Option<u32>>) {
    let around = |assertion: &&CompiledAssertion| {
        let span = assertion.span;
        span.file == place.file && span.start <= place.start && place.end <= span.end
    };
    (place.file, program.assertions.iter().find(around).map(|assertion| assertion.rule))
}
