//! Amp: threads. The blocks are those of Anthropic, but for results, which say in `run` how a call ended.

use super::blocks::{self, BlockResult, ContentBlock};
use super::calls::TokenUsage;
use super::fields::{FieldRecord as _, key_table, value_of};
use super::format::{IN_FULL, TraceFormat};
use super::listed_messages::{ListedMessage, read_messages};
use super::messages::MessageRole;
use super::nodes::{list_of, node_object, object_items, object_of, text_of};
use super::run_builder::RunBuilder;
use averment_base::value::{Node, Object};
use averment_runs::normal::{of_run, of_usage};
use averment_runs::run::StepStatus;

key_table! {
    AmpKey {
        Messages = "messages",
        Id = "id",
        Number = "messageId",
        Version = "v",
        Role = "role",
        Content = "content",
        Usage = "usage",
        Model = "model",
        Input = "inputTokens",
        Output = "outputTokens",
        CacheRead = "cacheReadInputTokens",
        CacheWrite = "cacheCreationInputTokens",
        Call = "toolUseID",
        Run = "run",
        Status = "status",
        Result = "result",
        Error = "error" | "reason",
    }
}

key_table! {
    AmpStatus {
        Ok = "done",
        Failed = "error" | "cancelled",
        Denied = "rejected-by-user" | "blocked-on-user",
        Pending = "in-progress" | "queued",
    }
}

pub(crate) const FORMAT: TraceFormat = TraceFormat {
    name: "Amp thread",
    known_by: "`messages` with `role`, `content` and a `messageId` that is a number, beside the version `v`",
    description: "threads of Amp (`messages` with `messageId`, beside `v`)",
    marks: &[AmpKey::Messages.key()],
    near: &[],
    object: |object| {
        object.field(AmpKey::Version).is_some()
            && object_items(list_of(object, AmpKey::Messages).unwrap_or_default()).any(|(_, one)| is_message(one))
    },
    read: read_run,
    ..IN_FULL
};

fn is_message(message: Object<'_>) -> bool {
    text_of(message, AmpKey::Role).is_some()
        && message.field(AmpKey::Number).is_some()
        && list_of(message, AmpKey::Content).is_some()
}

fn read_run<'run>(root: Node<'run>, builder: &mut RunBuilder<'run, '_>) -> Result<(), crate::error::PlacedError> {
    let Some(run) = node_object(root) else { return Ok(()) };
    builder.set_some(of_run::ID, value_of(run, AmpKey::Id));
    let items = list_of(run, AmpKey::Messages).unwrap_or_default();
    let mut conversation = read_messages(items, builder, view_message, classify_block);
    for (_, message) in object_items(items) {
        let Some(counts) = object_of(message, AmpKey::Usage) else { continue };
        let mut usage = TokenUsage::default();
        for (name, key) in [
            (of_usage::INPUT, AmpKey::Input),
            (of_usage::OUTPUT, AmpKey::Output),
            (of_usage::CACHE_READ, AmpKey::CacheRead),
            (of_usage::CACHE_WRITE, AmpKey::CacheWrite),
        ] {
            usage.add_count(name, value_of(counts, key));
        }
        usage.count_cache_as_input();
        conversation.add_usage(&usage, value_of(counts, AmpKey::Model));
    }
    conversation.finish_run();
    Ok(())
}

fn view_message(message: Object<'_>) -> Option<ListedMessage<'_>> {
    Some(ListedMessage {
        role: text_of(message, AmpKey::Role).and_then(MessageRole::from_key),
        contents: vec![value_of(message, AmpKey::Content)?],
        ..ListedMessage::default()
    })
}

fn classify_block(block: Object<'_>) -> ContentBlock<'_> {
    let Some((id, run)) = text_of(block, AmpKey::Call).zip(object_of(block, AmpKey::Run)) else {
        return blocks::classify_block(block);
    };
    let status = match text_of(run, AmpKey::Status).and_then(AmpStatus::from_key) {
        Some(AmpStatus::Ok) => StepStatus::Ok,
        Some(AmpStatus::Failed) => StepStatus::Failed,
        Some(AmpStatus::Denied) => StepStatus::Denied,
        Some(AmpStatus::Pending) => StepStatus::Pending,
        None => StepStatus::Unknown,
    };
    let gave = value_of(run, AmpKey::Result);
    ContentBlock::Answers(BlockResult {
        id: Some(id),
        result: gave.or_else(|| value_of(run, AmpKey::Error)),
        is_value: true,
        failed: status == StepStatus::Failed,
        status: Some(status),
    })
}
