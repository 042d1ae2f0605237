//! What sessions of agents have in common whose messages hold blocks: a format says what its blocks are, and whose the texts are.

use super::blocks::{self, BlockCall, BlockResult, ContentBlock};
use super::conversation::{CallResult, ConversationBuilder, Speaker, StepMeta, ToolCall};
use super::nodes::{node_list, node_object, node_text};
use super::run_builder::{RunBuilder, absent_node};
use averment_base::value::{Node, Number, Object, Value};
use averment_runs::normal::{of_run, of_step};
use averment_runs::run::StepKind;

/// What the user said, where a program writes other words into the user's messages, too.
#[derive(Debug, Clone, Copy)]
pub(super) struct UserWords<'t> {
    /// The tags around the words of the user. What else is in such a text the program wrote, as it did a text that begins with
    /// another tag.
    pub(super) tags: &'t [&'t str],
    /// Whether the user's words come last in their text: files that are shown in front of them may hold the tag, too.
    pub(super) are_last: bool,
    /// Who said a text without a tag.
    pub(super) untagged: Speaker,
}

impl UserWords<'_> {
    /// All of a user's message is the user's.
    pub(super) const PLAIN: Self = UserWords { tags: &[], are_last: false, untagged: Speaker::User };

    /// What is in front of the user's words, these, and what is behind.
    pub(super) fn split_text<'s>(&self, text: &'s str) -> Option<[&'s str; 3]> {
        let opened = |tag: &&str| {
            let open = format!("<{tag}>");
            let at = if self.are_last { text.rfind(&open) } else { text.find(&open) };
            at.map(|at| (at, at + open.len(), format!("</{tag}>")))
        };
        let (at, start, close) = self.tags.iter().filter_map(opened).min_by_key(|(at, ..)| *at)?;
        let (inner, after) = text.get(start..)?.split_once(&close).unwrap_or((text.get(start..)?, ""));
        Some([text.get(..at)?, inner, after])
    }

    pub(super) fn add_words<'run>(
        &self,
        conversation: &mut ConversationBuilder<'_, 'run, '_>,
        words: Node<'run>,
        meta: &StepMeta<'run>,
    ) {
        let text = node_text(words).unwrap_or_default();
        let Some(parts) = self.split_text(text) else {
            let of_program = !self.tags.is_empty() && text.trim_start().starts_with('<');
            let speaker = if of_program { Speaker::System } else { self.untagged };
            return conversation.add_message(speaker, words, meta, words.origin);
        };
        for (speaker, part) in [Speaker::System, Speaker::User, Speaker::System].into_iter().zip(parts) {
            let part = text_node(conversation.builder, part.trim(), words);
            conversation.add_message(speaker, part, meta, words.origin);
        }
    }
}

/// A part of a text.
pub(super) fn text_node<'run>(builder: &RunBuilder<'run, '_>, part: &str, of: Node<'run>) -> Node<'run> {
    Node::new(Value::plain_text(builder.arena.alloc_str(part)), of.origin)
}

/// The content of one message: a text, or blocks. The texts of a user are told apart by `words`.
pub(super) fn add_content<'run>(
    conversation: &mut ConversationBuilder<'_, 'run, '_>,
    content: Node<'run>,
    speaker: Speaker,
    words: &UserWords<'_>,
    meta: &StepMeta<'run>,
    classify: impl Fn(Object<'run>) -> ContentBlock<'run>,
) {
    add_blocks(conversation, content, speaker, words, meta, classify, false);
}

/// See [`add_content`]. A message of the assistant is one answer of its model: what the provider itself ran ends inside of it.
pub(super) fn add_answer<'run>(
    conversation: &mut ConversationBuilder<'_, 'run, '_>,
    content: Node<'run>,
    speaker: Speaker,
    meta: &StepMeta<'run>,
    classify: impl Fn(Object<'run>) -> ContentBlock<'run>,
) {
    let is_answer = speaker == Speaker::Assistant;
    add_blocks(conversation, content, speaker, &UserWords::PLAIN, meta, classify, is_answer);
}

