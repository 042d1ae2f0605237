//! The content of a message: text, or a list of blocks of which some hold text.

use super::fields::{FieldRecord as _, NodeShapes, ShapeReader as _, key_table};
use super::messages::{BlockKey, text_in};
use averment_base::value::{Node, Value, ValueText};
use bumpalo::Bump;

/// Words in the name of a user that are none of the user's: what a tool gave in a loop of thoughts and actions, a prompt that a program
/// filled with it, or a whole conversation that was written into one text.
pub(crate) fn is_not_of_user(words: &str) -> bool {
    let words = words.trim_start();
    let starts = |line: &str, word: &str| line.get(..word.len()).is_some_and(|start| start.eq_ignore_ascii_case(word));
    // Cline writes what a tool gave, and what it sees around it, in the user's name.
    let heads_result = words.starts_with('[') && words.lines().next().is_some_and(|line| line.ends_with("] Result:"));
    // Kimi writes marks, reminders and what tools are for in the user's name.
    let is_of_program =
        PROGRAM_TAGS.iter().any(|[open, close]| words.starts_with(open) && words.trim_end().ends_with(close));
    // DSPy fills the fields of a prompt, and one of them holds what tools gave so far.
    let is_filled = words.starts_with("[[ ## ") && words.contains("[[ ## trajectory ## ]]");
    // Google's ADK tells an agent what another one did.
    let is_context = words.strip_prefix("For context:").is_some_and(|told| told.trim_start().starts_with('['));
    heads_result
        || is_of_program
        || is_context
        || is_filled
        || is_scratchpad(words)
        || FOREIGN_STARTS.iter().any(|word| starts(words, word))
        || is_transcript(words)
}

const REMINDER: [&str; 2] = ["<system-reminder>", "</system-reminder>"];
const PROGRAM_TAGS: [[&str; 2]; 2] = [["<system>", "</system>"], REMINDER];

/// What a program put in front of the words of a user, and these words.
pub(crate) fn split_reminders(words: &str) -> Option<(&str, &str)> {
    let [open, close] = REMINDER;
    let mut own = words.trim_start();
    while let Some(reminder) = own.strip_prefix(open) {
        own = reminder.split_once(close)?.1.trim_start();
    }
    let length = words.len() - own.len();
    let told = words.split_at_checked(length).filter(|(reminders, own)| reminders.contains(close) && !own.is_empty());
    told.map(|(reminders, own)| (reminders.trim(), own.trim_end()))
}

key_table! {
    /// Who speaks, where a conversation was written into one text.
    WrittenSpeaker {
        Program = "system" | "developer",
        Person = "user" | "human",
        Model = "assistant" | "ai",
        Tool = "tool" | "function",
    }
}

/// The speaker that a line names: `user: …`, `### User`, `**Tool:** …`, `<|im_start|>assistant`.
fn speaker_of(line: &str) -> Option<WrittenSpeaker> {
    let line = line.trim_start();
    let mark = line.strip_prefix("<|im_start|>").unwrap_or_else(|| line.trim_start_matches(['#', '*', '[']));
    let is_marked = mark.len() < line.len();
    let words = mark.trim_start();
    let (word, behind) =
        words.split_at(words.find(|letter: char| !letter.is_ascii_alphabetic()).unwrap_or(words.len()));
    let is_named = behind.starts_with(':') || is_marked && (behind.trim().is_empty() || behind.starts_with(['*', ']']));
    WrittenSpeaker::from_key(&word.to_ascii_lowercase()).filter(|_| is_named)
}

/// Whether a text is a conversation: it begins with a speaker, and has another.
fn is_transcript(words: &str) -> bool {
    words.lines().next().is_some_and(|line| speaker_of(line).is_some())
        && words.lines().filter_map(speaker_of).nth(1).is_some()
}

/// Whether a prompt has places for actions and for what they gave, as the loops of ReAct fill them (`Action: …`, `Observation 2: …`).
fn is_scratchpad(words: &str) -> bool {
    let is_labeled = |line: &str, label: &str| {
        let number = line.trim_start().strip_prefix(label);
        number.is_some_and(|rest| {
            rest.trim_start_matches(|letter| letter == ' ' || char::is_ascii_digit(&letter)).starts_with(':')
        })
    };
    let mut acted = false;
    words.contains("\nObservation")
        && words.lines().any(|line| {
            acted |= is_labeled(line, "Action");
            acted && is_labeled(line, "Observation")
        })
}

/// Whether a conversation in one text has a tool in it.
pub(crate) fn holds_tool_turn(words: &str) -> bool {
    let words = words.trim_start();
    is_transcript(words) && words.lines().filter_map(speaker_of).any(|speaker| speaker == WrittenSpeaker::Tool)
}

