//! Results of Vercel's AI SDK as programs write them down: `result.steps`, and a result as JSON, which keeps its steps. From version 5 on the
//! parts of a step stand in its `content`; before, calls and results are lists beside the text. Results of Mastra's agents are such, too.

use super::block_session;
use super::blocks::{self, BlockCall, BlockResult, ContentBlock};
use super::calls::TokenUsage;
use super::conversation::{ConversationBuilder, Speaker, StepMeta, instant_node};
use super::fields::{FieldRecord as _, key_table, value_of};
use super::format::{IN_FULL, TraceFormat};
use super::nodes::{items_of, list_of, node_object, node_text, object_of, objects_of, text_of};
use super::run_builder::RunBuilder;
use averment_base::value::{Node, Object};
use averment_runs::normal::of_meta;

key_table! {
    SdkStepKey {
        Steps = "steps",
        Content = "content",
        Finish = "finishReason",
        Calls = "toolCalls",
        Results = "toolResults",
        Text = "text",
        Thought = "reasoning" | "reasoningText",
        Usage = "usage",
        Response = "response",
        Model = "modelId",
        Time = "timestamp",
        Messages = "messages",
        Role = "role",
        Type = "type",
        CallId = "toolCallId",
        /// Mastra writes a call and a result as the events that told them.
        Payload = "payload",
    }
}

key_table! {
    SdkPartType {
        /// Where something was found.
        Source = "source",
    }
}

pub(crate) const FORMAT: TraceFormat = TraceFormat {
    name: "AI SDK steps",
    known_by: "steps with a `finishReason` beside `toolCalls` or a `content` of typed parts",
    description: "steps of Vercel's AI SDK (`result.steps`: a list, one a line, or under `steps`)",
    marks: &[SdkStepKey::Steps.key(), SdkStepKey::Finish.key()],
    near: &[SdkStepKey::Finish.key()],
    object: |object| {
        is_step(object)
            || list_of(object, SdkStepKey::Steps).is_some_and(|steps| super::nodes::are_mostly(steps.iter(), is_step))
    },
    item_marks: &[SdkStepKey::Finish.key()],
    element: is_step,
    line: is_step,
    read: read_run,
    ..IN_FULL
};

fn is_step(step: Object<'_>) -> bool {
    let has_type = |part: Object<'_>| text_of(part, SdkStepKey::Type).is_some();
    text_of(step, SdkStepKey::Finish).is_some()
        && (list_of(step, SdkStepKey::Calls).is_some() && list_of(step, SdkStepKey::Results).is_some()
            || list_of(step, SdkStepKey::Content).is_some_and(|parts| objects_of(parts).all(has_type)))
}

fn read_run<'run>(root: Node<'run>, builder: &mut RunBuilder<'run, '_>) -> Result<(), crate::error::PlacedError> {
    let root = builder.arena.alloc(root);
    let mut conversation = ConversationBuilder::from_parts(builder);
    for node in items_of(root, &[SdkStepKey::Steps]) {
        conversation.builder.count_record();
        let Some(step) = node_object(*node).filter(|step| is_step(*step)) else {
            conversation.builder.skip_value(node, "what is no step with a `finishReason` is skipped");
            continue;
        };
        conversation.begin_turn();
        let response = object_of(step, SdkStepKey::Response);
        let of_response = |key| response.and_then(|response| value_of(response, key));
        let model = of_response(SdkStepKey::Model);
        conversation.add_meta(of_meta::MODEL, model);
        if let Some(counts) = object_of(step, SdkStepKey::Usage) {
            let mut usage = TokenUsage::default();
            usage.add_usage(counts);
            conversation.add_usage(&usage, model);
        }
        look_at_messages(&conversation, response);
        let meta = StepMeta { time: of_response(SdkStepKey::Time).and_then(instant_node), ..StepMeta::default() };
        match value_of(step, SdkStepKey::Content).filter(|_| list_of(step, SdkStepKey::Content).is_some()) {
            Some(parts) => {
                block_session::add_answer(&mut conversation, parts, Speaker::Assistant, &meta, classify_part);
                add_listed(&mut conversation, step, &meta);
            }
            None => {
                let thought = value_of(step, SdkStepKey::Thought).filter(|words| node_text(*words).is_some());
                thought.into_iter().for_each(|it| conversation.add_message(Speaker::Thinking, it, &meta, node.origin));
                let words = value_of(step, SdkStepKey::Text);
                words.into_iter().for_each(|it| conversation.add_message(Speaker::Assistant, it, &meta, node.origin));
                add_listed(&mut conversation, step, &meta);
            }
        }
    }
    // What was asked stands in the request alone, in the words of the provider.
    let builder = conversation.finish_run();
    builder.add_warning(root.origin, "steps do not tell what the user said: only the messages of the model are there");
    Ok(())
}

/// The messages of a response say again what stands in the steps; what is none of these is told.
fn look_at_messages<'run>(conversation: &ConversationBuilder<'_, 'run, '_>, response: Option<Object<'run>>) {
    let messages = response.and_then(|response| list_of(response, SdkStepKey::Messages)).unwrap_or_default();
    for (node, message) in conversation.builder.known_objects(messages) {
        let word = text_of(message, SdkStepKey::Role);
        if conversation.builder.role_of(node, word).is_none() && word.is_none() {
            conversation.builder.note_unknown(node.origin, super::unknown::UNKNOWN_ROLE);
        }
        let content = message.field(SdkStepKey::Content);
        content.into_iter().for_each(|content| conversation.builder.note_parts_beside_calls(content, true));
    }
}

fn classify_part(part: Object<'_>) -> ContentBlock<'_> {
    match text_of(part, SdkStepKey::Type).and_then(SdkPartType::from_key) {
        Some(SdkPartType::Source) => ContentBlock::Silent,
        None => blocks::classify_block(part),
    }
}

/// Calls and results beside the content; what the content has told counts once.
fn add_listed<'run>(conversation: &mut ConversationBuilder<'_, 'run, '_>, step: Object<'run>, meta: &StepMeta<'run>) {
    for key in [SdkStepKey::Calls, SdkStepKey::Results] {
        for (node, block) in conversation.builder.record_objects(list_of(step, key).unwrap_or_default()) {
            let block = object_of(block, SdkStepKey::Payload).unwrap_or(block);
            let of_content = list_of(step, SdkStepKey::Content).is_some();
            let is_known = text_of(block, SdkStepKey::CallId).is_some_and(|id| conversation.find_call(id).is_some());
            match classify_listed(block, key) {
                ContentBlock::Calls(call) if !is_known => block_session::add_call(conversation, node, call, meta),
                ContentBlock::Answers(answer) if !of_content => {
                    block_session::add_result(conversation, node, &answer, None, meta);
                }
                ContentBlock::Calls(_) | ContentBlock::Answers(_) => {}
                _ => conversation.builder.skip_record(node.origin, blocks::UNKNOWN),
            }
        }
    }
}

/// Older versions have no type in them.
fn classify_listed(block: Object<'_>, list: SdkStepKey) -> ContentBlock<'_> {
    if block.field(SdkStepKey::Type).is_some() {
        return classify_part(block);
    }
    let BlockCall { tool, args, id, answer } = blocks::page_invocation(block);
    match list {
        SdkStepKey::Calls => ContentBlock::Calls(BlockCall { tool, args, id, answer: None }),
        _ => {
            let id = id.and_then(node_text);
            ContentBlock::Answers(BlockResult { id, ..answer.unwrap_or_default() })
        }
    }
}
