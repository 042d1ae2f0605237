//! Claude Code: session files (one event a line), `--output-format stream-json`, the web export (`loglines`); and conversations in
//! Anthropic's form, whose messages hold `tool_use` and `tool_result` blocks.
//!
//! One assistant message is written as several lines that repeat its usage: what belongs to a message is told by its id, and the last
//! usage counts. Sub-agents stand in the same file, told apart by `agentId`.

mod session;

pub(crate) use session::{Agent, SUMMED_UP, Times, agent, summed_up};

use super::calls::{Unanswered, Usage};
use super::content;
use super::draft::{Draft, StepId, count, field, withheld};
use super::fields::{Parsed, Record, Shape, Shapes, Spans, fields, is_true, words};
use super::messages::{BlockType, LastWords, OfBlock, OfMessage, Role, ended};
use super::{Format, Projected, list, list_of, object, object_of, objects, text, text_of};
use crate::error::Placed;
use averment_base::value::{Entry, Node, Object, Origin, Value};
use averment_runs::normal::{of_run, of_step, role};
use averment_runs::run::Kind;
use rustc_hash::FxHashMap;

fields! {
    /// A session as the web exports it.
    OfExport {
        Lines = "loglines" => Shape,
    }
}

fields! {
    /// A line of a session.
    OfLine {
        Type = "type" => Shape,
        Subtype = "subtype" => Run(of_run::ERROR),
        Message = "message" => Shape,
        /// The words are not the user's: the program wrote them.
        Injected = "isMeta" => Step(Kind::Message),
        /// A sub-agent speaks, which may have a name.
        Aside = "isSidechain" => Shape,
        Agent = "agentId" => Shape,
        Parent = "parent_tool_use_id" => Shape,
        Time = "timestamp" => Run(of_run::DURATION),
        /// What the program knows of a result beside what it told the model.
        Details = "toolUseResult" => Step(Kind::Call),
        DetailsOfStream = "tool_use_result" => Step(Kind::Call),
        /// The last line of `--output-format stream-json`: it sums the run up.
        Result = "result" => Run(of_run::OUTPUT),
        Cost = "total_cost_usd" => Run(of_run::COST),
        Duration = "duration_ms" => Run(of_run::DURATION),
        Failed = "is_error" => Run(of_run::ERROR),
        Tools = "tools" => PartOf(of_run::TOOLS),
        Session = "sessionId" => Run(of_run::ID),
        SessionOfStream = "session_id" => Run(of_run::ID),
        Folder = "cwd" => PartOf(of_run::META),
        Version = "version" => PartOf(of_run::META),
        VersionOfStream = "claude_code_version" => PartOf(of_run::META),
        Branch = "gitBranch" => PartOf(of_run::META),
        /// Marks of a line, as the session's own id.
        Leaf = "leafUuid" => Shape,
        ParentLine = "parentUuid" => Shape,
        Line = "uuid" => Shape,
        MessageLine = "messageId" => Shape,
    }
}

words! {
    /// The types of lines.
    LineType {
        /// It holds a message.
        Spoken = "user" | "assistant",
        Result = "result",
        System = "system",
        /// It holds no step, and is passed over in silence.
        Silent = "summary" | "progress" | "file-history-snapshot" | "queue-operation",
        /// The same of a type that other formats may have as well.
        SilentToo = "attachment" | "custom-title" | "last-prompt" | "permission-mode",
    }
}

/// A Claude Code session.
pub(crate) const FORMAT: Format = Format {
    name: "Claude Code session",
    known_by: "lines with a `type` of its sessions and `message`, `sessionId` or `uuid`",
    description: "Claude Code sessions (JSONL, or `loglines`)",
    marks: &[OfExport::Lines.key()],
    near: &[],
    object: |object| list_of(object, OfExport::Lines).is_some(),
    item_marks: &keys_of(MARKS),
    element: is_line,
    line: is_line,
    read,
    runs: &[],
    projected: Projected::Never,
};

fn is_line(object: Object<'_>) -> bool {
    text_of(object, OfLine::Type).and_then(LineType::of).is_some_and(LineType::is_mark)
}

/// The fields that only lines of sessions have.
const MARKS: [OfLine; 6] =
    [OfLine::Session, OfLine::SessionOfStream, OfLine::Leaf, OfLine::ParentLine, OfLine::Line, OfLine::MessageLine];

const fn keys_of([a, b, c, d, e, f]: [OfLine; 6]) -> [&'static str; 6] {
    [a.key(), b.key(), c.key(), d.key(), e.key(), f.key()]
}

/// Whether a line has one of the keys that only lines of sessions have.
pub(crate) fn has_mark(line: &Spans<OfLine>) -> bool {
    MARKS.into_iter().any(|mark| line.field(mark).is_some())
}

impl LineType {
    /// Whether an object with this type and a mark is a line of a session for sure.
    pub(crate) fn is_mark(self) -> bool {
        self != Self::SilentToo
    }
}

