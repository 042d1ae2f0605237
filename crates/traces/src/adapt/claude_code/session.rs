//! The lines of a session file.

use super::{ClaudeKey, ClaudeLineType, ClaudeReader, LineMeta, queued};
use crate::adapt::fields::{FieldRecord, NodeShapes, ShapeReader, first_field, is_true};
use crate::adapt::messages::{ChatMessageKey, MessageRole};
use crate::adapt::nodes::{first_of, list_of, node_object, node_text, object_of, text_of};
use crate::adapt::run_builder::{RunBuilder, absent_node, field_entry};
use crate::adapt::tools;
use crate::time;
use averment_base::value::compare::values_equal;
use averment_base::value::{Node, Object, ObjectEntry, TextOrigin, Value};
use averment_runs::normal::{of_meta, of_run, role};
use averment_runs::run::StepKind;
use rustc_hash::FxHashMap;

pub(super) fn read_session<'run>(lines: &[Node<'run>], builder: &mut RunBuilder<'run, '_>) {
    use StepKind::{Call, Command, Http, Message, Read, Skill, Write};
    let objects = || lines.iter().filter_map(|node| node_object(*node));
    let has = |kind| objects().any(|line| type_of(line) == Some(kind));
    // A result that stands alone says how it ended and nothing of what was done.
    let is_alone = has(ClaudeLineType::Result) && !has(ClaudeLineType::Spoken) && !has(ClaudeLineType::System);
    if !is_alone {
        builder.mark_recorded(&[Call, Message, Command, Read, Write, Skill, Http]);
        builder.mark_agents_named();
    }
    let with_main = objects().any(|line| is_spoken(line) && line_agent(&line, &NodeShapes).is_main());
    let several = has_several_sessions(objects());
    if several {
        builder
            .add_warning(TextOrigin::COMPUTED, "the file holds lines of several sessions, which are read as one run");
    }
    sum_up(objects(), builder);
    if is_alone && !builder.has_entry(of_run::TURNS) {
        builder.set_entry(of_run::TURNS, absent_node());
    }
    let mut reader = ClaudeReader::new(builder);
    (reader.with_main, reader.in_session) = (with_main, true);
    objects().for_each(|line| reader.denied.extend(denied_calls(line)));
    reader.summed_up = objects().rev().find_map(|line| object_of(result_line(line)?, ClaudeKey::Usage));
    reader.counts_cache = objects().any(|line| first_of(line, &[ClaudeKey::OfQwen]).is_some());
    let mut seen = FxHashMap::default();
    for node in lines {
        reader.builder.count_record();
        match node.value {
            Value::Object(line) if !is_repeated(line, &mut seen) => {
                reader.session = session_of(&line).filter(|_| several).and_then(node_text);
                read_line(&mut reader, *node, line, &mut seen);
            }
            Value::Object(_) => {}
            other => {
                let message = format!("a line that is no object but {} is skipped", other.type_name());
                reader.builder.skip_value(node, message);
            }
        }
    }
    reader.finish_run();
    about_the_run(objects(), builder);
    tools::add_following_steps(builder, tools::derive_from_claude);
}

fn type_of(line: Object<'_>) -> Option<ClaudeLineType> {
    text_of(line, ClaudeKey::Type).and_then(ClaudeLineType::from_key)
}

fn result_line(line: Object<'_>) -> Option<Object<'_>> {
    Some(line).filter(|line| type_of(*line) == Some(ClaudeLineType::Result))
}

pub(crate) fn session_of<R: FieldRecord<ClaudeKey>>(line: &R) -> Option<R::FieldValue> {
    [ClaudeKey::Session, ClaudeKey::SessionOfStream].into_iter().find_map(|field| line.field(field))
}

/// What a client of the SDK writes where the program has not told it the session yet.
fn is_of_client(id: &str) -> bool {
    matches!(id, "default" | "")
}

fn has_several_sessions<'run>(lines: impl Iterator<Item = Object<'run>>) -> bool {
    let mut ids = lines.filter_map(|line| node_text(session_of(&line)?)).filter(|id| !is_of_client(id));
    let first = ids.next();
    ids.any(|id| Some(id) != first)
}

