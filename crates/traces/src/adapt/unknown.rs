//! What a format does not know may have been a call, a message or a result: such a run is not complete. This is the one place that says so.
//!
//! What is harmless a format names in a table of its own, with the reason; what it names is not told here.

use super::api::cut_calls::is_cut_end;
use super::blocks::{self, ContentBlock};
use super::conversation::build_markers;
use super::fields::{FieldRecord as _, TableRow, key_table, value_of};
use super::messages::{ChatMessageKey, MessageRole};
use super::nodes::{node_object, node_text, object_items};
use super::run_builder::{RunBuilder, UnknownPart, absent_node};
use averment_base::value::{Node, Object, TextOrigin, Value, json};
use averment_runs::normal::of_run;
use averment_runs::run::StepKind;
use memchr::memmem::Finder;
use rustc_hash::FxHashSet;
use std::borrow::{Borrow, Cow};
use std::sync::LazyLock;

key_table! {
    /// Parts of keys under which tools are defined, or that tell what is expected.
    NoCallWord {
        Any = "tools" | "functions" | "definition" | "expect" | "schema" | "example",
    }
}

/// Calls do not stand deeper in what formats write.
const DEEP: usize = 64;

key_table! {
    /// What a call is written with, whoever writes it.
    AnyCallKey {
        Tool = "tool" | "tool_name" | "toolName" | "function_name" | "functionName",
        Name = "name",
        Function = "function",
        Given = "input" | "parameters" | "tool_input",
        Arguments = "arguments" | "args" | "kwargs",
    }
}

key_table! {
    /// Calls that were only asked for: those that were carried out have events of their own (Copilot). Such as are no JSON were not (LangChain).
    AskedKey {
        Any = "toolRequests" | "invalid_tool_calls",
    }
}

key_table! {
    /// What tells a call from a span that has a name and an input, too: the id of a call, or its type.
    CallMark {
        Id = "toolUseId" | "toolCallId" | "tool_call_id" | "tool_use_id" | "call_id",
        Type = "type",
    }
}

key_table! {
    CallType {
        Any = "tool_use" | "server_tool_use" | "mcp_tool_use" | "function_call" | "tool_call" | "tool-call" | "toolCall",
    }
}

key_table! {
    /// Of several answers the first was given.
    ChoicesKey {
        Any = "choices",
    }
}

key_table! {
    /// What a tool gave, in a message or a block that is a result.
    ResultPart {
        Any = "content" | "output" | "result",
    }
}

key_table! {
    /// What LangChain writes in the place of a tool where the model's words named none: they are told back to it.
    NoTool {
        Any = "_Exception",
    }
}

/// The last part of each key under which a call is given something. A value without any of them holds no call, so that a reader of
/// bytes may pass over it.
static GIVEN_KEYS: LazyLock<Box<[Finder<'static>]>> =
    LazyLock::new(|| build_markers(["args\"", "arguments\"", "input\"", "parameters\"", "\\u00"]));

/// A letter of a key may be escaped.
const ESCAPE: &[u8] = b"\\u00";

/// Whether the bytes of a value may hold a call. Most values are no objects or lists, or empty ones.
#[inline]
pub(crate) fn may_hold_call(bytes: &[u8]) -> bool {
    matches!(bytes, [b'{' | b'[', _, _, ..]) && has_given_key(bytes)
}

#[inline(never)]
fn has_given_key(bytes: &[u8]) -> bool {
    let is_key = |(key, start): (&Finder<'_>, usize)| {
        let behind = bytes.get(start + key.needle().len()..).unwrap_or_default();
        key.needle() == ESCAPE || behind.trim_ascii_start().first() == Some(&b':')
    };
    GIVEN_KEYS.iter().any(|key| key.find_iter(bytes).any(|start| is_key((key, start))))
}

fn tells_no_calls(key: &str, harmless: &[&str]) -> bool {
    if AskedKey::from_key(key).is_some() || harmless.contains(&key) {
        return true;
    }
    let key = key.to_ascii_lowercase();
    NoCallWord::Any.keys().iter().any(|word| key.contains(word))
}

/// The tool that a record names, in whatever words.
pub(super) fn named_tool(record: Object<'_>) -> Option<Node<'_>> {
    value_of(record, AnyCallKey::Tool).or_else(|| value_of(record, AnyCallKey::Name))
}

/// Whether an object is a call of a tool that is none of these: it names one, and says with what. A bare name needs arguments: spans have
/// a name and an input, too. A tool may be named with what it belongs to and without.
fn calls_other(object: Object<'_>, tools: &FxHashSet<&str>) -> bool {
    let call = value_of(object, AnyCallKey::Function).and_then(node_object).unwrap_or(object);
    let has_arguments = value_of(call, AnyCallKey::Arguments).is_some();
    let has_given = has_arguments || value_of(call, AnyCallKey::Given).is_some();
    let has_mark = || {
        let kind = value_of(object, CallMark::Type).and_then(node_text);
        value_of(call, CallMark::Id).is_some() || kind.is_some_and(|kind| CallType::from_key(kind).is_some())
    };
    let named = [(AnyCallKey::Tool, has_given), (AnyCallKey::Name, has_arguments || has_given && has_mark())];
    let mut names = named
        .into_iter()
        .filter(|(_, says)| *says)
        .filter_map(|(key, _)| value_of(call, key).and_then(node_text).filter(|name| !name.is_empty()))
        .peekable();
    // CrewAI keeps what it asked before as Python prints it, in quotes. Behind the name of its server a tool has another name.
    let of_server = |name: &str| tools.iter().any(|tool| tool.rsplit_once("__").is_some_and(|(_, own)| own == name));
    let is_known = |name: &str| tools.contains(name) || tools.contains(name.trim_matches('\'')) || of_server(name);
    names.peek().is_some() && !names.any(|name| is_known(name) || NoTool::from_key(name).is_some())
}

/// How the types of results end in the items of Responses.
const OUTPUT_TYPE: &str = "_call_output";

fn is_result(object: Object<'_>) -> bool {
    let is_role = |word: &str| MessageRole::from_key(word) == Some(MessageRole::Result);
    value_of(object, ChatMessageKey::Role).and_then(node_text).is_some_and(is_role)
        || value_of(object, CallMark::Type).and_then(node_text).is_some_and(|kind| kind.ends_with(OUTPUT_TYPE))
        || matches!(blocks::classify_block(object), ContentBlock::Answers(_))
}

fn given_answers<'a, 'run>(key: &str, values: &'a [Node<'run>]) -> &'a [Node<'run>] {
    if ChoicesKey::from_key(key).is_some() { values.get(..1).unwrap_or_default() } else { values }
}

