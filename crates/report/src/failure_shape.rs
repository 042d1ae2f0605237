//! The shape of a failure: the tool and the names of its arguments, without values. A baseline that knows `delete_tmp(path)` does not cover
//! `delete_db(path)`.

use super::redact::WithheldTexts;
use averment_base::diagnostic::render::one_line;
use averment_base::value::{Object, Value};
use averment_engine::vm::outcome::{AssertionOutcome, Role, VerdictEvidence};
use averment_runs::normal::of_step;
use averment_runs::run::{Run, Step, StepKind};
use std::collections::BTreeSet;

/// Separator between the shapes of a failure in text form.
pub const BETWEEN_SHAPES: &str = "; ";

/// Returns the distinct shapes of an assertion's violations, sorted.
#[must_use]
pub fn failure_shapes(outcome: &AssertionOutcome, run: Option<&Run<'_>>, withheld: &WithheldTexts) -> Vec<String> {
    let listed = outcome.violations.listed.iter().map(|violation| &violation.evidence[..]);
    let own = outcome.violations.listed.is_empty().then_some(&outcome.evidence[..]);
    let shapes = listed.chain(own).map(|evidence| violation_shape(evidence, run)).filter(|shape| !shape.is_empty());
    // The separators of shapes and of baseline fields are replaced in the shapes.
    let plain = |shape: String| one_line(&withheld.remove_from(shape)).replace([';', '|'], ",");
    shapes.map(plain).collect::<BTreeSet<_>>().into_iter().collect()
}

/// Returns the decisive parts in the order of the evidence: steps, or the paths of values without list indexes.
fn violation_shape(evidence: &[VerdictEvidence], run: Option<&Run<'_>>) -> String {
    let decisive = evidence.iter().filter(|one| one.role == Role::Decisive);
    let mut parts: Vec<String> = Vec::new();
    for one in decisive {
        let step = one.step.and_then(|step| run?.steps.get(step as usize));
        let part = step.map_or_else(|| path_shape(&one.path), step_shape);
        if !part.is_empty() && !parts.contains(&part) {
            parts.push(part);
        }
    }
    parts.join(" + ")
}

/// Returns the shape of a step, such as `refund(amount, id)`, `write src/a.rs` or `command git(push)`.
fn step_shape(step: &Step<'_>) -> String {
    let field = |key: &str| step.object.get(key).map(|node| node.value);
    match step.kind {
        StepKind::Call => match field(of_step::ARGS) {
            Some(Value::Object(arguments)) => format!("{}({})", step.name, key_names(arguments)),
            _ => step.name.to_owned(),
        },
        StepKind::Command => match field(of_step::PROGRAM) {
            Some(Value::Text(program)) => format!("command {}", program.as_str()),
            _ => "command".to_owned(),
        },
        kind => format!("{} {}", kind.as_str(), step.name),
    }
}

fn key_names(object: Object<'_>) -> String {
    let names: BTreeSet<&str> = object.entries().iter().map(|entry| entry.key).collect();
    names.into_iter().collect::<Vec<_>>().join(", ")
}

/// Returns the path of a value with `*` for each number: `meta.items.*.price`.
fn path_shape(path: &str) -> String {
    let is_number = |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
    let parts = path.split('/').skip(1).map(|part| if is_number(part) { "*" } else { part });
    parts.collect::<Vec<_>>().join(".")
}
