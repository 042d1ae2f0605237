//! tau-bench: a conversation in OpenAI's form under `traj`, with the task and its reward. It records neither times nor how a call ended.

use super::draft::Draft;
use super::fields::{Parsed, key_table};
use super::format::{Format, IN_FULL, InMessages, Projected};
use super::messages::is_message;
use super::nodes::{list_of, objects};
use super::openai_chat;
use crate::error::Placed;
use averment_base::value::{Node, Object, Value};
use averment_runs::normal::of_run;
use averment_runs::run::Kind;

key_table! {
    /// A result. Whatever else it has becomes its `meta`.
    OfResult {
        Messages = "traj",
    }
}

/// An object with `traj`.
pub(super) const FORMAT: Format = Format {
    name: "tau-bench",
    known_by: "`traj`, a list of role messages",
    description: "tau-bench results (`traj`)",
    marks: &[OfResult::Messages.key()],
    object: is_trajectory,
    read,
    projected: Projected::Messages(InMessages {
        list: OfResult::Messages.key(),
        every: true,
        beside_calls: true,
        in_full_beside: &[],
        tell_of_calls: &[],
        texts: &[],
        composed: &[of_run::META],
        composed_where_there: &[],
    }),
    ..IN_FULL
};

fn is_trajectory(object: Object<'_>) -> bool {
    list_of(object, OfResult::Messages)
        .is_some_and(|messages| objects(messages).all(|(_, message)| is_message(&message, &Parsed)))
}

fn read<'run>(root: Node<'run>, draft: &mut Draft<'run, '_>) -> Result<(), Placed> {
    let Value::Object(object) = root.value else { return Ok(()) };
    draft.records(&[Kind::Call]);
    openai_chat::conversation(list_of(object, OfResult::Messages).unwrap_or_default().to_vec(), draft);
    let meta: Vec<_> = object.entries().iter().filter(|entry| entry.key != OfResult::Messages.key()).copied().collect();
    let meta = draft.object(&meta);
    draft.set(of_run::META, meta);
    Ok(())
}
