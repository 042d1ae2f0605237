//! Flowise: the answer of a flow with the tools that it used.

use super::block_session;
use super::blocks::{BlockCall, BlockResult};
use super::conversation::{ConversationBuilder, Speaker, StepMeta};
use super::fields::{FieldRecord as _, key_table, value_of};
use super::format::{IN_FULL, TraceFormat};
use super::nodes::{list_of, node_object, object_items};
use super::run_builder::RunBuilder;
use averment_base::value::{Node, Object};
use averment_runs::normal::of_run;
use averment_runs::run::{StepKind, StepStatus};

key_table! {
    FlowiseKey {
        Answer = "text",
        Question = "question",
        Chat = "chatId",
        Used = "usedTools",
        Reasoning = "agentReasoning",
        Executed = "agentFlowExecutedData",
        Tool = "tool",
        Given = "toolInput",
        Gave = "toolOutput",
        Error = "error",
    }
}

pub(crate) const FORMAT: TraceFormat = TraceFormat {
    name: "Flowise answer",
    known_by: "`usedTools` or `agentReasoning` beside a `text` and a `chatId`",
    description: "answers of Flowise (`text`, `usedTools`)",
    marks: &[FlowiseKey::Chat.key()],
    near: &[],
    object: |object| {
        [FlowiseKey::Answer, FlowiseKey::Chat].into_iter().all(|key| value_of(object, key).is_some())
            && [FlowiseKey::Question, FlowiseKey::Used, FlowiseKey::Reasoning]
                .into_iter()
                .any(|key| object.field(key).is_some())
    },
    read: read_run,
    ..IN_FULL
};

fn read_run<'run>(root: Node<'run>, builder: &mut RunBuilder<'run, '_>) -> Result<(), crate::error::PlacedError> {
    let Some(run) = node_object(root) else { return Ok(()) };
    let mut conversation = ConversationBuilder::new(builder);
    let meta = StepMeta::default();
    if let Some(asked) = value_of(run, FlowiseKey::Question) {
        conversation.add_content(Speaker::User, asked, &meta, asked.origin);
    }
    let used = list_of(run, FlowiseKey::Used);
    // The agents of a flow tell the tools that each of them used.
    let agents = object_items(list_of(run, FlowiseKey::Reasoning).unwrap_or_default());
    let of_agents = agents.filter_map(|(_, agent)| list_of(agent, FlowiseKey::Used));
    let lists: Vec<&'run [Node<'run>]> = match used {
        Some(list) => vec![list],
        None => of_agents.collect(),
    };
    for list in lists {
        for (node, call) in conversation.builder.record_objects(list) {
            conversation.builder.count_record();
            add_call(&mut conversation, node, call);
        }
    }
    // Without a list nothing says whether the flow has tools.
    let tells = used.is_some() || run.field(FlowiseKey::Reasoning).is_some();
    let is_flow = value_of(run, FlowiseKey::Executed).is_some();
    if let Some(answer) = value_of(run, FlowiseKey::Answer) {
        conversation.add_content(Speaker::Assistant, answer, &meta, answer.origin);
        conversation.builder.set_entry(of_run::OUTPUT, answer);
    }
    let builder = conversation.finish_run();
    if !tells || is_flow {
        builder.mark_unrecorded(StepKind::Call);
    }
    Ok(())
}

fn add_call<'run>(conversation: &mut ConversationBuilder<'_, 'run, '_>, node: Node<'run>, call: Object<'run>) {
    let error = value_of(call, FlowiseKey::Error);
    let answer = BlockResult {
        result: value_of(call, FlowiseKey::Gave).or(error),
        is_value: true,
        failed: error.is_some(),
        status: Some(if error.is_some() { StepStatus::Failed } else { StepStatus::Unknown }),
        ..BlockResult::default()
    };
    let [tool, args] = [FlowiseKey::Tool, FlowiseKey::Given].map(|key| value_of(call, key));
    block_session::add_call(
        conversation,
        node,
        BlockCall { tool, args, id: None, answer: Some(answer) },
        &StepMeta::default(),
    );
}
