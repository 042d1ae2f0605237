//! ShareGPT conversations: `conversations` of turns with `from` and `value`. Calls are turns of their own (`function_call`), blocks of
//! `<tool_call>` in a text, or the `Action:` and `Action Input:` of ToolBench; what is written otherwise nobody can tell from words.

use super::calls::{parse_arguments, tool_list};
use super::conversation::{CallResult, ConversationBuilder, Speaker, StepMeta, ToolCall};
use super::fields::{FieldRecord, key_table, value_of};
use super::format::{IN_FULL, TraceFormat};
use super::messages::{ChatMessageKey, ToolCallKey};
use super::nodes::{list_of, node_list, node_object, node_text, object_items, object_of, text_of};
use super::openai_chat;
use super::printed_messages::parse_dictionary;
use super::run_builder::{RunBuilder, StepId, absent_node};
use averment_base::value::{Node, Object, Value};
use averment_runs::normal::of_run;
use averment_runs::run::StepKind;

key_table! {
    ShareKey {
        Turns = "conversations",
        From = "from",
        Value = "value",
        Id = "id",
        System = "system",
        Tools = "tools",
    }
}

key_table! {
    ShareSpeaker {
        User = "human" | "user",
        Model = "gpt" | "assistant" | "model" | "chatgpt" | "bing" | "bard",
        Call = "function_call" | "tool_call",
        Result = "observation" | "tool" | "function" | "function_response" | "tool_response",
        System = "system",
    }
}

key_table! {
    /// What the last action of ToolBench is given.
    ToolBenchKey {
        Answer = "final_answer",
    }
}

key_table! {
    /// An answer of ToolBench with the tree of its attempts.
    ToolBenchTree {
        Answer = "answer_generation",
        /// The conversations behind the calls of the answer, each with what stands before it.
        Messages = "train_messages",
        Tools = "function",
    }
}

pub(crate) const FORMAT: TraceFormat = TraceFormat {
    name: "ShareGPT conversation",
    known_by: "`conversations` of turns with `from` and `value`",
    description: "conversations in the form of ShareGPT and ToolBench (`conversations`, `from`, `value`)",
    marks: &[ShareKey::Turns.key(), ToolBenchTree::Answer.key()],
    object: |object| {
        tree_messages(object).is_some()
            || list_of(object, ShareKey::Turns).is_some_and(|turns| object_items(turns).any(|(_, turn)| is_turn(turn)))
    },
    read: read_run,
    ..IN_FULL
};

fn is_turn(turn: Object<'_>) -> bool {
    text_of(turn, ShareKey::From).is_some() && turn.field(ShareKey::Value).is_some()
}

fn read_run<'run>(root: Node<'run>, builder: &mut RunBuilder<'run, '_>) -> Result<(), crate::error::PlacedError> {
    let Some(run) = node_object(root) else { return Ok(()) };
    if let Some((answer, messages)) = tree_messages(run) {
        note_other_attempts(root, messages, builder);
        return read_tree(answer, messages, builder);
    }
    builder.set_some(of_run::ID, run.field(ShareKey::Id).filter(|id| node_text(*id).is_some()));
    let mut conversation = ConversationBuilder::new(builder);
    let meta = StepMeta::default();
    if let Some(words) = value_of(run, ShareKey::System) {
        conversation.add_message(Speaker::System, words, &meta, words.origin);
    }
    let mut tells = value_of(run, ShareKey::Tools).is_some();
    let mut open = OpenCalls::default();
    for node in list_of(run, ShareKey::Turns).unwrap_or_default() {
        conversation.builder.count_record();
        let turn = node_object(*node).filter(|turn| is_turn(*turn));
        let speaker = turn.and_then(|turn| text_of(turn, ShareKey::From)).and_then(ShareSpeaker::from_key);
        let words = turn.and_then(|turn| value_of(turn, ShareKey::Value));
        let (Some(speaker), Some(words)) = (speaker, words) else {
            conversation.builder.skip_value(node, "a turn of an unknown speaker is skipped");
            continue;
        };
        if speaker != ShareSpeaker::Result {
            open.give_results(&mut conversation);
        }
        match speaker {
            ShareSpeaker::User => {
                open.withdraw_calls(0, &mut conversation);
                conversation.add_content(Speaker::User, words, &meta, node.origin);
            }
            ShareSpeaker::System => conversation.add_content(Speaker::System, words, &meta, node.origin),
            ShareSpeaker::Model => {
                let before = open.calls.len();
                tells |= add_words(&mut conversation, words, &mut open);
                if open.calls.len() > before {
                    open.withdraw_calls(open.calls.len() - before, &mut conversation);
                }
            }
            ShareSpeaker::Call => {
                tells = true;
                add_call_turn(&mut conversation, words, &mut open);
            }
            ShareSpeaker::Result => {
                tells = true;
                open.add_results(words, &conversation);
            }
        }
    }
    open.give_results(&mut conversation);
    let builder = conversation.finish_run();
    if !tells {
        let message = "calls count as not recorded: no turn is a call, and no `tools` are listed";
        builder.add_warning(root.origin, message);
        builder.mark_unrecorded(StepKind::Call);
    }
    Ok(())
}

