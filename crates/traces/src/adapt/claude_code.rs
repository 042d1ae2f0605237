//! Claude Code: session files (one event a line), `--output-format stream-json`, the web export (`loglines`); and conversations in
//! Anthropic's form, whose messages hold `tool_use` and `tool_result` blocks.
//!
//! One assistant message is written as several lines that repeat its usage: what belongs to a message is told by its id, and the last
//! usage counts. Sub-agents stand in the same file, told apart by `agentId`.

mod copies;
mod session;
mod speech;

pub(crate) use session::{Agent, PERMISSION_DENIED, SUMMED_UP, Times, agent, is_no_answer, session_of, summed_up};

use super::blocks::{self, Answer, Asked, Block};
use super::calls::{Unanswered, Usage};
use super::content;
use super::draft::{Draft, StepId, count, field, withheld};
use super::fields::{Parsed, Record, Shape, Shapes, key_table};
use super::format::{Format, IN_FULL, Projected};
use super::messages::{LastWords, OfMessage, Role};
use super::nodes::{items_of, list, list_of, object_of, objects, text, text_of};
use crate::error::Placed;
use averment_base::value::compare::equal;
use averment_base::value::{Entry, Node, Object, Value};
use averment_runs::normal::{of_run, of_step, role};
use averment_runs::run::{Kind, Status};
use copies::{Copies, Made};
use rustc_hash::{FxHashMap, FxHashSet};
use speech::Open;

key_table! {
    /// A session as the web exports it.
    OfExport {
        Lines = "loglines",
    }
}

key_table! {
    /// A line of a session.
    OfLine {
        Type = "type",
        Subtype = "subtype",
        Message = "message",
        /// The words are not the user's: the program wrote them.
        Injected = "isMeta",
        SumsUp = "isCompactSummary",
        /// A sub-agent speaks, which may have a name.
        Aside = "isSidechain",
        Agent = "agentId",
        Parent = "parent_tool_use_id",
        Time = "timestamp",
        /// What the program knows of a result beside what it told the model.
        Details = "toolUseResult",
        DetailsOfStream = "tool_use_result",
        /// The last line of `--output-format stream-json`, and the only one of `--output-format json`: it sums the run up.
        Result = "result",
        Cost = "total_cost_usd",
        Duration = "duration_ms",
        Failed = "is_error",
        /// The calls that were refused, on the last line, and the one that was, on a line of its own.
        Denials = "permission_denials",
        Denied = "tool_use_id",
        /// The words are those of the program, which got no answer from the model.
        ApiError = "isApiErrorMessage",
        ApiErrorOfStream = "is_api_error_message",
        /// Why there is none, beside a message of the program itself.
        Why = "error",
        /// What a sub-agent says or does, in a line about its progress.
        Data = "data",
        Turns = "num_turns",
        Usage = "usage",
        Tools = "tools",
        Session = "sessionId",
        SessionOfStream = "session_id",
        Folder = "cwd",
        Version = "version",
        VersionOfStream = "claude_code_version",
        Branch = "gitBranch",
        /// Marks of a line, as the session's own id.
        Leaf = "leafUuid",
        ParentLine = "parentUuid",
        Line = "uuid",
        MessageLine = "messageId",
    }
}

key_table! {
    /// The types of lines.
    LineType {
        /// It holds a message.
        Spoken = "user" | "assistant",
        Result = "result",
        System = "system",
        Progress = "progress",
        /// It holds no step, or parts of what another line holds whole, and is passed over in silence.
        Silent = "summary" | "file-history-snapshot" | "queue-operation" | "stream_event" | "rate_limit_event",
        /// The same of a type that other formats may have as well.
        SilentToo = "attachment" | "custom-title" | "ai-title" | "agent-name" | "pr-link" | "last-prompt" | "permission-mode",
    }
}

