//! The lines of a session file.

use super::{About, LineType, OfLine, Reader};
use crate::adapt::draft::{Draft, field, withheld};
use crate::adapt::fields::{Parsed, Record, Shapes, first, is_true};
use crate::adapt::messages::{OfMessage, Role};
use crate::adapt::nodes::{first_of, list_of, object, object_of, text, text_of};
use crate::adapt::tools;
use crate::time;
use averment_base::value::compare::equal;
use averment_base::value::{Entry, Node, Object, Origin, Value};
use averment_runs::normal::{of_meta, of_run, role};
use averment_runs::run::Kind;
use rustc_hash::FxHashMap;

/// Reads a session.
pub(super) fn read<'run>(lines: &[Node<'run>], draft: &mut Draft<'run, '_>) {
    use Kind::{Call, Command, Http, Message, Read, Skill, Write};
    let objects = || lines.iter().filter_map(|node| object(*node));
    let has = |kind| objects().any(|line| type_of(line) == Some(kind));
    // A result that stands alone says how it ended and nothing of what was done.
    let is_alone = has(LineType::Result) && !has(LineType::Spoken) && !has(LineType::System);
    if !is_alone {
        draft.records(&[Call, Message, Command, Read, Write, Skill, Http]);
        draft.names_agents();
    }
    let with_main = objects().any(|line| is_spoken(line) && agent(&line, &Parsed).is_main());
    let several = has_several_sessions(objects());
    if several {
        draft.warn(Origin::COMPUTED, "the file holds lines of several sessions, which are read as one run");
    }
    sum_up(objects(), draft);
    if is_alone && !draft.has(of_run::TURNS) {
        draft.set(of_run::TURNS, withheld());
    }
    let mut reader = Reader::new(draft);
    (reader.with_main, reader.in_session) = (with_main, true);
    objects().for_each(|line| reader.denied.extend(denials(line)));
    reader.summed_up = objects().rev().find_map(|line| object_of(results(line)?, OfLine::Usage));
    let mut seen = FxHashMap::default();
    for node in lines {
        reader.draft.record();
        match node.value {
            Value::Object(line) if !is_repeated(line, &mut seen) => {
                reader.session = session_of(&line).filter(|_| several).and_then(text);
                read_line(&mut reader, *node, line, &mut seen);
            }
            Value::Object(_) => {}
            other => {
                let message = format!("a line that is no object but {} is passed over", other.type_name());
                reader.draft.not_understood(node.origin, message);
            }
        }
    }
    reader.finish();
    about_the_run(objects(), draft);
    draft.insert_derived(tools::of_claude_call);
}

fn type_of(line: Object<'_>) -> Option<LineType> {
    text_of(line, OfLine::Type).and_then(LineType::from_key)
}

/// A line that sums a run up.
fn results(line: Object<'_>) -> Option<Object<'_>> {
    Some(line).filter(|line| type_of(*line) == Some(LineType::Result))
}

/// The session that a line belongs to.
pub(crate) fn session_of<R: Record<OfLine>>(line: &R) -> Option<R::Value> {
    [OfLine::Session, OfLine::SessionOfStream].into_iter().find_map(|field| line.field(field))
}

fn has_several_sessions<'run>(lines: impl Iterator<Item = Object<'run>>) -> bool {
    let mut ids = lines.filter_map(|line| text(session_of(&line)?));
    let first = ids.next();
    ids.any(|id| Some(id) != first)
}

/// Whether a line was there already, as it is where a session goes on in a copy of its file.
fn is_repeated<'run>(line: Object<'run>, seen: &mut FxHashMap<&'run str, Object<'run>>) -> bool {
    let Some(id) = text_of(line, OfLine::Line) else { return false };
    let Some(first) = seen.get(id) else {
        seen.insert(id, line);
        return false;
    };
    let [first, this] = [*first, line].map(|line| line.field(OfLine::Message).map(|message| message.value));
    first.zip(this).is_some_and(|(first, this)| equal(&first, &this))
}

/// Sets what the lines say that sum the run up: of several the last one knows how it ended, and none how long it took.
fn sum_up<'run>(lines: impl Iterator<Item = Object<'run>>, draft: &mut Draft<'run, '_>) {
    let mut results = lines.filter_map(results);
    let (first, last) = (results.next(), results.last());
    let Some(line) = last.or(first) else { return };
    for entry in SUMMED_UP.into_iter().filter(|entry| last.is_none() || *entry != of_run::DURATION) {
        draft.set_some(entry, summed_up(&line, &Parsed, entry));
    }
}

fn is_spoken(line: Object<'_>) -> bool {
    type_of(line) == Some(LineType::Spoken)
}

/// Who speaks on a line, or is spoken to.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Agent<V> {
    Main,
    /// A sub-agent with a name.
    Named(V),
    /// A sub-agent without one.
    Aside,
}

