//! What the formats of conversations and sessions have in common: who says what, calls and the results that belong to them, turns, times,
//! usage. A format says what stands in its records; the fields of the steps are written here.

use super::calls::{PendingCalls, TokenUsage, parse_arguments};
use super::content;
use super::fields::{FieldRecord as _, NodeShapes, ShapeReader as _, ValueShape};
use super::messages::{LastWords, MessageRole, ToolCallKey, call_arguments, called_function};
use super::nodes::node_text;
pub(super) use super::numbers_in_text::{TextMarkers, build_markers, number_behind};
use super::run_builder::{RunBuilder, StepId, absent_node, count_node, field_entry};
use super::tools;
use crate::time;
use averment_base::value::{Node, Number, Object, ObjectEntry, TextOrigin, Value};
use averment_runs::normal::{of_meta, of_run, of_step, role};
use averment_runs::run::{StepKind, StepStatus};
use rustc_hash::FxHashMap;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Speaker {
    Assistant,
    User,
    /// The surrounding program, or the agent's instructions.
    System,
    Thinking,
}

impl Speaker {
    pub(super) fn from_role(role: Option<MessageRole>) -> Self {
        match role {
            Some(MessageRole::Assistant) => Self::Assistant,
            Some(MessageRole::User) => Self::User,
            Some(MessageRole::Result | MessageRole::Other) | None => Self::System,
        }
    }

    fn role_name(self) -> &'static str {
        match self {
            Self::Assistant => role::ASSISTANT,
            Self::User => role::USER,
            Self::System => role::SYSTEM,
            Self::Thinking => role::THINKING,
        }
    }
}

#[derive(Debug, Clone, Copy, Default)]
pub(super) struct StepMeta<'run> {
    pub(super) time: Option<Node<'run>>,
    /// Only if the format distinguishes agents.
    pub(super) agent: Option<Node<'run>>,
    pub(super) aside: bool,
}

#[derive(Debug, Clone, Copy)]
pub(super) struct ToolCall<'run> {
    pub(super) tool: Node<'run>,
    pub(super) args: Option<Node<'run>>,
    pub(super) id: Option<Node<'run>>,
    pub(super) origin: TextOrigin,
}

impl<'run> ToolCall<'run> {
    /// Reads a call of a chat message; `node` is the value that it was read from.
    pub(super) fn of_message(node: Node<'run>, call: Object<'run>) -> Self {
        let function = called_function(call);
        let tool = function.field(ToolCallKey::Name).unwrap_or(Node::computed(Value::Null));
        Self { tool, args: call_arguments(&function), id: call.field(ToolCallKey::Id), origin: node.origin }
    }
}

#[derive(Debug, Clone, Copy, Default)]
pub(super) struct CallResult<'run> {
    pub(super) result: Option<Node<'run>>,
    pub(super) status: Option<StepStatus>,
    pub(super) error: Option<Node<'run>>,
    pub(super) exit_code: Option<Node<'run>>,
    pub(super) details: Option<Node<'run>>,
    /// In milliseconds.
    pub(super) duration: Option<Node<'run>>,
}

pub(super) struct ConversationBuilder<'a, 'run, 'limits> {
    pub(super) builder: &'a mut RunBuilder<'run, 'limits>,
    pub(super) usage: TokenUsage,
    pub(super) unanswered: PendingCalls<'run, StepId>,
    calls_by_id: FxHashMap<&'run str, StepId>,
    turn: usize,
    /// Others spoke or results came since the assistant last spoke.
    had_input: bool,
    prompt: Option<Node<'run>>,
    last_words: LastWords<Node<'run>>,
    /// The assistant's last message number, and whether its words come in parts.
    message: usize,
    in_parts: bool,
    /// The parts of the last words are pieces of one text.
    in_pieces: bool,
    with_main: bool,
    times: Vec<f64>,
    meta: Vec<ObjectEntry<'run>>,
}

impl<'a, 'run, 'limits> ConversationBuilder<'a, 'run, 'limits> {
    pub(super) fn new(builder: &'a mut RunBuilder<'run, 'limits>) -> Self {
        builder.mark_recorded(&[StepKind::Call, StepKind::Message]);
        Self {
            builder,
            usage: TokenUsage::default(),
            unanswered: PendingCalls::new(),
            calls_by_id: FxHashMap::default(),
            turn: 0,
            had_input: true,
            prompt: None,
            last_words: LastWords::default(),
            message: 0,
            in_parts: false,
            in_pieces: false,
            with_main: false,
            times: Vec::new(),
            meta: Vec::new(),
        }
    }

    /// The assistant's words come in parts: one turn is one message unless another begins.
    pub(super) fn from_parts(builder: &'a mut RunBuilder<'run, 'limits>) -> Self {
        Self { in_parts: true, ..Self::new(builder) }
    }

    /// As [`Self::from_parts`]; the words of one message are pieces of one text.
    pub(super) fn from_pieces(builder: &'a mut RunBuilder<'run, 'limits>) -> Self {
        Self { in_pieces: true, ..Self::from_parts(builder) }
    }

    pub(super) fn begin_message(&mut self) {
        self.message += 1;
    }