/// The answer of ToolBench, and the longest conversation that led to it.
fn tree_messages(run: Object<'_>) -> Option<(Object<'_>, &[Node<'_>])> {
    let answer = object_of(run, ToolBenchTree::Answer)?;
    let messages = node_list(*list_of(answer, ToolBenchTree::Messages)?.last()?)?;
    Some((answer, messages))
}

/// What was tried and given up is no part of the answer, and made calls.
fn note_other_attempts<'run>(root: Node<'run>, messages: &[Node<'run>], builder: &RunBuilder<'run, '_>) {
    let asked = |message: &&Node<'run>| {
        node_object(**message).is_some_and(|said| value_of(said, ChatMessageKey::Call).is_some())
    };
    let (mut open, mut actions) = (vec![root], 0);
    while let Some(node) = open.pop() {
        let Some(node) = node_object(node) else { continue };
        actions += usize::from(text_of(node, ToolBenchNode::Kind) == Some(ACTION));
        open.extend(list_of(node, ToolBenchNode::Children).unwrap_or_default());
        open.extend(value_of(node, ToolBenchNode::Tree));
    }
    if actions > messages.iter().filter(asked).count() {
        builder.note_unknown(root.origin, "attempts that were given up are not read: they made calls");
    }
}

/// What a node of the tree is in which a tool is called.
const ACTION: &str = "Action";

fn read_tree<'run>(
    answer: Object<'run>,
    messages: &'run [Node<'run>],
    builder: &mut RunBuilder<'run, '_>,
) -> Result<(), crate::error::PlacedError> {
    if let Some(list) = list_of(answer, ToolBenchTree::Tools) {
        let tools = tool_list(builder, list);
        builder.set_entry(of_run::TOOLS, tools);
    }
    builder.mark_recorded(&[StepKind::Call]);
    openai_chat::read_conversation(messages.to_vec(), builder);
    let given = value_of(answer, ToolBenchKey::Answer).map(|told| parse_arguments(builder, told)).and_then(node_object);
    builder.set_some(of_run::OUTPUT, given.and_then(|given| given.field(ToolBenchKey::Answer)));
    Ok(())
}

key_table! {
    ToolBenchNode {
        Tree = "tree",
        Children = "children",
        Kind = "node_type",
    }
}

/// Calls that wait, and the results that came since: neither has an id, so the first result is that of the first call.
#[derive(Default)]
struct OpenCalls<'run> {
    calls: Vec<StepId>,
    results: Vec<Node<'run>>,
}

impl<'run> OpenCalls<'run> {
    /// One turn may hold several results, each in a block of its own.
    fn add_results(&mut self, words: Node<'run>, conversation: &ConversationBuilder<'_, 'run, '_>) {
        match node_text(words).and_then(result_blocks) {
            Some(blocks) => {
                let text = |block: &str| Value::plain_text(conversation.builder.arena.alloc_str(block));
                self.results.extend(blocks.into_iter().map(|block| Node::new(text(block), words.origin)));
            }
            None => self.results.push(words),
        }
    }

    /// Where there are more or fewer results than calls, nobody knows which is whose.
    fn give_results(&mut self, conversation: &mut ConversationBuilder<'_, 'run, '_>) {
        let Some(first) = self.results.first() else { return };
        let (meta, origin) = (StepMeta::default(), first.origin);
        let fits = self.calls.len() == self.results.len();
        if self.calls.is_empty() {
            let outcome = CallResult { result: Some(*first), ..CallResult::default() };
            conversation.add_result(None, None, outcome, &meta, origin);
        } else if !fits {
            conversation
                .builder
                .add_warning(origin, "results count as not recorded: there are more or fewer of them than calls");
        }
        let results = std::mem::take(&mut self.results);
        for (nth, call) in std::mem::take(&mut self.calls).into_iter().enumerate() {
            let result = results.get(nth).copied().filter(|_| fits).unwrap_or_else(absent_node);
            conversation.unanswered.withdraw_call(call);
            conversation.end_call(call, CallResult { result: Some(result), ..CallResult::default() }, &meta);
        }
    }

    /// All but the last calls get no result any more.
    fn withdraw_calls(&mut self, but_last: usize, conversation: &mut ConversationBuilder<'_, 'run, '_>) {
        let many = self.calls.len() - but_last.min(self.calls.len());
        self.calls.drain(..many).for_each(|call| conversation.unanswered.withdraw_call(call));
    }
}

/// What stands in blocks of results, where nothing stands beside them.
fn result_blocks(text: &str) -> Option<Vec<&str>> {
    let (mut left, mut blocks) = (text.trim(), Vec::new());
    while !left.is_empty() {
        let (block, behind) = left.strip_prefix(RESULT[0])?.split_once(RESULT[1])?;
        blocks.push(block.trim());
        left = behind.trim_start();
    }
    Some(blocks).filter(|blocks| !blocks.is_empty())
}

