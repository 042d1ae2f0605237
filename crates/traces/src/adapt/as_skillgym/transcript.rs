//! Reads a transcript by the table of its agent.

use super::agents::{self, AgentView, ArgsForm, RecordEvent, RecordRow, SpeakerView};
use super::{ReportBuilder, ReportWord, TokenCounts, cursor, strip_quotes};
use crate::adapt::nodes::{node_list, node_object, node_text, object_items};
use averment_base::value::{Node, Number, Object, Value};
use rustc_hash::FxHashMap;

/// The value at a path.
pub(super) fn value_at<'run>(object: Object<'run>, path: &str) -> Option<Node<'run>> {
    let is_there = |node: &Node<'run>| !matches!(node.value, Value::Null);
    path.split('|').filter(|path| !path.is_empty()).find_map(|path| {
        let (around, key) = path.rsplit_once('.').map_or((None, path), |(around, key)| (Some(around), key));
        let holder = around.map_or(Some(object), |around| value_at(object, around).and_then(node_object))?;
        holder.get(key).filter(is_there)
    })
}

/// The text at a path.
pub(super) fn word_at<'run>(object: Object<'run>, path: &str) -> Option<&'run str> {
    value_at(object, path).and_then(node_text)
}

/// The text at a path; `None` if it is empty.
pub(super) fn text_at<'run>(object: Object<'run>, path: &str) -> Option<Node<'run>> {
    value_at(object, path).filter(|node| node_text(*node).is_some_and(|text| !text.is_empty()))
}

fn token_count(usage: Object<'_>, path: &str) -> Option<Number<'static>> {
    match value_at(usage, path)?.value {
        Value::Number(number) => number.as_i64().map(Number::Integer),
        _ => None,
    }
}

fn has_type(object: Object<'_>, word: &str) -> bool {
    word.is_empty() || word_at(object, agents::TYPE) == Some(word)
}

/// The objects at a path: those of a list, else the object itself.
fn objects_at<'run>(node: Node<'run>, record: Object<'run>, path: &str) -> Vec<(Node<'run>, Object<'run>)> {
    let found = if path.is_empty() { Some(node) } else { value_at(record, path) };
    match found.map(|node| (node, node.value)) {
        Some((_, Value::List(items))) => object_items(items).collect(),
        Some((node, Value::Object(object))) => vec![(node, object)],
        _ => Vec::new(),
    }
}

/// What calls said that later records look at.
#[derive(Default)]
pub(super) struct KnownCalls<'run> {
    tools: FxHashMap<&'run str, Node<'run>>,
    folders: FxHashMap<&'run str, &'run str>,
    pub(super) keyed: cursor::KeyedCalls<'run>,
}

/// An object of a record, and when the record was.
#[derive(Clone, Copy)]
struct RecordPart<'run> {
    record: Object<'run>,
    node: Node<'run>,
    object: Object<'run>,
    time: Option<Node<'run>>,
}

pub(super) fn read_records<'run>(report: &mut ReportBuilder<'_, 'run, '_>, view: &AgentView, root: Node<'run>) {
    let exported = node_object(root).filter(|_| !view.records.is_empty());
    report.falls_back = exported.is_none();
    report.session = exported.and_then(|export| text_at(export, view.session));
    let records = exported.map_or(Some(root), |export| value_at(export, view.records));
    let mut known = KnownCalls::default();
    for (node, record) in records.map(|records| report.object_records(records)).unwrap_or_default() {
        let session = text_at(record, view.session).filter(|_| exported.is_none());
        report.session = keep_one(report.session, session, view.keeps_first);
        report.falls_back &= value_at(record, view.unprinted).is_none();
        let time = value_at(record, view.time).filter(|time| node_text(*time) != Some(""));
        let rows: Vec<&RecordRow> = view.rows.iter().filter(|row| has_type(record, row.record)).collect();
        for rows in rows.chunk_by(|one, next| one.within == next.within) {
            let within = rows.first().map_or("", |row| row.within);
            for (node, object) in objects_at(node, record, within) {
                let part = RecordPart { record, node, object, time };
                for row in rows.iter().filter(|row| has_type(object, row.kind)) {
                    read_part(report, view, row.what, part, &mut known);
                }
            }
        }
    }
}

