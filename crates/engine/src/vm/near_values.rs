//! Skills, agents, hand-overs and tags in the rules that a run has nearly.

use super::why::near_keys::{NameCategory, NearName};
use crate::bytecode::ops::Op;
use crate::bytecode::program::Program;
use averment_base::near;
use averment_base::source::Span;
use averment_base::value::{Node, Value};
use averment_checker::ir::{Constant, NameTest, ToolClaim};
use averment_runs::normal::of_step;
use averment_runs::run::{Run, StepKind};
use averment_syntax::ast::TestKind;
use std::collections::BTreeSet;

/// True if a program asks for steps by such a name.
#[must_use]
pub fn looks_for_values(program: &Program) -> bool {
    !asked_values(program).is_empty() || asked_roles(program).next().is_some()
}

/// What formats and people call those who say messages.
const ROLES: [&[&str]; 3] = [
    &["user", "human", "customer", "client", "requester", "end_user"],
    &["assistant", "ai", "model", "bot", "chatbot", "agent", "llm"],
    &["system", "developer", "instructions"],
];

/// Roles in the rules that no message of a run has, while another word for the same stands there.
pub(super) fn near_roles(program: &Program, run: &Run<'_>, near: &mut BTreeSet<NearName>, met: &mut BTreeSet<String>) {
    let messages = || run.steps.iter().filter(|step| step.kind == StepKind::Message);
    let roles: BTreeSet<&str> = messages().filter_map(|step| text_of(step.object.get(of_step::ROLE))).collect();
    for (wanted, span) in asked_roles(program) {
        let is_same = |role: &&&str| {
            role.eq_ignore_ascii_case(wanted)
                || ROLES.iter().any(|group| group.contains(role) && group.contains(&wanted.to_lowercase().as_str()))
        };
        if roles.contains(wanted) {
            met.insert(wanted.to_owned());
        } else if let Some(role) = roles.iter().find(is_same) {
            let (wanted, found) = (wanted.to_owned(), (*role).to_owned());
            near.insert(NearName { wanted, found, what: NameCategory::Role, span });
        }
    }
}

/// `role == "human"`, also in the parentheses of `message`.
fn asked_roles(program: &Program) -> impl Iterator<Item = (&str, Span)> {
    program.code.windows(3).zip(program.spans.windows(3)).filter_map(|(ops, spans)| {
        let (
            &[Op::StepField(name) | Op::Field(name, _), Op::Constant(literal), Op::Test(TestKind::Equal, _)],
            [_, span, _],
        ) = (ops, spans)
        else {
            return None;
        };
        match program.constants.get(literal.0 as usize).filter(|_| is_name(program, name.0, of_step::ROLE)) {
            Some(Constant::Text(text)) => Some((text.as_str(), *span)),
            _ => None,
        }
    })
}

/// Adds the names in the rules that a run does not have while it has a similar one of the same kind.
pub(super) fn near_values(program: &Program, run: &Run<'_>, found: &mut BTreeSet<NearName>) {
    for (what, wanted, span) in asked_values(program) {
        if let Some(other) = near::nearest_name(wanted, values_of(what, program, run)) {
            found.insert(NearName { wanted: wanted.to_owned(), found: other.to_owned(), what, span });
        }
    }
}

fn asked_values(program: &Program) -> Vec<(NameCategory, &str, Span)> {
    let mut asked = Vec::new();
    for pattern in &program.patterns {
        for one in &pattern.alternatives {
            let what = match one.kind {
                StepKind::Skill => NameCategory::Skill,
                StepKind::Handover => NameCategory::Handover,
                _ => continue,
            };
            if let NameTest::Exactly(name) | NameTest::Contains(name) = &one.name {
                asked.push((what, name.as_str(), pattern.span));
            }
        }
    }
    // `by NAME` is `agent == "NAME"`, and `tagged NAME` is `"NAME" in tags`.
    for (ops, spans) in program.code.windows(3).zip(program.spans.windows(3)) {
        let (what, literal, place) = match ops {
            [Op::StepField(name) | Op::Field(name, _), Op::Constant(literal), Op::Test(TestKind::Equal, _)]
                if is_name(program, name.0, of_step::AGENT) =>
            {
                (NameCategory::Agent, literal, spans.get(1))
            }
            [Op::Constant(literal), Op::StepField(name) | Op::Field(name, _), Op::Test(TestKind::In, _)]
                if is_name(program, name.0, of_step::TAGS) =>
            {
                (NameCategory::Tag, literal, spans.first())
            }
            _ => continue,
        };
        if let (Some(Constant::Text(text)), Some(span)) = (program.constants.get(literal.0 as usize), place) {
            asked.push((what, text.as_str(), *span));
        }
    }
    asked
}

fn is_name(program: &Program, number: u32, wanted: &str) -> bool {
    program.names.get(number as usize).is_some_and(|name| name == wanted)
}

fn values_of<'a>(what: NameCategory, program: &'a Program, run: &'a Run<'_>) -> Vec<&'a str> {
    let named = |kind: StepKind| run.steps.iter().filter(move |step| step.kind == kind).map(|step| step.name).collect();
    match what {
        NameCategory::Skill => named(StepKind::Skill),
        NameCategory::Handover => named(StepKind::Handover),
        NameCategory::Agent => run.steps.iter().filter_map(|step| text_of(step.object.get(of_step::AGENT))).collect(),
        NameCategory::Tag => {
            let recorded = run.steps.iter().filter_map(|step| step.object.get(of_step::TAGS));
            let texts = recorded.flat_map(|tags| match tags.value {
                Value::List(items) => items.iter().filter_map(|item| text_of(Some(*item))).collect(),
                _ => Vec::new(),
            });
            let declared = program.tool_facts.iter().flat_map(|fact| match &fact.says {
                ToolClaim::Tagged(tags) => tags.iter().map(String::as_str).collect(),
                _ => Vec::new(),
            });
            texts.chain(declared).collect()
        }
        _ => Vec::new(),
    }
}

fn text_of(node: Option<Node<'_>>) -> Option<&str> {
    match node?.value {
        Value::Text(text) => Some(text.as_str()),
        _ => None,
    }
}
