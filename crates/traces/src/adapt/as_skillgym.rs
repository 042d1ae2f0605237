//! Transcripts of agents as SkillGym reads them (`--compat skillgym`): the events that its reports hold, in place of what the transcript says.
//! A transcript read so is the same run as the report that SkillGym makes of it.

mod claude;
mod codex;
mod copilot;
mod cursor;
mod opencode;

use super::draft::Draft;
use super::fields::{key_table, value_of};
use super::format::Format;
use super::nodes::{list, object, text};
use super::skillgym::{self, OfEvent, OfReport};
use crate::error::Placed;
use averment_base::value::json::to_json;
use averment_base::value::{Entry, Node, Number, Object, Origin, Value};
use averment_runs::normal::of_usage;
use std::collections::BTreeMap;

key_table! {
    /// What its adapters look for in the records of several agents.
    Of {
        Type = "type",
        Message = "message",
        Content = "content",
        Role = "role",
        Words = "text",
        Usage = "usage",
        Session = "session_id",
        Name = "name",
        Skill = "skill",
        Command = "command",
        Folder = "cwd",
        Time = "timestamp",
        Result = "result",
    }
}

key_table! {
    /// The words of its reports.
    Word {
        Call = "toolCall",
        Result = "toolResult",
        Said = "message",
        Command = "command",
        Read = "fileRead",
        Skill = "skillSignal",
        User = "user",
        Assistant = "assistant",
        Thinking = "thinking",
        Explicit = "explicit",
        Strong = "strong",
    }
}

impl Word {
    fn node<'run>(self) -> Node<'run> {
        Node::computed(Value::plain(self.key()))
    }
}

/// What one of its adapters does with the records of a transcript.
type Adapter = for<'run> fn(&mut Report<'_, 'run, '_>, Node<'run>);

/// The adapter of a format; `None` where it has none.
fn adapter(format: &Format) -> Option<Adapter> {
    let adapters: [(&str, Adapter); 6] = [
        (super::claude_code::FORMAT.name, claude::read),
        (super::codex::FORMAT.name, codex::read),
        (super::codex::exec::FORMAT.name, codex::read),
        (super::opencode::FORMAT.name, opencode::read),
        (super::cursor::FORMAT.name, cursor::read),
        (super::copilot::FORMAT.name, copilot::read),
    ];
    adapters.into_iter().find(|(name, _)| *name == format.name).map(|(_, adapter)| adapter)
}

/// Reads a transcript as it does; `None` where its format is none of its agents'.
pub(super) fn read<'run>(
    format: &Format,
    root: Node<'run>,
    transcript: &'run str,
    draft: &mut Draft<'run, '_>,
) -> Option<Result<(), Placed>> {
    let adapter = adapter(format)?;
    let mut report = Report::new(draft);
    adapter(&mut report, root);
    Some(report.finish(transcript))
}

/// A report that is being made.
struct Report<'a, 'run, 'limits> {
    draft: &'a mut Draft<'run, 'limits>,
    events: Vec<Node<'run>>,
    /// The files that were read, and the skills that a tool loaded.
    reads: Vec<&'run str>,
    loaded: Vec<Node<'run>>,
    session: Option<Node<'run>>,
    /// The folder of the session.
    folder: Option<&'run str>,
    /// What the transcript says is the answer, and what the assistant said last.
    output: Option<Node<'run>>,
    said: Option<Node<'run>>,
    usage: Tokens,
    /// Without an answer the whole transcript is one.
    falls_back: bool,
}

/// What was used, in its terms: what came from a cache counts as input, too.
#[derive(Default)]
struct Tokens {
    input: Option<Number<'static>>,
    output: Option<Number<'static>>,
    reasoning: Option<Number<'static>>,
    cached: Option<Number<'static>>,
}

impl Tokens {
    /// The sum of two counts, either of which may be missing.
    fn sum(a: Option<Number<'static>>, b: Option<Number<'static>>) -> Option<Number<'static>> {
        match (a, b) {
            (Some(a), Some(b)) => a.add(b),
            (a, b) => a.or(b),
        }
    }
}