fn read<'run>(root: Node<'run>, draft: &mut Draft<'run, '_>) -> Result<(), Placed> {
    let lines = match root.value {
        Value::List(lines) => lines,
        Value::Object(object) => list_of(object, OfExport::Lines).unwrap_or_default(),
        _ => &[],
    };
    session::read(lines, draft);
    Ok(())
}

/// Whether a message holds calls or results in its content.
pub(super) fn has_tool_blocks(message: &Node<'_>) -> bool {
    let content = object(*message).and_then(|message| message.field(OfMessage::Content));
    content.is_some_and(|content| holds_tool_blocks(&content))
}

/// Whether a content holds calls or results.
pub(crate) fn holds_tool_blocks(content: &Node<'_>) -> bool {
    let is_tool = |(_, block)| matches!(type_of(block), Some(BlockType::Call | BlockType::Result));
    list(*content).is_some_and(|blocks| objects(blocks).any(is_tool))
}

fn type_of(block: Object<'_>) -> Option<BlockType> {
    text_of(block, OfBlock::Type).and_then(BlockType::of_block)
}

/// Adds a conversation in Anthropic's form: it has no times, and each assistant message is a turn.
pub(super) fn conversation<'run>(messages: &[Node<'run>], draft: &mut Draft<'run, '_>) {
    draft.records(&[Kind::Call, Kind::Message]);
    let mut reader = Reader::new(draft);
    for node in messages {
        if let Value::Object(message) = node.value {
            let about = About { turn: reader.turn_of(message), ..About::default() };
            reader.message(*node, message, &about, None);
        }
    }
    reader.finish();
}

/// What the line around a message says.
#[derive(Default)]
struct About<'run> {
    turn: usize,
    time: Option<Node<'run>>,
    agent: Option<Node<'run>>,
    /// The words are not the user's: the program wrote them, or another agent did.
    speaker: Option<&'static str>,
}

struct Reader<'a, 'run, 'limits> {
    draft: &'a mut Draft<'run, 'limits>,
    unanswered: Unanswered<'run, StepId>,
    turns: FxHashMap<&'run str, usize>,
    turn: usize,
    prompt: Option<Node<'run>>,
    said: LastWords<Node<'run>>,
    /// The main agent speaks, or somebody to it.
    with_main: bool,
    usage: Vec<Object<'run>>,
    /// Where in `usage` that of a message stands.
    counted: FxHashMap<&'run str, usize>,
}

impl<'a, 'run, 'limits> Reader<'a, 'run, 'limits> {
    fn new(draft: &'a mut Draft<'run, 'limits>) -> Self {
        Self {
            draft,
            unanswered: Unanswered::new(),
            turns: FxHashMap::default(),
            turn: 0,
            prompt: None,
            said: LastWords::default(),
            with_main: true,
            usage: Vec::new(),
            counted: FxHashMap::default(),
        }
    }

    /// The turn of a message: lines of one assistant message share it; what others say belongs to the turn that follows.
    fn turn_of(&mut self, message: Object<'run>) -> usize {
        if text_of(message, OfMessage::Role).and_then(Role::of) != Some(Role::Assistant) {
            return self.turn + 1;
        }
        let id = text_of(message, OfMessage::Id);
        if let Some(turn) = id.and_then(|id| self.turns.get(id)) {
            return *turn;
        }
        self.turn += 1;
        if let Some(id) = id {
            self.turns.insert(id, self.turn);
        }
        self.turn
    }

    fn message(&mut self, node: Node<'run>, message: Object<'run>, about: &About<'run>, details: Option<Node<'run>>) {
        let Some(role) = text_of(message, OfMessage::Role) else {
            self.draft.not_understood(node.origin, "a message without `role` is passed over");
            return;
        };
        let role = Role::of(role);
        if role == Some(Role::Assistant)
            && let Some(usage) = object_of(message, OfMessage::Usage)
        {
            self.count(text_of(message, OfMessage::Id), usage);
        }
        let content = message.field(OfMessage::Content);
        match content.and_then(|content| Some((content, Parsed.shape(content)?))) {
            Some((content, Shape::List)) => {
                for block in list(content).unwrap_or_default() {
                    self.block(*block, role, about, details);
                }
            }
            Some((content, Shape::Text | Shape::Empty)) => self.say(content, role, about, content.origin),
            Some((_, Shape::Null)) => {}
            _ => self.draft.not_understood(node.origin, "a message without `content` is passed over"),
        }
    }

    /// Of several usages of one message the last counts.
    fn count(&mut self, id: Option<&'run str>, usage: Object<'run>) {
        let place = id.map_or(self.usage.len(), |id| *self.counted.entry(id).or_insert(self.usage.len()));
        match self.usage.get_mut(place) {
            Some(known) => *known = usage,
            None => self.usage.push(usage),
        }
    }

