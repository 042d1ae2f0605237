//! The normal form itself.

use super::{TraceFormat, IN_FULL, LineProjection, node_list, node_text};
use crate::build::NormalRun;
use averment_base::value::{ObjectEntry, Node, Object, Value};
use averment_runs::normal::{of_run, of_step};
use averment_runs::run::{StepKind, CostSource, ReadWarning, RecordCounts, RunSource};

/// The normal form.
pub(super) const FORMAT: TraceFormat = TraceFormat {
    name: "normal form",
    known_by: "all keys at the top are keys of the normal form",
    description: "the normal form (`calls`, `messages`, `output`, …)",
    marks: &[],
    object: is_normal,
    read: |_, _| Ok(()),
    projected: LineProjection::Calls,
    ..IN_FULL
};

/// What says nothing of what was done, answered or left behind: others have it in files of their own as well.
const ABOUT: [&str; 3] = [of_run::ID, of_run::META, of_run::TOOLS];

/// A run whose keys are all those of the normal form, and that says more than what it is and had; beside other keys it needs what only the normal form has.
fn is_normal(object: Object<'_>) -> bool {
    let tells = |entry: &ObjectEntry<'_>| {
        let says_nothing = ABOUT.contains(&entry.key);
        !(says_nothing || entry.key == of_run::ERROR && super::near_miss::is_answer_of_service(entry.node))
    };
    match object.entries().iter().all(|entry| is_key(entry.key)) {
        true => object.entries().is_empty() || object.entries().iter().any(tells),
        false => has_steps(object) || has_input_and_output(object),
    }
}

/// Whether some list holds steps as only the normal form has them.
fn has_steps(object: Object<'_>) -> bool {
    let list = |key| node_list(object.get(key)?);
    let of_kind = |node: Node<'_>| {
        let word = super::node_object(node).and_then(|step| step.get(of_step::KIND)).and_then(node_text);
        word.is_some_and(|word| StepKind::ALL.iter().any(|kind| kind.as_str() == word))
    };
    let has = |kind: StepKind| {
        let is_step =
            |node: &Node<'_>| super::node_object(*node).and_then(|step| node_text(step.get(own_field(kind)?)?)).is_some();
        list(kind.list_key()).is_some_and(|items| items.iter().any(is_step))
    };
    // Nobody else calls it so: what is wrong with such a list is said in full.
    let has_calls = object.get(StepKind::Call.list_key()).is_some_and(|calls| !matches!(calls.value, Value::Null));
    has_calls
        || list(of_run::STEPS).is_some_and(|steps| steps.iter().any(|step| of_kind(*step)))
        || StepKind::ALL.into_iter().any(has)
}

/// The field by which a step of a kind is told from things of other people that have a list of the same name.
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

/// What a run was given, and what came of it.
fn has_input_and_output(object: Object<'_>) -> bool {
    let output = object.get(of_run::OUTPUT).is_some_and(|output| !matches!(output.value, Value::Null));
    let prompt = || object.get(of_run::PROMPT).and_then(node_text).is_some();
    let inputs = || object.get(of_run::INPUTS).is_some_and(|inputs| !matches!(inputs.value, Value::Null));
    output && (prompt() || inputs())
}

/// Whether a key is an entry of a run in normal form.
pub(super) fn is_key(key: &str) -> bool {
    of_run::ALL.contains(&key) || StepKind::ALL.iter().any(|kind| kind.list_key() == key)
}

/// A run in normal form as it stands.
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
    }
}
