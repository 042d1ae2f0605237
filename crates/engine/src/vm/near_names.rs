//! Names that a run has nearly: keys that a path does not find while another one stands there, and paths of files that differ by letter case.
//!
//! A rule with a misspelt name is silent on every run. What is found here is a sign of that, and never decides anything.

use super::evaluate::EvaluateOptions;
use super::judge::RunJudge;
use super::machine::Machine;
use super::near_paths::{asks_for_files, near_paths};
use super::near_texts::near_step_texts;
use super::near_values::{near_roles, near_values};
use super::prepare::PreparedProgram;
use super::select::RuleSelection;
use super::why::near_keys::NearKeys;
pub use super::why::near_keys::{NameCategory, NearName};
use crate::bytecode::ops::Op;
use crate::bytecode::program::{CodeId, CompiledAssertion, CompiledCheck, PatternId, Program};
use averment_base::near::{self, NearMiss};
use averment_base::source::Span;
use averment_checker::ir::{Constant, NameTest, PatternAlternative, StatementOperand};
use averment_runs::normal::of_step;
use averment_runs::run::{Run, StepKind};
use averment_syntax::ast::TestKind;
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
    let mut machine = Machine::new(program, prepared, run, arena, options.limits);
    machine.observer.near_keys = Some(NearKeys { folded: prepared.folded_regexes(), ..NearKeys::default() });
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
            let exact =
                |one: &PatternAlternative<CodeId>| matches!(&one.name, NameTest::Exactly(known) if known == name);
            let patterns = pattern_alternatives(program).filter(|(one, _)| exact(one)).map(|(_, span)| span);
            let compared = compared_tools(program).into_iter().filter(|(known, _)| *known == name);
            patterns.chain(compared.map(|(_, span)| span)).collect()
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

fn pattern_alternatives(program: &Program) -> impl Iterator<Item = (&PatternAlternative<CodeId>, Span)> {
    program.patterns.iter().flat_map(|pattern| pattern.alternatives.iter().map(|one| (one, pattern.span)))
}

/// The tools that patterns of the selected assertions of a program name (by a glob, too), or conditions compare with, with their places.
#[must_use]
pub fn named_tools<'p>(program: &'p Program, selection: &RuleSelection) -> Vec<(&'p str, Span)> {
    // Which assertion an expression belongs to is not written down: `sum(args.amount of refund) <= 50`.
    let is_whole = program.assertions.iter().all(|assertion| selection.is_selected(program, assertion));
    let mut patterns = BTreeSet::new();
    for assertion in program.assertions.iter().filter(|assertion| selection.is_selected(program, assertion)) {
        patterns_of(program, &assertion.check, &mut patterns);
    }
    let is_named = |number: usize| is_whole || u32::try_from(number).is_ok_and(|id| patterns.contains(&PatternId(id)));
    let all = program.patterns.iter().enumerate().filter(|(number, _)| is_named(*number)).map(|(_, pattern)| pattern);
    let named = all.flat_map(|pattern| pattern.alternatives.iter().map(|one| (one, pattern.span)));
    let tool = |one: &'p PatternAlternative<CodeId>, span| match (&one.name, one.kind) {
        (NameTest::Exactly(name) | NameTest::Glob(name), StepKind::Call) => Some((name.as_str(), span)),
        _ => None,
    };
    let mut tools: Vec<_> = named.filter_map(|(one, span)| tool(one, span)).collect();
    if is_whole {
        tools.extend(compared_tools(program));
    }
    tools
}

/// Texts that conditions compare with a call's `tool`: `x.tool == "refund"`, `x.tool in ["refund"]`.
fn compared_tools(program: &Program) -> Vec<(&str, Span)> {
    let mut found = Vec::new();
    for (ops, spans) in program.code.windows(3).zip(program.spans.windows(3)) {
        let (
            &[
                Op::Field(name, _) | Op::StepField(name) | Op::StepOrRoot(name),
                Op::Constant(literal),
                Op::Test(kind, _),
            ],
            [_, span, _],
        ) = (ops, spans)
        else {
            continue;
        };
        if program.names.get(name.0 as usize).is_none_or(|name| name != of_step::TOOL) {
            continue;
        }
        match (kind, program.constants.get(literal.0 as usize)) {
            (TestKind::Equal, Some(Constant::Text(text))) => found.push((text.as_str(), *span)),
            (TestKind::In, Some(Constant::List(items))) => found.extend(items.iter().filter_map(|item| match item {
                Constant::Text(text) => Some((text.as_str(), *span)),
                _ => None,
            })),
            _ => {}
        }
    }
    found
}

fn patterns_of(program: &Program, check: &CompiledCheck, into: &mut BTreeSet<PatternId>) {
    // The depth of checks is that of the rule file, which the reader limits.
    match check {
        CompiledCheck::Temporal(id) => {
            let operands = program.temporals.get(id.0 as usize).map(|entry| entry.temporal.operands());
            into.extend(operands.into_iter().flatten().filter_map(|operand| match operand {
                StatementOperand::Pattern(pattern) => Some(*pattern),
                _ => None,
            }));
        }
        CompiledCheck::Not(inner) => patterns_of(program, inner, into),
        CompiledCheck::Scoped { scope, body, .. } => {
            into.extend(scope.header_patterns());
            patterns_of(program, body, into);
        }
        CompiledCheck::Group { members, .. } => {
            members.iter().for_each(|member| patterns_of(program, &member.check, into))
        }
        CompiledCheck::Expression(_) | CompiledCheck::World(_) | CompiledCheck::OverRuns(_) => {}
    }
}
