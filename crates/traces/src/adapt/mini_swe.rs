//! mini-swe-agent: messages whose answers hold one block of shell commands, and whose results begin with a return code; alone, or under
//! `messages` with `info`. Later versions write down which commands they took out of an answer, or have calls of a tool `bash` in the
//! form of chat.

use super::content;
use super::draft::Draft;
use super::fields::{Parsed, Record, Shape, Shapes, key_table};
use super::format::{Format, IN_FULL};
use super::messages::{OfCall, Role};
use super::nodes::{first_of, items_of, list_of, object, object_of, objects, text, text_of};
use super::talk::{About, Made, Markers, Outcome, Speaker, Talk, markers, number_behind};
use super::tools::OfArgs;
use averment_base::value::{Entry, Node, Object, Origin, Text, Value};
use averment_runs::normal::{of_meta, of_run};
use std::sync::LazyLock;

key_table! {
    /// A trajectory.
    OfMini {
        Format = "trajectory_format",
        Messages = "messages",
        Info = "info",
        Version = "mini_version",
        Exit = "exit_status",
        Submission = "submission",
        Stats = "model_stats",
        Cost = "instance_cost",
        Role = "role",
        Content = "content",
        Calls = "tool_calls",
        Answers = "tool_call_id",
        Extra = "extra",
        Actions = "actions",
        Code = "returncode",
    }
}

/// Trajectories.
pub(crate) const FORMAT: Format = Format {
    name: "mini-swe-agent trajectory",
    known_by: "answers with a block of shell commands and results that begin with `<returncode>`, or `trajectory_format`",
    description: "trajectories of mini-swe-agent (a list of messages, or `messages` with `info`)",
    marks: &[OfMini::Format.key(), OfMini::Info.key()],
    near: &[OfMini::Format.key()],
    object: |object| {
        let named = text_of(object, OfMini::Format).is_some_and(|format| format.starts_with("mini-swe-agent"));
        let is_of = || {
            list_of(object, OfMini::Messages).is_some_and(|messages| objects(messages).any(|(_, one)| is_message(one)))
        };
        list_of(object, OfMini::Messages).is_some() && (named || is_of())
    },
    item_marks: &[OfMini::Content.key()],
    element: is_message,
    read,
    ..IN_FULL
};

/// What stands before and behind a block of shell commands. The program looks for one kind, which its settings say: of several kinds in an
/// answer it is the one that is least likely to be there for another reason. Those of this agent alone come first.
const BLOCKS: [(&str, &str); 3] =
    [("<mswea_bash_command>", "</mswea_bash_command>"), ("```mswea_bash_command", "\n```"), ("```bash", "\n```")];
const OF_ANYBODY: &str = "```bash";
/// What stands before and behind a return code.
const CODE: (&str, &str) = ("<returncode>", "</returncode>");
static BEHIND: Markers = LazyLock::new(|| markers([CODE.0]));

/// A message that nobody else writes: a result with its return code, or an answer with a block of this agent's.
fn is_message(message: Object<'_>) -> bool {
    let words = text_of(message, OfMini::Content).unwrap_or_default();
    match text_of(message, OfMini::Role).and_then(Role::from_key) {
        Some(Role::User) => words.starts_with(CODE.0) && words.contains(CODE.1),
        Some(Role::Assistant) => BLOCKS.iter().any(|(begin, _)| *begin != OF_ANYBODY && words.contains(begin)),
        _ => false,
    }
}

/// The commands in the blocks of one kind.
fn commands<'a>(words: &'a str, begin: &str, end: &'a str) -> impl Iterator<Item = &'a str> {
    words.split(begin).skip(1).filter_map(move |behind| {
        let inner = behind.split_once(end)?.0;
        let in_fence = end.starts_with('\n');
        let lines = if in_fence { inner.split_once('\n').filter(|(rest, _)| rest.trim().is_empty())?.1 } else { inner };
        Some(lines.trim())
    })
}

fn read<'run>(root: Node<'run>, draft: &mut Draft<'run, '_>) -> Result<(), crate::error::Placed> {
    let root = draft.arena.alloc(root);
    let mut session = Session { talk: Talk::new(draft), waits: 0 };
    let info = object(*root).and_then(|file| object_of(file, OfMini::Info));
    if let Some(info) = info {
        let talk = &mut session.talk;
        let submission = first_of(info, &[OfMini::Submission]).filter(|words| Parsed.is(*words, Shape::Text));
        talk.draft.set_some(of_run::OUTPUT, submission);
        let cost = object_of(info, OfMini::Stats).and_then(|stats| stats.field(OfMini::Cost));
        talk.draft.set_some(of_run::COST, cost.filter(|cost| Parsed.is(*cost, Shape::Number)));
        talk.meta(of_meta::VERSION, info.field(OfMini::Version));
        talk.meta(OfMini::Exit.key(), info.field(OfMini::Exit));
    }
    for node in items_of(root, &[OfMini::Messages]) {
        session.talk.draft.record();
        match object(*node).filter(|message| text_of(*message, OfMini::Role).is_some()) {
            Some(message) => session.message(*node, message),
            None => session.talk.draft.not_understood(node.origin, "a message without `role` is passed over"),
        }
    }
    session.talk.finish_with_tools();
    Ok(())
}

