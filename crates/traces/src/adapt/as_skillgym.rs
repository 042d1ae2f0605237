//! Transcripts of agents as SkillGym reads them (`--compat skillgym`): the events that its reports hold, in place of what the transcript says.
//! A transcript read so is the same run as the report that SkillGym makes of it.

#[macro_use]
mod agents;
mod cursor;
mod transcript;

use self::agents::AgentView;
use super::fields::key_table;
use super::format::TraceFormat;
use super::nodes::node_text;
use super::run_builder::RunBuilder;
use super::skillgym::{self, ReportEventKey, ReportKey};
use crate::error::PlacedError;
use averment_base::value::json::to_json;
use averment_base::value::{Node, Number, Object, ObjectEntry, TextOrigin, Value};
use averment_runs::normal::of_usage;
use std::collections::BTreeMap;

key_table! {
    ReportWord {
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

impl ReportWord {
    fn word_node<'run>(self) -> Node<'run> {
        Node::computed(Value::plain_text(self.key()))
    }
}

fn find_agent(format: &TraceFormat) -> Option<&'static AgentView> {
    const AGENTS: [(&str, &AgentView); 6] = [
        (super::claude_code::FORMAT.name, &agents::CLAUDE),
        (super::codex::FORMAT.name, &agents::CODEX),
        (super::codex::exec::FORMAT.name, &agents::CODEX),
        (super::opencode::FORMAT.name, &agents::OPEN_CODE),
        (super::cursor::FORMAT.name, &agents::CURSOR),
        (super::copilot::FORMAT.name, &agents::COPILOT),
    ];
    AGENTS.into_iter().find(|(name, _)| *name == format.name).map(|(_, agent)| agent)
}

/// `None` if the format belongs to none of its agents.
pub(super) fn read_transcript<'run>(
    format: &TraceFormat,
    root: Node<'run>,
    transcript: &'run str,
    builder: &mut RunBuilder<'run, '_>,
) -> Option<Result<(), PlacedError>> {
    let agent = find_agent(format)?;
    let mut report = ReportBuilder::new(builder);
    transcript::read_records(&mut report, agent, root);
    Some(report.finish_report(transcript))
}

struct ReportBuilder<'a, 'run, 'limits> {
    builder: &'a mut RunBuilder<'run, 'limits>,
    events: Vec<Node<'run>>,
    reads: Vec<&'run str>,
    loaded: Vec<Node<'run>>,
    session: Option<Node<'run>>,
    folder: Option<&'run str>,
    output: Option<Node<'run>>,
    said: Option<Node<'run>>,
    usage: TokenCounts,
    falls_back: bool,
}