/// How such words begin. The search of ToolBench shows what it tried before, and what tools gave then.
const FOREIGN_STARTS: [&str; 7] = [
    "<environment_details>",
    "Observation:",
    "Tool Input:",
    "Tool Output:",
    "Tool Result:",
    "Function output:",
    "This is not the first time you try this task",
];

/// How a text joins its neighbors in one content.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum TextPiece {
    Alone,
    /// Has citations: its neighbors are parts of the same text.
    Cited,
    /// Part of what OpenAI's Responses give as one text.
    Part,
}

impl TextPiece {
    pub(crate) fn of_block(kind: Option<&str>, has_citations: bool) -> Self {
        match kind {
            _ if has_citations => Self::Cited,
            Some(OUTPUT) => Self::Part,
            _ => Self::Alone,
        }
    }

    pub(crate) fn continues(self, before: Self) -> bool {
        [self, before].contains(&Self::Cited) || [self, before] == [Self::Part; 2]
    }
}

const OUTPUT: &str = "output_text";

pub(crate) fn block_piece(block: &Node<'_>) -> Option<TextPiece> {
    block_text(block)?;
    let Value::Object(object) = block.value else { return Some(TextPiece::Alone) };
    let citations = object.field(BlockKey::Citations).and_then(super::nodes::node_list).unwrap_or_default();
    Some(TextPiece::of_block(object.field(BlockKey::Type).and_then(super::nodes::node_text), !citations.is_empty()))
}

pub(crate) fn goes_on(before: &Node<'_>, block: &Node<'_>) -> bool {
    block_piece(before).zip(block_piece(block)).is_some_and(|(before, this)| this.continues(before))
}

/// Text blocks, joined by line ends unless one continues another; `None` without text.
pub(crate) fn content_text<'run>(content: Node<'run>, arena: &'run Bump) -> Option<Node<'run>> {
    match content.value {
        Value::Text(_) => Some(content),
        Value::List(blocks) => {
            let mut texts = blocks.iter().filter_map(block_text);
            let first = texts.next()?;
            if texts.next().is_none() {
                return Some(first);
            }
            let runs = blocks.chunk_by(goes_on).map(|run| run.iter().filter_map(block_text).map(|text| text.value));
            Some(Node::new(merge_content(runs, arena), content.origin))
        }
        Value::Object(_) => block_text(&content),
        _ => None,
    }
}

/// Concatenated; `None` if there are none.
pub(crate) fn concat_pieces<'run>(pieces: &[Node<'run>], arena: &'run Bump) -> Option<Node<'run>> {
    match pieces {
        [] => None,
        [one] => Some(*one),
        [first, ..] => {
            let pieces = pieces.iter().map(|piece| piece.value);
            Some(Node::new(merge_content(std::iter::once(pieces), arena), first.origin))
        }
    }
}

/// Joined by line ends; `None` if there are none.
pub(crate) fn join_texts<'run>(texts: &[Node<'run>], arena: &'run Bump) -> Option<Node<'run>> {
    match texts {
        [] => None,
        [one] => Some(*one),
        [first, ..] => Some(Node::new(join_lines(texts.iter().map(|text| text.value), arena), first.origin)),
    }
}

pub(crate) fn join_lines<'run>(texts: impl Iterator<Item = Value<'run>>, arena: &'run Bump) -> Value<'run> {
    merge_content(texts.map(std::iter::once), arena)
}

fn merge_content<'run>(
    texts: impl Iterator<Item = impl Iterator<Item = Value<'run>>>,
    arena: &'run Bump,
) -> Value<'run> {
    let mut joined = bumpalo::collections::String::new_in(arena);
    for pieces in texts {
        let pieces = pieces.filter_map(|piece| match piece {
            Value::Text(text) => Some(text),
            _ => None,
        });
        for (place, piece) in pieces.enumerate() {
            if place == 0 && !joined.is_empty() {
                joined.push('\n');
            }
            joined.push_str(piece.as_str());
        }
    }
    Value::Text(ValueText::Plain(joined.into_bump_str()))
}

/// `None` unless it is a list of typed block objects.
pub(crate) fn of_blocks<'run>(value: Node<'run>, arena: &'run Bump) -> Option<Node<'run>> {
    let Value::List(blocks) = value.value else { return None };
    let has_type = |block: &Node<'_>| match block.value {
        Value::Object(block) => block.field(BlockKey::Type).is_some_and(|of| NodeShapes.is_text(of)),
        _ => false,
    };
    if blocks.iter().all(has_type) { content_text(value, arena) } else { None }
}

/// Text itself, or `{"type": "text", "text": …}` and its kin.
pub(super) fn block_text<'run>(block: &Node<'run>) -> Option<Node<'run>> {
    match block.value {
        Value::Text(_) => Some(*block),
        Value::Object(block) => text_in(&block, &NodeShapes, super::nodes::node_text),
        _ => None,
    }
}
