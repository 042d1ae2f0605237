//! What the formats of conversations and sessions have in common: who says what, calls and the results that belong to them, turns, times,
//! usage. A format says what stands in its records; the fields of the steps are written here.

use super::calls::{Unanswered, Usage, arguments};
use super::content;
use super::draft::{Draft, StepId, count, field, withheld};
use super::fields::{Parsed, Shape, Shapes as _};
use super::messages::LastWords;
use super::nodes::text;
use super::tools;
use crate::time;
use averment_base::value::{Entry, Node, Number, Origin, Value};
use averment_runs::normal::{of_meta, of_run, of_step, role};
use averment_runs::run::{Kind, Status};
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
    fn role(self) -> &'static str {
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
pub(super) struct About<'run> {
    /// When it was written.
    pub(super) time: Option<Node<'run>>,
    /// Who made it, where the format tells agents apart.
    pub(super) agent: Option<Node<'run>>,
    /// It is the work of another agent than the main one.
    pub(super) aside: bool,
}

/// A call as it is recorded.
#[derive(Debug, Clone, Copy)]
pub(super) struct Made<'run> {
    /// The name of its tool.
    pub(super) tool: Node<'run>,
    /// Its arguments; text may hold JSON.
    pub(super) args: Option<Node<'run>>,
    /// What its result names it by.
    pub(super) id: Option<Node<'run>>,
    /// Where it stands.
    pub(super) origin: Origin,
}

/// How a call ended, as far as it is recorded.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Outcome<'run> {
    pub(super) result: Option<Node<'run>>,
    pub(super) status: Option<Status>,
    pub(super) error: Option<Node<'run>>,
    pub(super) exit_code: Option<Node<'run>>,
    pub(super) details: Option<Node<'run>>,
    /// How long it took, in milliseconds.
    pub(super) duration: Option<Node<'run>>,
}

/// A conversation that is being put together.
pub(super) struct Talk<'a, 'run, 'limits> {
    pub(super) draft: &'a mut Draft<'run, 'limits>,
    pub(super) usage: Usage,
    unanswered: Unanswered<'run, StepId>,
    /// The last call with an id.
    called: FxHashMap<&'run str, StepId>,
    turn: usize,
    /// Something was said or given back since the assistant last spoke.
    heard: bool,
    prompt: Option<Node<'run>>,
    said: LastWords<Node<'run>>,
    /// The number of the message of the assistant that was said last, and whether what it says comes in parts of messages.
    message: usize,
    in_parts: bool,
    with_main: bool,
    times: Vec<f64>,
    meta: Vec<Entry<'run>>,
}

impl<'a, 'run, 'limits> Talk<'a, 'run, 'limits> {
    /// A conversation that records messages and calls.
    pub(super) fn new(draft: &'a mut Draft<'run, 'limits>) -> Self {
        draft.records(&[Kind::Call, Kind::Message]);
        Self {
            draft,
            usage: Usage::default(),
            unanswered: Unanswered::new(),
            called: FxHashMap::default(),
            turn: 0,
            heard: true,
            prompt: None,
            said: LastWords::default(),
            message: 0,
            in_parts: false,
            with_main: false,
            times: Vec::new(),
            meta: Vec::new(),
        }
    }

    /// The same where what the assistant says comes in parts: those of one turn are one message, unless another one begins.
    pub(super) fn of_parts(draft: &'a mut Draft<'run, 'limits>) -> Self {
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
        self.heard = false;
    }

    /// The assistant does something: behind what others said or gave back that is a new turn.
    pub(super) fn speaks(&mut self) {
        if self.heard {
            self.begin_turn();
        }
    }

    /// Something came from outside: what the assistant does next is a turn of its own.
    pub(super) fn hears(&mut self) {
        self.heard = true;
    }

    /// What the assistant does next belongs to what it did before.
    pub(super) fn goes_on(&mut self) {
        self.heard = self.heard && self.turn == 0;
    }

    /// The number of turns so far.
    pub(super) fn turns(&self) -> usize {
        self.turn
    }