/// A Claude Code session.
pub(crate) const FORMAT: Format = Format {
    name: "Claude Code session",
    known_by: "lines with a `type` of its sessions and `message`, `sessionId` or `uuid`",
    description: "Claude Code sessions (JSONL, or `loglines`)",
    marks: &[OfExport::Lines.key(), OfLine::Turns.key()],
    near: &[OfExport::Lines.key()],
    object: |object| list_of(object, OfExport::Lines).is_some() || is_result(object),
    item_marks: &keys_of(MARKS),
    element: is_line,
    line: is_line,
    read,
    projected: Projected::Never,
    ..IN_FULL
};

/// Whether an object is what `--output-format json` prints.
fn is_result(object: Object<'_>) -> bool {
    text_of(object, OfLine::Type).and_then(LineType::from_key) == Some(LineType::Result)
        && object.field(OfLine::Turns).is_some()
        && MARKS.into_iter().any(|mark| object.field(mark).is_some())
}

fn is_line(line: Object<'_>) -> bool {
    text_of(line, OfLine::Type).and_then(LineType::from_key).is_some_and(|kind| kind.is_sure(&line))
}

/// The fields that only lines of sessions have.
const MARKS: [OfLine; 6] =
    [OfLine::Session, OfLine::SessionOfStream, OfLine::Leaf, OfLine::ParentLine, OfLine::Line, OfLine::MessageLine];

const fn keys_of([a, b, c, d, e, f]: [OfLine; 6]) -> [&'static str; 6] {
    [a.key(), b.key(), c.key(), d.key(), e.key(), f.key()]
}

impl LineType {
    /// Whether an object with this type is a line of a session for sure: it has one of the keys that only such lines have. The result of
    /// Copilot has the id of its session under the same name; that of Claude Code has it under another.
    pub(crate) fn is_sure<R: Record<OfLine>>(self, line: &R) -> bool {
        let counts = |mark: &OfLine| self != Self::Result || *mark != OfLine::Session;
        self != Self::SilentToo && MARKS.into_iter().filter(counts).any(|mark| line.field(mark).is_some())
    }
}

fn read<'run>(root: Node<'run>, draft: &mut Draft<'run, '_>) -> Result<(), Placed> {
    session::read(items_of(draft.arena.alloc(root), &[OfExport::Lines]), draft);
    Ok(())
}

/// Whether a content holds calls or results.
pub(crate) fn holds_tool_blocks(content: &Node<'_>) -> bool {
    list(*content).is_some_and(|blocks| objects(blocks).any(|(_, block)| blocks::is_of_tools(block)))
}

/// Adds a conversation in Anthropic's form: it has no times, and each assistant message is a turn.
pub(super) fn conversation<'run>(messages: &[Node<'run>], draft: &mut Draft<'run, '_>) {
    draft.records(&[Kind::Call, Kind::Message]);
    let mut reader = Reader::new(draft);
    for node in messages {
        reader.draft.record();
        if let Value::Object(message) = node.value {
            let about = About { turn: reader.turn_of(message), ..About::default() };
            reader.message(*node, message, &about, None);
        }
    }
    reader.finish();
}

/// How a call ended, as a value.
fn word<'run>(status: Status) -> Node<'run> {
    status.as_str().map_or_else(withheld, |word| Node::computed(Value::plain(word)))
}

