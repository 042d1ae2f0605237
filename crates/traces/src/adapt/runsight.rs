//! Runsight: the run of a workflow, with what each of its blocks gave, cost and took.
//!
//! The blocks stay as they are, under `meta.blocks`. None of them is the run's own, not even where it has no other: what is asserted of one block
//! says nothing of another.

use super::draft::Draft;
use super::fields::{Parsed, Record, Shapes, key_table};
use super::format::{Format, IN_FULL};
use super::nodes::{first_of, object, object_of};
use super::talk::Talk;
use averment_base::value::{Node, Object, Value};
use averment_runs::normal::of_run;

key_table! {
    /// A run.
    OfWorkflow {
        Id = "run_id",
        Blocks = "blocks",
    }
}

key_table! {
    /// What is recorded of a block.
    OfBlock {
        Output = "output",
    }
}

/// Runs of workflows.
pub(crate) const FORMAT: Format = Format {
    name: "Runsight run",
    known_by: "`blocks`, each with its `output`",
    description: "runs of Runsight's workflows (`blocks` with `output`, `cost_usd`, `latency_ms`, `total_tokens`)",
    marks: &[OfWorkflow::Blocks.key()],
    object: |object| object_of(object, OfWorkflow::Blocks).is_some_and(are_blocks),
    read,
    ..IN_FULL
};

fn are_blocks(blocks: Object<'_>) -> bool {
    let is_block = |node: Node<'_>| object(node).is_some_and(|block| block.field(OfBlock::Output).is_some());
    !blocks.entries().is_empty() && blocks.entries().iter().all(|entry| is_block(entry.node))
}

fn read<'run>(root: Node<'run>, draft: &mut Draft<'run, '_>) -> Result<(), crate::error::Placed> {
    let Value::Object(run) = root.value else { return Ok(()) };
    draft.set_some(of_run::ID, first_of(run, &[OfWorkflow::Id]).filter(|id| Parsed.is_text(*id)));
    let blocks = object_of(run, OfWorkflow::Blocks).map(|blocks| blocks.entries()).unwrap_or_default();
    let mut talk = Talk::new(draft);
    talk.meta(OfWorkflow::Blocks.key(), run.field(OfWorkflow::Blocks));
    blocks.iter().for_each(|_| talk.draft.record());
    talk.finish_without_turns();
    Ok(())
}
