//! Streamed answers of a chat API: `chat.completion.chunk` objects, one a line or in a list. The parts of a message and of its calls are
//! put together; what calls gave back is not in a stream.

use super::api::cut_calls;
use super::calls::TokenUsage;
use super::conversation::{ConversationBuilder, Speaker, StepMeta, ToolCall};
use super::fields::{FieldRecord, NodeShapes, ShapeReader, key_table, value_of};
use super::format::{IN_FULL, TraceFormat};
use super::messages::ChatMessageKey;
use super::nodes::{first_of, items_of, list_of, node_object, node_text, object_items, object_of, text_of};
use super::repeated_records::RecordIds;
use super::run_builder::{RunBuilder, field_entry};
use super::{content, executed_tools};
use averment_base::limits::Limits;
use averment_base::value::{Node, Object, Value};
use averment_runs::normal::{of_meta, of_run, role};
use rustc_hash::FxHashMap;

key_table! {
    ChunkKey {
        Object = "object",
        Id = "id",
        Model = "model",
        Choices = "choices",
        Index = "index",
        Delta = "delta",
        Ended = "finish_reason",
        Usage = "usage",
        /// What Azure says of the prompt, in front of an answer.
        Filter = "prompt_filter_results",
        /// Of an answer that is whole.
        Message = "message",
    }
}

key_table! {
    DeltaKey {
        Role = "role",
        Content = "content",
        Thought = "reasoning_content",
        Refusal = "refusal",
        Calls = "tool_calls",
        /// The only call of older versions.
        Call = "function_call",
        Index = "index",
        Id = "id",
        Function = "function",
        /// A call whose input is a text of its own.
        Custom = "custom",
        Name = "name",
        Arguments = "arguments" | "input",
    }
}

pub(crate) const FORMAT: TraceFormat = TraceFormat {
    name: "chat completion chunks",
    known_by: "objects whose `object` is `chat.completion.chunk`, or whose `choices` have a `delta`",
    description: "streamed answers of a chat API (`chat.completion.chunk`, one a line or in a list)",
    marks: &[ChunkKey::Object.key(), ChunkKey::Choices.key()],
    near: &[ChunkKey::Delta.key()],
    object: is_chunk,
    item_marks: &[ChunkKey::Object.key(), ChunkKey::Choices.key()],
    element: is_chunk,
    line: is_chunk,
    record_ids: RecordIds::of_run(&[&[ChunkKey::Id.key()]]),
    read: read_run,
    ..IN_FULL
};

fn is_chunk(chunk: Object<'_>) -> bool {
    let choices = list_of(chunk, ChunkKey::Choices);
    match text_of(chunk, ChunkKey::Object).filter(|kind| !kind.is_empty()) {
        Some(kind) => kind == CHUNK && choices.is_some(),
        // Some providers leave the kind out. The last chunk may have nothing but a usage.
        None => choices.is_some_and(|choices| {
            super::nodes::object_items(choices).any(|(_, choice)| object_of(choice, ChunkKey::Delta).is_some())
                || choices.is_empty() && (object_of(chunk, ChunkKey::Usage).is_some() || is_of_prompt(chunk))
        }),
    }
}

/// Says nothing of the answer, whose id it lacks.
fn is_of_prompt(chunk: Object<'_>) -> bool {
    chunk.field(ChunkKey::Filter).is_some() && list_of(chunk, ChunkKey::Choices).is_some_and(<[_]>::is_empty)
}

const CHUNK: &str = "chat.completion.chunk";
/// The index of the only call of older versions.
const OLDER_CALL: i64 = -1;

#[derive(Default)]
pub(super) struct PartialAnswer<'run> {
    id: Option<&'run str>,
    /// Several of its chunks have this id.
    keeps_id: bool,
    node: Option<Node<'run>>,
    words: String,
    thought: String,
    calls: Vec<PartialCall<'run>>,
    /// Tools that the provider ran.
    executed: Vec<(Node<'run>, Object<'run>)>,
    /// The last call of an index.
    places: FxHashMap<Option<i64>, usize>,
    usage: Option<Object<'run>>,
    /// It states a finish reason.
    pub(super) is_over: bool,
    /// This says that more would have come.
    is_cut: bool,
}

struct PartialCall<'run> {
    index: Option<i64>,
    node: Node<'run>,
    id: Option<Node<'run>>,
    name: Option<Node<'run>>,
    arguments: String,
    /// Some programs give the arguments as they are, in one part.
    given: Option<Node<'run>>,
}

