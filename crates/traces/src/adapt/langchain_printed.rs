//! Messages of LangChain as Python prints them, in a list of texts: `json.dumps(…, default=str)` writes them so. A message is read only
//! where all of it is fields. `str` leaves out whose it is: an answer of the model is known by its `tool_calls`, a result by its id, and
//! what is neither may be the user's or an instruction, so that messages count as not recorded.

use super::block_session;
use super::blocks::{BlockCall, BlockResult};
use super::calls::TokenUsage;
use super::conversation::{ConversationBuilder, Speaker, StepMeta};
use super::fields::{key_table, value_of};
use super::format::{IN_FULL, TraceFormat};
use super::nodes::{items_of, list_of, node_list, node_object, node_text, object_items, object_of, text_of};
use super::printed_messages::parse_fields;
use super::run_builder::RunBuilder;
use averment_base::limits::Limits;
use averment_base::value::{Node, Object};
use averment_runs::run::{StepKind, StepStatus};
use bumpalo::Bump;

key_table! {
    PrintedListKey {
        Messages = "messages",
        Content = "content",
        Calls = "tool_calls",
        Broken = "invalid_tool_calls",
        Answers = "tool_call_id",
        Name = "name",
        Args = "args",
        Id = "id",
        Status = "status",
        Usage = "usage_metadata",
        More = "additional_kwargs",
        OlderCall = "function_call",
    }
}

key_table! {
    /// The names of the constructors, which `repr` writes.
    PrintedClass {
        Assistant = "AIMessage" | "AIMessageChunk",
        User = "HumanMessage" | "HumanMessageChunk",
        System = "SystemMessage" | "SystemMessageChunk",
        Result = "ToolMessage" | "ToolMessageChunk",
    }
}

pub(crate) const FORMAT: TraceFormat = TraceFormat {
    name: "printed LangChain messages",
    known_by: "`messages` that are texts such as `content='…' additional_kwargs={…}` or `AIMessage(content='…')`",
    description: "messages of LangChain as Python prints them (texts under `messages`)",
    marks: &[PrintedListKey::Messages.key()],
    near: &[PrintedListKey::Usage.key()],
    object: |object| {
        let texts = list_of(object, PrintedListKey::Messages).unwrap_or_default();
        !texts.is_empty() && texts.iter().all(|text| node_text(*text).is_some_and(is_printed))
    },
    read: read_run,
    ..IN_FULL
};

/// How the fields begin.
const FIRST_FIELD: &str = "content=";
/// A field that every message has, for `str` prints it even where it is empty.
const SECOND_FIELD: &str = "additional_kwargs=";

fn is_printed(text: &str) -> bool {
    text.starts_with(FIRST_FIELD) && (text.contains(SECOND_FIELD) || text.contains(PrintedListKey::Answers.key()))
        || split_class(text).is_some()
}

/// The class of a message and its fields, as `repr` prints them.
fn split_class(text: &str) -> Option<(PrintedClass, &str)> {
    let (class, fields) = text.split_once('(')?;
    let fields = fields.strip_suffix(')').filter(|fields| fields.starts_with(FIRST_FIELD))?;
    Some((PrintedClass::from_key(class)?, fields))
}

fn read_run<'run>(root: Node<'run>, builder: &mut RunBuilder<'run, '_>) -> Result<(), crate::error::PlacedError> {
    let root = builder.arena.alloc(root);
    let (arena, limits) = (builder.arena, builder.limits);
    let mut conversation = ConversationBuilder::new(builder);
    let mut is_told = true;
    for node in items_of(root, &[PrintedListKey::Messages]) {
        conversation.builder.count_record();
        match node_text(*node).and_then(|text| parse_message(text, arena, limits)) {
            Some((class, message)) => {
                is_told &= class.is_some();
                add_message(&mut conversation, *node, class, message);
            }
            None => conversation
                .builder
                .skip_record(node.origin, "a printed message that cannot be read exactly is skipped"),
        }
    }
    let builder = conversation.finish_run();
    if !is_told {
        builder.mark_unrecorded(StepKind::Message);
    }
    Ok(())
}

fn parse_message<'run>(
    text: &'run str,
    arena: &'run Bump,
    limits: &Limits,
) -> Option<(Option<PrintedClass>, Object<'run>)> {
    if let Some((class, fields)) = split_class(text) {
        return Some((Some(class), parse_fields(fields, ",", arena, limits)?));
    }
    let message = parse_fields(text, "", arena, limits)?;
    let class = match (value_of(message, PrintedListKey::Answers), value_of(message, PrintedListKey::Calls)) {
        (Some(_), _) => Some(PrintedClass::Result),
        (None, Some(_)) => Some(PrintedClass::Assistant),
        (None, None) => None,
    };
    Some((class, message))
}

fn add_message<'run>(
    conversation: &mut ConversationBuilder<'_, 'run, '_>,
    node: Node<'run>,
    class: Option<PrintedClass>,
    message: Object<'run>,
) {
    let meta = StepMeta::default();
    let content = value_of(message, PrintedListKey::Content).map(|content| Node::new(content.value, node.origin));
    let speaker = match class {
        Some(PrintedClass::Assistant) => Speaker::Assistant,
        Some(PrintedClass::User) => Speaker::User,
        Some(PrintedClass::System) | None => Speaker::System,
        Some(PrintedClass::Result) => {
            let status = text_of(message, PrintedListKey::Status).and_then(StepStatus::from_word);
            let answer = BlockResult {
                id: text_of(message, PrintedListKey::Answers),
                result: content,
                status: Some(status.unwrap_or(StepStatus::Unknown)),
                ..BlockResult::default()
            };
            return block_session::add_result(
                conversation,
                node,
                &answer,
                text_of(message, PrintedListKey::Name),
                &meta,
            );
        }
    };
    if speaker == Speaker::Assistant {
        conversation.begin_turn();
        if let Some(counts) = object_of(message, PrintedListKey::Usage) {
            let mut usage = TokenUsage::default();
            usage.add_usage(counts);
            conversation.add_usage(&usage, None);
        }
    } else {
        conversation.note_input();
    }
    // Blocks of a model that are calls stand among its calls, too.
    if let Some(content) = content {
        conversation.builder.note_parts_beside_calls(content, true);
        conversation.add_text(speaker, content, &meta, node.origin);
    }
    let list = |key| value_of(message, key).and_then(node_list).unwrap_or_default();
    for (_, call) in object_items(list(PrintedListKey::Calls)) {
        let [tool, args, id] =
            [PrintedListKey::Name, PrintedListKey::Args, PrintedListKey::Id].map(|key| value_of(call, key));
        block_session::add_call(conversation, node, BlockCall { tool, args, id, answer: None }, &meta);
    }
    if list(PrintedListKey::Broken).iter().any(|call| node_object(*call).is_some()) {
        conversation.builder.note_unknown(node.origin, "a call whose arguments are no JSON is skipped");
    }
    // Older versions keep calls as the provider wrote them alone.
    let more = object_of(message, PrintedListKey::More);
    let is_older = more.is_some_and(|more| {
        value_of(more, PrintedListKey::OlderCall).is_some()
            || value_of(more, PrintedListKey::Calls).is_some() && list(PrintedListKey::Calls).is_empty()
    });
    if is_older {
        conversation.builder.note_unknown(node.origin, "a call in `additional_kwargs` alone is skipped");
    }
}
