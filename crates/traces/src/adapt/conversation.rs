//! What the formats of conversations and sessions have in common: who says what, calls and the results that belong to them, turns, times,
//! usage. A format says what stands in its records; the fields of the steps are written here.

use super::calls::{PendingCalls, TokenUsage, parse_arguments};
use super::content;
use super::run_builder::{RunBuilder, StepId, count_node, field_entry, absent_node};
use super::fields::{NodeShapes, ValueShape, ShapeReader as _};
use super::messages::LastWords;
use super::{node_text, tools};
use crate::time;
use averment_base::value::{ObjectEntry, Node, Number, TextOrigin, Value};
use averment_runs::normal::{of_meta, of_run, of_step, role};
use averment_runs::run::{StepKind, StepStatus};
use memchr::memmem::Finder;
use rustc_hash::FxHashMap;
use std::sync::LazyLock;

/// Who says something.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Speaker {
    Assistant,
    User,
    /// The program around the agent, or the instructions that it was given.
    System,
    /// The assistant, to itself.
    Thinking,
}

impl Speaker {
    fn role_name(self) -> &'static str {
        match self {
            Self::Assistant => role::ASSISTANT,
            Self::User => role::USER,
            Self::System => role::SYSTEM,
            Self::Thinking => role::THINKING,
        }
    }
}

/// What a record says beside its words, its call or its result.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct StepMeta<'run> {
    /// When it was written.
    pub(super) time: Option<Node<'run>>,
    /// Who made it, where the format tells agents apart.
    pub(super) agent: Option<Node<'run>>,
    /// It is the work of another agent than the main one.
    pub(super) aside: bool,
}

/// A call as it is recorded.
#[derive(Debug, Clone, Copy)]
pub(super) struct ToolCall<'run> {
    /// The name of its tool.
    pub(super) tool: Node<'run>,
    /// Its arguments; text may hold JSON.
    pub(super) args: Option<Node<'run>>,
    /// What its result names it by.
    pub(super) id: Option<Node<'run>>,
    /// Where it stands.
    pub(super) origin: TextOrigin,
}

/// How a call ended, as far as it is recorded.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct CallResult<'run> {
    pub(super) result: Option<Node<'run>>,
    pub(super) status: Option<StepStatus>,
    pub(super) error: Option<Node<'run>>,
    pub(super) exit_code: Option<Node<'run>>,
    pub(super) details: Option<Node<'run>>,
    /// How long it took, in milliseconds.
    pub(super) duration: Option<Node<'run>>,
}

/// A conversation that is being put together.
pub(super) struct ConversationBuilder<'a, 'run, 'limits> {
    pub(super) draft: &'a mut RunBuilder<'run, 'limits>,
    pub(super) usage: TokenUsage,
    unanswered: PendingCalls<'run, StepId>,
    /// The last call with an id.
    calls_by_id: FxHashMap<&'run str, StepId>,
    turn: usize,
    /// Something was said or given back since the assistant last spoke.
    had_input: bool,
    prompt: Option<Node<'run>>,
    last_words: LastWords<Node<'run>>,
    /// The number of the message of the assistant that was said last, and whether what it says comes in parts of messages.
    message: usize,
    in_parts: bool,
    with_main: bool,
    times: Vec<f64>,
    meta: Vec<ObjectEntry<'run>>,
}

impl<'a, 'run, 'limits> ConversationBuilder<'a, 'run, 'limits> {
    /// A conversation that records messages and calls.
    pub(super) fn new(draft: &'a mut RunBuilder<'run, 'limits>) -> Self {
        draft.mark_recorded(&[StepKind::Call, StepKind::Message]);
        Self {
            draft,
            usage: TokenUsage::default(),
            unanswered: PendingCalls::new(),
            calls_by_id: FxHashMap::default(),
            turn: 0,
            had_input: true,
            prompt: None,
            last_words: LastWords::default(),
            message: 0,
            in_parts: false,
            with_main: false,
            times: Vec::new(),
            meta: Vec::new(),
        }
    }

    /// The same where what the assistant says comes in parts: those of one turn are one message, unless another one begins.
    pub(super) fn from_parts(draft: &'a mut RunBuilder<'run, 'limits>) -> Self {
        Self { in_parts: true, ..Self::new(draft) }
    }

    /// What the assistant says next is another message.
    pub(super) fn begin_message(&mut self) {
        self.message += 1;
    }

    /// The next message of the assistant begins.
    pub(super) fn begin_turn(&mut self) {
        self.begin_message();
        self.turn += 1;
        self.had_input = false;
    }