impl<'run> PartialCall<'run> {
    fn args(&self, arena: &'run bumpalo::Bump) -> Node<'run> {
        self.given.unwrap_or_else(|| Node::computed(Value::plain_text(arena.alloc_str(&self.arguments))))
    }

    /// Gemini gives each of several calls the same index, and all of it at once: a named part behind a whole call is another call.
    fn takes_part(&self, id: Option<Node<'run>>, named: Option<Node<'run>>, piece: &str, limits: &Limits) -> bool {
        match (self.id, id) {
            _ if named.is_none() || self.name.is_none() => true,
            (Some(own), Some(id)) => node_text(own) == node_text(id),
            _ => !piece.starts_with('{') || !is_whole_call(self, true, limits),
        }
    }
}

fn read_run<'run>(root: Node<'run>, builder: &mut RunBuilder<'run, '_>) -> Result<(), crate::error::PlacedError> {
    let root = builder.arena.alloc(root);
    let mut conversation = ConversationBuilder::new(builder);
    let mut answers: Vec<PartialAnswer<'run>> = Vec::new();
    for node in items_of::<ChunkKey>(root, &[]) {
        conversation.builder.count_record();
        let Some(chunk) = node_object(*node).filter(|chunk| is_chunk(*chunk)) else {
            conversation.builder.skip_value(node, "what is no chunk of an answer is skipped");
            continue;
        };
        if is_of_prompt(chunk) {
            continue;
        }
        conversation.add_meta(of_meta::MODEL, chunk.field(ChunkKey::Model));
        let (known, id) = (answer_place(&answers, chunk), text_of(chunk, ChunkKey::Id));
        if known.is_none() {
            answers.push(PartialAnswer { id, node: Some(*node), ..PartialAnswer::default() });
        }
        let answer = match known {
            Some(place) => answers.get_mut(place),
            None => answers.last_mut(),
        };
        let Some(answer) = answer else { continue };
        answer.keeps_id |= known.is_some() && answer.id == id;
        answer.usage = usage_of(chunk).or(answer.usage);
        let choices = conversation.builder.record_objects(list_of(chunk, ChunkKey::Choices).unwrap_or_default());
        for (at, choice) in choices {
            if field_index(choice, ChunkKey::Index).is_some_and(|index| index != 0) {
                let message = "of several answers to one request the first is read, and the others are skipped";
                conversation.builder.warn_once(at.origin, message.to_owned());
                continue;
            }
            answer.note_end(choice);
            match object_of(choice, ChunkKey::Delta) {
                Some(delta) => answer.add_delta(at, delta, conversation.builder),
                None => conversation.builder.skip_record(at.origin, "a choice without `delta` is skipped"),
            }
        }
    }
    let mut is_over = true;
    for answer in answers {
        is_over &= add_answer(&mut conversation, answer);
    }
    let builder = conversation.finish_run();
    if !is_over {
        builder.set_entry(of_run::COMPLETE, Node::computed(Value::Boolean(false)));
    }
    Ok(())
}

/// Answers that arrive side by side.
const OPEN_ANSWERS: usize = 16;

