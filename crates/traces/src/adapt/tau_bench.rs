//! tau-bench: a conversation in OpenAI's form under `traj`, with the task and its reward. It records neither times nor how a call ended.

use super::draft::Draft;
use super::{Format, list_of, never, objects, openai_chat};
use crate::error::Placed;
use averment_base::value::{Node, Object, Value};
use averment_runs::run::Kind;

/// An object with `traj`.
pub(super) const FORMAT: Format = Format {
    name: "tau-bench",
    description: "tau-bench results (`traj`)",
    object: is_trajectory,
    element: never,
    line: never,
    read,
};

fn is_trajectory(object: Object<'_>) -> bool {
    list_of(object, "traj")
        .is_some_and(|messages| objects(messages).all(|(_, message)| openai_chat::is_message(message)))
}

fn read<'run>(root: Node<'run>, draft: &mut Draft<'run, '_>) -> Result<(), Placed> {
    let Value::Object(object) = root.value else { return Ok(()) };
    draft.records(&[Kind::Call]);
    openai_chat::conversation(list_of(object, "traj").unwrap_or_default().to_vec(), draft);
    let meta: Vec<_> = object.entries().iter().filter(|entry| entry.key != "traj").copied().collect();
    let meta = draft.object(&meta);
    draft.set("meta", meta);
    Ok(())
}