    /// The assistant does something: behind what others said or gave back that is a new turn.
    pub(super) fn ensure_turn(&mut self) {
        if self.had_input {
            self.begin_turn();
        }
    }

    /// Something came from outside: what the assistant does next is a turn of its own.
    pub(super) fn note_input(&mut self) {
        self.had_input = true;
    }

    /// What the assistant does next belongs to what it did before.
    pub(super) fn continue_turn(&mut self) {
        self.had_input = self.had_input && self.turn == 0;
    }

    /// The number of turns so far.
    pub(super) fn turn_count(&self) -> usize {
        self.turn
    }

    /// The number of the turn, as a value.
    pub(super) fn turn_node(&self) -> Node<'run> {
        count_node(self.turn)
    }

    /// Notes a point in time of the run.
    pub(super) fn note_time(&mut self, time: Option<Node<'run>>) {
        self.times.extend(time.and_then(|time| time::to_milliseconds(&time.value)));
    }

    /// Adds what is said. Empty text is nothing.
    pub(super) fn add_message(&mut self, speaker: Speaker, words: Node<'run>, about: &StepMeta<'run>, origin: TextOrigin) {
        if !NodeShapes.has_shape(words, ValueShape::Text) {
            return;
        }
        self.note_time(about.time);
        match speaker {
            Speaker::Assistant | Speaker::Thinking => self.ensure_turn(),
            Speaker::User => self.note_input(),
            Speaker::System => {}
        }
        self.with_main |= !about.aside;
        match speaker {
            Speaker::Assistant => {
                self.message += usize::from(!self.in_parts);
                self.last_words.add_words(words, self.message, !about.aside);
            }
            Speaker::User if !about.aside => self.prompt = self.prompt.or(Some(words)),
            _ => {}
        }
        let of_assistant = matches!(speaker, Speaker::Assistant | Speaker::Thinking);
        let turn = if of_assistant { self.turn } else { self.turn + usize::from(self.had_input) };
        // What a sub-agent is told the user did not say.
        let role = if speaker == Speaker::User && about.aside { role::TASK } else { speaker.role_name() };
        let role = Node::computed(Value::plain_text(role));
        let mut fields =
            vec![field_entry(of_step::ROLE, role), field_entry(of_step::TEXT, words), field_entry(of_step::TURN, count_node(turn.max(1)))];
        fields.extend(about.time.map(|time| field_entry(of_step::START, time)));
        fields.extend(about.agent.map(|agent| field_entry(of_step::AGENT, agent)));
        self.draft.add_step(StepKind::Message, fields, origin);
    }

    /// Adds the text of a content: text, or a list of blocks of which some hold text.
    pub(super) fn add_content(&mut self, speaker: Speaker, content: Node<'run>, about: &StepMeta<'run>, origin: TextOrigin) {
        if let Some(words) = content::content_text(content, self.draft.arena) {
            self.add_message(speaker, words, about, origin);
        }
    }

    /// Adds a call; `None`, with a word on it, where its tool has no name.
    pub(super) fn add_call(&mut self, made: ToolCall<'run>, about: &StepMeta<'run>) -> Option<StepId> {
        let Some(tool) = node_text(made.tool).filter(|tool| !tool.is_empty()) else {
            self.draft.warn_skipped(made.origin, "a call without the name of its tool is passed over");
            return None;
        };
        self.note_time(about.time);
        self.ensure_turn();
        self.with_main |= !about.aside;
        let id = made.id.filter(|id| NodeShapes.is_text(*id));
        let mut fields = vec![field_entry(of_step::TOOL, made.tool), field_entry(of_step::TURN, count_node(self.turn))];
        if let Some(args) = made.args.filter(|args| !NodeShapes.has_shape(*args, ValueShape::Null)) {
            // A patch or a script is text and means to be.
            let is_text = node_text(args)
                .is_some_and(|text| !text.trim().is_empty() && !text.trim_start().starts_with(['{', '[', '"']));
            fields.push(field_entry(of_step::ARGS, if is_text { args } else { parse_arguments(self.draft, args) }));
        }
        fields.extend(id.map(|id| field_entry(of_step::ID, id)));
        fields.extend(about.time.map(|time| field_entry(of_step::START, time)));
        fields.extend(about.agent.map(|agent| field_entry(of_step::AGENT, agent)));
        let step = self.draft.add_step(StepKind::Call, fields, made.origin);
        let id = id.and_then(node_text);
        if let Some(id) = id {
            self.calls_by_id.insert(id, step);
        }
        self.unanswered.push_call(id, tool, self.turn, step);
        Some(step)
    }

    /// The last call with an id.
    pub(super) fn find_call(&self, id: &str) -> Option<StepId> {
        self.calls_by_id.get(id).copied()
    }

    /// The result of a call, found by its id, of one without an id by its tool.
    pub(super) fn add_result(
        &mut self,
        id: Option<&str>,
        tool: Option<&str>,
        outcome: CallResult<'run>,
        about: &StepMeta<'run>,
        origin: TextOrigin,
    ) -> Option<StepId> {
        let Some(call) = self.unanswered.take_answered(id, tool) else {
            self.draft.warn_skipped(origin, "a result that no call is waiting for is passed over");
            self.draft.note_uncalled(id);
            return None;
        };
        self.end_call(call, outcome, about);
        Some(call)
    }

    /// What is told stands in one message of the assistant, results included: what follows is of the same turn.
    pub(super) fn within_message(&mut self, tell: impl FnOnce(&mut Self)) {
        let heard = self.had_input;
        tell(self);
        self.had_input = self.had_input && heard;
    }

    /// A call has its result where it stands, or none will come.
    pub(super) fn end_call(&mut self, call: StepId, outcome: CallResult<'run>, about: &StepMeta<'run>) {
        self.note_time(about.time);
        self.note_input();
        let draft = &mut *self.draft;
        let mut set = |key, node: Option<Node<'run>>| {
            if let Some(node) = node {
                draft.set_field(call, key, node);
            }
        };
        set(of_step::RESULT, outcome.result);
        set(of_step::EXIT_CODE, outcome.exit_code);
        set(of_step::DETAILS, outcome.details);
        set(of_step::END, about.time);
        set(of_step::DURATION, outcome.duration);
        let is_zero = |code: Node<'_>| matches!(code.value, Value::Number(code) if code == Number::Integer(0));
        let of_code = || outcome.exit_code.map(|code| if is_zero(code) { StepStatus::Ok } else { StepStatus::Failed });
        let status = outcome.status.or(outcome.error.map(|_| StepStatus::Failed)).or_else(of_code);
        set(of_step::STATUS, status.map(|status| status_node(Some(status))));
        if matches!(status, Some(StepStatus::Failed | StepStatus::Denied)) {
            set(of_step::ERROR, outcome.error.or(outcome.result).or(outcome.exit_code));
        }
    }

    /// The same of a call that has its result within the message that makes it: what follows is of the same turn.
    pub(super) fn end_within(&mut self, call: StepId, outcome: CallResult<'run>, about: &StepMeta<'run>) {
        let heard = self.had_input;
        self.end_call(call, outcome, about);
        self.had_input = heard;
    }

    /// Adds a call that somebody else makes than the assistant: it is no turn of it.
    pub(super) fn add_foreign_call(&mut self, made: ToolCall<'run>, about: &StepMeta<'run>) -> Option<StepId> {
        let heard = std::mem::replace(&mut self.had_input, false);
        let step = self.add_call(made, about);
        self.had_input = heard;
        step
    }

    /// One agent hands over to another; the hand-over stands right behind what made it.
    pub(super) fn hand_over(&mut self, to: Node<'run>, about: &StepMeta<'run>, origin: TextOrigin) {
        if !NodeShapes.has_shape(to, ValueShape::Text) {
            return;
        }
        let mut fields = vec![field_entry(of_step::TO, to), field_entry(of_step::TURN, count_node(self.turn.max(1)))];
        fields.extend(about.time.map(|time| field_entry(of_step::START, time)));
        fields.extend(about.agent.map(|agent| field_entry(of_step::AGENT, agent)));
        self.draft.add_step(StepKind::Handover, fields, origin);
    }

    /// Says how a call ended that has or gets no result.
    pub(super) fn set_status(&mut self, call: StepId, status: StepStatus) {
        self.draft.set_field(call, of_step::STATUS, status_node(Some(status)));
    }

    /// Adds something that is known of the run as a whole; of several the first counts.
    pub(super) fn add_meta(&mut self, key: &'run str, node: Option<Node<'run>>) {
        if key == of_meta::MODEL {
            self.draft.note_model(node);
        }
        if let Some(node) = node.filter(|node| !NodeShapes.has_shape(*node, ValueShape::Null))
            && !self.meta.iter().any(|entry| entry.key == key)
        {
            self.meta.push(field_entry(key, node));
        }
    }

    /// Adds what a request to a model used.
    pub(super) fn add_usage(&mut self, usage: &TokenUsage, model: Option<Node<'run>>) {
        self.usage.merge_usage(usage);
        self.draft.add_usage(usage, model);
    }

    /// The same where the format does not tell in which turns things were done.
    pub(super) fn finish_without_turns(self) -> &'a mut RunBuilder<'run, 'limits> {
        let draft = self.finish_run();
        draft.forget_field(of_run::TURNS, of_step::TURN);
        draft.set_entry(of_run::TURNS, absent_node());
        draft
    }

    /// Sets what is known of the run as a whole, where the format has not set it already.
    pub(super) fn finish_run(self) -> &'a mut RunBuilder<'run, 'limits> {
        let draft = self.draft;
        for call in draft.steps_of_kind(StepKind::Call) {
            if draft.step_field(call, of_step::STATUS).is_none() {
                draft.add_field(call, of_step::STATUS, absent_node());
            }
        }
        let first = self.times.iter().copied().fold(f64::INFINITY, f64::min);
        let last = self.times.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let output = content::join_texts(self.last_words.output_words(self.with_main), draft.arena);
        let meta = (!self.meta.is_empty()).then(|| draft.object_node(&self.meta));
        let found = [
            (of_run::TURNS, Some(count_node(self.turn))),
            (of_run::PROMPT, self.prompt),
            (of_run::OUTPUT, output),
            (of_run::DURATION, (self.times.len() > 1).then(|| Node::computed(time::milliseconds_value(last - first)))),
            (of_run::META, meta),
        ];
        for (key, node) in found {
            if !draft.has_entry(key) {
                draft.set_some(key, node);
            }
        }
        if !draft.has_entry(of_run::USAGE) {
            self.usage.set_usage(draft);
        }
        draft
    }

    /// The same of a session of an agent whose tools are known: what its calls did follows from them.
    pub(super) fn finish_with_tools(self) -> &'a mut RunBuilder<'run, 'limits> {
        use StepKind::{Command, Http, Read, Skill, Write};
        self.draft.mark_recorded(&[Command, Read, Write, Skill, Http]);
        let draft = self.finish_run();
        draft.insert_derived(tools::derive_from_call);
        draft
    }
}