/// The answer that a chunk is a piece of; `None` if it begins one. Some servers give each chunk an id of its own, and only the first a role.
fn answer_place(answers: &[PartialAnswer<'_>], chunk: Object<'_>) -> Option<usize> {
    let id = text_of(chunk, ChunkKey::Id);
    let last = answers.len().checked_sub(1)?;
    let takes = |place: &usize| *place == last || answers.get(*place).is_some_and(|answer| !answer.is_over);
    let recent = (answers.len().saturating_sub(OPEN_ANSWERS)..answers.len()).rev();
    let known = recent.clone().find(|place| answers.get(*place).is_some_and(|answer| answer.id == id) && takes(place));
    known.or_else(|| {
        let mut choices = object_items(list_of(chunk, ChunkKey::Choices).unwrap_or_default());
        let begins = choices.any(|(_, choice)| {
            object_of(choice, ChunkKey::Delta).is_some_and(|delta| text_of(delta, DeltaKey::Role).is_some())
        });
        let goes_on = !begins && answers.get(last).is_some_and(|answer| !answer.is_over && !answer.keeps_id);
        goes_on.then_some(last)
    })
}

fn field_index<F: super::fields::TableRow>(object: Object<'_>, field: F) -> Option<i64> {
    match object.field(field)?.value {
        Value::Number(number) => number.as_i64(),
        _ => None,
    }
}

impl<'run> PartialAnswer<'run> {
    /// An object that tells why an answer ended.
    pub(super) fn note_end(&mut self, choice: Object<'run>) {
        self.is_over |= first_of(choice, &[ChunkKey::Ended]).is_some();
        self.is_cut |= cut_calls::is_cut_end(choice);
    }

    /// A tool is told when it begins, and again with what it gave.
    fn add_executed(&mut self, delta: Object<'run>, builder: &RunBuilder<'run, '_>) {
        for (node, tool) in builder.known_objects(executed_tools::executed_in(delta)) {
            match self.executed.iter_mut().find(|(_, known)| executed_tools::is_same_tool(*known, tool)) {
                Some(known) => *known = (node, tool),
                None => self.executed.push((node, tool)),
            }
        }
    }

    fn add_delta(&mut self, node: Node<'run>, delta: Object<'run>, builder: &RunBuilder<'run, '_>) {
        self.add_executed(delta, builder);
        builder.role_of(node, text_of(delta, DeltaKey::Role));
        let words = value_of(delta, DeltaKey::Content).or_else(|| value_of(delta, DeltaKey::Refusal));
        if let Some(words) = words {
            // Some providers stream parts in place of a text.
            builder.note_parts(words);
            let words = content::content_text(words, builder.arena).and_then(node_text);
            self.words.push_str(words.unwrap_or_default());
        }
        self.thought.push_str(text_of(delta, DeltaKey::Thought).unwrap_or_default());
        for (node, part) in builder.known_objects(list_of(delta, DeltaKey::Calls).unwrap_or_default()) {
            let id = part.field(DeltaKey::Id).filter(|id| NodeShapes.is_text(*id));
            let function = object_of(part, DeltaKey::Function).or_else(|| object_of(part, DeltaKey::Custom));
            self.add_call_part(node, field_index(part, DeltaKey::Index), id, function, builder.limits);
        }
        if let Some(call) = delta.field(DeltaKey::Call).filter(|call| node_object(*call).is_some()) {
            self.add_call_part(call, Some(OLDER_CALL), None, node_object(call), builder.limits);
        }
    }

    fn add_call_part(
        &mut self,
        node: Node<'run>,
        index: Option<i64>,
        id: Option<Node<'run>>,
        function: Option<Object<'run>>,
        limits: &Limits,
    ) {
        let told = |node: &Node<'run>| node_text(*node).is_some_and(|text| !text.is_empty());
        let (id, named) = (id.filter(told), function.and_then(|function| function.field(DeltaKey::Name)).filter(told));
        let arguments = function.and_then(|function| value_of(function, DeltaKey::Arguments));
        let piece = arguments.and_then(node_text).unwrap_or_default();
        // Some programs give no index: there a name begins a call.
        let goes_on = |call: &PartialCall<'run>| {
            (index.is_some() || named.is_none()) && call.takes_part(id, named, piece, limits)
        };
        let known = self.places.get(&index).copied();
        let known = known.filter(|place| self.calls.get(*place).is_some_and(goes_on));
        let place = known.unwrap_or_else(|| {
            let arguments = String::new();
            self.places.insert(index, self.calls.len());
            self.calls.push(PartialCall { index, node, id: None, name: None, arguments, given: None });
            self.calls.len() - 1
        });
        let Some(call) = self.calls.get_mut(place) else { return };
        call.id = call.id.or(id);
        call.name = call.name.or(named);
        call.arguments.push_str(piece);
        call.given = call.given.or(arguments.filter(|arguments| matches!(arguments.value, Value::Object(_))));
    }

    pub(super) fn add_delta_node(&mut self, delta: Node<'run>, builder: &RunBuilder<'run, '_>) {
        node_object(delta).into_iter().for_each(|inner| self.add_delta(delta, inner, builder));
    }

    /// Of an answer that is cut off, at once or by a limit, calls may be, too. Empty arguments are only doubtful for the last call.
    fn take_whole_calls(&mut self, builder: &RunBuilder<'run, '_>) -> Vec<PartialCall<'run>> {
        let mut calls = std::mem::take(&mut self.calls);
        if !self.is_over || self.is_cut {
            let last = calls.len().saturating_sub(1);
            let mut places = 0..;
            calls.retain(|call| {
                let is_whole = is_whole_call(call, places.next() == Some(last), builder.limits);
                if !is_whole {
                    builder.note_unknown(call.node.origin, cut_calls::CUT_CALL);
                }
                is_whole
            });
        }
        calls.sort_by_key(|call| call.index);
        calls
    }

    /// A message as the API gives it whole.
    pub(super) fn into_message(mut self, builder: &RunBuilder<'run, '_>) -> Node<'run> {
        let calls = self.take_whole_calls(builder);
        let text = |words: &str| Node::computed(Value::plain_text(builder.arena.alloc_str(words)));
        let of_call = |call: &PartialCall<'run>| {
            let name = call.name.unwrap_or(Node::computed(Value::Null));
            let function = [
                field_entry(DeltaKey::Name.key(), name),
                field_entry(DeltaKey::Arguments.key(), call.args(builder.arena)),
            ];
            let id = call.id.map(|id| field_entry(DeltaKey::Id.key(), id));
            let function = field_entry(DeltaKey::Function.key(), builder.object_node(&function));
            let entries: Vec<_> = id.into_iter().chain([function]).collect();
            Node::new(builder.object_node(&entries).value, call.node.origin)
        };
        let calls: Vec<_> = calls.iter().map(of_call).collect();
        let role = Node::computed(Value::plain_text(role::ASSISTANT));
        let mut entries = vec![
            field_entry(ChatMessageKey::Role.key(), role),
            field_entry(DeltaKey::Content.key(), text(&self.words)),
        ];
        if !self.executed.is_empty() {
            let tools: Vec<_> = self.executed.iter().map(|(node, _)| *node).collect();
            entries.push(field_entry(executed_tools::TOOLS, builder.list_node(&tools)));
        }
        if !calls.is_empty() {
            entries.push(field_entry(DeltaKey::Calls.key(), builder.list_node(&calls)));
        }
        builder.object_node(&entries)
    }
}