fn add_blocks<'run>(
    conversation: &mut ConversationBuilder<'_, 'run, '_>,
    content: Node<'run>,
    speaker: Speaker,
    words: &UserWords<'_>,
    meta: &StepMeta<'run>,
    classify: impl Fn(Object<'run>) -> ContentBlock<'run>,
    is_answer: bool,
) {
    let blocks = match content.value {
        Value::Text(_) => return say_text(conversation, content, speaker, words, meta),
        Value::Object(_) => std::slice::from_ref(conversation.builder.arena.alloc(content)),
        _ => node_list(content).unwrap_or_default(),
    };
    for node in blocks {
        let Some(block) = node_object(*node) else {
            match node.value {
                Value::Text(_) => say_text(conversation, *node, speaker, words, meta),
                _ => conversation.builder.skip_value(node, blocks::UNKNOWN),
            }
            continue;
        };
        match classify(block) {
            ContentBlock::Says(text) => say_text(conversation, text, speaker, words, meta),
            ContentBlock::Thinks(text) => conversation.add_message(Speaker::Thinking, text, meta, node.origin),
            ContentBlock::Calls(call) => add_call(conversation, *node, call, meta),
            ContentBlock::Answers(answer) if is_answer => {
                conversation.within_message(|conversation| add_result(conversation, *node, &answer, None, meta));
            }
            ContentBlock::Answers(answer) => add_result(conversation, *node, &answer, None, meta),
            ContentBlock::Silent => {}
            ContentBlock::Unknown => conversation.builder.skip_record(node.origin, blocks::UNKNOWN),
        }
    }
}

fn say_text<'run>(
    conversation: &mut ConversationBuilder<'_, 'run, '_>,
    text: Node<'run>,
    speaker: Speaker,
    words: &UserWords<'_>,
    meta: &StepMeta<'run>,
) {
    match speaker {
        Speaker::User => words.add_words(conversation, text, meta),
        _ => conversation.add_message(speaker, text, meta, text.origin),
    }
}

pub(super) fn add_call<'run>(
    conversation: &mut ConversationBuilder<'_, 'run, '_>,
    node: Node<'run>,
    call: BlockCall<'run>,
    meta: &StepMeta<'run>,
) {
    let tool = call.tool.unwrap_or(Node::computed(Value::Null));
    let made = ToolCall { tool, args: call.args, id: call.id, origin: node.origin };
    let step = conversation.add_call(made, meta);
    if let (Some(step), Some(answer)) = (step, call.answer) {
        let outcome = outcome_of(conversation, &answer, None);
        conversation.end_within(step, outcome, meta);
    }
}

pub(super) fn add_result<'run>(
    conversation: &mut ConversationBuilder<'_, 'run, '_>,
    node: Node<'run>,
    answer: &BlockResult<'run>,
    tool: Option<&'run str>,
    meta: &StepMeta<'run>,
) {
    let outcome = outcome_of(conversation, answer, None);
    conversation.add_result(answer.id, tool, outcome, meta, node.origin);
}

/// What a result says of its call.
pub(super) fn outcome_of<'run>(
    conversation: &ConversationBuilder<'_, 'run, '_>,
    answer: &BlockResult<'run>,
    details: Option<Node<'run>>,
) -> CallResult<'run> {
    let result = answer.result_content(conversation.builder.arena);
    CallResult { result, status: Some(answer.call_status(result)), details, ..CallResult::default() }
}

/// The costs of several requests together.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct CostSum(Option<Number<'static>>);

impl CostSum {
    pub(super) fn add_cost(&mut self, cost: Option<Node<'_>>) {
        if let Some(Value::Number(cost)) = cost.map(|cost| cost.value) {
            self.0 = self.0.unwrap_or(Number::Integer(0)).add(cost).or(self.0);
        }
    }

    pub(super) fn set_cost(self, builder: &mut RunBuilder<'_, '_>) {
        builder.set_some(of_run::COST, self.0.map(|cost| Node::computed(Value::Number(cost))));
    }
}

/// The format does not write down what calls gave: a call without a result may have had one.
pub(super) fn leave_results_open(builder: &mut RunBuilder<'_, '_>) {
    for call in builder.steps_of_kind(StepKind::Call) {
        if builder.step_field(call, of_step::RESULT).is_none() {
            builder.add_field(call, of_step::RESULT, absent_node());
        }
    }
}