struct Session<'a, 'run, 'limits> {
    talk: Talk<'a, 'run, 'limits>,
    /// So many commands have no result yet.
    waits: usize,
}

impl<'run> Session<'_, 'run, '_> {
    fn message(&mut self, node: Node<'run>, message: Object<'run>) {
        let about = About::default();
        let role = text_of(message, OfMini::Role).and_then(Role::from_key);
        let content = message.field(OfMini::Content);
        let words = content.and_then(|content| content::text(content, self.talk.draft.arena));
        match role {
            Some(Role::Assistant) => {
                self.talk.begin_turn();
                words.into_iter().for_each(|words| self.talk.say(Speaker::Assistant, words, &about, node.origin));
                let calls = list_of(message, OfMini::Calls).unwrap_or_default();
                self.talk.draft.objects(calls).for_each(|(at, call)| self.call(at, call));
                self.waits = 0;
                let taken = object_of(message, OfMini::Extra).and_then(|extra| list_of(extra, OfMini::Actions));
                match (taken, words) {
                    _ if !calls.is_empty() => {}
                    (Some(actions), _) => self.talk.draft.objects(actions).for_each(|(at, one)| self.action(at, one)),
                    (None, Some(words)) => self.block(node, words),
                    (None, None) => {}
                }
            }
            Some(Role::Result) => self.result(node, message, words, text_of(message, OfMini::Answers)),
            Some(Role::User)
                if self.waits > 0 && words.and_then(text).is_some_and(|words| words.starts_with(CODE.0)) =>
            {
                self.waits -= 1;
                self.result(node, message, words, None);
            }
            Some(Role::User) if self.talk.turns() == 0 => {
                words.into_iter().for_each(|words| self.talk.say(Speaker::User, words, &about, node.origin));
            }
            // What the program says behind the first answer: that a block is missing, or what was submitted.
            _ => words.into_iter().for_each(|words| self.talk.say(Speaker::System, words, &about, node.origin)),
        }
    }

    /// A command that the program took out of an answer, and ran.
    fn action(&mut self, node: Node<'run>, action: Object<'run>) {
        match action.field(OfArgs::Command).filter(|command| Parsed.is_text(*command)) {
            Some(command) => self.run(command, action.field(OfMini::Answers), node.origin),
            None => self.talk.draft.not_understood(node.origin, "an action without `command` is passed over"),
        }
    }

    /// The command in the one block of an answer. With several blocks the program runs none.
    fn block(&mut self, node: Node<'run>, words: Node<'run>) {
        let whole = text(words).unwrap_or_default();
        let used = BLOCKS.into_iter().find(|(begin, end)| commands(whole, begin, end).next().is_some());
        let Some((begin, end)) = used else { return };
        let mut blocks = commands(whole, begin, end);
        let (Some(line), None) = (blocks.next(), blocks.next()) else { return };
        let line = self.talk.draft.arena.alloc_str(line);
        self.run(Node::new(Value::Text(Text::Plain(line)), words.origin), None, node.origin);
    }

    /// A command, which is a call of the one tool that there is.
    fn run(&mut self, command: Node<'run>, id: Option<Node<'run>>, origin: Origin) {
        let args = self.talk.draft.object(&[Entry { key: OfArgs::Command.key(), node: command }]);
        self.talk
            .call(Made { tool: Node::computed(Value::plain(SHELL)), args: Some(args), id, origin }, &About::default());
        self.waits += 1;
    }

    fn call(&mut self, node: Node<'run>, call: Object<'run>) {
        let function = super::messages::function(&call, &Parsed).and_then(object).unwrap_or(call);
        let tool = function.field(OfCall::Name).unwrap_or(Node::computed(Value::Null));
        let made =
            Made { tool, args: super::messages::arguments(&function), id: call.field(OfCall::Id), origin: node.origin };
        self.talk.call(made, &About::default());
    }

    fn result(&mut self, node: Node<'run>, message: Object<'run>, result: Option<Node<'run>>, id: Option<&'run str>) {
        let extra = object_of(message, OfMini::Extra).and_then(|extra| extra.field(OfMini::Code));
        let exit_code = extra.filter(|code| Parsed.is(*code, Shape::Number));
        let exit_code = exit_code.or_else(|| number_behind(result?, &BEHIND));
        self.talk.answer(id, None, Outcome { result, exit_code, ..Outcome::default() }, &About::default(), node.origin);
    }
}

/// The tool of this agent.
const SHELL: &str = "bash";