    /// The number of the turn, as a value.
    pub(super) fn turn(&self) -> Node<'run> {
        count(self.turn)
    }

    /// Notes a point in time of the run.
    pub(super) fn note_time(&mut self, time: Option<Node<'run>>) {
        self.times.extend(time.and_then(|time| time::milliseconds(&time.value)));
    }

    /// Adds what is said. Empty text is nothing.
    pub(super) fn say(&mut self, speaker: Speaker, words: Node<'run>, about: &About<'run>, origin: Origin) {
        if !Parsed.is(words, Shape::Text) {
            return;
        }
        self.note_time(about.time);
        match speaker {
            Speaker::Assistant | Speaker::Thinking => self.speaks(),
            Speaker::User => self.hears(),
            Speaker::System => {}
        }
        self.with_main |= !about.aside;
        match speaker {
            Speaker::Assistant => {
                self.message += usize::from(!self.in_parts);
                self.said.say(words, self.message, !about.aside);
            }
            Speaker::User if !about.aside => self.prompt = self.prompt.or(Some(words)),
            _ => {}
        }
        let of_assistant = matches!(speaker, Speaker::Assistant | Speaker::Thinking);
        let turn = if of_assistant { self.turn } else { self.turn + usize::from(self.heard) };
        // What a sub-agent is told the user did not say.
        let role = if speaker == Speaker::User && about.aside { role::TASK } else { speaker.role() };
        let role = Node::computed(Value::plain(role));
        let mut fields =
            vec![field(of_step::ROLE, role), field(of_step::TEXT, words), field(of_step::TURN, count(turn.max(1)))];
        fields.extend(about.time.map(|time| field(of_step::START, time)));
        fields.extend(about.agent.map(|agent| field(of_step::AGENT, agent)));
        self.draft.step(Kind::Message, fields, origin);
    }

    /// Adds the text of a content: text, or a list of blocks of which some hold text.
    pub(super) fn say_content(&mut self, speaker: Speaker, content: Node<'run>, about: &About<'run>, origin: Origin) {
        if let Some(words) = content::text(content, self.draft.arena) {
            self.say(speaker, words, about, origin);
        }
    }

    /// Adds a call; `None`, with a word on it, where its tool has no name.
    pub(super) fn call(&mut self, made: Made<'run>, about: &About<'run>) -> Option<StepId> {
        let Some(tool) = text(made.tool).filter(|tool| !tool.is_empty()) else {
            self.draft.not_understood(made.origin, "a call without the name of its tool is passed over");
            return None;
        };
        self.note_time(about.time);
        self.speaks();
        self.with_main |= !about.aside;
        let id = made.id.filter(|id| Parsed.is_text(*id));
        let mut fields = vec![field(of_step::TOOL, made.tool), field(of_step::TURN, count(self.turn))];
        if let Some(args) = made.args.filter(|args| !Parsed.is(*args, Shape::Null)) {
            // A patch or a script is text and means to be.
            let is_text = text(args)
                .is_some_and(|text| !text.trim().is_empty() && !text.trim_start().starts_with(['{', '[', '"']));
            fields.push(field(of_step::ARGS, if is_text { args } else { arguments(self.draft, args) }));
        }
        fields.extend(id.map(|id| field(of_step::ID, id)));
        fields.extend(about.time.map(|time| field(of_step::START, time)));
        fields.extend(about.agent.map(|agent| field(of_step::AGENT, agent)));
        let step = self.draft.step(Kind::Call, fields, made.origin);
        let id = id.and_then(text);
        if let Some(id) = id {
            self.called.insert(id, step);
        }
        self.unanswered.add(id, tool, self.turn, step);
        Some(step)
    }

    /// The last call with an id.
    pub(super) fn called(&self, id: &str) -> Option<StepId> {
        self.called.get(id).copied()
    }

    /// The result of a call, found by its id, of one without an id by its tool.
    pub(super) fn answer(
        &mut self,
        id: Option<&str>,
        tool: Option<&str>,
        outcome: Outcome<'run>,
        about: &About<'run>,
        origin: Origin,
    ) -> Option<StepId> {
        let Some(call) = self.unanswered.answer(id, tool) else {
            self.draft.not_understood(origin, "a result that no call is waiting for is passed over");
            self.draft.lacks_call(id);
            return None;
        };
        self.end(call, outcome, about);
        Some(call)
    }

    /// What is told stands in one message of the assistant, results included: what follows is of the same turn.
    pub(super) fn within(&mut self, tell: impl FnOnce(&mut Self)) {
        let heard = self.heard;
        tell(self);
        self.heard = self.heard && heard;
    }

    /// A call has its result where it stands, or none will come.
    pub(super) fn end(&mut self, call: StepId, outcome: Outcome<'run>, about: &About<'run>) {
        self.note_time(about.time);
        self.hears();
        let draft = &mut *self.draft;
        let mut set = |key, node: Option<Node<'run>>| {
            if let Some(node) = node {
                draft.replace(call, key, node);
            }
        };
        set(of_step::RESULT, outcome.result);
        set(of_step::EXIT_CODE, outcome.exit_code);
        set(of_step::DETAILS, outcome.details);
        set(of_step::END, about.time);
        set(of_step::DURATION, outcome.duration);
        let is_zero = |code: Node<'_>| matches!(code.value, Value::Number(code) if code == Number::Integer(0));
        let of_code = || outcome.exit_code.map(|code| if is_zero(code) { Status::Ok } else { Status::Failed });
        let status = outcome.status.or(outcome.error.map(|_| Status::Failed)).or_else(of_code);
        set(of_step::STATUS, status.map(|status| status_node(Some(status))));
        if matches!(status, Some(Status::Failed | Status::Denied)) {
            set(of_step::ERROR, outcome.error.or(outcome.result).or(outcome.exit_code));
        }
    }

    /// The same of a call that has its result within the message that makes it: what follows is of the same turn.
    pub(super) fn end_within(&mut self, call: StepId, outcome: Outcome<'run>, about: &About<'run>) {
        let heard = self.heard;
        self.end(call, outcome, about);
        self.heard = heard;
    }

    /// Adds a call that somebody else makes than the assistant: it is no turn of it.
    pub(super) fn call_of_other(&mut self, made: Made<'run>, about: &About<'run>) -> Option<StepId> {
        let heard = std::mem::replace(&mut self.heard, false);
        let step = self.call(made, about);
        self.heard = heard;
        step
    }

    /// One agent hands over to another; the hand-over stands right behind what made it.
    pub(super) fn hand_over(&mut self, to: Node<'run>, about: &About<'run>, origin: Origin) {
        if !Parsed.is(to, Shape::Text) {
            return;
        }
        let mut fields = vec![field(of_step::TO, to), field(of_step::TURN, count(self.turn.max(1)))];
        fields.extend(about.time.map(|time| field(of_step::START, time)));
        fields.extend(about.agent.map(|agent| field(of_step::AGENT, agent)));
        self.draft.step(Kind::Handover, fields, origin);
    }

    /// Says how a call ended that has or gets no result.
    pub(super) fn mark(&mut self, call: StepId, status: Status) {
        self.draft.replace(call, of_step::STATUS, status_node(Some(status)));
    }

    /// Adds something that is known of the run as a whole; of several the first counts.
    pub(super) fn meta(&mut self, key: &'run str, node: Option<Node<'run>>) {
        if key == of_meta::MODEL {
            self.draft.names_model(node);
        }
        if let Some(node) = node.filter(|node| !Parsed.is(*node, Shape::Null))
            && !self.meta.iter().any(|entry| entry.key == key)
        {
            self.meta.push(field(key, node));
        }
    }

    /// Adds what a request to a model used.
    pub(super) fn spends(&mut self, usage: &Usage, model: Option<Node<'run>>) {
        self.usage.join(usage);
        self.draft.spends(usage.counts(), model);
    }

    /// The same where the format does not tell in which turns things were done.
    pub(super) fn finish_without_turns(self) -> &'a mut Draft<'run, 'limits> {
        let draft = self.finish();
        draft.forget(of_run::TURNS, of_step::TURN);
        draft.set(of_run::TURNS, withheld());
        draft
    }

    /// Sets what is known of the run as a whole, where the format has not set it already.
    pub(super) fn finish(self) -> &'a mut Draft<'run, 'limits> {
        let draft = self.draft;
        for call in draft.steps(Kind::Call) {
            if draft.field(call, of_step::STATUS).is_none() {
                draft.amend(call, of_step::STATUS, withheld());
            }
        }
        let first = self.times.iter().copied().fold(f64::INFINITY, f64::min);
        let last = self.times.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let output = content::joined(self.said.output(self.with_main), draft.arena);
        let meta = (!self.meta.is_empty()).then(|| draft.object(&self.meta));
        let found = [
            (of_run::TURNS, Some(count(self.turn))),
            (of_run::PROMPT, self.prompt),
            (of_run::OUTPUT, output),
            (of_run::DURATION, (self.times.len() > 1).then(|| Node::computed(time::value(last - first)))),
            (of_run::META, meta),
        ];
        for (key, node) in found {
            if !draft.has(key) {
                draft.set_some(key, node);
            }
        }
        if !draft.has(of_run::USAGE) {
            self.usage.set(draft);
        }
        draft
    }

    /// The same of a session of an agent whose tools are known: what its calls did follows from them.
    pub(super) fn finish_with_tools(self) -> &'a mut Draft<'run, 'limits> {
        use Kind::{Command, Http, Read, Skill, Write};
        self.draft.records(&[Command, Read, Write, Skill, Http]);
        let draft = self.finish();
        draft.insert_derived(tools::of_call);
        draft
    }
}

