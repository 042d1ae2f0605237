//! mini-swe-agent: messages whose answers hold one block of shell commands, and whose results begin with a return code; alone, or under
//! `messages` with `info`. Later versions write down which commands they took out of an answer, or have calls of a tool `bash` in the
//! form of chat.

use super::content;
use super::conversation::{
    CallResult, ConversationBuilder, Speaker, StepMeta, TextMarkers, ToolCall, build_markers, number_behind,
};
use super::fields::{FieldRecord, NodeShapes, ShapeReader, ValueShape, key_table};
use super::format::{IN_FULL, TraceFormat};
use super::messages::MessageRole;
use super::nodes::{first_of, items_of, list_of, node_object, node_text, object_items, object_of, text_of};
use super::run_builder::RunBuilder;
use super::tools::ArgsKey;
use averment_base::value::{Node, Object, ObjectEntry, TextOrigin, Value, ValueText};
use averment_runs::normal::{of_meta, of_run};
use std::sync::LazyLock;

key_table! {
    MiniSweKey {
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

pub(crate) const FORMAT: TraceFormat = TraceFormat {
    name: "mini-swe-agent trajectory",
    known_by: "answers with a block of shell commands and results that begin with `<returncode>`, or `trajectory_format`",
    description: "trajectories of mini-swe-agent (a list of messages, or `messages` with `info`)",
    marks: &[MiniSweKey::Format.key(), MiniSweKey::Info.key()],
    near: &[MiniSweKey::Format.key()],
    object: |object| {
        let named = text_of(object, MiniSweKey::Format).is_some_and(|format| format.starts_with("mini-swe-agent"));
        let is_of = || {
            list_of(object, MiniSweKey::Messages)
                .is_some_and(|messages| object_items(messages).any(|(_, one)| is_message(one)))
        };
        list_of(object, MiniSweKey::Messages).is_some() && (named || is_of())
    },
    item_marks: &[MiniSweKey::Content.key()],
    element: is_message,
    read: read_run,
    ..IN_FULL
};

/// Delimiters of command blocks; the most specific kind found wins, this agent's own first.
const BLOCKS: [(&str, &str); 3] =
    [("<mswea_bash_command>", "</mswea_bash_command>"), ("```mswea_bash_command", "\n```"), ("```bash", "\n```")];
const OF_ANYBODY: &str = "```bash";
const CODE: (&str, &str) = ("<returncode>", "</returncode>");
static BEHIND: TextMarkers = LazyLock::new(|| build_markers([CODE.0]));

/// A result with its return code, or an answer with this agent's own block.
fn is_message(message: Object<'_>) -> bool {
    let words = text_of(message, MiniSweKey::Content).unwrap_or_default();
    match text_of(message, MiniSweKey::Role).and_then(MessageRole::from_key) {
        Some(MessageRole::User) => words.starts_with(CODE.0) && words.contains(CODE.1),
        Some(MessageRole::Assistant) => BLOCKS.iter().any(|(begin, _)| *begin != OF_ANYBODY && words.contains(begin)),
        _ => false,
    }
}

fn block_commands<'a>(words: &'a str, begin: &str, end: &'a str) -> impl Iterator<Item = &'a str> {
    words.split(begin).skip(1).filter_map(move |behind| {
        let inner = behind.split_once(end)?.0;
        let in_fence = end.starts_with('\n');
        let lines = if in_fence { inner.split_once('\n').filter(|(rest, _)| rest.trim().is_empty())?.1 } else { inner };
        Some(lines.trim())
    })
}

fn read_run<'run>(root: Node<'run>, builder: &mut RunBuilder<'run, '_>) -> Result<(), crate::error::PlacedError> {
    let root = builder.arena.alloc(root);
    let mut session = MiniSweSession { conversation: ConversationBuilder::new(builder), waits: 0 };
    let info = node_object(*root).and_then(|file| object_of(file, MiniSweKey::Info));
    if let Some(info) = info {
        let conversation = &mut session.conversation;
        let submission =
            first_of(info, &[MiniSweKey::Submission]).filter(|words| NodeShapes.has_shape(*words, ValueShape::Text));
        conversation.builder.set_some(of_run::OUTPUT, submission);
        let cost = object_of(info, MiniSweKey::Stats).and_then(|stats| stats.field(MiniSweKey::Cost));
        conversation
            .builder
            .set_some(of_run::COST, cost.filter(|cost| NodeShapes.has_shape(*cost, ValueShape::Number)));
        conversation.add_meta(of_meta::VERSION, info.field(MiniSweKey::Version));
        conversation.add_meta(MiniSweKey::Exit.key(), info.field(MiniSweKey::Exit));
    }
    for node in items_of(root, &[MiniSweKey::Messages]) {
        session.conversation.builder.count_record();
        match node_object(*node).filter(|message| text_of(*message, MiniSweKey::Role).is_some()) {
            Some(message) => session.read_message(*node, message),
            None => session.conversation.builder.skip_value(node, "a message without `role` is skipped"),
        }
    }
    session.conversation.finish_with_tools();
    Ok(())
}

struct MiniSweSession<'a, 'run, 'limits> {
    conversation: ConversationBuilder<'a, 'run, 'limits>,
    /// Commands without a result so far.
    waits: usize,
}

