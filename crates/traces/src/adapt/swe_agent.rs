//! SWE-agent: a trajectory (`.traj`) with `trajectory`, `history` and `info`, or the `history` of a demonstration. Calls stand in the
//! messages; where the agent writes its actions as text, an action is a call of the tool that its first word names.

use super::content;
use super::draft::Draft;
use super::fields::{Parsed, Record, Shape, Shapes, is_true, key_table};
use super::format::{Format, IN_FULL};
use super::messages::{OfCall, Role};
use super::nodes::{first_of, list, list_of, object, object_of, objects, text, text_of};
use super::talk::{About, Made, Outcome, Speaker, Talk, seconds};
use super::tools::OfArgs;
use averment_base::value::{Entry, Node, Object, Origin, Text, Value};
use averment_runs::normal::{of_run, of_step, of_usage};
use averment_runs::run::Kind;

key_table! {
    /// A file.
    OfFile {
        Trajectory = "trajectory",
        History = "history",
        Info = "info",
    }
}

key_table! {
    /// A step of the trajectory, or a message of the history.
    OfTraj {
        Action = "action",
        Observation = "observation",
        Response = "response",
        Thought = "thought",
        State = "state",
        OpenFile = "open_file",
        Took = "execution_time",
        Role = "role",
        Content = "content",
        Agent = "agent",
        Calls = "tool_calls",
        Answers = "tool_call_ids",
        Demonstration = "is_demo",
        MessageType = "message_type",
    }
}

key_table! {
    /// What is known of the run.
    OfInfo {
        Submission = "submission",
        Exit = "exit_status",
        Stats = "model_stats",
        Cost = "instance_cost",
        Sent = "tokens_sent",
        Received = "tokens_received",
        Asked = "api_calls",
    }
}

key_table! {
    /// What stands for an action where the program ended the run.
    Exit {
        Program = "exit_cost" | "exit_context" | "exit_format" | "exit_error" | "exit_api" | "exit_environment_error"
            | "exit_command_timeout" | "exit_total_execution_time",
    }
}

key_table! {
    /// The first words of actions that are no programs.
    Special {
        Open = "open",
        Create = "create",
        Edit = "edit",
        Other = "goto" | "scroll_up" | "scroll_down" | "search_dir" | "search_file" | "find_file" | "submit" | "exit_cost"
            | "exit_context" | "exit_format" | "exit" | "skip" | "exit_forfeit",
    }
}

/// Trajectories.
pub(crate) const FORMAT: Format = Format {
    name: "SWE-agent trajectory",
    known_by: "`history` of messages with `agent` and `action` or `message_type`, or `trajectory` of steps with `action` and `observation`",
    description: "trajectories of SWE-agent (`trajectory`, `history`, `info`)",
    marks: &[OfFile::History.key(), OfFile::Trajectory.key()],
    near: &[OfTraj::MessageType.key()],
    object: |object| {
        let steps = list_of(object, OfFile::Trajectory).unwrap_or_default();
        let history = list_of(object, OfFile::History).unwrap_or_default();
        objects(steps).any(|(_, step)| is_step(step)) || objects(history).any(|(_, message)| is_message(message))
    },
    read,
    ..IN_FULL
};

fn is_step(step: Object<'_>) -> bool {
    text_of(step, OfTraj::Action).is_some()
        && text_of(step, OfTraj::Observation).is_some()
        && step.field(OfTraj::State).is_some()
}

fn is_message(message: Object<'_>) -> bool {
    let has = |field| message.field(field).is_some();
    has(OfTraj::Role) && has(OfTraj::Content) && has(OfTraj::Agent) && (has(OfTraj::Action) || has(OfTraj::MessageType))
}