/// A status as a value; `None`: the format does not tell.
fn status_node<'run>(status: Option<Status>) -> Node<'run> {
    status.and_then(Status::as_str).map_or_else(withheld, |word| Node::computed(Value::plain(word)))
}

/// A number of seconds in milliseconds.
pub(super) fn seconds(node: Node<'_>) -> Option<Node<'_>> {
    match node.value {
        Value::Number(number) => Some(number.to_f64())
            .filter(|number| number.is_finite())
            .map(|number| Node::new(time::value(number * 1000.0), node.origin)),
        _ => None,
    }
}

/// A point in time: text as it stands, a number in seconds or milliseconds since 1970, which no day of ours leaves in doubt.
pub(super) fn instant(node: Node<'_>) -> Option<Node<'_>> {
    if time::is_in_seconds(&node.value) {
        return seconds(node);
    }
    time::milliseconds(&node.value).map(|_| node)
}

/// A whole number as a value.
pub(super) fn integer<'run>(number: i64, origin: Origin) -> Node<'run> {
    Node::new(Value::Number(Number::Integer(number)), origin)
}

/// Words behind which a number stands, such as an exit code. They are looked for in every result: what that takes is made once.
pub(super) type Markers = LazyLock<Box<[Finder<'static>]>>;

/// Such words.
pub(super) fn markers<const MANY: usize>(words: [&'static str; MANY]) -> Box<[Finder<'static>]> {
    Box::new(words.map(Finder::new))
}

/// The number that stands behind the first of some words in a text.
pub(super) fn number_behind<'run>(words: Node<'run>, markers: &Markers) -> Option<Node<'run>> {
    let text = text(words)?;
    let behind = markers.iter().find_map(|marker| {
        let found = marker.find(text.as_bytes())?;
        Some(text.get(found + marker.needle().len()..)?.trim_start())
    })?;
    let digits = behind.strip_prefix('-').unwrap_or(behind);
    let length = digits.bytes().take_while(u8::is_ascii_digit).count();
    let end = length + (behind.len() - digits.len());
    let number = behind.get(..end).filter(|_| length > 0)?.parse().ok()?;
    Some(integer(number, words.origin))
}