    pub(super) fn begin_turn(&mut self) {
        self.begin_message();
        self.turn += 1;
        self.had_input = false;
    }

    /// After others' words or results this starts a new turn.
    pub(super) fn ensure_turn(&mut self) {
        if self.had_input {
            self.begin_turn();
        }
    }

    /// External input: the assistant's next action is a new turn.
    pub(super) fn note_input(&mut self) {
        self.had_input = true;
    }

    /// The assistant's next action belongs to the current turn.
    pub(super) fn continue_turn(&mut self) {
        self.had_input = self.had_input && self.turn == 0;
    }

    pub(super) fn turn_count(&self) -> usize {
        self.turn
    }

    pub(super) fn turn_node(&self) -> Node<'run> {
        count_node(self.turn)
    }

    pub(super) fn note_time(&mut self, time: Option<Node<'run>>) {
        self.times.extend(time.and_then(|time| time::to_milliseconds(&time.value)));
    }

    /// Empty text is ignored; anything else is not understood.
    pub(super) fn add_message(
        &mut self,
        speaker: Speaker,
        words: Node<'run>,
        about: &StepMeta<'run>,
        origin: TextOrigin,
    ) {
        if !NodeShapes.has_shape(words, ValueShape::Text) {
            if speaker != Speaker::Thinking {
                self.builder.note_no_text(words, origin);
            }
            return;
        }
        self.note_time(about.time);
        let of_others = speaker == Speaker::User && node_text(words).is_some_and(content::is_not_of_user);
        if of_others {
            self.note_input();
        }
        let speaker = if of_others { Speaker::System } else { speaker };
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
        let mut fields = vec![
            field_entry(of_step::ROLE, role),
            field_entry(of_step::TEXT, words),
            field_entry(of_step::TURN, count_node(turn.max(1))),
        ];
        fields.extend(about.time.map(|time| field_entry(of_step::START, time)));
        fields.extend(about.agent.map(|agent| field_entry(of_step::AGENT, agent)));
        self.builder.add_step(StepKind::Message, fields, origin);
    }

    pub(super) fn add_content(
        &mut self,
        speaker: Speaker,
        content: Node<'run>,
        about: &StepMeta<'run>,
        origin: TextOrigin,
    ) {
        self.builder.note_parts(content);
        self.add_text(speaker, content, about, origin);
    }

    /// See [`Self::add_content`]; the caller has looked at the parts.
    pub(super) fn add_text(
        &mut self,
        speaker: Speaker,
        content: Node<'run>,
        about: &StepMeta<'run>,
        origin: TextOrigin,
    ) {
        if let Some(words) = content::content_text(content, self.builder.arena) {
            self.add_message(speaker, words, about, origin);
        }
    }

    /// `None`, with a warning, if the tool has no name.
    pub(super) fn add_call(&mut self, made: ToolCall<'run>, about: &StepMeta<'run>) -> Option<StepId> {
        let Some(tool) = node_text(made.tool).filter(|tool| !tool.is_empty()) else {
            self.builder.skip_record(made.origin, "a call without the name of its tool is skipped");
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
            fields.push(field_entry(of_step::ARGS, if is_text { args } else { parse_arguments(self.builder, args) }));
        }
        fields.extend(id.map(|id| field_entry(of_step::ID, id)));
        fields.extend(about.time.map(|time| field_entry(of_step::START, time)));
        fields.extend(about.agent.map(|agent| field_entry(of_step::AGENT, agent)));
        let step = self.builder.add_step(StepKind::Call, fields, made.origin);
        let id = id.and_then(node_text);
        if let Some(id) = id {
            self.calls_by_id.insert(id, step);
        }
        self.unanswered.push_call(id, tool, self.turn, step);
        Some(step)
    }

    pub(super) fn find_call(&self, id: &str) -> Option<StepId> {
        self.calls_by_id.get(id).copied()
    }

    /// By id; without one by tool.
    pub(super) fn add_result(
        &mut self,
        id: Option<&'run str>,
        tool: Option<&'run str>,
        outcome: CallResult<'run>,
        about: &StepMeta<'run>,
        origin: TextOrigin,
    ) -> Option<StepId> {
        let Some(call) = self.unanswered.take_answered(id, tool) else {
            self.builder.warn_skipped(origin, "a result that no call is waiting for is skipped");
            self.builder.note_uncalled(id);
            return None;
        };
        self.end_call(call, outcome, about);
        Some(call)
    }

    /// One assistant message including results: what follows is in the same turn.
    pub(super) fn within_message(&mut self, tell: impl FnOnce(&mut Self)) {
        let heard = self.had_input;
        tell(self);
        self.had_input = self.had_input && heard;
    }

    /// The result is inline, or none will come.
    pub(super) fn end_call(&mut self, call: StepId, outcome: CallResult<'run>, about: &StepMeta<'run>) {
        self.note_time(about.time);
        self.note_input();
        let builder = &mut *self.builder;
        let mut set = |key, node: Option<Node<'run>>| {
            if let Some(node) = node {
                builder.set_field(call, key, node);
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

    /// For a result inside the call's message: what follows is in the same turn.
    pub(super) fn end_within(&mut self, call: StepId, outcome: CallResult<'run>, about: &StepMeta<'run>) {
        let heard = self.had_input;
        self.end_call(call, outcome, about);
        self.had_input = heard;
    }

    /// A call made by someone else: not a turn of the assistant.
    pub(super) fn add_foreign_call(&mut self, made: ToolCall<'run>, about: &StepMeta<'run>) -> Option<StepId> {
        let heard = std::mem::replace(&mut self.had_input, false);
        let step = self.add_call(made, about);
        self.had_input = heard;
        step
    }

    /// Stands right behind what caused it.
    pub(super) fn hand_over(&mut self, to: Node<'run>, about: &StepMeta<'run>, origin: TextOrigin) {
        if !NodeShapes.has_shape(to, ValueShape::Text) {
            return;
        }
        let mut fields = vec![field_entry(of_step::TO, to), field_entry(of_step::TURN, count_node(self.turn.max(1)))];
        fields.extend(about.time.map(|time| field_entry(of_step::START, time)));
        fields.extend(about.agent.map(|agent| field_entry(of_step::AGENT, agent)));
        self.builder.add_step(StepKind::Handover, fields, origin);
    }

    /// For a call without a result.
    pub(super) fn set_status(&mut self, call: StepId, status: StepStatus) {
        self.builder.set_field(call, of_step::STATUS, status_node(Some(status)));
    }

    /// The first value wins.
    pub(super) fn add_meta(&mut self, key: &'run str, node: Option<Node<'run>>) {
        if key == of_meta::MODEL {
            self.builder.note_model(node);
        }
        if let Some(node) = node.filter(|node| !NodeShapes.has_shape(*node, ValueShape::Null))
            && !self.meta.iter().any(|entry| entry.key == key)
        {
            self.meta.push(field_entry(key, node));
        }
    }

    pub(super) fn add_usage(&mut self, usage: &TokenUsage, model: Option<Node<'run>>) {
        self.usage.merge_usage(usage);
        self.builder.add_usage(usage.token_counts(), model);
    }

    /// For formats without turns.
    pub(super) fn finish_without_turns(self) -> &'a mut RunBuilder<'run, 'limits> {
        let builder = self.finish_run();
        builder.forget_field(of_run::TURNS, of_step::TURN);
        builder.set_entry(of_run::TURNS, absent_node());
        builder
    }

    /// Sets run entries that the format has not set.
    pub(super) fn finish_run(self) -> &'a mut RunBuilder<'run, 'limits> {
        let builder = self.builder;
        for call in builder.steps_of_kind(StepKind::Call) {
            if builder.step_field(call, of_step::STATUS).is_none() {
                builder.add_field(call, of_step::STATUS, absent_node());
            }
        }
        let first = self.times.iter().copied().fold(f64::INFINITY, f64::min);
        let last = self.times.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let join = if self.in_pieces { content::concat_pieces } else { content::join_texts };
        let output = join(self.last_words.output_words(self.with_main), builder.arena);
        let meta = (!self.meta.is_empty()).then(|| builder.object_node(&self.meta));
        let found = [
            (of_run::TURNS, Some(count_node(self.turn))),
            (of_run::PROMPT, self.prompt),
            (of_run::OUTPUT, output),
            (of_run::DURATION, (self.times.len() > 1).then(|| Node::computed(time::milliseconds_value(last - first)))),
            (of_run::META, meta),
        ];
        for (key, node) in found {
            if !builder.has_entry(key) {
                builder.set_some(key, node);
            }
        }
        if !builder.has_entry(of_run::USAGE) {
            self.usage.set_usage(builder);
        }
        builder
    }

    /// Also derives steps from the calls of known tools.
    pub(super) fn finish_with_tools(self) -> &'a mut RunBuilder<'run, 'limits> {
        use StepKind::{Command, Http, Read, Skill, Write};
        self.builder.mark_recorded(&[Command, Read, Write, Skill, Http]);
        let builder = self.finish_run();
        tools::add_following_steps(builder, tools::derive_from_call);
        builder
    }
}

fn status_node<'run>(status: Option<StepStatus>) -> Node<'run> {
    status.and_then(StepStatus::as_str).map_or_else(absent_node, |word| Node::computed(Value::plain_text(word)))
}

pub(super) fn seconds_to_ms(node: Node<'_>) -> Option<Node<'_>> {
    match node.value {
        Value::Number(number) => Some(number.to_f64())
            .filter(|number| number.is_finite())
            .map(|number| Node::new(time::milliseconds_value(number * 1000.0), node.origin)),
        _ => None,
    }
}

/// Text as is; numbers in seconds or milliseconds since 1970, told apart by size.
pub(super) fn instant_node(node: Node<'_>) -> Option<Node<'_>> {
    if time::is_in_seconds(&node.value) {
        return seconds_to_ms(node);
    }
    time::to_milliseconds(&node.value).map(|_| node)
}

pub(super) fn integer_node<'run>(number: i64, origin: TextOrigin) -> Node<'run> {
    Node::new(Value::Number(Number::Integer(number)), origin)
}