/// The answer that chunks make together, and whether it is whole; `None` if they are none.
pub(super) fn compose_answer<'run>(
    events: &'run [Node<'run>],
    builder: &RunBuilder<'run, '_>,
) -> Option<(Node<'run>, bool)> {
    let mut answer = PartialAnswer::default();
    let begins = |chunk: &Object<'run>| is_chunk(*chunk) && !is_of_prompt(*chunk);
    let first = events.iter().find_map(|event| node_object(*event).filter(begins))?;
    for (node, chunk) in builder.known_objects(events) {
        if !is_chunk(chunk) {
            builder.note_unknown(node.origin, "what is no chunk of an answer is skipped");
        }
        answer.usage = usage_of(chunk).or(answer.usage);
        let choices = builder.known_objects(list_of(chunk, ChunkKey::Choices).unwrap_or_default());
        for (at, choice) in choices.filter(|(_, one)| field_index(*one, ChunkKey::Index).is_none_or(|index| index == 0))
        {
            answer.note_end(choice);
            if let Some(delta) = object_of(choice, ChunkKey::Delta) {
                answer.add_delta(at, delta, builder);
            }
        }
    }
    let (is_over, usage) = (answer.is_over, answer.usage);
    let message = answer.into_message(builder);
    let choice = builder.object_node(&[field_entry(ChunkKey::Message.key(), message)]);
    let kept =
        [ChunkKey::Id, ChunkKey::Model].into_iter().filter_map(|key| Some(field_entry(key.key(), first.field(key)?)));
    let usage = usage.map(|usage| field_entry(ChunkKey::Usage.key(), Node::computed(Value::Object(usage))));
    let choices = field_entry(ChunkKey::Choices.key(), builder.list_node(&[choice]));
    let entries: Vec<_> = kept.chain(usage).chain([choices]).collect();
    Some((builder.object_node(&entries), is_over))
}

/// Moonshot counts in the choice that ends the answer.
fn usage_of<'run>(chunk: Object<'run>) -> Option<Object<'run>> {
    let choices = || object_items(list_of(chunk, ChunkKey::Choices).unwrap_or_default());
    object_of(chunk, ChunkKey::Usage).or_else(|| choices().find_map(|(_, choice)| object_of(choice, ChunkKey::Usage)))
}

/// False if cut off: then nobody knows the arguments of its calls.
fn add_answer<'run>(conversation: &mut ConversationBuilder<'_, 'run, '_>, mut answer: PartialAnswer<'run>) -> bool {
    let Some(node) = answer.node else { return true };
    let calls = answer.take_whole_calls(conversation.builder);
    let meta = StepMeta::default();
    let arena = conversation.builder.arena;
    let grown = |words: &str| Node::new(Value::plain_text(arena.alloc_str(words)), node.origin);
    conversation.begin_turn();
    for (node, tool) in &answer.executed {
        executed_tools::add_executed(conversation, *node, *tool, &meta);
    }
    conversation.add_message(Speaker::Thinking, grown(&answer.thought), &meta, node.origin);
    conversation.add_message(Speaker::Assistant, grown(&answer.words), &meta, node.origin);
    for call in calls {
        let tool = call.name.unwrap_or(Node::computed(Value::Null));
        let args = call.args(arena);
        conversation.add_call(ToolCall { tool, args: Some(args), id: call.id, origin: call.node.origin }, &meta);
    }
    if let Some(counts) = answer.usage {
        let mut usage = TokenUsage::default();
        usage.add_usage(counts);
        conversation.usage.merge_usage(&usage);
    }
    answer.is_over
}

fn is_whole_call(call: &PartialCall<'_>, is_last: bool, limits: &Limits) -> bool {
    let may_be_none = call.arguments.is_empty() && !is_last;
    may_be_none || call.given.is_some() || cut_calls::is_whole(&call.arguments, limits)
}