/// What the line around a message says.
#[derive(Default)]
struct About<'run> {
    turn: usize,
    /// The id of the message, where it is one of a session.
    message: Option<&'run str>,
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
    usage: Vec<(Object<'run>, Option<Node<'run>>)>,
    /// What the last line of a stream counts.
    summed_up: Option<Object<'run>>,
    /// The session of the line in work, where there are several: calls and results belong together within one.
    session: Option<&'run str>,
    /// Where in `usage` that of a message stands.
    counted: FxHashMap<&'run str, usize>,
    /// The program writes in the name of the user, as it does in sessions.
    in_session: bool,
    /// The calls that were refused, as far as lines say so beside their results.
    denied: FxHashSet<&'run str>,
    /// Why the model gave no answer, where that is the last thing that was said.
    api_error: Option<Node<'run>>,
    copies: Copies<'run>,
    /// What the assistant said last, where more of the same text may come.
    open: Option<Open<'run>>,
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
            summed_up: None,
            session: None,
            counted: FxHashMap::default(),
            in_session: false,
            denied: FxHashSet::default(),
            api_error: None,
            copies: Copies::default(),
            open: None,
        }
    }

    /// The turn of a message: lines of one assistant message share it; what others say belongs to the turn that follows.
    fn turn_of(&mut self, message: Object<'run>) -> usize {
        if text_of(message, OfMessage::Role).and_then(Role::from_key) != Some(Role::Assistant) {
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

    /// What calls and results are paired by.
    fn pairing_id(&self, id: Option<&'run str>) -> Option<&'run str> {
        match (self.session, id) {
            (Some(session), Some(id)) => Some(self.draft.arena.alloc_str(&format!("{session}\0{id}"))),
            _ => id,
        }
    }

    fn message(&mut self, node: Node<'run>, message: Object<'run>, about: &About<'run>, details: Option<Node<'run>>) {
        let Some(role) = text_of(message, OfMessage::Role) else {
            self.draft.not_understood(node.origin, "a message without `role` is passed over");
            return;
        };
        let role = Role::from_key(role);
        if about.message.is_none() || self.open.as_ref().is_none_or(|open| open.message != about.message) {
            self.close();
        }
        if role == Some(Role::Assistant)
            && let Some(usage) = object_of(message, OfMessage::Usage)
        {
            self.count(text_of(message, OfMessage::Id), (usage, message.field(OfMessage::Model)));
        }
        let before = self.draft.steps_so_far();
        for (node, call) in blocks::invocations(message) {
            self.call(node, blocks::invocation(call), about);
        }
        let called = self.draft.steps_so_far() > before;
        let content = blocks::in_message(message);
        match content.and_then(|content| Some((content, Parsed.shape(content)?))) {
            Some((content, Shape::List)) => {
                if let Some(block) = blocks::unknown_in(message) {
                    self.draft.not_understood(block.origin, blocks::UNKNOWN);
                }
                for block in list(content).unwrap_or_default() {
                    self.block(*block, role, about, details);
                }
            }
            Some((content, Shape::Text)) if self.copies.is_text_again(content, about) => {}
            Some((content, Shape::Text | Shape::Empty)) => self.say(content, role, about, content.origin),
            Some((_, Shape::Null)) => {}
            _ if called => {}
            _ => self.draft.not_understood(node.origin, "a message without `content` is passed over"),
        }
    }

    /// Of several usages of one message the last counts.
    fn count(&mut self, id: Option<&'run str>, usage: (Object<'run>, Option<Node<'run>>)) {
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
        let block = blocks::of(block);
        if !matches!(block, Block::Says(_)) {
            self.close();
        }
        match block {
            Block::Says(text) | Block::Thinks(text) if self.copies.is_text_again(text, about) => {}
            Block::Says(text) => {
                let piece = content::piece(&node).unwrap_or(content::Piece::Alone);
                self.say_piece(text, piece, role, about, node.origin);
            }
            Block::Thinks(text) => {
                self.add_message(role::THINKING, text, about, node.origin);
            }
            Block::Calls(asked) => self.call(node, asked, about),
            Block::Answers(answer) => self.result(node, answer, about, details),
            Block::Silent | Block::Unknown => {}
        }
    }

    fn call(&mut self, node: Node<'run>, asked: Asked<'run>, about: &About<'run>) {
        let Some((name, tool)) = asked.tool.and_then(|name| Some((name, text(name)?))) else {
            self.draft.warn(node.origin, "a call without the name of its tool is passed over");
            return;
        };
        let id = asked.id.and_then(text);
        let pairing = self.pairing_id(id);
        if self.copies.is_call_again(Made { message: about.message, id, pairing, tool, input: asked.args }) {
            return;
        }
        let mut fields: Vec<Entry<'run>> = vec![field(of_step::TOOL, name), field(of_step::TURN, count(about.turn))];
        fields.extend(asked.args.map(|input| field(of_step::ARGS, input)));
        fields.extend(asked.id.map(|id| field(of_step::ID, id)));
        fields.extend(about.time.map(|time| field(of_step::START, time)));
        fields.extend(about.agent.map(|agent| field(of_step::AGENT, agent)));
        let call = self.draft.step(Kind::Call, fields, node.origin);
        match asked.answer {
            Some(answer) => self.end(call, node, &answer, None),
            None => self.unanswered.add(pairing, tool, about.turn, call),
        }
    }

    fn result(&mut self, node: Node<'run>, answer: Answer<'run>, about: &About<'run>, details: Option<Node<'run>>) {
        let id = self.pairing_id(answer.id).map(|id| self.copies.paired(id));
        let Some(call) = self.unanswered.answer(id, None) else {
            if self.is_result_again(id, &answer) {
                return;
            }
            self.draft.warn(node.origin, "a result that no call is waiting for is passed over");
            self.draft.lacks_call(answer.id);
            return;
        };
        id.into_iter().for_each(|id| self.copies.answers(id, call));
        self.end(call, node, &answer, details);
        if let Some(time) = about.time {
            self.draft.amend(call, of_step::END, time);
        }
        if let Some(details) = details.filter(|details| matches!(details.value, Value::Object(_) | Value::List(_))) {
            self.draft.amend(call, of_step::DETAILS, details);
        }
    }

    /// Whether a result that no call is waiting for is the copy of one in a session.
    fn is_result_again(&self, id: Option<&'run str>, answer: &Answer<'run>) -> bool {
        let known = id.filter(|_| self.in_session).and_then(|id| self.copies.answered(id));
        let known = known.and_then(|call| self.draft.field(call, of_step::RESULT));
        known.zip(answer.content(self.draft.arena)).is_some_and(|(known, given)| equal(&known.value, &given.value))
    }

    /// Sets what a call gave back, and how it ended.
    fn end(&mut self, call: StepId, node: Node<'run>, answer: &Answer<'run>, details: Option<Node<'run>>) {
        let result = answer.content(self.draft.arena).or(details);
        if let Some(result) = result {
            self.draft.amend(call, of_step::RESULT, result);
        }
        let status = answer.ended(result);
        self.draft.amend(call, of_step::STATUS, word(status));
        if matches!(status, Status::Failed | Status::Denied) {
            let error = result.unwrap_or(Node::new(Value::Boolean(true), node.origin));
            self.draft.amend(call, of_step::ERROR, error);
        }
    }

    /// Sets what is known of the run as a whole.
    fn finish(mut self) {
        self.close();
        let draft = self.draft;
        for call in draft.steps(Kind::Call) {
            let id = draft.field(call, of_step::ID).and_then(text);
            if id.is_some_and(|id| self.denied.contains(id)) {
                let error = draft.field(call, of_step::RESULT).unwrap_or(Node::computed(Value::Boolean(true)));
                draft.replace(call, of_step::STATUS, word(Status::Denied));
                draft.replace(call, of_step::ERROR, error);
            } else if draft.field(call, of_step::STATUS).is_none() {
                draft.amend(call, of_step::STATUS, withheld());
            }
        }
        if !draft.has(of_run::ERROR) {
            draft.set_some(of_run::ERROR, self.api_error);
        }
        if !draft.has(of_run::TURNS) {
            draft.set(of_run::TURNS, count(self.turn));
        }
        if !draft.has(of_run::PROMPT) {
            draft.set_some(of_run::PROMPT, self.prompt);
        }
        if !draft.has(of_run::OUTPUT) {
            let output = content::joined(self.said.output(self.with_main), draft.arena);
            draft.set_some(of_run::OUTPUT, output);
        }
        if !draft.has(of_run::USAGE) {
            let mut usage = Usage::default();
            for (counts, model) in self.usage {
                let mut of_message = Usage::default();
                of_message.add(counts);
                of_message.count_cache_as_input();
                draft.spends(of_message.counts(), model);
                usage.join(&of_message);
            }
            // In a stream the counts of single messages are those of their beginnings: its end sums them up, unless it counts less.
            let whole = self.summed_up.map(|counts| {
                let mut whole = Usage::default();
                whole.add(counts);
                whole.count_cache_as_input();
                whole
            });
            whole.filter(|whole| !usage.is_more_than(whole)).unwrap_or(usage).set(draft);
        }
    }
}
