//! Messages of Pydantic AI: requests and responses with `parts`, as `all_messages_json()` writes them.

use super::calls::TokenUsage;
use super::content;
use super::conversation::{CallResult, ConversationBuilder, Speaker, StepMeta, ToolCall};
use super::fields::{FieldRecord, key_table, value_of};
use super::format::{IN_FULL, TraceFormat};
use super::nodes::{items_of, list_of, node_list, node_object, node_text, object_items, object_of, text_of};
use super::repeated_records::RecordIds;
use super::run_builder::RunBuilder;
use averment_base::value::{Node, Object, Value};
use averment_runs::normal::{of_meta, of_run, of_step, of_usage, role};
use averment_runs::run::StepStatus;

key_table! {
    PydanticMessageKey {
        Kind = "kind",
        Parts = "parts",
        Usage = "usage",
        Model = "model_name",
        Messages = "messages",
        /// Older versions count so.
        Input = "request_tokens",
        Output = "response_tokens",
    }
}

key_table! {
    PydanticPartKey {
        Kind = "part_kind",
        Content = "content",
        Tool = "tool_name",
        Args = "args",
        /// Older versions tell text from an object.
        Json = "args_json",
        Dict = "args_dict",
        Id = "tool_call_id",
        Time = "timestamp",
        Details = "metadata",
        End = "outcome",
        Transcript = "transcript",
        Speaker = "speaker",
    }
}

key_table! {
    PydanticMessageKind {
        Request = "request",
        Response = "response",
    }
}

key_table! {
    PydanticPartKind {
        System = "system-prompt" | "instruction" | "retry-feedback",
        User = "user-prompt",
        Said = "text",
        /// What was heard, of the user in a request and of the model in a response.
        Spoken = "speech",
        Thought = "thinking",
        Call = "tool-call" | "builtin-tool-call",
        Result = "tool-return" | "builtin-tool-return",
        Retry = "retry-prompt",
        /// A file that the model made, a summary for the provider, and how the next request differs from the one before.
        Silent = "file" | "compaction" | "instruction-delta" | "instruction-baseline" | "instruction-digest"
            | "tool-availability-delta" | "capability-load-delta" | "model-settings-delta",
    }
}

key_table! {
    PydanticOutcome {
        Ok = "success",
        /// Of a call that has to be made again, what it gave is why.
        Failed = "failed" | "retried",
        Denied = "denied",
    }
}

pub(crate) const FORMAT: TraceFormat = TraceFormat {
    name: "Pydantic AI messages",
    known_by: "messages of `kind` `request` or `response` whose `parts` have a `part_kind`",
    description: "messages of Pydantic AI (`kind`, `parts`; a list, or under `messages`)",
    marks: PydanticMessageKey::Messages.keys(),
    near: &[PydanticPartKey::Kind.key()],
    object: |object| messages_of(object).is_some_and(|list| object_items(list).any(|(_, one)| is_message(one))),
    item_marks: &[PydanticMessageKey::Parts.key()],
    element: is_message,
    line: is_message,
    record_ids: RecordIds::of_call(&[&[PydanticMessageKey::Parts.key(), PydanticPartKey::Id.key()]]),
    read: read_run,
    ..IN_FULL
};

fn messages_of(object: Object<'_>) -> Option<&[Node<'_>]> {
    value_of(object, PydanticMessageKey::Messages).and_then(node_list)
}

fn is_message(message: Object<'_>) -> bool {
    text_of(message, PydanticMessageKey::Kind).and_then(PydanticMessageKind::from_key).is_some()
        && list_of(message, PydanticMessageKey::Parts)
            .is_some_and(|parts| object_items(parts).any(|(_, part)| text_of(part, PydanticPartKey::Kind).is_some()))
}

fn read_run<'run>(root: Node<'run>, builder: &mut RunBuilder<'run, '_>) -> Result<(), crate::error::PlacedError> {
    let root = builder.arena.alloc(root);
    let mut conversation = ConversationBuilder::from_parts(builder);
    for node in items_of(root, &[PydanticMessageKey::Messages]) {
        conversation.builder.count_record();
        let message = node_object(*node);
        let parts = message.and_then(|message| Some((message, list_of(message, PydanticMessageKey::Parts)?)));
        let kind = message.and_then(|message| text_of(message, PydanticMessageKey::Kind));
        let (Some((message, parts)), Some(kind)) = (parts, kind.and_then(PydanticMessageKind::from_key)) else {
            conversation.builder.skip_value(node, "what is no request or response with `parts` is skipped");
            continue;
        };
        if kind == PydanticMessageKind::Response {
            conversation.begin_message();
            count_usage(&mut conversation, message);
        }
        // What a tool adds to the conversation stands beside its result, in the words of the user.
        let is_result = |part: Object<'run>| match part_kind(part) {
            Some(PydanticPartKind::Result) => true,
            Some(PydanticPartKind::Retry) => value_of(part, PydanticPartKey::Tool).is_some(),
            _ => false,
        };
        let beside_result = object_items(parts).any(|(_, part)| is_result(part));
        let asker =
            if beside_result || kind == PydanticMessageKind::Response { Speaker::System } else { Speaker::User };
        for (at, part) in conversation.builder.record_objects(parts) {
            // What the provider itself ran ends inside of the response that asked for it.
            match kind == PydanticMessageKind::Response && is_result(part) {
                true => conversation.within_message(|conversation| add_part(conversation, at, part, asker)),
                false => add_part(&mut conversation, at, part, asker),
            }
        }
    }
    conversation.finish_run();
    Ok(())
}