/// Counts of input, output, reasoning and what was cached.
#[derive(Default)]
struct TokenCounts([Option<Number<'static>>; 4]);

impl TokenCounts {
    const KEYS: [&'static str; 4] = [of_usage::INPUT, of_usage::OUTPUT, of_usage::REASONING, of_usage::CACHE_READ];

    fn add_counts(a: Option<Number<'static>>, b: Option<Number<'static>>) -> Option<Number<'static>> {
        match (a, b) {
            (Some(a), Some(b)) => a.add(b),
            (a, b) => a.or(b),
        }
    }
}

impl<'a, 'run, 'limits> ReportBuilder<'a, 'run, 'limits> {
    fn new(builder: &'a mut RunBuilder<'run, 'limits>) -> Self {
        Self {
            builder,
            events: Vec::new(),
            reads: Vec::new(),
            loaded: Vec::new(),
            session: None,
            folder: None,
            output: None,
            said: None,
            usage: TokenCounts::default(),
            falls_back: true,
        }
    }

    fn object_records(&mut self, root: Node<'run>) -> Vec<(Node<'run>, Object<'run>)> {
        let items = match root.value {
            Value::List(items) => items,
            _ => self.builder.arena.alloc_slice_copy(&[root]),
        };
        items.iter().for_each(|_| self.builder.count_record());
        super::nodes::object_items(items).collect()
    }

    fn text_node(&self, text: &str, origin: TextOrigin) -> Node<'run> {
        Node::new(Value::plain_text(self.builder.arena.alloc_str(text)), origin)
    }

    /// As JavaScript prints it: text as is, else JSON.
    fn as_text(&self, node: Node<'run>) -> Option<Node<'run>> {
        match node.value {
            Value::Null => None,
            Value::Text(text) => Some(node).filter(|_| !text.as_str().is_empty()),
            value => Some(self.text_node(&to_json(&value), node.origin)),
        }
    }

    fn add_event(
        &mut self,
        word: ReportWord,
        fields: &[(ReportEventKey, Option<Node<'run>>)],
        at: Option<Node<'run>>,
        origin: TextOrigin,
    ) {
        let rest = fields.iter().copied().chain([(ReportEventKey::Time, at)]);
        let all = [(ReportEventKey::Type, Some(word.word_node()))].into_iter().chain(rest);
        let entries: Vec<ObjectEntry<'run>> =
            all.filter_map(|(field, node)| Some(ObjectEntry { key: field.key(), node: node? })).collect();
        self.events.push(Node::new(self.builder.object_node(&entries).value, origin));
    }

    fn add_message(&mut self, role: ReportWord, thinks: bool, words: Node<'run>, at: Option<Node<'run>>) {
        let phase = thinks.then(|| ReportWord::Thinking.word_node());
        let fields = [
            (ReportEventKey::Role, Some(role.word_node())),
            (ReportEventKey::Phase, phase),
            (ReportEventKey::Words, Some(words)),
        ];
        if role == ReportWord::Assistant {
            self.said = Some(words);
        }
        self.add_event(ReportWord::Said, &fields, at, words.origin);
    }

    fn add_call(&mut self, tool: Node<'run>, args: Option<Node<'run>>, at: Option<Node<'run>>, origin: TextOrigin) {
        self.add_event(
            ReportWord::Call,
            &[(ReportEventKey::Tool, Some(tool)), (ReportEventKey::Args, args)],
            at,
            origin,
        );
    }

    fn add_result(&mut self, tool: Option<Node<'run>>, output: Node<'run>, at: Option<Node<'run>>) {
        self.add_event(
            ReportWord::Result,
            &[(ReportEventKey::Tool, tool), (ReportEventKey::Output, Some(output))],
            at,
            output.origin,
        );
    }

    fn add_command(&mut self, command: Node<'run>, at: Option<Node<'run>>) {
        self.add_event(ReportWord::Command, &[(ReportEventKey::Command, Some(command))], at, command.origin);
    }

    fn add_skill(&mut self, skill: Node<'run>, at: Option<Node<'run>>) {
        self.add_event(ReportWord::Skill, &[(ReportEventKey::Skill, Some(skill))], at, skill.origin);
        self.loaded.push(skill);
    }

    /// A relative path is resolved against a folder.
    fn add_read(&mut self, path: &str, folder: Option<&str>, at: Option<Node<'run>>, origin: TextOrigin) {
        if let Some(path) = resolve_path(path, folder.or(self.folder)) {
            let path = self.builder.arena.alloc_str(&path);
            self.reads.push(path);
            self.add_event(
                ReportWord::Read,
                &[(ReportEventKey::Path, Some(Node::new(Value::plain_text(path), origin)))],
                at,
                origin,
            );
        }
    }

    fn add_shell_reads(&mut self, command: &str, folder: Option<&str>, at: Option<Node<'run>>, origin: TextOrigin) {
        let mut known = Vec::new();
        for path in shell_reads(command) {
            if !known.contains(&path) {
                self.add_read(path, folder, at, origin);
                known.push(path);
            }
        }
    }

    /// Skills whose `SKILL.md` was read, and those that a tool loaded.
    fn detected_skills(&self) -> Vec<Node<'run>> {
        let mut found: BTreeMap<usize, (Node<'run>, ReportWord)> = BTreeMap::new();
        let read = self.reads.iter().filter(|path| path.ends_with("SKILL.md")).filter_map(|path| {
            let parts: Vec<&'run str> = path.split('/').filter(|part| !part.is_empty()).collect();
            Some((Node::computed(Value::plain_text(parts.iter().rev().nth(1)?)), ReportWord::Strong))
        });
        for (skill, sure) in read.chain(self.loaded.iter().map(|skill| (*skill, ReportWord::Explicit))) {
            let place =
                found.iter().find(|(_, (known, _))| node_text(*known) == node_text(skill)).map(|(place, _)| *place);
            found.insert(place.unwrap_or(found.len()), (skill, sure));
        }
        let one = |(skill, sure): &(Node<'run>, ReportWord)| {
            let entry = |field: ReportKey, node| ObjectEntry { key: field.key(), node };
            self.builder.object_node(&[entry(ReportKey::Skill, *skill), entry(ReportKey::Confidence, sure.word_node())])
        };
        found.values().map(one).collect()
    }

    fn finish_report(self, transcript: &'run str) -> Result<(), PlacedError> {
        let falls_back = || self.falls_back.then(|| Node::computed(Value::plain_text(transcript)));
        let output = self.output.or(self.said).or_else(falls_back);
        let counts = TokenCounts::KEYS.into_iter().zip(self.usage.0);
        let counts: Vec<ObjectEntry<'run>> = counts
            .filter_map(|(key, count)| Some(ObjectEntry { key, node: Node::computed(Value::Number(count?)) }))
            .collect();
        let parts = [
            (ReportKey::Session, self.session),
            (ReportKey::Output, output.or_else(|| Some(Node::computed(Value::plain_text(""))))),
            (ReportKey::Usage, Some(self.builder.object_node(&counts))),
            (ReportKey::Skills, Some(self.builder.list_node(&self.detected_skills()))),
            (ReportKey::Events, Some(self.builder.list_node(&self.events))),
        ];
        let entries = parts.into_iter().filter_map(|(field, node)| Some(ObjectEntry { key: field.key(), node: node? }));
        let report = self.builder.object_node(&entries.collect::<Vec<_>>());
        let Value::Object(report) = report.value else { return Ok(()) };
        skillgym::read_report(report, self.builder, |_, _| ())
    }
}

/// Removes `.`, `..` and doubled slashes; a relative path without folder stays.
fn resolve_path(path: &str, folder: Option<&str>) -> Option<String> {
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

/// The first word behind `cat` or `sed -n 'LINES'` in each part of a command line.
fn shell_reads(command: &str) -> impl Iterator<Item = &str> {
    let parts = command.split("&&").flat_map(|part| part.split("||")).flat_map(|part| part.split(';'));
    parts.filter_map(|part| {
        let part = part.trim();
        let of_cat = part.strip_prefix("cat").filter(|rest| rest.starts_with(char::is_whitespace));
        let rest = of_cat.or_else(|| after_sed_lines(part))?;
        let path = rest.split_whitespace().next()?;
        let path = strip_quotes(path);
        (!path.is_empty() && !path.starts_with('-')).then_some(path)
    })
}

fn after_sed_lines(part: &str) -> Option<&str> {
    let rest = part.strip_prefix("sed")?.trim_start().strip_prefix("-n")?.trim_start();
    let quote = rest.chars().next().filter(|first| matches!(first, '\'' | '"'))?;
    Some(rest.strip_prefix(quote)?.split_once(quote)?.1)
}

fn strip_quotes(text: &str) -> &str {
    let quotes = ['\'', '"'];
    let text = text.strip_prefix(quotes).unwrap_or(text);
    text.strip_suffix(quotes).unwrap_or(text)
}