/// Lines repeat where a session goes on in a copy of its file.
fn is_repeated<'run>(line: Object<'run>, seen: &mut FxHashMap<&'run str, Object<'run>>) -> bool {
    let Some(id) = text_of(line, ClaudeKey::Line) else { return false };
    let Some(first) = seen.get(id) else {
        seen.insert(id, line);
        return false;
    };
    let [first, this] = [*first, line].map(|line| line.field(ClaudeKey::Message).map(|message| message.value));
    first.zip(this).is_some_and(|(first, this)| values_equal(&first, &this))
}

/// The last summary knows how the run ended, none how long it took.
fn sum_up<'run>(lines: impl Iterator<Item = Object<'run>>, builder: &mut RunBuilder<'run, '_>) {
    let mut results = lines.filter_map(result_line);
    let (first, last) = (results.next(), results.last());
    let Some(line) = last.or(first) else { return };
    for entry in SUMMED_UP.into_iter().filter(|entry| last.is_none() || *entry != of_run::DURATION) {
        builder.set_some(entry, summed_up(&line, &NodeShapes, entry));
    }
}

fn is_spoken(line: Object<'_>) -> bool {
    type_of(line) == Some(ClaudeLineType::Spoken)
}

#[derive(Debug, Clone, Copy)]
pub(crate) enum LineAgent<V> {
    Main,
    Named(V),
    Aside,
}

impl<V> LineAgent<V> {
    pub(crate) fn is_main(&self) -> bool {
        matches!(self, Self::Main)
    }
}

pub(crate) fn line_agent<R: FieldRecord<ClaudeKey>>(
    line: &R,
    shapes: &impl ShapeReader<R::FieldValue>,
) -> LineAgent<R::FieldValue> {
    let named = first_field(line, shapes, &[ClaudeKey::Agent, ClaudeKey::Parent]).filter(|name| shapes.is_text(*name));
    match named {
        Some(name) => LineAgent::Named(name),
        None if is_true(line, shapes, ClaudeKey::Aside) => LineAgent::Aside,
        None => LineAgent::Main,
    }
}

fn denied_calls<'run>(line: Object<'run>) -> impl Iterator<Item = &'run str> {
    let one =
        text_of(line, ClaudeKey::Subtype) == Some(PERMISSION_DENIED) && type_of(line) == Some(ClaudeLineType::System);
    let all = result_line(line).and_then(|line| list_of(line, ClaudeKey::Denials)).unwrap_or_default();
    let all = all.iter().filter_map(|one| text_of(node_object(*one)?, ClaudeKey::Denied));
    all.chain(Some(line).filter(|_| one).and_then(|line| text_of(line, ClaudeKey::Denied)))
}

pub(crate) const PERMISSION_DENIED: &str = "permission_denied";

/// Command output, background results or interruptions that the program wrote in the user's name.
pub(in crate::adapt) fn is_of_program(words: Node<'_>) -> bool {
    const STARTS: [&str; 15] = [
        "<task-notification>",
        "<command-name>",
        "<command-message>",
        "<local-command-stdout>",
        "<local-command-stderr>",
        "<local-command-caveat>",
        "<bash-stdout>",
        "<bash-stderr>",
        "<user-prompt-submit-hook>",
        "[Request interrupted by user",
        "Caveat: The messages below were generated by the user while running local commands",
        "This session is being continued from a previous conversation",
        // What other agents and the servers of channels send.
        "<teammate-message ",
        "Another Claude session sent a message:",
        "<channel ",
    ];
    let Some(text) = node_text(words).map(str::trim_ascii) else { return false };
    STARTS.iter().any(|start| text.starts_with(start))
        || text.starts_with("<system-reminder>") && text.ends_with("</system-reminder>")
}

fn read_line<'run>(
    reader: &mut ClaudeReader<'_, 'run, '_>,
    node: Node<'run>,
    line: Object<'run>,
    seen: &mut FxHashMap<&'run str, Object<'run>>,
) {
    let Some(word) = text_of(line, ClaudeKey::Type) else {
        reader.builder.skip_value(node, "a line without `type` is skipped");
        return;
    };
    match ClaudeLineType::from_key(word) {
        Some(ClaudeLineType::Spoken) => {
            let agent = agent_name(line_agent(&line, &NodeShapes));
            spoken_line(reader, node, line, agent);
        }
        Some(ClaudeLineType::Progress) => {
            let data = object_of(line, ClaudeKey::Data);
            let told = data.and_then(|data| Some((data.field(ClaudeKey::Agent), object_of(data, ClaudeKey::Message)?)));
            if let Some((agent, told)) = told.filter(|(_, told)| is_spoken(*told) && !is_repeated(*told, seen)) {
                spoken_line(reader, node, told, agent.or_else(|| Some(unnamed_agent())));
            }
        }
        Some(ClaudeLineType::System) => system_line(reader, line),
        Some(ClaudeLineType::Attached) => queued::read_line(reader, line),
        Some(ClaudeLineType::Result | ClaudeLineType::Silent | ClaudeLineType::SilentToo) => {}
        None => reader.builder.skip_value(node, format!("a line of unknown type `{word}` is skipped")),
    }
}