/// One call, or several.
fn add_calls<'run>(conversation: &mut ConversationBuilder<'_, 'run, '_>, told: Node<'run>, open: &mut OpenCalls<'run>) {
    let told = conversation.builder.arena.alloc(told);
    for node in node_list(*told).unwrap_or(std::slice::from_ref(told)) {
        let call = node_object(*node);
        let inside = call.map(|call| value_of(call, ToolCallKey::Function).and_then(node_object).unwrap_or(call));
        let Some((call, inside)) = call.zip(inside) else {
            conversation.builder.skip_record(node.origin, "a call that is no JSON is skipped");
            continue;
        };
        let tool = inside.field(ToolCallKey::Name).unwrap_or(Node::computed(Value::Null));
        let args = super::messages::call_arguments(&inside);
        let id = call.field(ToolCallKey::Id);
        let made = ToolCall { tool, args, id, origin: node.origin };
        open.calls.extend(conversation.add_call(made, &StepMeta::default()));
    }
}

/// A turn that is a call: JSON, which may stand in blocks or behind what the model thought (LLaMA-Factory).
fn add_call_turn<'run>(
    conversation: &mut ConversationBuilder<'_, 'run, '_>,
    words: Node<'run>,
    open: &mut OpenCalls<'run>,
) {
    let text = node_text(words).unwrap_or_default();
    if text.contains(CALL[0]) {
        add_words(conversation, words, open);
        return;
    }
    let behind =
        THOUGHTS.iter().find_map(|[begin, end]| {
            let (thought, call) = text.trim_start().strip_prefix(begin)?.split_once(end)?;
            Some([thought, call].map(|part| {
                Node::new(Value::plain_text(conversation.builder.arena.alloc_str(part.trim())), words.origin)
            }))
        });
    if let Some([thought, _]) = behind {
        conversation.add_message(Speaker::Thinking, thought, &StepMeta::default(), words.origin);
    }
    let call = parse_arguments(conversation.builder, behind.map_or(words, |[_, call]| call));
    add_calls(conversation, call, open);
}

/// How templates of LLaMA-Factory write thoughts.
const THOUGHTS: [[&str; 2]; 4] = [
    ["<think>", "</think>"],
    ["◁think▷", "◁/think▷"],
    ["<seed:think>", "</seed:think>"],
    ["<|channel>thought", "<channel|>"],
];

const CALL: [&str; 2] = ["<tool_call>", "</tool_call>"];
const RESULT: [&str; 2] = ["<tool_response>", "</tool_response>"];

key_table! {
    /// How lines begin in which a model writes an action and what it is given (ReAct).
    ReactLine {
        Action = "Action:",
        Given = "Action Input:",
    }
}

/// The action of ToolBench that gives the answer.
const FINISH: &str = "Finish";

/// What a model says, and the calls in it. True where there are some.
fn add_words<'run>(
    conversation: &mut ConversationBuilder<'_, 'run, '_>,
    words: Node<'run>,
    open: &mut OpenCalls<'run>,
) -> bool {
    let meta = StepMeta::default();
    conversation.begin_turn();
    let Some(text) = node_text(words) else {
        conversation.add_content(Speaker::Assistant, words, &meta, words.origin);
        return false;
    };
    let text: &'run str = conversation.builder.arena.alloc_str(text);
    let piece = |part: &'run str| Node::new(Value::plain_text(part.trim()), words.origin);
    if text.contains(CALL[0]) {
        let mut left = text;
        while let Some((said, behind)) = left.split_once(CALL[0]) {
            conversation.add_message(Speaker::Assistant, piece(said), &meta, words.origin);
            let (call, rest) = behind.split_once(CALL[1]).unwrap_or((behind, ""));
            // Some data sets print what they should have written as JSON.
            let call = parse_dictionary(piece(call), conversation.builder.arena, conversation.builder.limits)
                .unwrap_or_else(|| parse_arguments(conversation.builder, piece(call)));
            add_calls(conversation, call, open);
            left = rest;
        }
        conversation.add_message(Speaker::Assistant, piece(left), &meta, words.origin);
        return true;
    }
    let Some((said, behind)) =
        text.split_once(ReactLine::Action.key()).filter(|(said, _)| said.is_empty() || said.ends_with('\n'))
    else {
        conversation.add_message(Speaker::Assistant, words, &meta, words.origin);
        return false;
    };
    conversation.add_message(Speaker::Thinking, piece(said), &meta, words.origin);
    match behind.split_once(ReactLine::Given.key()) {
        Some((tool, args)) => {
            let args = Some(piece(args));
            let answer =
                (tool.trim() == FINISH).then(|| args.map(|args| parse_arguments(conversation.builder, args))).flatten();
            let made = ToolCall { tool: piece(tool), args, id: None, origin: words.origin };
            open.calls.extend(conversation.add_call(made, &meta));
            let answer = answer.and_then(node_object).and_then(|given| given.field(ToolBenchKey::Answer));
            conversation.builder.set_some(of_run::OUTPUT, answer);
        }
        None => conversation.builder.skip_record(words.origin, "an action without its input is skipped"),
    }
    true
}
