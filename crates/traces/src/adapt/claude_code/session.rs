//! The lines of a session file.

use super::{About, LineType, OfLine, Reader};
use crate::adapt::draft::{Draft, field};
use crate::adapt::fields::{Parsed, Record, Shapes, first, is_true};
use crate::adapt::messages::OfMessage;
use crate::adapt::{first_of, list_of, object, object_of, text_of, tools};
use crate::time;
use averment_base::value::{Entry, Node, Object, Value};
use averment_runs::normal::{of_meta, of_run, role};
use averment_runs::run::Kind;

/// Reads a session.
pub(super) fn read<'run>(lines: &[Node<'run>], draft: &mut Draft<'run, '_>) {
    use Kind::{Call, Command, Http, Message, Read, Skill, Write};
    draft.records(&[Call, Message, Command, Read, Write, Skill, Http]);
    draft.names_agents();
    let objects = || lines.iter().filter_map(|node| object(*node));
    let with_main = objects().any(|line| is_spoken(line) && agent(&line, &Parsed).is_main());
    let mut reader = Reader::new(draft);
    reader.with_main = with_main;
    for node in lines {
        reader.draft.record();
        match node.value {
            Value::Object(line) => read_line(&mut reader, *node, line),
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

fn is_spoken(line: Object<'_>) -> bool {
    text_of(line, OfLine::Type).and_then(LineType::of) == Some(LineType::Spoken)
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

fn read_line<'run>(reader: &mut Reader<'_, 'run, '_>, node: Node<'run>, line: Object<'run>) {
    let Some(word) = text_of(line, OfLine::Type) else {
        reader.draft.not_understood(node.origin, "a line without `type` is passed over");
        return;
    };
    match LineType::of(word) {
        Some(LineType::Spoken) => spoken_line(reader, node, line),
        Some(LineType::Result) => {
            for entry in SUMMED_UP {
                reader.draft.set_some(entry, summed_up(&line, &Parsed, entry));
            }
        }
        Some(LineType::System) => system_line(reader, line),
        Some(LineType::Silent | LineType::SilentToo) => {}
        None => reader.draft.not_understood(node.origin, format!("a line of unknown type `{word}` is passed over")),
    }
}

fn spoken_line<'run>(reader: &mut Reader<'_, 'run, '_>, node: Node<'run>, line: Object<'run>) {
    let Some(message_node) = line.field(OfLine::Message) else {
        reader.draft.not_understood(node.origin, "a line without `message` is passed over");
        return;
    };
    let Value::Object(message) = message_node.value else {
        reader.draft.not_understood(message_node.origin, "a message that is no object is passed over");
        return;
    };
    let agent = match agent(&line, &Parsed) {
        Agent::Main => None,
        Agent::Named(name) => Some(name),
        Agent::Aside => Some(Node::computed(Value::plain("sidechain"))),
    };
    // A rule that asks what the user said must not hear the program, or the main agent that gave a task to another.
    let speaker = match (is_true(&line, &Parsed, OfLine::Injected), agent) {
        (true, _) => Some(role::SYSTEM),
        (false, Some(_)) if reader.with_main => Some(role::TASK),
        _ => None,
    };
    let time = line.field(OfLine::Time).filter(|time| time::milliseconds(&time.value).is_some());
    let about = About { turn: reader.turn_of(message), time, agent, speaker };
    reader.message(message_node, message, &about, first_of(line, &[OfLine::Details, OfLine::DetailsOfStream]));
}

/// What the last line of `--output-format stream-json` sums up.
pub(crate) const SUMMED_UP: [&str; 4] = [of_run::OUTPUT, of_run::COST, of_run::DURATION, of_run::ERROR];

/// An entry of the run as the line says that sums it up.
pub(crate) fn summed_up<R: Record<OfLine>>(line: &R, shapes: &impl Shapes<R::Value>, entry: &str) -> Option<R::Value> {
    match entry {
        of_run::OUTPUT => first(line, shapes, &[OfLine::Result]),
        of_run::COST => first(line, shapes, &[OfLine::Cost]),
        of_run::DURATION => first(line, shapes, &[OfLine::Duration]),
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
