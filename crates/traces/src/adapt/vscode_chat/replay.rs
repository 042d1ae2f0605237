//! The prompts that the debug view of Copilot Chat exports: the requests of each, and the calls of tools.

use super::VsCodeKey;
use crate::adapt::block_session;
use crate::adapt::blocks::{BlockCall, BlockResult};
use crate::adapt::calls::TokenUsage;
use crate::adapt::content;
use crate::adapt::conversation::{ConversationBuilder, Speaker, StepMeta};
use crate::adapt::fields::{FieldRecord, NodeShapes, is_true, key_table};
use crate::adapt::nodes::{first_of, list_of, node_list, node_object, node_text, object_items, object_of, text_of};
use averment_base::value::{Node, Object, Value};
use averment_runs::normal::{of_meta, of_run};
use averment_runs::run::StepStatus;

key_table! {
    ReplayKey {
        Prompt = "prompt",
        /// More of a prompt that stands further up.
        GoesOn = "hasSeen",
        Logs = "logs",
        Kind = "kind",
        Name = "name",
        Metadata = "metadata",
        Model = "model",
        Usage = "usage",
        Start = "startTime",
        Response = "response",
        Message = "message",
        Reason = "reason",
        Type = "type",
        Id = "id",
        Tool = "tool",
        Args = "args",
        Time = "time",
        Thinking = "thinking",
        Words = "text",
    }
}

key_table! {
    ReplayKind {
        Request = "request",
        Call = "toolCall",
        /// How a prompt was put together.
        Silent = "element" | "markdownContent",
    }
}

key_table! {
    ReplayRequestName {
        /// Requests of the editor beside the chat.
        Aside = "title" | "progressMessages" | "promptCategorization" | "summarizeConversationHistory" | "debugCommandIdentifier"
            | "summarizeConversationHistory-full" | "summarizeConversationHistory-simple",
    }
}

key_table! {
    ReplayOutcome {
        Ok = "success",
    }
}

pub(super) fn is_replay(object: Object<'_>) -> bool {
    let prompts = list_of(object, VsCodeKey::Prompts).filter(|_| object.field(VsCodeKey::Exported).is_some());
    // Prompts of older exports have no id.
    prompts.is_some_and(|prompts| object_items(prompts).any(|(_, prompt)| holds_logs(prompt)))
        || object.field(VsCodeKey::Prompt).is_some() && holds_logs(object)
}

fn holds_logs(prompt: Object<'_>) -> bool {
    list_of(prompt, VsCodeKey::Logs).is_some_and(|logs| object_items(logs).any(|(_, log)| kind_of(log).is_some()))
}

fn kind_of(log: Object<'_>) -> Option<ReplayKind> {
    text_of(log, ReplayKey::Kind).and_then(ReplayKind::from_key)
}

pub(super) fn read_prompts<'run>(conversation: &mut ConversationBuilder<'_, 'run, '_>, export: Object<'run>) {
    match list_of(export, VsCodeKey::Prompts) {
        Some(prompts) => {
            for (node, prompt) in conversation.builder.record_objects(prompts) {
                match list_of(prompt, VsCodeKey::Logs) {
                    Some(_) => read_prompt(conversation, prompt),
                    None => conversation.builder.skip_record(node.origin, "a prompt without `logs` is skipped"),
                }
            }
        }
        None => read_prompt(conversation, export),
    }
}

fn read_prompt<'run>(conversation: &mut ConversationBuilder<'_, 'run, '_>, prompt: Object<'run>) {
    if let Some(words) = prompt.field(ReplayKey::Prompt).filter(|_| !is_true(&prompt, &NodeShapes, ReplayKey::GoesOn)) {
        conversation.add_message(Speaker::User, words, &StepMeta::default(), words.origin);
    }
    for (node, log) in conversation.builder.record_objects(list_of(prompt, ReplayKey::Logs).unwrap_or_default()) {
        conversation.builder.count_record();
        match kind_of(log) {
            Some(ReplayKind::Request) => read_request(conversation, node, log),
            Some(ReplayKind::Call) => read_call(conversation, node, log),
            Some(ReplayKind::Silent) => {}
            None => {
                let kind = text_of(log, ReplayKey::Kind).unwrap_or_default();
                conversation.builder.skip_record(node.origin, format!("a log of unknown kind `{kind}` is skipped"));
            }
        }
    }
}

fn read_request<'run>(conversation: &mut ConversationBuilder<'_, 'run, '_>, node: Node<'run>, log: Object<'run>) {
    let metadata = object_of(log, ReplayKey::Metadata);
    let of_metadata = |key| metadata.and_then(|metadata| first_of(metadata, &[key]));
    let model = of_metadata(ReplayKey::Model);
    if let Some(counts) = of_metadata(ReplayKey::Usage).and_then(node_object) {
        let mut usage = TokenUsage::default();
        usage.add_usage(counts);
        conversation.add_usage(&usage, model);
    }
    if text_of(log, ReplayKey::Name).and_then(ReplayRequestName::from_key).is_some() {
        return;
    }
    conversation.begin_turn();
    conversation.add_meta(of_meta::MODEL, model);
    let meta = StepMeta { time: of_metadata(ReplayKey::Start), ..StepMeta::default() };
    let Some(response) = object_of(log, ReplayKey::Response) else { return };
    let said = response.field(ReplayKey::Message);
    if text_of(response, ReplayKey::Type).is_some_and(|kind| ReplayOutcome::from_key(kind).is_none()) {
        let why = first_of(response, &[ReplayKey::Reason, ReplayKey::Type]);
        conversation.builder.set_some(of_run::ERROR, why);
        return;
    }
    if let Some(words) = said.and_then(|said| content::content_text(said, conversation.builder.arena)) {
        conversation.add_message(Speaker::Assistant, words, &meta, node.origin);
    }
}

/// Whether a tool failed is not written down.
fn read_call<'run>(conversation: &mut ConversationBuilder<'_, 'run, '_>, node: Node<'run>, log: Object<'run>) {
    let meta = StepMeta { time: first_of(log, &[ReplayKey::Time]), ..StepMeta::default() };
    let thought = object_of(log, ReplayKey::Thinking).and_then(|thought| thought.field(ReplayKey::Words));
    let thought = thought.and_then(|thought| content::content_text(thought, conversation.builder.arena));
    thought.into_iter().for_each(|thought| conversation.add_message(Speaker::Thinking, thought, &meta, node.origin));
    let result = first_of(log, &[ReplayKey::Response]).map(|response| {
        let is_text = node_list(response).is_some_and(|parts| parts.iter().all(|part| node_text(*part).is_some()));
        let words = is_text.then(|| content::content_text(response, conversation.builder.arena)).flatten();
        words.unwrap_or(response)
    });
    let answer = result.filter(|result| !matches!(result.value, Value::Null)).map(|result| BlockResult {
        result: Some(result),
        is_value: true,
        status: Some(StepStatus::Unknown),
        ..BlockResult::default()
    });
    let tool = log.field(ReplayKey::Tool);
    let made = BlockCall { tool, args: log.field(ReplayKey::Args), id: log.field(ReplayKey::Id), answer };
    block_session::add_call(conversation, node, made, &meta);
}