/// A count of tokens.
fn count(node: Option<Node<'_>>) -> Option<Number<'static>> {
    match node?.value {
        Value::Number(number) => number.as_i64().map(Number::Integer),
        _ => None,
    }
}

fn word_in(object: Object<'_>, of: Of) -> Option<&str> {
    value_of(object, of).and_then(text)
}

/// The text under a key, where it is one and not empty.
fn text_in(object: Object<'_>, of: Of) -> Option<Node<'_>> {
    value_of(object, of).filter(|node| text(*node).is_some_and(|text| !text.is_empty()))
}

fn object_in(object: Object<'_>, of: Of) -> Option<Object<'_>> {
    value_of(object, of).and_then(self::object)
}

fn list_in(object: Object<'_>, of: Of) -> &[Node<'_>] {
    value_of(object, of).and_then(list).unwrap_or_default()
}

impl<'a, 'run, 'limits> Report<'a, 'run, 'limits> {
    fn new(draft: &'a mut Draft<'run, 'limits>) -> Self {
        Self {
            draft,
            events: Vec::new(),
            reads: Vec::new(),
            loaded: Vec::new(),
            session: None,
            folder: None,
            output: None,
            said: None,
            usage: Tokens::default(),
            falls_back: true,
        }
    }

    /// The records of a transcript that are objects; others are ignored.
    fn records(&mut self, root: Node<'run>) -> Vec<(Node<'run>, Object<'run>)> {
        let items = match root.value {
            Value::List(items) => items,
            _ => self.draft.arena.alloc_slice_copy(&[root]),
        };
        items.iter().for_each(|_| self.draft.record());
        super::nodes::objects(items).collect()
    }

    fn plain(&self, text: &str, origin: Origin) -> Node<'run> {
        Node::new(Value::plain(self.draft.arena.alloc_str(text)), origin)
    }

    /// A value as the text that JavaScript writes it as: text as it is, else JSON.
    fn as_text(&self, node: Node<'run>) -> Option<Node<'run>> {
        match node.value {
            Value::Null => None,
            Value::Text(text) => Some(node).filter(|_| !text.as_str().is_empty()),
            value => Some(self.plain(&to_json(&value), node.origin)),
        }
    }

    fn event(&mut self, word: Word, fields: &[(OfEvent, Option<Node<'run>>)], at: Option<Node<'run>>, origin: Origin) {
        let rest = fields.iter().copied().chain([(OfEvent::Time, at)]);
        let all = [(OfEvent::Type, Some(word.node()))].into_iter().chain(rest);
        let entries: Vec<Entry<'run>> =
            all.filter_map(|(field, node)| Some(Entry { key: field.key(), node: node? })).collect();
        self.events.push(Node::new(self.draft.object(&entries).value, origin));
    }

    fn message(&mut self, role: Word, thinks: bool, words: Node<'run>, at: Option<Node<'run>>) {
        let phase = thinks.then(|| Word::Thinking.node());
        let fields = [(OfEvent::Role, Some(role.node())), (OfEvent::Phase, phase), (OfEvent::Words, Some(words))];
        if role == Word::Assistant {
            self.said = Some(words);
        }
        self.event(Word::Said, &fields, at, words.origin);
    }

    fn call(&mut self, tool: Node<'run>, args: Option<Node<'run>>, at: Option<Node<'run>>, origin: Origin) {
        self.event(Word::Call, &[(OfEvent::Tool, Some(tool)), (OfEvent::Args, args)], at, origin);
    }

    fn result(&mut self, tool: Option<Node<'run>>, output: Node<'run>, at: Option<Node<'run>>) {
        self.event(Word::Result, &[(OfEvent::Tool, tool), (OfEvent::Output, Some(output))], at, output.origin);
    }

    fn command(&mut self, command: Node<'run>, at: Option<Node<'run>>) {
        self.event(Word::Command, &[(OfEvent::Command, Some(command))], at, command.origin);
    }

    fn skill(&mut self, skill: Node<'run>, at: Option<Node<'run>>) {
        self.event(Word::Skill, &[(OfEvent::Skill, Some(skill))], at, skill.origin);
        self.loaded.push(skill);
    }

    /// A file was read: its path is taken from a folder, where it does not begin at the root.
    fn read(&mut self, path: &str, folder: Option<&str>, at: Option<Node<'run>>, origin: Origin) {
        if let Some(path) = resolved(path, folder.or(self.folder)) {
            let path = self.draft.arena.alloc_str(&path);
            self.reads.push(path);
            self.event(Word::Read, &[(OfEvent::Path, Some(Node::new(Value::plain(path), origin)))], at, origin);
        }
    }

    /// The files that a command reads with `cat` or `sed -n`.
    fn reads_of(&mut self, command: &str, folder: Option<&str>, at: Option<Node<'run>>, origin: Origin) {
        let mut known = Vec::new();
        for path in shell_reads(command) {
            if !known.contains(&path) {
                self.read(path, folder, at, origin);
                known.push(path);
            }
        }
    }

    /// The skills that it detects: those whose `SKILL.md` was read, and those that a tool loaded.
    fn skills(&self) -> Vec<Node<'run>> {
        let mut found: BTreeMap<usize, (Node<'run>, Word)> = BTreeMap::new();
        let read = self.reads.iter().filter(|path| path.ends_with("SKILL.md")).filter_map(|path| {
            let parts: Vec<&'run str> = path.split('/').filter(|part| !part.is_empty()).collect();
            Some((Node::computed(Value::plain(parts.iter().rev().nth(1)?)), Word::Strong))
        });
        for (skill, sure) in read.chain(self.loaded.iter().map(|skill| (*skill, Word::Explicit))) {
            let place = found.iter().find(|(_, (known, _))| text(*known) == text(skill)).map(|(place, _)| *place);
            found.insert(place.unwrap_or(found.len()), (skill, sure));
        }
        let one = |(skill, sure): &(Node<'run>, Word)| {
            let entry = |field: OfReport, node| Entry { key: field.key(), node };
            self.draft.object(&[entry(OfReport::Skill, *skill), entry(OfReport::Confidence, sure.node())])
        };
        found.values().map(one).collect()
    }

    /// The run that the report says.
    fn finish(self, transcript: &'run str) -> Result<(), Placed> {
        let falls_back = || self.falls_back.then(|| Node::computed(Value::plain(transcript)));
        let output = self.output.or(self.said).or_else(falls_back);
        let counts = [
            (of_usage::INPUT, self.usage.input),
            (of_usage::OUTPUT, self.usage.output),
            (of_usage::REASONING, self.usage.reasoning),
            (of_usage::CACHE_READ, self.usage.cached),
        ];
        let counts: Vec<Entry<'run>> = counts
            .into_iter()
            .filter_map(|(key, count)| Some(Entry { key, node: Node::computed(Value::Number(count?)) }))
            .collect();
        let parts = [
            (OfReport::Session, self.session),
            (OfReport::Output, output.or_else(|| Some(Node::computed(Value::plain(""))))),
            (OfReport::Usage, Some(self.draft.object(&counts))),
            (OfReport::Skills, Some(self.draft.list(&self.skills()))),
            (OfReport::Events, Some(self.draft.list(&self.events))),
        ];
        let entries = parts.into_iter().filter_map(|(field, node)| Some(Entry { key: field.key(), node: node? }));
        let report = self.draft.object(&entries.collect::<Vec<_>>());
        let Value::Object(report) = report.value else { return Ok(()) };
        skillgym::read_report(report, self.draft, |_, _| ())
    }
}

/// A path from the root: without `.`, `..` and doubled slashes. One without a folder to take it from stays as it is.
fn resolved(path: &str, folder: Option<&str>) -> Option<String> {
    let path = path.trim();
    if path.is_empty() {
        return None;
    }
    let whole = match folder {
        _ if path.starts_with('/') => path.to_owned(),
        Some(folder) => format!("{folder}/{path}"),
        None => return Some(path.to_owned()),
    };
    let mut parts = Vec::new();
    for part in whole.split('/').filter(|part| !part.is_empty() && *part != ".") {
        if part == ".." {
            parts.pop();
        } else {
            parts.push(part);
        }
    }
    Some(format!("/{}", parts.join("/")))
}

/// The files that `cat PATH` and `sed -n 'LINES' PATH` read in a command line: of each part the first word behind.
fn shell_reads(command: &str) -> impl Iterator<Item = &str> {
    let parts = command.split("&&").flat_map(|part| part.split("||")).flat_map(|part| part.split(';'));
    parts.filter_map(|part| {
        let part = part.trim();
        let of_cat = part.strip_prefix("cat").filter(|rest| rest.starts_with(char::is_whitespace));
        let rest = of_cat.or_else(|| of_sed(part))?;
        let path = rest.split_whitespace().next()?;
        let path = unquoted(path);
        (!path.is_empty() && !path.starts_with('-')).then_some(path)
    })
}

/// What stands behind the lines that `sed -n` prints.
fn of_sed(part: &str) -> Option<&str> {
    let rest = part.strip_prefix("sed")?.trim_start().strip_prefix("-n")?.trim_start();
    let quote = rest.chars().next().filter(|first| matches!(first, '\'' | '"'))?;
    Some(rest.strip_prefix(quote)?.split_once(quote)?.1)
}

/// A text without one quote at each end.
fn unquoted(text: &str) -> &str {
    let quotes = ['\'', '"'];
    let text = text.strip_prefix(quotes).unwrap_or(text);
    text.strip_suffix(quotes).unwrap_or(text)
}