fn agent_name(agent: LineAgent<Node<'_>>) -> Option<Node<'_>> {
    match agent {
        LineAgent::Main => None,
        LineAgent::Named(name) => Some(name),
        LineAgent::Aside => Some(unnamed_agent()),
    }
}

fn unnamed_agent<'run>() -> Node<'run> {
    Node::computed(Value::plain_text("sidechain"))
}

fn spoken_line<'run>(
    reader: &mut ClaudeReader<'_, 'run, '_>,
    node: Node<'run>,
    line: Object<'run>,
    agent: Option<Node<'run>>,
) {
    let Some(message_node) = line.field(ClaudeKey::Message) else {
        reader.builder.skip_value(node, "a line without `message` is skipped");
        return;
    };
    let Value::Object(mut message) = message_node.value else {
        reader.builder.skip_record(message_node.origin, "a message that is no object is skipped");
        return;
    };
    // The messages of the SDK have no role of their own: the type of the line says it.
    if let Some(word) = line.field(ClaudeKey::Type).filter(|_| message.field(ChatMessageKey::Role).is_none())
        && message.field(ChatMessageKey::Content).is_some()
    {
        let role = field_entry(ChatMessageKey::Role.key(), word);
        let entries: Vec<ObjectEntry<'run>> = message.entries().iter().copied().chain([role]).collect();
        message = Object::new(reader.builder.arena, reader.builder.arena.alloc_slice_copy(&entries));
    }
    // A rule that asks what the user said must not hear the program, or the main agent that gave a task to another.
    let injected = [ClaudeKey::Injected, ClaudeKey::SumsUp].into_iter().any(|field| is_true(&line, &NodeShapes, field))
        || queued::is_of_others(line);
    let speaker = match (injected, agent) {
        (true, _) => Some(role::SYSTEM),
        // Also in a file of the sub-agent alone.
        (false, Some(_)) => Some(role::TASK),
        (false, None) => None,
    };
    let time = line.field(ClaudeKey::Time).filter(|time| time::to_milliseconds(&time.value).is_some());
    if is_no_answer(&line, &NodeShapes) || is_of_nobody(line, message) {
        reader.set_api_error(message, &LineMeta { turn: reader.turn + 1, message: None, time, agent, speaker });
        return;
    }
    if text_of(message, ChatMessageKey::Model) == Some(NO_MODEL) {
        let about = LineMeta { turn: reader.turn + 1, message: None, time, agent, speaker };
        reader.say_for_program(message, &about);
        return;
    }
    if agent.is_none()
        && text_of(message, ChatMessageKey::Role).and_then(MessageRole::from_key) == Some(MessageRole::Assistant)
    {
        reader.api_error = None;
    }
    let mut about = LineMeta { turn: 0, message: text_of(message, ChatMessageKey::Id), time, agent, speaker };
    reader.copies.next_record(about.message);
    if reader.copies.is_message_again(message, &about) {
        return;
    }
    about.turn = reader.turn_of(message);
    reader.read_message(
        message_node,
        message,
        &about,
        first_of(line, &[ClaudeKey::Details, ClaudeKey::DetailsOfStream]),
    );
}

/// True if the message replaces an answer that never came.
pub(crate) fn is_no_answer<R: FieldRecord<ClaudeKey>>(line: &R, shapes: &impl ShapeReader<R::FieldValue>) -> bool {
    [ClaudeKey::ApiError, ClaudeKey::ApiErrorOfStream].into_iter().any(|field| is_true(line, shapes, field))
}

/// True for an error beside a message that no model made.
fn is_of_nobody(line: Object<'_>, message: Object<'_>) -> bool {
    text_of(line, ClaudeKey::Why).is_some() && text_of(message, ChatMessageKey::Model) == Some(NO_MODEL)
}

