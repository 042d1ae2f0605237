//! Continue: sessions of its editor plugins and of its command line (`sessions/ID.json`). What a call gave stands in its state.

use super::block_session::{self, CostSum, UserWords};
use super::blocks;
use super::calls::TokenUsage;
use super::content;
use super::conversation::{CallResult, ConversationBuilder, Speaker, StepMeta, ToolCall};
use super::fields::{FieldRecord, key_table, value_of};
use super::format::{IN_FULL, TraceFormat};
use super::messages::MessageRole;
use super::nodes::{are_mostly, list_of, node_list, node_object, object_of, text_of};
use super::run_builder::RunBuilder;
use averment_base::value::{Node, Object, Value};
use averment_runs::normal::{of_meta, of_run, of_usage};
use averment_runs::run::StepStatus;

key_table! {
    ContinueKey {
        Session = "sessionId",
        Folder = "workspaceDirectory",
        History = "history",
        Model = "chatModelTitle",
        Usage = "usage",
        Cost = "totalCost",
    }
}

key_table! {
    ContinueItemKey {
        Message = "message",
        /// What the user attached, or what the program added: no words of the user.
        Context = "contextItems",
        States = "toolCallStates",
        /// Of older versions, which call one tool at a time.
        State = "toolCallState",
        Role = "role",
        Content = "content",
        Calls = "toolCalls",
        Call = "toolCall",
        Id = "toolCallId",
        CallId = "id",
        Function = "function",
        Name = "name",
        Arguments = "arguments",
        Parsed = "parsedArgs",
        Status = "status",
        Output = "output",
    }
}

key_table! {
    ContinueStatus {
        Ok = "done",
        Failed = "errored",
        Denied = "canceled",
        Waits = "generating" | "generated",
        /// Nobody wrote down how it ended.
        Runs = "calling",
    }
}

key_table! {
    ContinueUsageKey {
        In = "promptTokens",
        Out = "completionTokens",
        InDetails = "promptTokensDetails",
        OutDetails = "completionTokensDetails",
        CacheRead = "cachedTokens",
        CacheWrite = "cacheWriteTokens",
        Reasoning = "reasoningTokens",
    }
}

pub(crate) const FORMAT: TraceFormat = TraceFormat {
    name: "Continue session",
    known_by: "a `history` whose items have a `message` beside `contextItems`",
    description: "sessions of Continue (`sessions/ID.json`)",
    marks: &[ContinueKey::History.key()],
    near: &[ContinueKey::Folder.key()],
    object: |object| list_of(object, ContinueKey::History).is_some_and(|items| are_mostly(items.iter(), is_item)),
    read: read_run,
    ..IN_FULL
};

fn is_item(item: Object<'_>) -> bool {
    item.field(ContinueItemKey::Context).is_some()
        && object_of(item, ContinueItemKey::Message)
            .is_some_and(|message| text_of(message, ContinueItemKey::Role).is_some())
}

fn read_run<'run>(root: Node<'run>, builder: &mut RunBuilder<'run, '_>) -> Result<(), crate::error::PlacedError> {
    let Some(session) = node_object(root) else { return Ok(()) };
    builder.set_some(of_run::ID, value_of(session, ContinueKey::Session));
    let mut conversation = ConversationBuilder::new(builder);
    conversation.add_meta(of_meta::MODEL, value_of(session, ContinueKey::Model));
    let items = list_of(session, ContinueKey::History).unwrap_or_default();
    let mut of_messages = TokenUsage::default();
    for (node, item) in conversation.builder.record_objects(items) {
        conversation.builder.count_record();
        match object_of(item, ContinueItemKey::Message) {
            Some(message) => {
                add_item(&mut conversation, node, item, message);
                of_messages.merge_usage(&usage_of(message));
            }
            None => conversation.builder.skip_record(node.origin, "an item without a message is skipped"),
        }
    }
    let mut cost = CostSum::default();
    cost.add_cost(object_of(session, ContinueKey::Usage).and_then(|usage| value_of(usage, ContinueKey::Cost)));
    cost.set_cost(conversation.builder);
    let whole = usage_of(session);
    let counted = if whole.known_counts().is_empty() { of_messages } else { whole };
    conversation.add_usage(&counted, value_of(session, ContinueKey::Model));
    conversation.finish_with_tools();
    Ok(())
}

fn usage_of(holder: Object<'_>) -> TokenUsage {
    let mut usage = TokenUsage::default();
    let Some(counts) = object_of(holder, ContinueKey::Usage) else { return usage };
    let inside = |details, key| object_of(counts, details).and_then(|details| value_of(details, key));
    let found = [
        (of_usage::INPUT, value_of(counts, ContinueUsageKey::In)),
        (of_usage::OUTPUT, value_of(counts, ContinueUsageKey::Out)),
        (of_usage::CACHE_READ, inside(ContinueUsageKey::InDetails, ContinueUsageKey::CacheRead)),
        (of_usage::CACHE_WRITE, inside(ContinueUsageKey::InDetails, ContinueUsageKey::CacheWrite)),
        (of_usage::REASONING, inside(ContinueUsageKey::OutDetails, ContinueUsageKey::Reasoning)),
    ];
    for (name, count) in found {
        usage.add_count(name, count);
    }
    usage
}