impl<V> Agent<V> {
    pub(crate) fn is_main(&self) -> bool {
        matches!(self, Self::Main)
    }
}

/// The agent of a line.
pub(crate) fn agent<R: Record<OfLine>>(line: &R, shapes: &impl Shapes<R::Value>) -> Agent<R::Value> {
    let named = first(line, shapes, &[OfLine::Agent, OfLine::Parent]).filter(|name| shapes.is_text(*name));
    match named {
        Some(name) => Agent::Named(name),
        None if is_true(line, shapes, OfLine::Aside) => Agent::Aside,
        None => Agent::Main,
    }
}

/// The calls that a line says were refused.
fn denials<'run>(line: Object<'run>) -> impl Iterator<Item = &'run str> {
    let one = text_of(line, OfLine::Subtype) == Some(PERMISSION_DENIED) && type_of(line) == Some(LineType::System);
    let all = results(line).and_then(|line| list_of(line, OfLine::Denials)).unwrap_or_default();
    let all = all.iter().filter_map(|one| text_of(object(*one)?, OfLine::Denied));
    all.chain(Some(line).filter(|_| one).and_then(|line| text_of(line, OfLine::Denied)))
}

/// The subtype of a line that says that a call was refused.
pub(crate) const PERMISSION_DENIED: &str = "permission_denied";

/// Whether the program wrote what stands there in the user's name: what came of a command, of work in the background, or that the user
/// interrupted the agent.
pub(super) fn is_of_program(words: Node<'_>) -> bool {
    const STARTS: [&str; 12] = [
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
    ];
    let Some(text) = text(words).map(str::trim_ascii) else { return false };
    STARTS.iter().any(|start| text.starts_with(start))
        || text.starts_with("<system-reminder>") && text.ends_with("</system-reminder>")
}

fn read_line<'run>(
    reader: &mut Reader<'_, 'run, '_>,
    node: Node<'run>,
    line: Object<'run>,
    seen: &mut FxHashMap<&'run str, Object<'run>>,
) {
    let Some(word) = text_of(line, OfLine::Type) else {
        reader.draft.not_understood(node.origin, "a line without `type` is passed over");
        return;
    };
    match LineType::from_key(word) {
        Some(LineType::Spoken) => {
            let agent = named(agent(&line, &Parsed));
            spoken_line(reader, node, line, agent);
        }
        Some(LineType::Progress) => {
            let data = object_of(line, OfLine::Data);
            let told = data.and_then(|data| Some((data.field(OfLine::Agent), object_of(data, OfLine::Message)?)));
            if let Some((agent, told)) = told.filter(|(_, told)| is_spoken(*told) && !is_repeated(*told, seen)) {
                spoken_line(reader, node, told, agent.or_else(|| Some(aside())));
            }
        }
        Some(LineType::System) => system_line(reader, line),
        Some(LineType::Result | LineType::Silent | LineType::SilentToo) => {}
        None => reader.draft.not_understood(node.origin, format!("a line of unknown type `{word}` is passed over")),
    }
}

/// The agent of steps; none for the main one.
fn named(agent: Agent<Node<'_>>) -> Option<Node<'_>> {
    match agent {
        Agent::Main => None,
        Agent::Named(name) => Some(name),
        Agent::Aside => Some(aside()),
    }
}

/// A sub-agent without a name.
fn aside<'run>() -> Node<'run> {
    Node::computed(Value::plain("sidechain"))
}

fn spoken_line<'run>(
    reader: &mut Reader<'_, 'run, '_>,
    node: Node<'run>,
    line: Object<'run>,
    agent: Option<Node<'run>>,
) {
    let Some(message_node) = line.field(OfLine::Message) else {
        reader.draft.not_understood(node.origin, "a line without `message` is passed over");
        return;
    };
    let Value::Object(message) = message_node.value else {
        reader.draft.not_understood(message_node.origin, "a message that is no object is passed over");
        return;
    };
    // A rule that asks what the user said must not hear the program, or the main agent that gave a task to another.
    let injected = [OfLine::Injected, OfLine::SumsUp].into_iter().any(|field| is_true(&line, &Parsed, field));
    let speaker = match (injected, agent) {
        (true, _) => Some(role::SYSTEM),
        (false, Some(_)) if reader.with_main => Some(role::TASK),
        _ => None,
    };
    let time = line.field(OfLine::Time).filter(|time| time::milliseconds(&time.value).is_some());
    if is_no_answer(&line, &Parsed) || is_of_nobody(line, message) {
        reader.fails(message, &About { turn: reader.turn + 1, message: None, time, agent, speaker });
        return;
    }
    if agent.is_none() && text_of(message, OfMessage::Role).and_then(Role::from_key) == Some(Role::Assistant) {
        reader.api_error = None;
    }
    let mut about = About { turn: 0, message: text_of(message, OfMessage::Id), time, agent, speaker };
    reader.copies.next_record(about.message);
    if reader.copies.is_message_again(message, &about) {
        return;
    }
    about.turn = reader.turn_of(message);
    reader.message(message_node, message, &about, first_of(line, &[OfLine::Details, OfLine::DetailsOfStream]));
}

