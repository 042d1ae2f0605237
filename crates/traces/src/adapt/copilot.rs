//! Copilot CLI: the events of a session, `{type, data, timestamp}` each, one a line or one behind the other. A call counts where its
//! execution starts: what was only asked for was not done.

use super::calls::Usage;
use super::draft::{Draft, count, field};
use super::fields::{Parsed, Record, Shape, Shapes, key_table};
use super::format::{Format, IN_FULL};
use super::nodes::{first_of, items_of, list_of, object, object_of, objects, text, text_of};
use super::talk::{About, Made, Markers, Outcome, Speaker, Talk, markers, number_behind};
use crate::build::word_status;
use averment_base::value::{Node, Number, Object, Value};
use averment_runs::normal::{of_meta, of_run, of_step};
use averment_runs::run::{Kind, Status};
use rustc_hash::FxHashMap;
use std::sync::LazyLock;

/// What stands before an exit code.
static EXIT_CODE: Markers = LazyLock::new(|| markers(["<exited with exit code"]));

key_table! {
    /// An event.
    OfEvent {
        Type = "type",
        Data = "data",
        Time = "timestamp",
        Id = "id",
        Parent = "parentId",
        Session = "sessionId",
        ExitCode = "exitCode",
    }
}

key_table! {
    /// What an event tells.
    OfData {
        Content = "content",
        /// What the model says and asks for at once is one turn. The numbers begin anew with what the user says.
        Turn = "turnId",
        Requests = "toolRequests",
        Thought = "reasoningText",
        Phase = "phase",
        Call = "toolCallId",
        Tool = "toolName",
        Args = "arguments",
        Result = "result",
        Detailed = "detailedContent",
        Success = "success",
        Error = "error",
        Message = "message",
        Code = "code",
        ParentCall = "parentToolCallId",
        AgentName = "agentName",
        Skill = "name",
        SkillOfCall = "skill",
        Session = "sessionId",
        Context = "context",
        Folder = "cwd",
        Branch = "branch",
        Version = "copilotVersion",
        Model = "model",
        ModelAtStart = "selectedModel",
        Metrics = "modelMetrics",
        Usage = "usage",
    }
}

key_table! {
    /// The types of events that are read.
    EventType {
        Start = "session.start" | "session.resume",
        Asked = "user.message",
        Said = "assistant.message",
        Thought = "assistant.reasoning",
        Usage = "assistant.usage",
        Call = "tool.execution_start",
        Result = "tool.execution_complete",
        Skill = "skill.invoked",
        Agent = "subagent.started",
        Program = "system.message",
        Error = "session.error",
        End = "session.shutdown",
    }
}

key_table! {
    /// What ends the output of the program beside the events.
    Last {
        Result = "result",
    }
}

key_table! {
    /// The phases of a message that is no answer.
    Phase {
        Thinking = "thinking",
    }
}

/// Sessions.
pub(crate) const FORMAT: Format = Format {
    name: "Copilot CLI session",
    known_by: "events with `data` whose `type` is `tool.execution_start`, `assistant.message`, `session.start` and so on, or of their families with `id`, `timestamp` and `parentId`",
    description: "events of Copilot CLI (`{type, data, timestamp}`, one a line or one behind the other)",
    marks: &[OfEvent::Parent.key()],
    object: is_event,
    item_marks: &[OfEvent::Data.key()],
    element: is_event,
    line: is_event,
    read,
    ..IN_FULL
};

/// Whether an object is an event: of a type that is read, or of the same families where it has all that stands around one. A session
/// may be cut off at its beginning, and many of its events tell nothing: those know it all the same.
fn is_event(event: Object<'_>) -> bool {
    let Some(word) = text_of(event, OfEvent::Type) else { return false };
    let is_whole = || {
        [OfEvent::Id, OfEvent::Time].into_iter().all(|field| text_of(event, field).is_some())
            && event.field(OfEvent::Parent).is_some()
    };
    object_of(event, OfEvent::Data).is_some()
        && (EventType::from_key(word).is_some() || is_of_family(word) && is_whole())
}

fn is_of_family(word: &str) -> bool {
    FAMILIES.iter().any(|family| word.starts_with(family))
}

/// The families of events, of which many tell nothing that a rule could ask for.
const FAMILIES: [&str; 12] = [
    "session.",
    "assistant.",
    "tool.",
    "user.",
    "subagent.",
    "skill.",
    "hook.",
    "permission.",
    "system.",
    "abort",
    "model.",
    "external_tool.",
];