fn read<'run>(root: Node<'run>, draft: &mut Draft<'run, '_>) -> Result<(), crate::error::Placed> {
    let Value::Object(file) = root.value else { return Ok(()) };
    let history = list_of(file, OfFile::History).unwrap_or_default();
    let steps = list_of(file, OfFile::Trajectory).unwrap_or_default();
    let calls =
        objects(history).any(|(_, message)| list_of(message, OfTraj::Calls).is_some_and(|calls| !calls.is_empty()));
    let info = object_of(file, OfFile::Info);
    about_the_run(draft, info);
    let mut session = Session { talk: Talk::new(draft), waits: false };
    if let Some(info) = info {
        session.talk.meta(OfInfo::Exit.key(), info.field(OfInfo::Exit));
    }
    if steps.is_empty() || calls {
        history.iter().for_each(|node| session.message(*node));
    } else {
        session.before_the_first_answer(history);
        steps.iter().for_each(|node| session.step(*node));
    }
    session.talk.finish_with_tools();
    Ok(())
}

/// Counts of a run that has asked no model are none.
fn about_the_run<'run>(draft: &mut Draft<'run, '_>, info: Option<Object<'run>>) {
    let Some(info) = info else { return };
    draft.set_some(of_run::OUTPUT, first_of(info, &[OfInfo::Submission]));
    let is_some = |node: &Node<'_>| matches!(node.value, Value::Number(number) if number.to_f64() > 0.0);
    let Some(stats) =
        object_of(info, OfInfo::Stats).filter(|stats| stats.field(OfInfo::Asked).as_ref().is_some_and(is_some))
    else {
        return;
    };
    draft.set_some(of_run::COST, stats.field(OfInfo::Cost).filter(|cost| Parsed.is(*cost, Shape::Number)));
    let mut usage = super::calls::Usage::default();
    usage.count(of_usage::INPUT, stats.field(OfInfo::Sent));
    usage.count(of_usage::OUTPUT, stats.field(OfInfo::Received));
    usage.set(draft);
}

struct Session<'a, 'run, 'limits> {
    talk: Talk<'a, 'run, 'limits>,
    /// A call that is text has no result yet.
    waits: bool,
}