/// A status as a value; `None`: the format does not tell.
fn status_node<'run>(status: Option<StepStatus>) -> Node<'run> {
    status.and_then(StepStatus::as_str).map_or_else(absent_node, |word| Node::computed(Value::plain_text(word)))
}

/// A number of seconds in milliseconds.
pub(super) fn seconds_to_ms(node: Node<'_>) -> Option<Node<'_>> {
    match node.value {
        Value::Number(number) => Some(number.to_f64())
            .filter(|number| number.is_finite())
            .map(|number| Node::new(time::milliseconds_value(number * 1000.0), node.origin)),
        _ => None,
    }
}

/// A point in time: text as it stands, a number in seconds or milliseconds since 1970, which no day of ours leaves in doubt.
pub(super) fn instant_node(node: Node<'_>) -> Option<Node<'_>> {
    if time::is_in_seconds(&node.value) {
        return seconds_to_ms(node);
    }
    time::to_milliseconds(&node.value).map(|_| node)
}

/// A whole number as a value.
pub(super) fn integer_node<'run>(number: i64, origin: TextOrigin) -> Node<'run> {
    Node::new(Value::Number(Number::Integer(number)), origin)
}

/// Words behind which a number stands, such as an exit code. They are looked for in every result: what that takes is made once.
pub(super) type TextMarkers = LazyLock<Box<[Finder<'static>]>>;

/// Such words.
pub(super) fn build_markers<const MANY: usize>(words: [&'static str; MANY]) -> Box<[Finder<'static>]> {
    Box::new(words.map(Finder::new))
}

/// The number that stands behind the first of some words in a text.
pub(super) fn number_behind<'run>(words: Node<'run>, markers: &TextMarkers) -> Option<Node<'run>> {
    let text = node_text(words)?;
    let behind = markers.iter().find_map(|marker| {
        let found = marker.find(text.as_bytes())?;
        Some(text.get(found + marker.needle().len()..)?.trim_start())
    })?;
    let digits = behind.strip_prefix('-').unwrap_or(behind);
    let length = digits.bytes().take_while(u8::is_ascii_digit).count();
    let end = length + (behind.len() - digits.len());
    let number = behind.get(..end).filter(|_| length > 0)?.parse().ok()?;
    Some(integer_node(number, words.origin))
}
