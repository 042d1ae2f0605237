//! The normal form itself.

use super::fields::key_table;
use super::format::{IN_FULL, LineProjection, TraceFormat};
use super::nodes::{self, node_list, node_text};
use crate::build::NormalRun;
use averment_base::value::{Node, Object, ObjectEntry, Value};
use averment_runs::normal::{of_run, of_step};
use averment_runs::run::{CostSource, ReadWarning, RecordCounts, RunSource, StepKind};

pub(super) const FORMAT: TraceFormat = TraceFormat {
    name: "normal form",
    known_by: "all keys at the top are keys of the normal form",
    description: "the normal form (`calls`, `messages`, `output`, …)",
    marks: &[],
    object: is_normal,
    read: |_, _| Ok(()),
    projected: LineProjection::Calls,
    partial_roles: &[],
    ..IN_FULL
};

/// Keys that say nothing about actions or answers; other files use them too.
const ABOUT: [&str; 3] = [of_run::ID, of_run::META, of_run::TOOLS];

/// Only normal-form keys with some content; beside other keys something unique is needed.
fn is_normal(object: Object<'_>) -> bool {
    let tells = |entry: &ObjectEntry<'_>| {
        let says_nothing = ABOUT.contains(&entry.key) && !(entry.key == of_run::TOOLS && are_names(entry.node));
        !(says_nothing || entry.key == of_run::ERROR && is_answer_of_service(entry.node))
    };
    match object.entries().iter().all(|entry| is_key(entry.key)) {
        true => object.entries().is_empty() || object.entries().iter().any(tells),
        false => has_steps(object) || has_input_and_output(object),
    }
}

/// The tools that there are before a run, as STOP gives them: a list of their names.
fn are_names(tools: Node<'_>) -> bool {
    node_list(tools).is_some_and(|list| !list.is_empty() && list.iter().all(|name| node_text(*name).is_some()))
}

key_table! {
    /// The keys of an error that a service answers a request with.
    ErrorKey {
        Message = "message",
        Kind = "type" | "code" | "status",
    }
}

/// Whether an error is what a service answers to a request, and nobody's run: it stands alone, with a message and its type.
fn is_answer_of_service(error: Node<'_>) -> bool {
    let Some(error) = nodes::node_object(error) else { return false };
    let has = |key| error.entries().iter().any(|entry| ErrorKey::from_key(entry.key) == Some(key));
    has(ErrorKey::Message) && has(ErrorKey::Kind)
}

fn has_steps(object: Object<'_>) -> bool {
    let list = |key| node_list(object.get(key)?);
    let of_kind = |node: Node<'_>| {
        let word = nodes::node_object(node).and_then(|step| step.get(of_step::KIND)).and_then(node_text);
        word.is_some_and(|word| StepKind::ALL.iter().any(|kind| kind.as_str() == word))
    };
    let has = |kind: StepKind| {
        let is_step = |node: &Node<'_>| {
            nodes::node_object(*node).and_then(|step| node_text(step.get(own_field(kind)?)?)).is_some()
        };
        list(kind.list_key()).is_some_and(|items| items.iter().any(is_step))
    };
    // Nobody else calls it so: what is wrong with such a list is said in full.
    let has_calls = object.get(StepKind::Call.list_key()).is_some_and(|calls| !matches!(calls.value, Value::Null));
    has_calls
        || list(of_run::STEPS).is_some_and(|steps| steps.iter().any(|step| of_kind(*step)))
        || StepKind::ALL.into_iter().any(has)
}

/// The field that distinguishes such steps from unrelated lists of the same name.
fn own_field(kind: StepKind) -> Option<&'static str> {
    match kind {
        StepKind::Call => Some(of_step::TOOL),
        StepKind::Message => Some(of_step::TEXT),
        StepKind::Command => Some(of_step::COMMAND),
        StepKind::Read | StepKind::Write => Some(of_step::PATH),
        StepKind::Http => Some(of_step::URL),
        StepKind::Skill | StepKind::Span | StepKind::Handover => None,
    }
}

fn has_input_and_output(object: Object<'_>) -> bool {
    let output = object.get(of_run::OUTPUT).is_some_and(|output| !matches!(output.value, Value::Null));
    let prompt = || object.get(of_run::PROMPT).and_then(node_text).is_some();
    let inputs = || object.get(of_run::INPUTS).is_some_and(|inputs| !matches!(inputs.value, Value::Null));
    output && (prompt() || inputs())
}

pub(super) fn is_key(key: &str) -> bool {
    of_run::ALL.contains(&key) || StepKind::ALL.iter().any(|kind| kind.list_key() == key)
}

pub(crate) fn normal_run<'run>(
    object: Node<'run>,
    text: &'run str,
    source: RunSource,
    warnings: Vec<ReadWarning>,
) -> NormalRun<'run> {
    NormalRun {
        text,
        source,
        format: FORMAT.name,
        object,
        order: None,
        records: RecordCounts::default(),
        warnings,
        priced: CostSource::NotAsked,
        concludes_ok: false,
        draft_bytes: 0,
        of_format: false,
    }
}