impl<'run> Session<'_, 'run, '_> {
    fn before_the_first_answer(&mut self, history: &'run [Node<'run>]) {
        let role = |message: Object<'_>| text_of(message, OfTraj::Role).and_then(Role::from_key);
        let before = objects(history).take_while(|(_, message)| role(*message) != Some(Role::Assistant));
        for (node, message) in before {
            self.says(node, message);
        }
    }

    /// A message that is said; a demonstration is not of this run.
    fn says(&mut self, node: Node<'run>, message: Object<'run>) {
        let speaker = match text_of(message, OfTraj::Role).and_then(Role::from_key) {
            _ if is_true(&message, &Parsed, OfTraj::Demonstration) => Speaker::System,
            Some(Role::Assistant) => Speaker::Assistant,
            Some(Role::User) => Speaker::User,
            _ => Speaker::System,
        };
        if let Some(content) = message.field(OfTraj::Content) {
            self.talk.say_content(speaker, content, &About::default(), node.origin);
        }
    }

    /// A step of the trajectory: what was answered, the action, what came of it.
    fn step(&mut self, node: Node<'run>) {
        self.talk.draft.record();
        let Some(step) = object(node).filter(|step| text_of(*step, OfTraj::Action).is_some()) else {
            self.talk.draft.not_understood(node.origin, "a step without `action` is passed over");
            return;
        };
        if text_of(step, OfTraj::Action).and_then(Exit::from_key).is_some() {
            return;
        }
        self.talk.begin_turn();
        if let Some(words) = first_of(step, &[OfTraj::Response, OfTraj::Thought]) {
            self.talk.say(Speaker::Assistant, words, &About::default(), node.origin);
        }
        self.action(node, step);
        if !std::mem::take(&mut self.waits) {
            return;
        }
        let result = step.field(OfTraj::Observation);
        let duration = step.field(OfTraj::Took).and_then(seconds);
        self.talk.answer(
            None,
            None,
            Outcome { result, duration, ..Outcome::default() },
            &About::default(),
            node.origin,
        );
    }

    /// An action that is text: a call of the tool that its first word names.
    fn action(&mut self, node: Node<'run>, step: Object<'run>) {
        let Some(action) = step.field(OfTraj::Action) else { return };
        let line = text(action).unwrap_or_default().trim();
        let Some(word) = line.split_whitespace().next() else { return };
        let tool = self.part_of(word, action.origin);
        let whole = self.part_of(line, action.origin);
        let args = self.talk.draft.object(&[Entry { key: OfArgs::Command.key(), node: whole }]);
        let about = About::default();
        if self.talk.call(Made { tool, args: Some(args), id: None, origin: node.origin }, &about).is_none() {
            return;
        }
        self.waits = true;
        let path = || line.split_whitespace().nth(1).map(|path| path.trim_matches(['"', '\'']));
        let (kind, value) = match Special::from_key(word) {
            Some(Special::Open) => (Kind::Read, path().map(|path| self.part_of(path, action.origin))),
            Some(Special::Create) => (Kind::Write, path().map(|path| self.part_of(path, action.origin))),
            Some(Special::Edit) => (Kind::Write, self.open_file(step)),
            Some(Special::Other) => return,
            None => (Kind::Command, Some(whole)),
        };
        if let Some(value) = value {
            let key = if kind == Kind::Command { of_step::COMMAND } else { of_step::PATH };
            let turn = self.talk.turn();
            self.talk.draft.step(
                kind,
                vec![Entry { key, node: value }, Entry { key: of_step::TURN, node: turn }],
                node.origin,
            );
        }
    }

    /// The file that an editor has open, where the state tells.
    fn open_file(&self, step: Object<'run>) -> Option<Node<'run>> {
        let state = step.field(OfTraj::State)?;
        let state = match state.value {
            Value::Text(_) => state.embedded(self.talk.draft.arena, self.talk.draft.limits)?,
            _ => state,
        };
        let file = object(state)?.field(OfTraj::OpenFile)?;
        text(file).filter(|file| *file != "n/a").map(|_| file)
    }

    fn part_of(&self, part: &str, origin: Origin) -> Node<'run> {
        Node::new(Value::Text(Text::Plain(self.talk.draft.arena.alloc_str(part))), origin)
    }

    /// A message of the history. An action that is text is answered by the next message that is no answer of the agent.
    fn message(&mut self, node: Node<'run>) {
        self.talk.draft.record();
        let Some(message) = object(node) else {
            self.talk.draft.not_understood(node.origin, "a message that is no object is passed over");
            return;
        };
        if is_true(&message, &Parsed, OfTraj::Demonstration) {
            return;
        }
        let role = text_of(message, OfTraj::Role).and_then(Role::from_key);
        let content = message.field(OfTraj::Content);
        let result = || content.map(|content| content::text(content, self.talk.draft.arena).unwrap_or(content));
        let outcome = Outcome { result: result(), ..Outcome::default() };
        let about = About::default();
        let first = |ids: &'run [Node<'run>]| ids.first().copied().and_then(text);
        match role {
            Some(Role::Assistant) => {
                self.talk.begin_turn();
                self.says(node, message);
                let calls = list_of(message, OfTraj::Calls).unwrap_or_default();
                if calls.is_empty() {
                    self.action(node, message);
                }
                for (at, call) in self.talk.draft.objects(calls) {
                    self.call(at, call);
                }
            }
            Some(Role::Result) => {
                let id = message.field(OfTraj::Answers).and_then(list).and_then(first);
                self.talk.answer(id, None, outcome, &about, node.origin);
            }
            Some(Role::User) if std::mem::take(&mut self.waits) => {
                self.talk.answer(None, None, outcome, &about, node.origin);
            }
            None if message.field(OfTraj::Content).is_none() => {
                self.talk.draft.not_understood(node.origin, "a message without `role` is passed over");
            }
            _ => self.says(node, message),
        }
    }

    fn call(&mut self, node: Node<'run>, call: Object<'run>) {
        let function = super::messages::function(&call, &Parsed).and_then(object).unwrap_or(call);
        let tool = function.field(OfCall::Name).unwrap_or(Node::computed(Value::Null));
        let made =
            Made { tool, args: super::messages::arguments(&function), id: call.field(OfCall::Id), origin: node.origin };
        self.talk.call(made, &About::default());
    }
}