fn part_kind(part: Object<'_>) -> Option<PydanticPartKind> {
    text_of(part, PydanticPartKey::Kind).and_then(PydanticPartKind::from_key)
}

fn add_part<'run>(
    conversation: &mut ConversationBuilder<'_, 'run, '_>,
    node: Node<'run>,
    part: Object<'run>,
    asker: Speaker,
) {
    let meta = StepMeta { time: value_of(part, PydanticPartKey::Time), ..StepMeta::default() };
    let Some(kind) = part_kind(part) else {
        let word = text_of(part, PydanticPartKey::Kind).unwrap_or_default();
        return conversation.builder.skip_record(node.origin, format!("a part of unknown kind `{word}` is skipped"));
    };
    let content = part.field(PydanticPartKey::Content);
    // What a request says besides text are files: no rule reads them.
    let mut say = |speaker| {
        if let Some(words) = content.and_then(|content| content::content_text(content, conversation.builder.arena)) {
            conversation.add_message(speaker, words, &meta, node.origin);
        }
    };
    match kind {
        PydanticPartKind::System => say(Speaker::System),
        PydanticPartKind::User => {
            say(asker);
            // Beside a result it is the tool's, or the user's who answered what the call waited for: nothing says which.
            if asker != Speaker::User {
                conversation.builder.leave_role_open(role::USER);
            }
        }
        PydanticPartKind::Said => {
            content
                .into_iter()
                .for_each(|words| conversation.add_content(Speaker::Assistant, words, &meta, node.origin));
        }
        PydanticPartKind::Thought => say(Speaker::Thinking),
        PydanticPartKind::Spoken => {
            let of_user = text_of(part, PydanticPartKey::Speaker).map(|word| word == role::USER);
            let speaker = if of_user.unwrap_or(asker == Speaker::User) { asker } else { Speaker::Assistant };
            let words = value_of(part, PydanticPartKey::Transcript);
            words.into_iter().for_each(|words| conversation.add_message(speaker, words, &meta, node.origin));
        }
        PydanticPartKind::Call => {
            let made = ToolCall {
                tool: part.field(PydanticPartKey::Tool).unwrap_or(Node::computed(Value::Null)),
                args: value_of(part, PydanticPartKey::Args).map(unwrap_args),
                id: part.field(PydanticPartKey::Id),
                origin: node.origin,
            };
            conversation.add_call(made, &meta);
        }
        PydanticPartKind::Retry if value_of(part, PydanticPartKey::Tool).is_none() => say(Speaker::System),
        PydanticPartKind::Result | PydanticPartKind::Retry => {
            let word = text_of(part, PydanticPartKey::End);
            let status = match (kind, word.map(PydanticOutcome::from_key)) {
                (_, Some(Some(PydanticOutcome::Denied))) => StepStatus::Denied,
                (PydanticPartKind::Retry, _) | (_, Some(Some(PydanticOutcome::Failed))) => StepStatus::Failed,
                // Older versions write down no outcome of what went well.
                (_, None | Some(Some(PydanticOutcome::Ok))) => StepStatus::Ok,
                // A run that was interrupted does not tell how far the call got.
                (_, Some(None)) => StepStatus::Unknown,
            };
            let details = value_of(part, PydanticPartKey::Details);
            let outcome = CallResult { result: content, status: Some(status), details, ..CallResult::default() };
            let (id, tool) = (text_of(part, PydanticPartKey::Id), text_of(part, PydanticPartKey::Tool));
            let call = conversation.add_result(id, tool, outcome, &meta, node.origin);
            // An agent with an output type answers by the arguments of a call.
            if content.and_then(node_text) == Some(OUTPUT_TAKEN) {
                let answer = call.and_then(|call| conversation.builder.step_field(call, of_step::ARGS));
                conversation.builder.set_some(of_run::OUTPUT, answer);
            }
        }
        PydanticPartKind::Silent => {}
    }
}

/// What the call of an output tool gives, whose arguments are the answer.
const OUTPUT_TAKEN: &str = "Final result processed.";

fn unwrap_args(args: Node<'_>) -> Node<'_> {
    let held = node_object(args).filter(|held| held.entries().len() == 1);
    let inner = held.and_then(|held| {
        let dict = value_of(held, PydanticPartKey::Dict).filter(|dict| node_object(*dict).is_some());
        dict.or_else(|| value_of(held, PydanticPartKey::Json).filter(|text| node_text(*text).is_some()))
    });
    inner.unwrap_or(args)
}

fn count_usage<'run>(conversation: &mut ConversationBuilder<'_, 'run, '_>, message: Object<'run>) {
    let model = value_of(message, PydanticMessageKey::Model);
    conversation.add_meta(of_meta::MODEL, model);
    let Some(counts) = object_of(message, PydanticMessageKey::Usage) else { return };
    let mut usage = TokenUsage::default();
    usage.add_usage(counts);
    let others = [(of_usage::INPUT, PydanticMessageKey::Input), (of_usage::OUTPUT, PydanticMessageKey::Output)];
    for (name, field) in others {
        usage.add_count(name, value_of(counts, field));
    }
    conversation.add_usage(&usage, model);
}