fn read<'run>(root: Node<'run>, draft: &mut Draft<'run, '_>) -> Result<(), crate::error::Placed> {
    let root = draft.arena.alloc(root);
    let mut session = Session {
        talk: Talk::new(draft),
        agents: FxHashMap::default(),
        skills: Vec::new(),
        has_usage: false,
        turns: Turns::default(),
    };
    for node in items_of::<OfEvent>(root, &[]) {
        session.talk.draft.record();
        let event = object(*node)
            .and_then(|event| Some((event, text_of(event, OfEvent::Type)?, object_of(event, OfEvent::Data)?)));
        let Some((event, word, data)) = event else {
            if !object(*node).is_some_and(|line| session.last(line)) {
                session
                    .talk
                    .draft
                    .not_understood(node.origin, "what is no event with `type` and `data` is passed over");
            }
            continue;
        };
        match EventType::from_key(word) {
            Some(kind) => session.event(*node, event, kind, data),
            None if is_of_family(word) => {}
            None => {
                let message = format!("an event of unknown type `{word}` is passed over");
                session.talk.draft.not_understood(node.origin, message);
            }
        }
    }
    session.talk.finish_with_tools();
    Ok(())
}

struct Session<'a, 'run, 'limits> {
    talk: Talk<'a, 'run, 'limits>,
    /// The names of agents by the calls that started them.
    agents: FxHashMap<&'run str, Node<'run>>,
    /// The skills that calls have loaded.
    skills: Vec<&'run str>,
    has_usage: bool,
    turns: Turns<'run>,
}

/// The turns so far.
#[derive(Default)]
struct Turns<'run> {
    /// By who takes them (the call that started an agent), their names, and how often the user spoke before.
    by_name: FxHashMap<(Option<&'run str>, &'run str, usize), usize>,
    /// Those of the messages that asked for calls, by the ids of these.
    of_calls: FxHashMap<&'run str, usize>,
    /// The last one with a name.
    last_named: usize,
    asked: usize,
}

impl<'run> Session<'_, 'run, '_> {
    /// The line that ends the output of the program; false for any other.
    fn last(&mut self, line: Object<'run>) -> bool {
        if text_of(line, OfEvent::Type).and_then(Last::from_key).is_none() {
            return false;
        }
        self.talk.note_time(line.field(OfEvent::Time));
        let code = line.field(OfEvent::ExitCode).filter(|code| Parsed.is(*code, Shape::Number));
        let failed = code.filter(|code| !matches!(code.value, Value::Number(code) if code == Number::Integer(0)));
        failed.into_iter().for_each(|code| self.talk.draft.set(of_run::ERROR, code));
        if let Some(id) = line.field(OfEvent::Session).filter(|id| Parsed.is_text(*id)) {
            self.talk.draft.set(of_run::ID, id);
        }
        true
    }

