//! Runsight: the run of a workflow, with what each of its blocks gave, cost and took.
//!
//! The blocks stay as they are, under `meta.blocks`. None of them is the run's own, not even where it has no other: what is asserted of one block
//! says nothing of another.

use super::conversation::ConversationBuilder;
use super::fields::{FieldRecord, NodeShapes, ShapeReader, key_table};
use super::format::{IN_FULL, TraceFormat};
use super::nodes::{first_of, node_object, object_of};
use super::run_builder::RunBuilder;
use averment_base::value::{Node, Object, Value};
use averment_runs::normal::of_run;

key_table! {
    WorkflowKey {
        Id = "run_id",
        Blocks = "blocks",
    }
}

key_table! {
    WorkflowBlockKey {
        Output = "output",
    }
}

pub(crate) const FORMAT: TraceFormat = TraceFormat {
    name: "Runsight run",
    known_by: "`blocks`, each with its `output`",
    description: "runs of Runsight's workflows (`blocks` with `output`, `cost_usd`, `latency_ms`, `total_tokens`)",
    marks: &[WorkflowKey::Blocks.key()],
    object: |object| object_of(object, WorkflowKey::Blocks).is_some_and(are_blocks),
    read: read_run,
    ..IN_FULL
};

fn are_blocks(blocks: Object<'_>) -> bool {
    let is_block =
        |node: Node<'_>| node_object(node).is_some_and(|block| block.field(WorkflowBlockKey::Output).is_some());
    !blocks.entries().is_empty() && blocks.entries().iter().all(|entry| is_block(entry.node))
}

fn read_run<'run>(root: Node<'run>, builder: &mut RunBuilder<'run, '_>) -> Result<(), crate::error::PlacedError> {
    let Value::Object(run) = root.value else { return Ok(()) };
    builder.set_some(of_run::ID, first_of(run, &[WorkflowKey::Id]).filter(|id| NodeShapes.is_text(*id)));
    let blocks = object_of(run, WorkflowKey::Blocks).map(|blocks| blocks.entries()).unwrap_or_default();
    let mut conversation = ConversationBuilder::new(builder);
    conversation.add_meta(WorkflowKey::Blocks.key(), run.field(WorkflowKey::Blocks));
    blocks.iter().for_each(|_| conversation.builder.count_record());
    conversation.finish_without_turns();
    Ok(())
}
