//! Open WebUI: exported chats, a tree of messages of which the way to `currentId` was shown. Calls stand as items in the `output` of a
//! message, or, in older versions, as `<details>` in its text.

use super::blocks::{BlockCall, BlockResult};
use super::calls::TokenUsage;
use super::conversation::{ConversationBuilder, Speaker, StepMeta, instant_node};
use super::fields::{key_table, value_of};
use super::format::{IN_FULL, TraceFormat};
use super::messages::MessageRole;
use super::nodes::{list_of, node_object, node_text, object_of, text_of};
use super::run_builder::RunBuilder;
use super::{api, block_session, blocks};
use averment_base::value::compare::values_equal;
use averment_base::value::{Node, Object, Value, ValueText};
use averment_runs::normal::{of_meta, of_run};
use averment_runs::run::StepStatus;
use rustc_hash::FxHashSet;
use std::borrow::Cow;

key_table! {
    WebUiKey {
        Chat = "chat",
        Id = "id",
        History = "history",
        Tree = "messages",
        Current = "currentId",
        Parent = "parentId",
        Role = "role",
        Content = "content",
        Output = "output",
        Time = "timestamp",
        Model = "model",
        Usage = "usage",
        Error = "error",
        Type = "type",
        Code = "code",
        Printed = "stdout",
        Given = "result",
    }
}

key_table! {
    /// Items that only Open WebUI has: code that a model wrote and the page ran.
    WebUiItem {
        Code = "open_webui:code_interpreter",
        Said = "message",
    }
}

key_table! {
    /// What a `<details>` in the text of an answer shows.
    Shown {
        Call = "tool_calls",
        Thought = "reasoning",
        Code = "code_interpreter",
    }
}

key_table! {
    /// The attributes of a `<details>`.
    ShownKey {
        Type = "type",
        Done = "done",
        Id = "id",
        Name = "name",
        Args = "arguments",
        Result = "result",
    }
}

/// The tool that runs code.
const INTERPRETER: &str = Shown::Code.key();
const OPEN: &str = "<details";
const CLOSE: &str = "</details>";
/// An attribute that only the program writes.
const BY_PROGRAM: &str = "<details type=\"";

pub(crate) const FORMAT: TraceFormat = TraceFormat {
    name: "Open WebUI chat",
    known_by: "a `history` of `messages` by their ids, beside `currentId`, also inside of `chat`",
    description: "chats of Open WebUI's export (`chat` with a `history` of `messages`)",
    marks: &[WebUiKey::Chat.key(), WebUiKey::History.key()],
    near: &[WebUiKey::Current.key()],
    object: |object| tree_of(object).is_some(),
    read: read_run,
    ..IN_FULL
};

struct MessageTree<'run> {
    chat: Object<'run>,
    messages: Object<'run>,
    current: &'run str,
}

fn tree_of(object: Object<'_>) -> Option<MessageTree<'_>> {
    let chat = object_of(object, WebUiKey::Chat).unwrap_or(object);
    let history = object_of(chat, WebUiKey::History)?;
    Some(MessageTree {
        chat,
        messages: object_of(history, WebUiKey::Tree)?,
        current: text_of(history, WebUiKey::Current)?,
    })
}

fn read_run<'run>(root: Node<'run>, builder: &mut RunBuilder<'run, '_>) -> Result<(), crate::error::PlacedError> {
    let Some((run, tree)) = node_object(root).and_then(|run| Some((run, tree_of(run)?))) else { return Ok(()) };
    let of_chat = value_of(tree.chat, WebUiKey::Id).filter(|id| node_text(*id).is_some_and(|id| !id.is_empty()));
    builder.set_some(of_run::ID, value_of(run, WebUiKey::Id).or(of_chat));
    let way = way_to_current(root, &tree, builder);
    // The way stands once more in a list.
    let listed = list_of(tree.chat, WebUiKey::Tree).unwrap_or_default();
    for (node, message) in builder.record_objects(listed) {
        let known = text_of(message, WebUiKey::Id).and_then(|id| tree.messages.get(id));
        if known.is_none_or(|known| !values_equal(&known.value, &node.value)) {
            builder.note_unknown(node.origin, "a message of the list is another one in the tree");
        }
    }
    let mut conversation = ConversationBuilder::from_parts(builder);
    for (node, message) in way {
        conversation.builder.count_record();
        add_message(&mut conversation, node, message);
    }
    conversation.finish_run();
    Ok(())
}