pub(super) const UNKNOWN_ROLE: &str = "a message is of no known role: it may be a call or its result";
const UNKNOWN_CONTENT: &str = "a part of what was said is of no known type and skipped: it may be a call";

impl<'run> RunBuilder<'run, '_> {
    /// A record that the format has no meaning for.
    pub(crate) fn skip_record(&mut self, origin: TextOrigin, message: impl Into<String>) {
        self.records.lost += 1;
        self.records.not_understood += 1;
        self.push_warning(origin, message.into(), true);
    }

    /// What was said before an answer that is not known is not the answer of the run.
    pub(crate) fn leave_output_open(&mut self) {
        self.set_entry(of_run::OUTPUT, absent_node());
    }

    pub(super) fn has_unknown(&self) -> bool {
        self.records.lost > 0
    }

    /// A record, or a plain value in the place of one: a word or a number among records did nothing.
    pub(crate) fn skip_value(&mut self, node: impl Borrow<Node<'run>>, message: impl Into<String>) {
        let node = node.borrow();
        match node.value {
            Value::Object(_) | Value::List(_) => self.skip_record(node.origin, message),
            _ => self.warn_skipped(node.origin, message),
        }
    }

    /// A record that cannot have been an action of which nothing is known.
    pub(crate) fn warn_skipped(&mut self, origin: TextOrigin, message: impl Into<String>) {
        self.records.not_understood += 1;
        self.add_warning(origin, message);
    }

    /// See [`Self::skip_record`]: for readers that do not change the run.
    pub(super) fn note_unknown(&self, origin: TextOrigin, message: impl Into<Cow<'static, str>>) {
        self.unknown.borrow_mut().push(UnknownPart { origin, message: message.into(), is_lost: true });
    }

    /// What is only worth a warning.
    pub(super) fn note_warning(&self, origin: TextOrigin, message: impl Into<Cow<'static, str>>) {
        self.unknown.borrow_mut().push(UnknownPart { origin, message: message.into(), is_lost: false });
    }

    /// The JSON that a text holds. Of a key that stands there twice one value is not read.
    pub(super) fn open_json(&self, node: Node<'run>) -> Option<Node<'run>> {
        let Value::Text(text) = node.value else { return None };
        let document = json::parse_text(text, node.origin, self.arena, self.limits).ok()?;
        for twice in document.duplicates {
            let message =
                format!("the key `{}` stands more than once in JSON in a text; the last one counts", twice.key);
            self.note_warning(twice.object, message);
        }
        Some(document.node)
    }

    /// Several readers may look at one part: it counts once.
    pub(super) fn count_unknown(&mut self) {
        let mut parts = self.unknown.take();
        let start = |part: &UnknownPart| part.origin.byte_range().map_or(0, |range| range.start);
        parts.sort_by_key(|part| (start(part), !part.is_lost));
        parts.dedup_by_key(|part| start(part));
        for part in parts {
            match part.is_lost {
                true => self.skip_record(part.origin, part.message),
                false => self.add_warning(part.origin, part.message),
            }
        }
    }

    /// The role of a message; of one that nobody knows the message may be anything.
    pub(super) fn role_of(&self, node: Node<'run>, word: Option<&str>) -> Option<MessageRole> {
        let role = word.and_then(MessageRole::from_key);
        if role.is_none() && word.is_some() {
            self.note_unknown(node.origin, UNKNOWN_ROLE);
        }
        role
    }

    /// The messages of choices, and whether a limit cut one off; a choice without one may be anything.
    pub(super) fn choice_messages(
        &self,
        choices: impl Iterator<Item = (Node<'run>, Object<'run>)>,
        message: impl TableRow,
    ) -> Vec<(Node<'run>, bool)> {
        let messages = choices.filter_map(move |(node, choice)| {
            let message = choice.field(message);
            if message.is_none() {
                self.note_unknown(node.origin, "a choice without `message` is skipped");
            }
            Some((message?, is_cut_end(choice)))
        });
        messages.collect()
    }

    /// What stands under keys that no reader took: mostly metadata. One whose value lists calls of tools that the run has no call of
    /// may have been more. Called where all calls are there.
    pub(super) fn note_keys(&self, root: Node<'run>, harmless: &[&str]) {
        if !self.is_recorded(StepKind::Call) {
            return;
        }
        let (tools, data) = (self.called_tools().collect(), self.data_ranges());
        let is_data = |node: Node<'run>| {
            let range = node.origin.byte_range();
            range.is_some_and(|range| {
                let behind = data.partition_point(|known| known.start <= range.start);
                behind.checked_sub(1).and_then(|at| data.get(at)).is_some_and(|known| range.end <= known.end)
            })
        };
        let mut open = vec![(root, 0_usize)];
        while let Some((node, depth)) = open.pop() {
            let object = match node.value {
                Value::List(items) if depth < DEEP => {
                    open.extend(items.iter().rev().map(|item| (*item, depth + 1)));
                    continue;
                }
                Value::Object(object) if depth < DEEP => object,
                _ => continue,
            };
            let is_result = is_result(object);
            let is_left_out =
                |key: &str| tells_no_calls(key, harmless) || is_result && ResultPart::from_key(key).is_some();
            for entry in object.entries().iter().filter(|entry| !is_left_out(entry.key)) {
                let values = match &entry.node.value {
                    Value::List(values) => given_answers(entry.key, values),
                    Value::Object(_) => std::slice::from_ref(&entry.node),
                    _ => continue,
                };
                if is_data(entry.node) {
                    continue;
                }
                let is_unknown =
                    values.iter().any(|value| node_object(*value).is_some_and(|it| calls_other(it, &tools)));
                if !is_unknown {
                    open.extend(values.iter().rev().map(|value| (*value, depth + 1)));
                } else if !self.tells_unknown(entry.node) {
                    // Of what was looked at something is told already.
                    let message = format!("the key `{}` lists calls that are not read", entry.key);
                    self.note_unknown(entry.node.origin, message);
                }
            }
        }
    }

    /// Blocks where the format has a text may be calls; those of thoughts are none.
    pub(super) fn note_no_text(&self, words: Node<'run>, origin: TextOrigin) {
        if matches!(words.value, Value::Object(_) | Value::List([_, ..])) {
            self.note_unknown(origin, blocks::UNKNOWN);
        }
    }

    fn tells_unknown(&self, node: Node<'run>) -> bool {
        let Some(range) = node.origin.byte_range() else { return false };
        let is_inside = |part: &UnknownPart| {
            part.is_lost && part.origin.byte_range().is_some_and(|part| range.contains(&part.start))
        };
        self.unknown.borrow().iter().any(is_inside) || self.has_lost_in(&range)
    }

    /// The parts of what somebody said, in a format that has its calls elsewhere: a part that is one is not read.
    pub(super) fn note_parts(&self, content: Node<'run>) {
        self.note_parts_beside_calls(content, false);
    }

    /// See [`Self::note_parts`]: the calls among the parts are written down beside them, too.
    pub(super) fn note_parts_beside_calls(&self, content: Node<'run>, are_told: bool) {
        let one = node_object(content).filter(|part| blocks::has_type(*part)).map(|part| (content, part));
        let parts = match content.value {
            Value::List(parts) => parts,
            _ => &[],
        };
        for (node, part) in object_items(parts).chain(one) {
            let is_unknown = match blocks::classify_block(part) {
                ContentBlock::Unknown => true,
                ContentBlock::Calls(_) | ContentBlock::Answers(_) => !are_told,
                ContentBlock::Says(_) | ContentBlock::Thinks(_) | ContentBlock::Silent => false,
            };
            if is_unknown {
                self.note_unknown(node.origin, UNKNOWN_CONTENT);
            }
        }
    }
}
