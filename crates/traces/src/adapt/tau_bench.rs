//! tau-bench: a conversation in OpenAI's form under `traj`, with the task and its reward. It records neither times nor how a call ended.

use super::fields::{NodeShapes, key_table};
use super::format::{IN_FULL, LineProjection, MessageLayout, TraceFormat};
use super::messages::is_message;
use super::nodes::{list_of, object_items};
use super::openai_chat;
use super::run_builder::RunBuilder;
use crate::error::PlacedError;
use averment_base::value::{Node, Object, Value};
use averment_runs::normal::of_run;
use averment_runs::run::StepKind;

key_table! {
    /// Other entries become `meta`.
    TauBenchKey {
        Messages = "traj",
    }
}

key_table! {
    HarmlessKey {
        /// The task with the calls that are expected, and the reward.
        Any = "info",
    }
}

pub(super) const FORMAT: TraceFormat = TraceFormat {
    name: "tau-bench",
    known_by: "`traj`, a list of role messages",
    description: "tau-bench results (`traj`)",
    marks: &[TauBenchKey::Messages.key()],
    object: is_trajectory,
    read: read_run,
    projected: LineProjection::Messages(MessageLayout {
        list: TauBenchKey::Messages.key(),
        every: true,
        beside_calls: true,
        in_full_beside: &[],
        tell_of_calls: &[],
        texts: &[],
        composed: &[of_run::META],
        composed_where_there: &[],
    }),
    harmless_keys: HarmlessKey::Any.keys(),
    ..IN_FULL
};

fn is_trajectory(object: Object<'_>) -> bool {
    list_of(object, TauBenchKey::Messages)
        .is_some_and(|messages| object_items(messages).all(|(_, message)| is_message(&message, &NodeShapes)))
}

fn read_run<'run>(root: Node<'run>, builder: &mut RunBuilder<'run, '_>) -> Result<(), PlacedError> {
    let Value::Object(object) = root.value else { return Ok(()) };
    builder.mark_recorded(&[StepKind::Call]);
    openai_chat::read_conversation(list_of(object, TauBenchKey::Messages).unwrap_or_default().to_vec(), builder);
    let meta: Vec<_> =
        object.entries().iter().filter(|entry| entry.key != TauBenchKey::Messages.key()).copied().collect();
    let meta = builder.object_node(&meta);
    builder.set_entry(of_run::META, meta);
    Ok(())
}