fn keep_one<T>(known: Option<T>, found: Option<T>, first: bool) -> Option<T> {
    if first { known.or(found) } else { found.or(known) }
}

fn read_part<'run>(
    report: &mut ReportBuilder<'_, 'run, '_>,
    view: &AgentView,
    what: RecordEvent,
    part: RecordPart<'run>,
    known: &mut KnownCalls<'run>,
) {
    let RecordPart { record, node, object, time } = part;
    match what {
        RecordEvent::Said(speaker, paths) => add_speech(report, speaker, paths, part),
        RecordEvent::Call => add_call(report, view, part, known),
        RecordEvent::Result => add_result(report, view, part, known),
        RecordEvent::KeyedCall => known.keyed.read_call(report, node, record, time),
        RecordEvent::Usage(path) => {
            let usage = value_at(object, path).and_then(node_object);
            usage.into_iter().for_each(|usage| count_usage(report, view, usage));
        }
        RecordEvent::Output(path) => report.output = value_at(object, path).or(report.output),
        RecordEvent::Folder(path) => report.folder = keep_one(report.folder, word_at(object, path), view.keeps_first),
    }
}

fn count_usage(report: &mut ReportBuilder<'_, '_, '_>, view: &AgentView, usage: Object<'_>) {
    let view = &view.usage;
    let [input, output, reasoning, cached] =
        [view.input, view.output, view.reasoning, view.cached].map(|path| token_count(usage, path));
    let input = if view.adds_cached { TokenCounts::add_counts(input, cached) } else { input };
    for (sum, count) in report.usage.0.iter_mut().zip([input, output, reasoning, cached]) {
        *sum = if view.adds_up { TokenCounts::add_counts(*sum, count) } else { count.or(*sum) };
    }
}

fn add_speech<'run>(
    report: &mut ReportBuilder<'_, 'run, '_>,
    speaker: SpeakerView,
    paths: &[&str],
    part: RecordPart<'run>,
) {
    let (role, thinks) = match speaker {
        SpeakerView::User => (ReportWord::User, false),
        SpeakerView::Assistant => (ReportWord::Assistant, false),
        SpeakerView::Thinking => (ReportWord::Assistant, true),
        SpeakerView::Phased(path) => (ReportWord::Assistant, word_at(part.record, path) == Some(agents::THINKING)),
        SpeakerView::Named(path) => match word_at(part.record, path).and_then(ReportWord::from_key) {
            Some(role @ (ReportWord::User | ReportWord::Assistant)) => (role, false),
            _ => return,
        },
    };
    let words = paths.iter().find_map(|path| match path.strip_suffix("[]") {
        Some(list) => joined_texts(report, value_at(part.object, list).and_then(node_list)?),
        None => text_at(part.object, path),
    });
    words.into_iter().for_each(|words| report.add_message(role, thinks, words, part.time));
}

fn joined_texts<'run>(report: &ReportBuilder<'_, 'run, '_>, parts: &'run [Node<'run>]) -> Option<Node<'run>> {
    let texts: Vec<Node<'run>> = object_items(parts).filter_map(|(_, part)| text_at(part, agents::TEXT)).collect();
    let words: Vec<&str> = texts.iter().filter_map(|text| node_text(*text)).collect();
    texts.first().map(|first| report.text_node(&words.join("\n"), first.origin))
}