/// The messages from the first to the current one: what stands beside them was asked or answered in another way.
fn way_to_current<'run>(
    root: Node<'run>,
    tree: &MessageTree<'run>,
    builder: &RunBuilder<'run, '_>,
) -> Vec<(Node<'run>, Object<'run>)> {
    let (mut way, mut seen) = (Vec::new(), FxHashSet::default());
    let mut next = Some(tree.current);
    while let Some(id) = next.filter(|id| seen.insert(*id)) {
        let Some((node, message)) = tree.messages.get(id).and_then(|node| Some((node, node_object(node)?))) else {
            builder.note_unknown(root.origin, "a message of the tree is missing");
            break;
        };
        way.push((node, message));
        next = text_of(message, WebUiKey::Parent);
    }
    way.reverse();
    way
}

fn add_message<'run>(conversation: &mut ConversationBuilder<'_, 'run, '_>, node: Node<'run>, message: Object<'run>) {
    let role = conversation.builder.role_of(node, text_of(message, WebUiKey::Role));
    if role.is_none() && text_of(message, WebUiKey::Role).is_none() {
        conversation.builder.note_unknown(node.origin, super::unknown::UNKNOWN_ROLE);
    }
    let meta = StepMeta { time: value_of(message, WebUiKey::Time).and_then(instant_node), ..StepMeta::default() };
    let content = value_of(message, WebUiKey::Content);
    if role != Some(MessageRole::Assistant) {
        return content
            .into_iter()
            .for_each(|words| conversation.add_content(Speaker::from_role(role), words, &meta, node.origin));
    }
    conversation.begin_turn();
    conversation.add_meta(of_meta::MODEL, value_of(message, WebUiKey::Model));
    if let Some(counts) = object_of(message, WebUiKey::Usage) {
        let mut usage = TokenUsage::default();
        usage.add_usage(counts);
        conversation.add_usage(&usage, value_of(message, WebUiKey::Model));
    }
    // The text shows what stands in the items.
    match (list_of(message, WebUiKey::Output), content) {
        (Some(items @ [_, ..]), _) => {
            for (at, item) in conversation.builder.record_objects(items) {
                add_item(conversation, at, item, &meta);
            }
        }
        (_, Some(words)) if node_text(words).is_some() => add_shown(conversation, words, &meta),
        (_, Some(words)) => conversation.add_content(Speaker::Assistant, words, &meta, node.origin),
        _ => {}
    }
}

fn add_item<'run>(
    conversation: &mut ConversationBuilder<'_, 'run, '_>,
    node: Node<'run>,
    item: Object<'run>,
    meta: &StepMeta<'run>,
) {
    match text_of(item, WebUiKey::Type).and_then(WebUiItem::from_key) {
        Some(WebUiItem::Said) => {
            let words = value_of(item, WebUiKey::Content);
            words.into_iter().for_each(|words| conversation.add_content(Speaker::Assistant, words, meta, node.origin));
        }
        Some(WebUiItem::Code) => {
            let code = value_of(item, WebUiKey::Code);
            let given = value_of(item, WebUiKey::Output);
            let held = given.and_then(node_object);
            let printed =
                held.and_then(|held| value_of(held, WebUiKey::Given).or_else(|| value_of(held, WebUiKey::Printed)));
            add_code(conversation, node, code, printed.or(given), meta);
        }
        None => api::responses::add_item(conversation, node, item, meta),
    }
}

fn add_code<'run>(
    conversation: &mut ConversationBuilder<'_, 'run, '_>,
    node: Node<'run>,
    code: Option<Node<'run>>,
    result: Option<Node<'run>>,
    meta: &StepMeta<'run>,
) {
    let args = code
        .map(|code| conversation.builder.object_node(&[super::run_builder::field_entry(WebUiKey::Code.key(), code)]));
    let answer = BlockResult { result, is_value: true, status: Some(StepStatus::Unknown), ..BlockResult::default() };
    let tool = Node::new(Value::Text(ValueText::Plain(INTERPRETER)), node.origin);
    let call = BlockCall { tool: Some(tool), args, id: None, answer: Some(answer) };
    block_session::add_call(conversation, node, call, meta);
}

/// The text of an answer: words, and between them what the page folds.
fn add_shown<'run>(conversation: &mut ConversationBuilder<'_, 'run, '_>, words: Node<'run>, meta: &StepMeta<'run>) {
    let Some(mut rest) = node_text(words) else { return };
    while let Some(start) = rest.find(BY_PROGRAM) {
        let (before, folded) = rest.split_at(start);
        say_text(conversation, before, words, meta);
        let Some(end) = folded.find(CLOSE) else {
            conversation.builder.note_unknown(words.origin, blocks::UNKNOWN);
            return;
        };
        let (folded, after) = folded.split_at(end);
        if add_folded(conversation, folded, words, meta).is_none() {
            conversation.builder.note_unknown(words.origin, blocks::UNKNOWN);
        }
        rest = after.get(CLOSE.len()..).unwrap_or_default();
    }
    say_text(conversation, rest, words, meta);
}