impl<'run> MiniSweSession<'_, 'run, '_> {
    fn read_message(&mut self, node: Node<'run>, message: Object<'run>) {
        let meta = StepMeta::default();
        let role = self.conversation.builder.role_of(node, text_of(message, MiniSweKey::Role));
        let content = message.field(MiniSweKey::Content);
        content.into_iter().for_each(|content| self.conversation.builder.note_parts(content));
        let words = content.and_then(|content| content::content_text(content, self.conversation.builder.arena));
        match role {
            Some(MessageRole::Assistant) => {
                self.conversation.begin_turn();
                words
                    .into_iter()
                    .for_each(|words| self.conversation.add_message(Speaker::Assistant, words, &meta, node.origin));
                let calls = list_of(message, MiniSweKey::Calls).unwrap_or_default();
                self.conversation.builder.record_objects(calls).for_each(|(at, call)| self.add_call(at, call));
                self.waits = 0;
                let taken = object_of(message, MiniSweKey::Extra).and_then(|extra| list_of(extra, MiniSweKey::Actions));
                match (taken, words) {
                    _ if !calls.is_empty() => {}
                    (Some(actions), _) => {
                        self.conversation.builder.record_objects(actions).for_each(|(at, one)| self.add_action(at, one))
                    }
                    (None, Some(words)) => self.add_block(node, words),
                    // Without words it may ask for nothing; where nothing says what it has, it may have asked.
                    (None, None) if content.is_none() => {
                        self.conversation
                            .builder
                            .note_unknown(node.origin, "an answer without `content`: it may have asked for calls");
                    }
                    (None, None) => {}
                }
            }
            Some(MessageRole::Result) => self.add_result(node, message, words, text_of(message, MiniSweKey::Answers)),
            Some(MessageRole::User)
                if self.waits > 0 && words.and_then(node_text).is_some_and(|words| words.starts_with(CODE.0)) =>
            {
                self.waits -= 1;
                self.add_result(node, message, words, None);
            }
            Some(MessageRole::User) if self.conversation.turn_count() == 0 => {
                words
                    .into_iter()
                    .for_each(|words| self.conversation.add_message(Speaker::User, words, &meta, node.origin));
            }
            // What the program says behind the first answer: that a block is missing, or what was submitted.
            _ => words
                .into_iter()
                .for_each(|words| self.conversation.add_message(Speaker::System, words, &meta, node.origin)),
        }
    }

    /// A command that the program parsed and ran.
    fn add_action(&mut self, node: Node<'run>, action: Object<'run>) {
        match action.field(ArgsKey::Command).filter(|command| NodeShapes.is_text(*command)) {
            Some(command) => self.add_command(command, action.field(MiniSweKey::Answers), node.origin),
            None => self.conversation.builder.skip_value(node, "an action without `command` is skipped"),
        }
    }

    /// With several blocks the program runs none.
    fn add_block(&mut self, node: Node<'run>, words: Node<'run>) {
        let whole = node_text(words).unwrap_or_default();
        let used = BLOCKS.into_iter().find(|(begin, end)| block_commands(whole, begin, end).next().is_some());
        let Some((begin, end)) = used else { return };
        let mut blocks = block_commands(whole, begin, end);
        let (Some(line), None) = (blocks.next(), blocks.next()) else { return };
        let line = self.conversation.builder.arena.alloc_str(line);
        self.add_command(Node::new(Value::Text(ValueText::Plain(line)), words.origin), None, node.origin);
    }

    fn add_command(&mut self, command: Node<'run>, id: Option<Node<'run>>, origin: TextOrigin) {
        let args = self.conversation.builder.object_node(&[ObjectEntry { key: ArgsKey::Command.key(), node: command }]);
        self.conversation.add_call(
            ToolCall { tool: Node::computed(Value::plain_text(SHELL)), args: Some(args), id, origin },
            &StepMeta::default(),
        );
        self.waits += 1;
    }

    fn add_call(&mut self, node: Node<'run>, call: Object<'run>) {
        self.conversation.add_call(ToolCall::of_message(node, call), &StepMeta::default());
    }

    fn add_result(
        &mut self,
        node: Node<'run>,
        message: Object<'run>,
        result: Option<Node<'run>>,
        id: Option<&'run str>,
    ) {
        let extra = object_of(message, MiniSweKey::Extra).and_then(|extra| extra.field(MiniSweKey::Code));
        let exit_code = extra.filter(|code| NodeShapes.has_shape(*code, ValueShape::Number));
        let exit_code = exit_code.or_else(|| number_behind(result?, &BEHIND));
        self.conversation.add_result(
            id,
            None,
            CallResult { result, exit_code, ..CallResult::default() },
            &StepMeta::default(),
            node.origin,
        );
    }
}

const SHELL: &str = "bash";
