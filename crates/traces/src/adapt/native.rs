//! The normal form itself.

use super::fields::key_table;
use super::format::{Format, IN_FULL, Projected};
use super::nodes::{self, list, text};
use crate::build::Normal;
use averment_base::value::{Entry, Node, Object, Value};
use averment_runs::normal::{of_run, of_step};
use averment_runs::run::{Kind, Priced, ReadWarning, Records, RunSource};

/// The normal form.
pub(super) const FORMAT: Format = Format {
    name: "normal form",
    known_by: "all keys at the top are keys of the normal form",
    description: "the normal form (`calls`, `messages`, `output`, …)",
    marks: &[],
    object: is_normal,
    read: |_, _| Ok(()),
    projected: Projected::Calls,
    ..IN_FULL
};

/// What says nothing of what was done, answered or left behind: others have it in files of their own as well.
const ABOUT: [&str; 3] = [of_run::ID, of_run::META, of_run::TOOLS];

/// A run whose keys are all those of the normal form, and that says more than what it is and had; beside other keys it needs what only the normal form has.
fn is_normal(object: Object<'_>) -> bool {
    let tells = |entry: &Entry<'_>| {
        let says_nothing = ABOUT.contains(&entry.key);
        !(says_nothing || entry.key == of_run::ERROR && is_answer_of_service(entry.node))
    };
    match object.entries().iter().all(|entry| is_key(entry.key)) {
        true => object.entries().is_empty() || object.entries().iter().any(tells),
        false => has_steps(object) || has_input_and_output(object),
    }
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
    let Some(error) = nodes::object(error) else { return false };
    let has = |key| error.entries().iter().any(|entry| ErrorKey::from_key(entry.key) == Some(key));
    has(ErrorKey::Message) && has(ErrorKey::Kind)
}

/// Whether some list holds steps as only the normal form has them.
fn has_steps(object: Object<'_>) -> bool {
    let list = |key| list(object.get(key)?);
    let of_kind = |node: Node<'_>| {
        let word = nodes::object(node).and_then(|step| step.get(of_step::KIND)).and_then(text);
        word.is_some_and(|word| Kind::ALL.iter().any(|kind| kind.as_str() == word))
    };
    let has = |kind: Kind| {
        let is_step =
            |node: &Node<'_>| nodes::object(*node).and_then(|step| text(step.get(own_field(kind)?)?)).is_some();
        list(kind.list_key()).is_some_and(|items| items.iter().any(is_step))
    };
    // Nobody else calls it so: what is wrong with such a list is said in full.
    let has_calls = object.get(Kind::Call.list_key()).is_some_and(|calls| !matches!(calls.value, Value::Null));
    has_calls
        || list(of_run::STEPS).is_some_and(|steps| steps.iter().any(|step| of_kind(*step)))
        || Kind::ALL.into_iter().any(has)
}

/// The field by which a step of a kind is told from things of other people that have a list of the same name.
fn own_field(kind: Kind) -> Option<&'static str> {
    match kind {
        Kind::Call => Some(of_step::TOOL),
        Kind::Message => Some(of_step::TEXT),
        Kind::Command => Some(of_step::COMMAND),
        Kind::Read | Kind::Write => Some(of_step::PATH),
        Kind::Http => Some(of_step::URL),
        Kind::Skill | Kind::Span | Kind::Handover => None,
    }
}

/// What a run was given, and what came of it.
fn has_input_and_output(object: Object<'_>) -> bool {
    let output = object.get(of_run::OUTPUT).is_some_and(|output| !matches!(output.value, Value::Null));
    let prompt = || object.get(of_run::PROMPT).and_then(text).is_some();
    let inputs = || object.get(of_run::INPUTS).is_some_and(|inputs| !matches!(inputs.value, Value::Null));
    output && (prompt() || inputs())
}

/// Whether a key is an entry of a run in normal form.
pub(super) fn is_key(key: &str) -> bool {
    of_run::ALL.contains(&key) || Kind::ALL.iter().any(|kind| kind.list_key() == key)
}

/// A run in normal form as it stands.
pub(crate) fn normal<'run>(
    object: Node<'run>,
    text: &'run str,
    source: RunSource,
    warnings: Vec<ReadWarning>,
) -> Normal<'run> {
    Normal {
        text,
        source,
        format: FORMAT.name,
        object,
        order: None,
        records: Records::default(),
        warnings,
        priced: Priced::NotAsked,
        concludes_ok: false,
        of_format: false,
    }
}