/// The model of the program's own messages.
pub(crate) const NO_MODEL: &str = "<synthetic>";

/// Entries that the last line of `--output-format stream-json` sums up.
pub(crate) const SUMMED_UP: [&str; 5] = [of_run::OUTPUT, of_run::COST, of_run::DURATION, of_run::TURNS, of_run::ERROR];

pub(crate) fn summed_up<R: FieldRecord<ClaudeKey>>(
    line: &R,
    shapes: &impl ShapeReader<R::FieldValue>,
    entry: &str,
) -> Option<R::FieldValue> {
    match entry {
        // Where the run failed, that is why.
        of_run::OUTPUT if is_true(line, shapes, ClaudeKey::Failed) => None,
        of_run::OUTPUT => first_field(line, shapes, &[ClaudeKey::Result]),
        of_run::COST => first_field(line, shapes, &[ClaudeKey::Cost]),
        of_run::DURATION => first_field(line, shapes, &[ClaudeKey::Duration]),
        of_run::TURNS => first_field(line, shapes, &[ClaudeKey::Turns]),
        of_run::ERROR if is_true(line, shapes, ClaudeKey::Failed) => {
            first_field(line, shapes, &[ClaudeKey::Result, ClaudeKey::Subtype])
        }
        _ => None,
    }
}

fn system_line<'run>(reader: &mut ClaudeReader<'_, 'run, '_>, line: Object<'run>) {
    if text_of(line, ClaudeKey::Subtype) == Some("init")
        && let Some(tools) = list_of(line, ClaudeKey::Tools)
    {
        let tools = reader.builder.list_node(tools);
        reader.builder.set_entry(of_run::TOOLS, tools);
    }
}

#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct SessionTimes(Option<(f64, f64)>);

impl SessionTimes {
    pub(crate) fn add_time(&mut self, time: f64) {
        self.0 = Some(self.0.map_or((time, time), |(first, last)| {
            (
                if time.total_cmp(&first).is_lt() { time } else { first },
                if time.total_cmp(&last).is_gt() { time } else { last },
            )
        }));
    }

    pub(crate) fn fit_into(self, duration: f64) -> bool {
        self.0.is_none_or(|(first, last)| !time::is_too_short(duration, first, last))
    }

    pub(crate) fn session_duration<'run>(self) -> Option<Value<'run>> {
        self.0.map(|(first, last)| time::milliseconds_value(last - first))
    }
}

fn about_the_run<'run>(lines: impl Iterator<Item = Object<'run>> + Clone, builder: &mut RunBuilder<'run, '_>) {
    let first = |fields: &[ClaudeKey]| lines.clone().find_map(|line| first_of(line, fields));
    let ids = || lines.clone().filter_map(|line| session_of(&line)).filter(|id| NodeShapes.is_text(*id));
    let id = ids().find(|id| node_text(*id).is_some_and(|id| !is_of_client(id))).or_else(|| ids().next());
    builder.set_some(of_run::ID, id);
    let mut times = SessionTimes::default();
    let spoken = lines.clone().filter(|line| is_spoken(*line));
    spoken
        .filter_map(|line| time::to_milliseconds(&line.field(ClaudeKey::Time)?.value))
        .for_each(|time| times.add_time(time));
    if !builder.has_entry(of_run::DURATION) {
        builder.set_some(of_run::DURATION, times.session_duration().map(Node::computed));
    }
    let mut messages = lines.clone().filter_map(|line| object_of(line, ClaudeKey::Message));
    let model = messages.find_map(|message| first_of(message, &[ChatMessageKey::Model]));
    lines.clone().filter_map(|line| object_of(line, ClaudeKey::Message)).for_each(|message| {
        builder.note_model(message.field(ChatMessageKey::Model));
    });
    let known = [
        (of_meta::CWD, first(&[ClaudeKey::Folder])),
        (of_meta::VERSION, first(&[ClaudeKey::Version, ClaudeKey::VersionOfStream])),
        (of_meta::GIT_BRANCH, first(&[ClaudeKey::Branch])),
        (of_meta::MODEL, model),
    ];
    let meta: Vec<ObjectEntry<'run>> =
        known.into_iter().filter_map(|(key, node)| Some(field_entry(key, node?))).collect();
    if !meta.is_empty() {
        let meta = builder.object_node(&meta);
        builder.set_entry(of_run::META, meta);
    }
}
