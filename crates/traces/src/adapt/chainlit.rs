//! Chainlit: threads of a chat as its data layers keep them, with steps. A step without a type may be anything that a program did.

use super::block_session;
use super::blocks::{BlockCall, BlockResult};
use super::calls::TokenUsage;
use super::conversation::{ConversationBuilder, Speaker, StepMeta};
use super::fields::{FieldRecord as _, NodeShapes, is_true, key_table, value_of};
use super::format::{IN_FULL, TraceFormat};
use super::nodes::{list_of, node_object, node_text, object_of, objects_of, text_of};
use super::run_builder::RunBuilder;
use averment_base::value::{Node, Object};
use averment_runs::normal::{of_run, of_usage};
use averment_runs::run::StepStatus;

key_table! {
    ChainlitKey {
        Steps = "steps",
        Id = "id",
        Thread = "threadId",
        Type = "type",
        Name = "name",
        Input = "input",
        Output = "output",
        Failed = "isError",
        Time = "createdAt",
        Start = "start",
        End = "end",
        Generation = "generation",
        TokensIn = "inputTokenCount",
        TokensOut = "outputTokenCount",
    }
}

key_table! {
    ChainlitType {
        User = "user_message",
        Assistant = "assistant_message",
        System = "system_message",
        Tool = "tool",
        Model = "llm",
        /// What is around the others, and searches of the program.
        Part = "run" | "embedding" | "retrieval" | "rerank",
    }
}

pub(crate) const FORMAT: TraceFormat = TraceFormat {
    name: "Chainlit thread",
    known_by: "`steps` with a `threadId` and a `type` such as `user_message`",
    description: "threads of Chainlit (`steps` with a `threadId`)",
    marks: &[ChainlitKey::Steps.key()],
    near: &[ChainlitKey::Thread.key()],
    object: |object| list_of(object, ChainlitKey::Steps).is_some_and(|steps| objects_of(steps).any(is_step)),
    read: read_run,
    ..IN_FULL
};

fn is_step(step: Object<'_>) -> bool {
    text_of(step, ChainlitKey::Thread).is_some()
        && text_of(step, ChainlitKey::Type).and_then(ChainlitType::from_key).is_some()
}

fn read_run<'run>(root: Node<'run>, builder: &mut RunBuilder<'run, '_>) -> Result<(), crate::error::PlacedError> {
    let Some(thread) = node_object(root) else { return Ok(()) };
    builder.set_some(of_run::ID, value_of(thread, ChainlitKey::Id));
    let mut steps: Vec<_> = builder.record_objects(list_of(thread, ChainlitKey::Steps).unwrap_or_default()).collect();
    // A step is written when it ends.
    let begins = |step: Object<'run>| {
        let start = value_of(step, ChainlitKey::Start).or_else(|| value_of(step, ChainlitKey::Time));
        start.and_then(node_text)
    };
    steps.sort_by_key(|(_, step)| begins(*step));
    let mut conversation = ConversationBuilder::from_parts(builder);
    for (node, step) in steps {
        conversation.builder.count_record();
        add_step(&mut conversation, node, step);
    }
    conversation.finish_run();
    Ok(())
}

fn add_step<'run>(conversation: &mut ConversationBuilder<'_, 'run, '_>, node: Node<'run>, step: Object<'run>) {
    let time = value_of(step, ChainlitKey::Start).or_else(|| value_of(step, ChainlitKey::Time));
    let meta = StepMeta { time, ..StepMeta::default() };
    let speaker = match text_of(step, ChainlitKey::Type).and_then(ChainlitType::from_key) {
        Some(ChainlitType::User) => Speaker::User,
        Some(ChainlitType::Assistant) => Speaker::Assistant,
        Some(ChainlitType::System) => Speaker::System,
        Some(ChainlitType::Tool) => {
            let failed = is_true(&step, &NodeShapes, ChainlitKey::Failed);
            let answer = BlockResult {
                result: step.field(ChainlitKey::Output),
                is_value: true,
                failed,
                status: Some(if failed { StepStatus::Failed } else { StepStatus::Unknown }),
                id: None,
            };
            let [tool, args, id] =
                [ChainlitKey::Name, ChainlitKey::Input, ChainlitKey::Id].map(|key| value_of(step, key));
            return block_session::add_call(
                conversation,
                node,
                BlockCall { tool, args, id, answer: Some(answer) },
                &meta,
            );
        }
        Some(ChainlitType::Model) => {
            conversation.begin_turn();
            if let Some(counts) = object_of(step, ChainlitKey::Generation) {
                let mut usage = TokenUsage::default();
                usage.add_count(of_usage::INPUT, value_of(counts, ChainlitKey::TokensIn));
                usage.add_count(of_usage::OUTPUT, value_of(counts, ChainlitKey::TokensOut));
                conversation.add_usage(&usage, None);
            }
            return;
        }
        Some(ChainlitType::Part) => return,
        None => {
            return conversation
                .builder
                .skip_record(node.origin, "a step of unknown type is skipped: it may be a call");
        }
    };
    let said = value_of(step, ChainlitKey::Output);
    said.into_iter().for_each(|words| conversation.add_content(speaker, words, &meta, node.origin));
}