    fn block(&mut self, node: Node<'run>, role: Option<Role>, about: &About<'run>, details: Option<Node<'run>>) {
        let block = match node.value {
            Value::Object(block) => block,
            Value::Text(_) => return self.say(node, role, about, node.origin),
            _ => {
                self.draft.warn(node.origin, "a block of a message that is no object is passed over");
                return;
            }
        };
        match type_of(block) {
            Some(BlockType::Text) => {
                if let Some(text) = block.field(OfBlock::Text) {
                    self.say(text, role, about, node.origin);
                }
            }
            Some(BlockType::Thinking) => {
                if let Some(text) = block.field(OfBlock::Thinking) {
                    self.add_message(role::THINKING, text, about, node.origin);
                }
            }
            Some(BlockType::Call) => self.call(node, block, about),
            Some(BlockType::Result) => self.result(node, block, about, details),
            // Images, documents, redacted thinking: nothing that a rule could read.
            Some(BlockType::OtherText) | None => {}
        }
    }

    fn say(&mut self, text: Node<'run>, role: Option<Role>, about: &About<'run>, origin: Origin) {
        if !Parsed.is(text, Shape::Text) {
            return;
        }
        match role {
            Some(Role::Assistant) => {
                self.said.say(text, about.agent.is_none());
                self.add_message(role::ASSISTANT, text, about, origin);
            }
            Some(Role::User) => {
                if about.speaker.is_none() {
                    self.prompt = self.prompt.or(Some(text));
                }
                self.add_message(about.speaker.unwrap_or(role::USER), text, about, origin);
            }
            Some(Role::Result) | None => self.add_message(role::SYSTEM, text, about, origin),
        }
    }

    fn add_message(&mut self, speaker: &'static str, text: Node<'run>, about: &About<'run>, origin: Origin) {
        let role = Node::computed(Value::plain(speaker));
        let mut fields =
            vec![field(of_step::ROLE, role), field(of_step::TEXT, text), field(of_step::TURN, count(about.turn))];
        fields.extend(about.time.map(|time| field(of_step::START, time)));
        fields.extend(about.agent.map(|agent| field(of_step::AGENT, agent)));
        self.draft.step(Kind::Message, fields, origin);
    }

    fn call(&mut self, node: Node<'run>, block: Object<'run>, about: &About<'run>) {
        let Some((name, tool)) = block.field(OfBlock::Name).and_then(|name| Some((name, text(name)?))) else {
            self.draft.warn(node.origin, "a call without the name of its tool is passed over");
            return;
        };
        let mut fields: Vec<Entry<'run>> = vec![field(of_step::TOOL, name), field(of_step::TURN, count(about.turn))];
        fields.extend(block.field(OfBlock::Input).map(|input| field(of_step::ARGS, input)));
        fields.extend(block.field(OfBlock::Id).map(|id| field(of_step::ID, id)));
        fields.extend(about.time.map(|time| field(of_step::START, time)));
        fields.extend(about.agent.map(|agent| field(of_step::AGENT, agent)));
        let call = self.draft.step(Kind::Call, fields, node.origin);
        self.unanswered.add(text_of(block, OfBlock::Id), tool, call);
    }

    fn result(&mut self, node: Node<'run>, block: Object<'run>, about: &About<'run>, details: Option<Node<'run>>) {
        let Some(call) = self.unanswered.answer(text_of(block, OfBlock::Answers), None) else {
            self.draft.warn(node.origin, "a result that no call is waiting for is passed over");
            return;
        };
        let result = match block.field(OfBlock::Content) {
            Some(content) => Some(content::text(content, self.draft.arena).unwrap_or(content)),
            None => details,
        };
        if let Some(result) = result {
            self.draft.amend(call, of_step::RESULT, result);
        }
        self.status(call, node, is_true(&block, &Parsed, OfBlock::Failed), result);
        if let Some(time) = about.time {
            self.draft.amend(call, of_step::END, time);
        }
        if let Some(details) = details.filter(|details| matches!(details.value, Value::Object(_) | Value::List(_))) {
            self.draft.amend(call, of_step::DETAILS, details);
        }
    }

    fn status(&mut self, call: StepId, node: Node<'run>, failed: bool, result: Option<Node<'run>>) {
        let status = ended(failed, result.map(|result| result.value));
        let word = status.as_str().map_or_else(withheld, |word| Node::computed(Value::plain(word)));
        self.draft.amend(call, of_step::STATUS, word);
        if failed {
            let error = result.unwrap_or(Node::new(Value::Boolean(true), node.origin));
            self.draft.amend(call, of_step::ERROR, error);
        }
    }

    /// Sets what is known of the run as a whole.
    fn finish(self) {
        let draft = self.draft;
        for call in draft.steps(Kind::Call) {
            if draft.field(call, of_step::STATUS).is_none() {
                draft.amend(call, of_step::STATUS, withheld());
            }
        }
        draft.set(of_run::TURNS, count(self.turn));
        if !draft.has(of_run::PROMPT) {
            draft.set_some(of_run::PROMPT, self.prompt);
        }
        if !draft.has(of_run::OUTPUT) {
            draft.set_some(of_run::OUTPUT, self.said.output(self.with_main));
        }
        if !draft.has(of_run::USAGE) {
            let mut usage = Usage::default();
            self.usage.iter().for_each(|counts| usage.add(*counts));
            usage.count_cache_as_input();
            usage.set(draft);
        }
    }
}