fn add_item<'run>(
    conversation: &mut ConversationBuilder<'_, 'run, '_>,
    node: Node<'run>,
    item: Object<'run>,
    message: Object<'run>,
) {
    let meta = StepMeta::default();
    let role = conversation.builder.role_of(node, text_of(message, ContinueItemKey::Role));
    let content = message.field(ContinueItemKey::Content);
    if role == Some(MessageRole::Result) {
        let outcome = CallResult {
            result: content.and_then(|content| content::content_text(content, conversation.builder.arena)),
            ..CallResult::default()
        };
        conversation.add_result(text_of(message, ContinueItemKey::Id), None, outcome, &meta, node.origin);
        return;
    }
    let is_thought = text_of(message, ContinueItemKey::Role) == Some(averment_runs::normal::role::THINKING);
    let speaker = if is_thought { Speaker::Thinking } else { Speaker::from_role(role) };
    if matches!(speaker, Speaker::Assistant | Speaker::Thinking) {
        conversation.ensure_turn();
    }
    if let Some(content) = content {
        block_session::add_content(conversation, content, speaker, &UserWords::PLAIN, &meta, blocks::classify_block);
    }
    add_calls(conversation, item, message);
}

/// Of a call its state says most: those that have one come first, with what the model asked for beside them.
fn add_calls<'run>(conversation: &mut ConversationBuilder<'_, 'run, '_>, item: Object<'run>, message: Object<'run>) {
    let states = list_of(item, ContinueItemKey::States).unwrap_or_default();
    let single = value_of(item, ContinueItemKey::State).filter(|_| states.is_empty());
    let state_of = |id: Option<&str>| {
        let all = states.iter().copied().chain(single);
        all.filter_map(node_object).find(|state| id.is_some() && text_of(*state, ContinueItemKey::Id) == id)
    };
    let asked = list_of(message, ContinueItemKey::Calls).unwrap_or_default();
    for (node, call) in conversation.builder.record_objects(asked) {
        let id = text_of(call, ContinueItemKey::CallId);
        add_call(conversation, node, call, state_of(id));
    }
    for node in states.iter().copied().chain(single) {
        let state = node_object(node);
        match state.and_then(|state| Some((state, object_of(state, ContinueItemKey::Call)?))) {
            Some((state, call)) => add_call(conversation, node, call, Some(state)),
            None => conversation.builder.skip_value(node, "the state of a call without its call is skipped"),
        }
    }
    if !asked.is_empty() || !states.is_empty() || single.is_some() {
        conversation.note_input();
    }
}

fn add_call<'run>(
    conversation: &mut ConversationBuilder<'_, 'run, '_>,
    node: Node<'run>,
    call: Object<'run>,
    state: Option<Object<'run>>,
) {
    let id = call.field(ContinueItemKey::CallId).or_else(|| state?.field(ContinueItemKey::Id));
    if id.and_then(super::nodes::node_text).is_some_and(|id| conversation.find_call(id).is_some()) {
        return;
    }
    let function = object_of(call, ContinueItemKey::Function).unwrap_or(call);
    let written = value_of(function, ContinueItemKey::Arguments);
    let made = ToolCall {
        tool: function.field(ContinueItemKey::Name).unwrap_or(Node::computed(Value::Null)),
        args: written.or_else(|| state.and_then(|state| value_of(state, ContinueItemKey::Parsed))),
        id,
        origin: node.origin,
    };
    let Some(step) = conversation.add_call(made, &StepMeta::default()) else { return };
    let Some(state) = state else { return };
    let given = value_of(state, ContinueItemKey::Output).and_then(node_list).unwrap_or_default();
    let texts = given.iter().filter_map(|item| node_object(*item)?.field(ContinueItemKey::Content));
    let texts: Vec<Node<'run>> = texts.collect();
    let result = content::join_texts(&texts, conversation.builder.arena);
    let status = match text_of(state, ContinueItemKey::Status).and_then(ContinueStatus::from_key) {
        Some(ContinueStatus::Ok) => StepStatus::Ok,
        Some(ContinueStatus::Failed) => StepStatus::Failed,
        // What was stopped while it ran gave something.
        Some(ContinueStatus::Denied) if result.is_none_or(is_refusal) => StepStatus::Denied,
        Some(ContinueStatus::Denied) => StepStatus::Failed,
        Some(ContinueStatus::Waits) => return conversation.set_status(step, StepStatus::Pending),
        // What it gave may be a message of its own.
        Some(ContinueStatus::Runs) | None => return,
    };
    conversation.end_within(
        step,
        CallResult { result, status: Some(status), ..CallResult::default() },
        &StepMeta::default(),
    );
}

/// What the program writes in place of a result where a call was not let through.
fn is_refusal(result: Node<'_>) -> bool {
    const REFUSALS: [&str; 3] =
        ["Permission denied by user", "Command blocked by security policy", "Cancelled due to previous tool rejection"];
    super::nodes::node_text(result).is_some_and(|text| REFUSALS.iter().any(|words| text.starts_with(words)))
}