    fn event(&mut self, node: Node<'run>, event: Object<'run>, kind: EventType, data: Object<'run>) {
        if !self.talk.draft.has(of_run::ID) {
            let id = event.field(OfEvent::Session).or(data.field(OfData::Session));
            self.talk.draft.set_some(of_run::ID, id.filter(|id| Parsed.is_text(*id)));
        }
        let parent = text_of(data, OfData::ParentCall);
        let agent = parent.and_then(|call| self.agents.get(call).copied().or(data.field(OfData::ParentCall)));
        let about = About { time: event.field(OfEvent::Time), agent, aside: parent.is_some() };
        let turn = self.turn_of(kind, data);
        let talk = &mut self.talk;
        let said = |talk: &mut Talk<'_, 'run, '_>, speaker| {
            if let Some(content) = data.field(OfData::Content) {
                talk.say_content(speaker, content, &about, node.origin);
            }
        };
        match kind {
            EventType::Start => self.start(data, &about),
            EventType::Asked => said(talk, Speaker::User),
            EventType::Program => said(talk, Speaker::System),
            EventType::Thought => said(talk, Speaker::Thinking),
            EventType::Said => {
                if let Some(thought) = data.field(OfData::Thought) {
                    talk.say(Speaker::Thinking, thought, &about, node.origin);
                }
                let phase = text_of(data, OfData::Phase).and_then(Phase::from_key);
                said(talk, if phase.is_some() { Speaker::Thinking } else { Speaker::Assistant });
            }
            EventType::Usage => {
                self.has_usage = true;
                self.count(data, data.field(OfData::Model));
                self.talk.meta(of_meta::MODEL, data.field(OfData::Model));
            }
            EventType::Call => self.call(node, data, &about, turn),
            EventType::Result => self.result(node, data, &about),
            EventType::Skill => self.skill(node, data, &about),
            EventType::Agent => {
                if let (Some(call), Some(name)) = (text_of(data, OfData::Call), data.field(OfData::AgentName)) {
                    self.agents.insert(call, name);
                    self.talk.hand_over(name, &about, node.origin);
                }
            }
            EventType::Error => {
                if let Some(message) = data.field(OfData::Message) {
                    talk.draft.set(of_run::ERROR, message);
                }
            }
            EventType::End => self.end(data, &about),
        }
    }

    /// The turn that an event is of, where that is known: it begins with the first of its events.
    fn turn_of(&mut self, kind: EventType, data: Object<'run>) -> Option<usize> {
        let parent = text_of(data, OfData::ParentCall);
        self.turns.asked += usize::from(kind == EventType::Asked && parent.is_none());
        if !matches!(kind, EventType::Said | EventType::Thought | EventType::Call) {
            return None;
        }
        let requests = list_of(data, OfData::Requests).unwrap_or_default();
        if let Some(name) = text_of(data, OfData::Turn) {
            let key = (parent, name, self.turns.asked);
            match self.turns.by_name.get(&key) {
                Some(turn) => {
                    self.talk.goes_on();
                    return Some(*turn);
                }
                None if self.turns.last_named == self.talk.turns() => self.talk.begin_turn(),
                None => self.talk.speaks(),
            }
            self.turns.last_named = self.talk.turns();
            self.turns.by_name.insert(key, self.talk.turns());
            return Some(self.talk.turns());
        }
        if !requests.is_empty() {
            self.talk.speaks();
        }
        let ids = objects(requests).filter_map(|(_, request)| text_of(request, OfData::Call));
        self.turns.of_calls.extend(ids.map(|id| (id, self.talk.turns())));
        let asked = self.turns.of_calls.get(text_of(data, OfData::Call)?).copied();
        asked.into_iter().for_each(|_| self.talk.goes_on());
        asked
    }

    fn start(&mut self, data: Object<'run>, about: &About<'run>) {
        self.talk.note_time(about.time);
        let context = object_of(data, OfData::Context);
        let of_context = |field| context.and_then(|context| context.field(field));
        self.talk.meta(of_meta::CWD, of_context(OfData::Folder));
        self.talk.meta(of_meta::GIT_BRANCH, of_context(OfData::Branch));
        self.talk.meta(of_meta::VERSION, data.field(OfData::Version));
        self.talk.meta(of_meta::MODEL, data.field(OfData::ModelAtStart));
    }

    fn call(&mut self, node: Node<'run>, data: Object<'run>, about: &About<'run>, turn: Option<usize>) {
        let tool = data.field(OfData::Tool).unwrap_or(Node::computed(Value::Null));
        let args = data.field(OfData::Args);
        self.skills.extend(
            args.and_then(object).and_then(|args| first_of(args, &[OfData::SkillOfCall, OfData::Skill]).and_then(text)),
        );
        let step = self.talk.call(Made { tool, args, id: data.field(OfData::Call), origin: node.origin }, about);
        if let Some((step, turn)) = step.zip(turn.filter(|turn| *turn != self.talk.turns())) {
            self.talk.draft.replace(step, of_step::TURN, count(turn));
        }
    }

    fn result(&mut self, node: Node<'run>, data: Object<'run>, about: &About<'run>) {
        let given = first_of(data, &[OfData::Result]);
        let inner = |field| given.and_then(object).and_then(|given| first_of(given, &[field]));
        let error = first_of(data, &[OfData::Error]);
        let of_error = |field| error.and_then(object).and_then(|error| first_of(error, &[field]));
        let refused = of_error(OfData::Code).and_then(text).and_then(word_status) == Some(Status::Denied);
        let status = match data.field(OfData::Success).map(|success| success.value) {
            _ if refused => Some(Status::Denied),
            Some(Value::Boolean(true)) => Some(Status::Ok),
            Some(Value::Boolean(false)) => Some(Status::Failed),
            _ => None,
        };
        let result = inner(OfData::Content).or(inner(OfData::Detailed)).or(given);
        let exit_code = result.and_then(|result| number_behind(result, &EXIT_CODE));
        let failed =
            exit_code.is_some_and(|code| !matches!(code.value, Value::Number(code) if code == Number::Integer(0)));
        let outcome = Outcome {
            result,
            status: if failed { Some(Status::Failed) } else { status },
            error: of_error(OfData::Message).or(error),
            exit_code,
            details: inner(OfData::Detailed),
            ..Outcome::default()
        };
        self.talk.answer(text_of(data, OfData::Call), None, outcome, about, node.origin);
    }

    /// A skill that the user asked for has no call of its own.
    fn skill(&mut self, node: Node<'run>, data: Object<'run>, about: &About<'run>) {
        let Some(name) = data.field(OfData::Skill).filter(|name| Parsed.is(*name, Shape::Text)) else { return };
        if let Some(place) = self.skills.iter().position(|known| Some(*known) == text(name)) {
            self.skills.remove(place);
            return;
        }
        let mut fields = vec![field(of_step::NAME, name)];
        fields.extend(about.time.map(|time| field(of_step::START, time)));
        self.talk.draft.step(Kind::Skill, fields, node.origin);
    }

    fn count(&mut self, counts: Object<'run>, model: Option<Node<'run>>) {
        let mut usage = Usage::default();
        usage.add(counts);
        self.talk.spends(&usage, model);
    }

    /// The end sums up each model: that counts where the single answers were not recorded.
    fn end(&mut self, data: Object<'run>, about: &About<'run>) {
        self.talk.note_time(about.time);
        let Some(metrics) = object_of(data, OfData::Metrics).filter(|_| !self.has_usage) else { return };
        for model in metrics.entries() {
            if let Some(usage) = object(model.node).and_then(|model| object_of(model, OfData::Usage)) {
                self.count(usage, Some(Node::computed(Value::plain(model.key))));
            }
        }
    }
}