/// Whether a line says that its message stands in place of an answer that never came.
pub(crate) fn is_no_answer<R: Record<OfLine>>(line: &R, shapes: &impl Shapes<R::Value>) -> bool {
    [OfLine::ApiError, OfLine::ApiErrorOfStream].into_iter().any(|field| is_true(line, shapes, field))
}

/// Whether a line has an error beside a message that no model made.
fn is_of_nobody(line: Object<'_>, message: Object<'_>) -> bool {
    text_of(line, OfLine::Why).is_some() && text_of(message, OfMessage::Model) == Some(NO_MODEL)
}

/// The model of messages that the program makes itself.
const NO_MODEL: &str = "<synthetic>";

/// What the last line of `--output-format stream-json` sums up.
pub(crate) const SUMMED_UP: [&str; 5] = [of_run::OUTPUT, of_run::COST, of_run::DURATION, of_run::TURNS, of_run::ERROR];

/// An entry of the run as the line says that sums it up.
pub(crate) fn summed_up<R: Record<OfLine>>(line: &R, shapes: &impl Shapes<R::Value>, entry: &str) -> Option<R::Value> {
    match entry {
        // Where the run failed, that is why.
        of_run::OUTPUT if is_true(line, shapes, OfLine::Failed) => None,
        of_run::OUTPUT => first(line, shapes, &[OfLine::Result]),
        of_run::COST => first(line, shapes, &[OfLine::Cost]),
        of_run::DURATION => first(line, shapes, &[OfLine::Duration]),
        of_run::TURNS => first(line, shapes, &[OfLine::Turns]),
        of_run::ERROR if is_true(line, shapes, OfLine::Failed) => {
            first(line, shapes, &[OfLine::Result, OfLine::Subtype])
        }
        _ => None,
    }
}

fn system_line<'run>(reader: &mut Reader<'_, 'run, '_>, line: Object<'run>) {
    if text_of(line, OfLine::Subtype) == Some("init")
        && let Some(tools) = list_of(line, OfLine::Tools)
    {
        let tools = reader.draft.list(tools);
        reader.draft.set(of_run::TOOLS, tools);
    }
}

/// The first and the last time of the lines that somebody speaks on.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Times(Option<(f64, f64)>);

impl Times {
    pub(crate) fn add(&mut self, time: f64) {
        self.0 = Some(self.0.map_or((time, time), |(first, last)| {
            (
                if time.total_cmp(&first).is_lt() { time } else { first },
                if time.total_cmp(&last).is_gt() { time } else { last },
            )
        }));
    }

    /// Whether all of them fit into a duration.
    pub(crate) fn fit_into(self, duration: f64) -> bool {
        self.0.is_none_or(|(first, last)| !time::is_too_short(duration, first, last))
    }

    /// From the first to the last one.
    pub(crate) fn duration<'run>(self) -> Option<Value<'run>> {
        self.0.map(|(first, last)| time::value(last - first))
    }
}

/// Id, duration and what else the lines say of the whole session.
fn about_the_run<'run>(lines: impl Iterator<Item = Object<'run>> + Clone, draft: &mut Draft<'run, '_>) {
    let first = |fields: &[OfLine]| lines.clone().find_map(|line| first_of(line, fields));
    let id = first(&[OfLine::Session, OfLine::SessionOfStream]);
    draft.set_some(of_run::ID, id.filter(|id| Parsed.is_text(*id)));
    let mut times = Times::default();
    let spoken = lines.clone().filter(|line| is_spoken(*line));
    spoken.filter_map(|line| time::milliseconds(&line.field(OfLine::Time)?.value)).for_each(|time| times.add(time));
    if !draft.has(of_run::DURATION) {
        draft.set_some(of_run::DURATION, times.duration().map(Node::computed));
    }
    let mut messages = lines.clone().filter_map(|line| object_of(line, OfLine::Message));
    let model = messages.find_map(|message| first_of(message, &[OfMessage::Model]));
    lines.clone().filter_map(|line| object_of(line, OfLine::Message)).for_each(|message| {
        draft.names_model(message.field(OfMessage::Model));
    });
    let known = [
        (of_meta::CWD, first(&[OfLine::Folder])),
        (of_meta::VERSION, first(&[OfLine::Version, OfLine::VersionOfStream])),
        (of_meta::GIT_BRANCH, first(&[OfLine::Branch])),
        (of_meta::MODEL, model),
    ];
    let meta: Vec<Entry<'run>> = known.into_iter().filter_map(|(key, node)| Some(field(key, node?))).collect();
    if !meta.is_empty() {
        let meta = draft.object(&meta);
        draft.set(of_run::META, meta);
    }
}