fn say_text<'run>(
    conversation: &mut ConversationBuilder<'_, 'run, '_>,
    text: &str,
    of: Node<'run>,
    meta: &StepMeta<'run>,
) {
    if !text.trim().is_empty() {
        let said = block_session::text_node(conversation.builder, text.trim(), of);
        conversation.add_message(Speaker::Assistant, said, meta, of.origin);
    }
}

/// `None` where it cannot be read.
fn add_folded<'run>(
    conversation: &mut ConversationBuilder<'_, 'run, '_>,
    folded: &str,
    of: Node<'run>,
    meta: &StepMeta<'run>,
) -> Option<()> {
    let (attributes, inner) = read_attributes(folded.strip_prefix(OPEN)?)?;
    let get = |key: ShownKey| attributes.iter().find(|(name, _)| *name == key.key()).map(|(_, value)| &**value);
    let node = |conversation: &ConversationBuilder<'_, 'run, '_>, text: &str| {
        block_session::text_node(conversation.builder, text, of)
    };
    match Shown::from_key(get(ShownKey::Type)?)? {
        Shown::Thought => {
            let (_, thought) = inner.split_once("</summary>")?;
            let lines = thought.trim().lines().map(|line| line.strip_prefix("> ").unwrap_or(line));
            let thought = lines.collect::<Vec<_>>().join("\n");
            let thought = node(conversation, &unescape_html(&thought));
            conversation.add_message(Speaker::Thinking, thought, meta, of.origin);
        }
        Shown::Call => {
            let tool = node(conversation, get(ShownKey::Name)?);
            let [args, result] =
                [ShownKey::Args, ShownKey::Result].map(|key| get(key).map(|text| unquote_json(conversation, text)));
            let id = get(ShownKey::Id).filter(|id| !id.is_empty()).map(|id| node(conversation, id));
            let is_done = get(ShownKey::Done) == Some("true");
            let status = Some(if is_done { StepStatus::Unknown } else { StepStatus::Pending });
            let answer = BlockResult { result, is_value: true, status, ..BlockResult::default() };
            block_session::add_call(
                conversation,
                of,
                BlockCall { tool: Some(tool), args, id, answer: Some(answer) },
                meta,
            );
        }
        Shown::Code => {
            let (_, code) = inner.split_once("</summary>")?;
            let code = code.trim().strip_prefix("```").and_then(|code| code.strip_suffix("```"));
            let code = code.and_then(|code| code.split_once('\n')).map(|(_, code)| node(conversation, code.trim_end()));
            add_code(conversation, of, code, None, meta);
        }
    }
    Some(())
}

/// A text that is the JSON of a text is that text. It stands nowhere as it is, so that it has no place of its own.
fn unquote_json<'run>(conversation: &ConversationBuilder<'_, 'run, '_>, text: &str) -> Node<'run> {
    let node = Node::computed(Value::plain_text(conversation.builder.arena.alloc_str(text)));
    let is_quoted = text.starts_with('"');
    let inner = if is_quoted { conversation.builder.open_json(node) } else { None };
    inner.map_or(node, |inner| Node::computed(inner.value))
}

/// The names and values of a tag.
type TagAttributes<'t> = Vec<(&'t str, Cow<'t, str>)>;

/// The attributes of a tag up to its `>`, and what stands behind it.
fn read_attributes(tag: &str) -> Option<(TagAttributes<'_>, &str)> {
    let (mut rest, mut attributes) = (tag, Vec::new());
    loop {
        rest = rest.trim_start();
        if let Some(inner) = rest.strip_prefix('>') {
            return Some((attributes, inner));
        }
        let (name, value) = rest.split_once("=\"")?;
        let is_name =
            !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-');
        let (value, after) = value.split_once('"').filter(|_| is_name)?;
        attributes.push((name, unescape_html(value)));
        rest = after;
    }
}

/// The letters that Python's `html.escape` writes with names.
fn unescape_html(text: &str) -> Cow<'_, str> {
    const NAMES: [(&str, &str); 6] =
        [("&lt;", "<"), ("&gt;", ">"), ("&quot;", "\""), ("&#x27;", "'"), ("&#39;", "'"), ("&amp;", "&")];
    if !text.contains('&') {
        return Cow::Borrowed(text);
    }
    // The sign itself comes last: what it was written for is not a name.
    Cow::Owned(NAMES.iter().fold(text.to_owned(), |text, (name, letter)| text.replace(name, letter)))
}