fn add_call<'run>(
    report: &mut ReportBuilder<'_, 'run, '_>,
    view: &AgentView,
    part: RecordPart<'run>,
    known: &mut KnownCalls<'run>,
) {
    let RecordPart { node, object, .. } = part;
    let calls = &view.calls;
    let Some(tool) = text_at(object, calls.tool) else { return };
    let name = node_text(tool).unwrap_or_default();
    let time = part.time.or_else(|| value_at(object, calls.time));
    let written = value_at(object, calls.args);
    let args = match calls.args_form {
        ArgsForm::AsIs => written,
        ArgsForm::OrEmpty => written.or_else(|| Some(report.builder.object_node(&[]))),
        ArgsForm::Written => {
            written.and_then(|args| args.parse_embedded(report.builder.arena, report.builder.limits)).or(written)
        }
    };
    let inside = args.and_then(node_object);
    let folder = inside.and_then(|args| word_at(args, calls.folder));
    if let Some(id) = word_at(object, calls.id) {
        known.tools.insert(id, tool);
        known.folders.extend(folder.map(|folder| (id, folder)));
    }
    let is_of = |tools: &[&str]| tools.is_empty() || tools.contains(&name);
    let skill = calls.skill.filter(|(tools, _)| is_of(tools));
    let skill = skill.and_then(|(_, keys)| keys.iter().find_map(|key| text_at(inside?, key)));
    let (before, behind) = if calls.skill_behind { (None, skill) } else { (skill, None) };
    before.into_iter().for_each(|skill| report.add_skill(skill, time));
    report.add_call(tool, args, time, node.origin);
    behind.into_iter().for_each(|skill| report.add_skill(skill, time));
    if let Some(output) = value_at(object, calls.output).and_then(|output| report.as_text(output)) {
        report.add_result(Some(tool), output, value_at(object, calls.output_time).or(time));
    }
    if let Some((_, key)) = calls.command.filter(|(tools, _)| is_of(tools)) {
        let command = inside.and_then(|args| text_at(args, key)).or_else(|| text_at(object, view.results.command));
        command.into_iter().for_each(|command| report.add_command(command, time));
    }
    let read = calls.read.filter(|(tools, _)| is_of(tools));
    if let Some(path) = read.and_then(|(_, key)| word_at(inside?, key)) {
        report.add_read(path, folder, time, node.origin);
    }
}

fn add_result<'run>(
    report: &mut ReportBuilder<'_, 'run, '_>,
    view: &AgentView,
    part: RecordPart<'run>,
    known: &KnownCalls<'run>,
) {
    let RecordPart { object, time, .. } = part;
    let results = &view.results;
    let call = word_at(object, results.call);
    let tool = call.and_then(|id| known.tools.get(id)).copied();
    let found = results.output.iter().find_map(|path| {
        let is_inside = path.contains('.');
        value_at(object, path).filter(|node| !is_inside || node_text(*node).is_some())
    });
    let output = found.and_then(|output| match node_list(output).filter(|_| results.joins_parts) {
        Some(parts) => joined_parts(report, parts, output),
        None => report.as_text(output),
    });
    if let Some(output) = output {
        let echo = node_text(output).filter(|words| !results.echo.is_empty() && words.contains(results.echo));
        let tool = match results.echo {
            "" => tool,
            _ => echo.map(|_| Node::computed(Value::plain_text(agents::SHELL))),
        };
        report.add_result(tool, output, time);
        if let Some(command) = echo.and_then(|words| words.lines().find_map(|line| echoed_command(line, results.echo)))
        {
            let command = report.text_node(command, output.origin);
            report.add_command(command, time);
            let folder = call.and_then(|id| known.folders.get(id)).copied();
            report.add_shell_reads(node_text(command).unwrap_or_default(), folder, time, output.origin);
        }
    }
    text_at(object, results.command).into_iter().for_each(|command| report.add_command(command, time));
}

/// The texts of the parts of a result, and what else they are as JSON.
fn joined_parts<'run>(
    report: &ReportBuilder<'_, 'run, '_>,
    parts: &[Node<'run>],
    output: Node<'run>,
) -> Option<Node<'run>> {
    let one = |part: &Node<'run>| {
        let words = node_object(*part)
            .and_then(|part| value_at(part, agents::TEXT))
            .filter(|words| node_text(*words).is_some());
        words.or_else(|| report.as_text(*part)).and_then(node_text).unwrap_or_default()
    };
    let joined = parts.iter().map(one).collect::<Vec<_>>().join("\n");
    (!joined.is_empty()).then(|| report.text_node(&joined, output.origin))
}

/// What stands before a command that the text of a result repeats.
const RUN: &str = "-lc";

fn echoed_command<'t>(line: &'t str, echo: &str) -> Option<&'t str> {
    let rest = line.strip_prefix(echo)?;
    let at = rest.match_indices(RUN).find(|(at, _)| {
        let before = rest.get(..*at).unwrap_or_default();
        before.len() > 1
            && before.ends_with(char::is_whitespace)
            && rest.get(at + RUN.len()..).is_some_and(|behind| behind.starts_with(char::is_whitespace))
    });
    let behind = rest.get(at?.0 + RUN.len()..)?.trim_start();
    (!behind.is_empty()).then(|| strip_quotes(behind))
}
