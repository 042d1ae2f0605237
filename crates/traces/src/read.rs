//! Reading runs, in two steps that may happen on different threads: [`TraceRuns`] cuts a file into the texts of its runs, [`parse_run`] makes a
//! [`Run`] of one text.

mod bytes;
mod cassette;
#[cfg(feature = "columns")]
mod columns;
#[cfg(feature = "packed")]
mod compressed;
mod event_frames;
pub(crate) mod events;
mod file_form;
mod file_part;
mod gathered_text;
mod httprr;
mod json_walk;
mod line_buffer;
mod line_cutter;
mod line_numbers;
mod mcp_log;
mod piece_places;
mod plain_line;
mod read_buffer;
mod run_gatherer;
mod run_pieces;
mod scattered_lines;
mod split;
mod stream;
mod text_cutter;

use super::adapt;
use super::build::{self, NormalRun, build_run};
use super::error::{PlacedError, ReadError};
use super::expected::ExpectedRows;
use super::names::PartNames;
use super::prices::{self, ModelSpending, PriceTable};
use super::projection::LineReader;
use averment_base::limits::{Limits, RunMemory};
use averment_base::memory::{allow_failure, take_refusal};
use averment_base::value::json::{self, JsonDocument};
use averment_base::value::{Node, Object, ObjectEntry, TextOrigin, Value};
use averment_runs::normal::{of_run, of_step};
use averment_runs::run::{ReadWarning, RecordCounts, Run, RunSource, Step, StepKind, StepStatus};
use bumpalo::Bump;
pub use file_part::{FilePart, LinesOrigin, WholeLines};
use std::ops::Range;
use std::sync::{Arc, OnceLock};
pub use stream::{CHUNK_SIZE, TraceRuns};

/// The text of one run, not read yet. Cheap to clone and to send: runs of one chunk of a file share its text.
#[derive(Debug, Clone)]
pub struct RawRun {
    text: RunText,
    form: TextForm,
    warnings: Vec<ReadWarning>,
    /// Where it was read.
    pub source: RunSource,
}

#[derive(Debug, Clone)]
enum RunText {
    Range(Arc<String>, Range<usize>),
    /// Parts of a shared text, joined on demand.
    Joined(Arc<JoinedText>),
}

#[derive(Debug)]
struct JoinedText {
    shared: Arc<String>,
    pieces: Vec<run_pieces::RunPiece>,
    text: OnceLock<Option<String>>,
}

impl RunText {
    fn whole_text(text: String) -> Self {
        let range = 0..text.len();
        Self::Range(Arc::new(text), range)
    }

    fn joined_text(shared: Arc<String>, pieces: Vec<run_pieces::RunPiece>) -> Self {
        Self::Joined(Arc::new(JoinedText { shared, pieces, text: OnceLock::new() }))
    }

    /// `None` if memory is exhausted.
    fn as_text(&self) -> Option<&str> {
        match self {
            Self::Range(shared, range) => shared.get(range.clone()),
            Self::Joined(joined) => {
                let join = || run_pieces::join_pieces(&joined.shared, &joined.pieces);
                joined.text.get_or_init(join).as_deref()
            }
        }
    }

    fn text_length(&self) -> usize {
        match self {
            Self::Range(_, range) => range.len(),
            Self::Joined(joined) => joined.pieces.iter().map(run_pieces::RunPiece::len).sum(),
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum TextForm {
    Value,
    /// The same on one line, as a file of many runs has it.
    Line,
    /// A JSON value per line: a session.
    Lines,
    /// The same, as a server sends it (`data: …`).
    Events,
    /// A session with multi-line values.
    Values,
    /// HTTP exchanges in YAML.
    Cassette,
    /// HTTP exchanges as they were sent.
    Exchanges,
    /// Lines of text that hold messages of MCP.
    McpLog,
}

impl RawRun {
    /// A run from its text alone.
    #[must_use]
    pub fn new(text: String, source: RunSource) -> Self {
        Self { text: RunText::whole_text(text), form: TextForm::Value, warnings: Vec::new(), source }
    }

    /// A run from a copy of its text.
    ///
    /// # Errors
    /// No memory.
    pub fn copy_of(text: &str, source: RunSource) -> Result<Self, ReadError> {
        let mut copy = String::new();
        match allow_failure(|| copy.try_reserve_exact(text.len())) {
            Ok(()) => {
                copy.push_str(text);
                Ok(Self::new(copy, source))
            }
            Err(_) => Err(bytes::no_memory(&source, &format!("a run of {} bytes", text.len()))),
        }
    }

    /// A run that is a part of a text.
    #[must_use]
    pub fn part_of(text: String, range: Range<usize>, source: RunSource) -> Self {
        let text = RunText::Range(Arc::new(text), range);
        Self { text, form: TextForm::Value, warnings: Vec::new(), source }
    }

    /// True for a session with one event per line and no warnings so far.
    #[must_use]
    pub fn is_plain_session(&self) -> bool {
        self.form == TextForm::Lines && self.warnings.is_empty()
    }

    /// Takes a run that stands on one line for a line of a file of many runs, which is read in full only where that is needed.
    #[must_use]
    pub fn as_line(mut self) -> Self {
        let is_line = self.source.by_line && self.form == TextForm::Value;
        if is_line && memchr::memchr(b'\n', self.run_text().as_bytes()).is_none() {
            self.form = TextForm::Line;
        }
        self
    }

    /// True for a line among many, without warnings so far.
    #[must_use]
    pub fn is_plain_line(&self) -> bool {
        self.form == TextForm::Line && self.warnings.is_empty()
    }

    /// True for a possible trace that can be read in part, without warnings so far.
    #[must_use]
    pub fn may_be_trace(&self) -> bool {
        matches!(self.form, TextForm::Value | TextForm::Line)
            && self.warnings.is_empty()
            && LineReader::is_trace(self.run_text())
    }

    /// The text that every place in the run counts in.
    #[must_use]
    pub fn run_text(&self) -> &str {
        self.text.as_text().unwrap_or_default()
    }

    /// Its length in bytes.
    #[must_use]
    pub fn text_length(&self) -> usize {
        self.text.text_length()
    }
}

/// Makes a run of its text: its format is found by its content.
///
/// # Errors
/// What is not JSON, no run of a known format, or beyond a limit.
pub fn parse_run<'run>(raw: &'run RawRun, arena: &'run Bump, limits: &Limits) -> Result<Run<'run>, ReadError> {
    parse_under(raw, arena, limits, ReadOptions::default())
}

/// What a user specifies beside the runs.
#[derive(Debug, Clone, Copy, Default)]
pub struct ReadOptions<'a> {
    /// The names that a home-grown format gives to the parts of a run.
    pub names: Option<&'a PartNames>,
    /// Token prices.
    pub prices: Option<&'a PriceTable>,
    /// Expected results of single runs.
    pub expected: Option<&'a ExpectedRows>,
    /// Transcripts of agents are read as SkillGym reads them, with what its adapters do not see.
    pub as_skillgym: bool,
}

/// The same, with what a user tells of runs.
///
/// # Errors
/// As [`parse_run`].
pub fn parse_under<'run>(
    raw: &'run RawRun,
    arena: &'run Bump,
    limits: &Limits,
    told: ReadOptions<'_>,
) -> Result<Run<'run>, ReadError> {
    // What was refused before is another run's.
    let _ = take_refusal();
    let run = parse_text(raw, arena, limits, told)?;
    // A text inside of it that could not be read for want of memory was taken for one that is no JSON.
    if take_refusal() { Err(lacks_memory(raw)) } else { Ok(run) }
}

fn lacks_memory(raw: &RawRun) -> ReadError {
    bytes::no_memory(&raw.source, &format!("a run of {} bytes", raw.text_length()))
}

fn parse_text<'run>(
    raw: &'run RawRun,
    arena: &'run Bump,
    limits: &Limits,
    told: ReadOptions<'_>,
) -> Result<Run<'run>, ReadError> {
    let ReadOptions { names, prices, expected, as_skillgym } = told;
    if raw.text_length() > limits.run_bytes {
        return Err(bytes::too_long(&raw.source, limits));
    }
    let memory = RunMemory::start(arena, limits, raw.text_length());
    let text = raw.text.as_text().ok_or_else(|| lacks_memory(raw))?;
    let mut warnings = raw.warnings.clone();
    let mut records = RecordCounts::default();
    let placed = |error: PlacedError| ReadError::at_offset(&raw.source, text, error.offset, error.problem);
    let root = match raw.form {
        TextForm::Exchanges => httprr::read_recording(text, arena),
        TextForm::Cassette => cassette::read_cassette(text, arena, limits).map_err(placed)?,
        TextForm::Value | TextForm::Line => read_value(text, &raw.source, arena, limits, &mut warnings)?,
        TextForm::Lines => read_records(split::nonblank_lines(text), text, memory, limits, &mut records, &mut warnings)
            .map_err(placed)?,
        TextForm::Events => {
            read_records(events::event_values(text, arena), text, memory, limits, &mut records, &mut warnings)
                .map_err(placed)?
        }
        TextForm::McpLog => {
            read_records(mcp_log::logged_messages(text), text, memory, limits, &mut records, &mut warnings)
                .map_err(placed)?
        }
        TextForm::Values => {
            read_records(split::json_values(text), text, memory, limits, &mut records, &mut warnings).map_err(placed)?
        }
    };
    let from = adapt::RawDocument { root, text, source: raw.source.clone(), records, warnings };
    let (mut normal, spending) = adapt::normalize_run(from, memory, limits, names, as_skillgym).map_err(placed)?;
    if let Some(prices) = prices {
        set_cost(&mut normal, prices, &spending, arena);
    }
    let other = names.filter(|_| normal.format != adapt::MAPPED);
    let mut run = build_run(normal, memory).map_err(|error| {
        match other.and_then(|names| adapt::explain_misfit(&root, names)) {
            Some(unfit) => ReadError { help: format!("the names of `--map` do not fit this run: {unfit}"), ..error },
            None => error,
        }
    })?;
    if let Some(expected) = expected {
        expected.join_run(&mut run, arena, limits);
    }
    if raw.form == TextForm::Lines {
        hint_at_cut(&mut run);
    }
    // What could not be read or was not understood may have been anything.
    let lost = run.records.lost.max(run.warnings.iter().filter(|warning| warning.lost).count() as u64);
    Ok(Run { complete: run.complete && lost == 0, records: RecordCounts { lost, ..run.records }, ..run })
}

/// A session that ends with a call which waits for its result may have been cut off behind a whole line.
fn hint_at_cut(run: &mut Run<'_>) {
    // Where no call of the session has one, results count as not recorded.
    let has_result = |step: &&Step<'_>| {
        step.object.get(of_step::RESULT).is_some_and(|result| !matches!(result.value, Value::Absent))
    };
    let last = run.steps.iter().rfind(|step| matches!(step.kind, StepKind::Call | StepKind::Message));
    let is_open =
        |step: &&Step<'_>| step.kind == StepKind::Call && step.status == StepStatus::Unknown && !has_result(step);
    // Streams of answers hold no results, and nobody asks in them.
    let is_asked = matches!(run.root_value(of_run::PROMPT).value, Value::Text(_));
    let line = memchr::memrchr(b'\n', run.text.trim_ascii_end().as_bytes()).map_or(0, |end| end + 1);
    let place = |step: &Step<'_>| step.node.origin.byte_range().map_or(0, |range| range.start);
    if let Some(offset) = last.filter(is_open).map(place).filter(|place| is_asked && *place >= line) {
        let message = "the session ends with a call that has no result: it may be cut off".to_owned();
        run.warnings.push(ReadWarning { message, offset, lost: false });
    }
}

fn set_cost<'run>(
    normal: &mut NormalRun<'run>,
    prices: &PriceTable,
    spending: &ModelSpending<'run>,
    arena: &'run Bump,
) {
    let Value::Object(run) = normal.object.value else { return };
    let (priced, cost) = prices::of_run(prices, run, spending, arena);
    normal.priced = priced;
    if let Some(node) = cost {
        let others = run.entries().iter().copied().filter(|entry| entry.key != of_run::COST);
        let entries: Vec<ObjectEntry<'run>> = others.chain([ObjectEntry { key: of_run::COST, node }]).collect();
        normal.object.value = Value::Object(Object::new(arena, arena.alloc_slice_copy(&entries)));
    }
}

/// The endings of files that hold traces.
#[cfg(not(feature = "columns"))]
pub const ENDINGS: [&str; 5] = [".json", ".jsonl", ".ndjson", ".traj", ".eval"];
/// The endings of files that hold traces.
#[cfg(feature = "columns")]
pub const ENDINGS: [&str; 9] =
    [".json", ".jsonl", ".ndjson", ".traj", ".eval", ".parquet", ".arrow", ".arrows", ".feather"];
/// Compression suffixes behind such an ending.
#[cfg(feature = "packed")]
const PACKED: [&str; 2] = [".gz", ".zst"];

/// True if a file is named like a trace; its content decides.
#[must_use]
pub fn is_named_like_a_trace(name: &str) -> bool {
    #[cfg(feature = "packed")]
    let name = PACKED.iter().find_map(|packed| name.strip_suffix(packed)).unwrap_or(name);
    ENDINGS.iter().any(|ending| name.ends_with(ending))
}

/// Reads one run in normal form. Other formats are not looked for.
///
/// # Errors
/// What is not JSON, or not a run.
pub fn read_str<'run>(text: &'run str, arena: &'run Bump, limits: &Limits) -> Result<Run<'run>, ReadError> {
    let source = RunSource { file: "<text>".to_owned(), line: 1, column: 1, ..RunSource::default() };
    let memory = RunMemory::start(arena, limits, text.len());
    let mut warnings = Vec::new();
    let object = read_value(text, &source, arena, limits, &mut warnings)?;
    build_run(adapt::native::normal_run(object, text, source, warnings), memory)
}

fn read_value<'run>(
    text: &'run str,
    source: &RunSource,
    arena: &'run Bump,
    limits: &Limits,
    warnings: &mut Vec<ReadWarning>,
) -> Result<Node<'run>, ReadError> {
    let document =
        json::parse_recorded(text, 0, arena, limits).map_err(|error| ReadError::of_json(source, text, error))?;
    warnings.extend(duplicate_warnings(&document));
    Ok(document.node)
}

/// Unreadable lines are skipped with a warning.
fn read_records<'run>(
    lines: impl Iterator<Item = (usize, &'run str)>,
    text: &'run str,
    memory: RunMemory<'run>,
    limits: &Limits,
    records: &mut RecordCounts,
    warnings: &mut Vec<ReadWarning>,
) -> Result<Node<'run>, PlacedError> {
    let mut nodes = bumpalo::collections::Vec::new_in(memory.arena);
    for (offset, line) in lines {
        let read = json::parse_recorded(line, offset, memory.arena, limits);
        let origin = TextOrigin::new(offset, offset + line.len());
        if !memory.holds(0) {
            return Err(build::too_large(origin, &memory));
        }
        match read {
            Err(error) if error.lacks_memory => return Err(PlacedError::new(origin, error.message, error.help)),
            Ok(document) => {
                warnings.extend(duplicate_warnings(&document));
                nodes.push(document.node);
            }
            Err(error) => {
                records.seen += 1;
                records.not_understood += 1;
                let message = format!("a line is not JSON and is skipped: {} (column {})", error.message, error.column);
                // Words that a program has printed are no record.
                let lost = line.trim_ascii_start().starts_with(['{', '[']);
                warnings.push(ReadWarning { message, offset: offset + error.offset, lost });
            }
        }
    }
    Ok(Node::new(Value::List(nodes.into_bump_slice()), TextOrigin::new(0, text.len())))
}

/// Warnings about valid JSON.
fn duplicate_warnings<'a>(document: &'a JsonDocument<'_>) -> impl Iterator<Item = ReadWarning> + 'a {
    let start = |origin: TextOrigin| origin.byte_range().map_or(0, |range| range.start);
    let duplicates = document.duplicates.iter().map(move |duplicate| ReadWarning {
        message: format!("the key `{}` stands more than once in its object; the last one counts", duplicate.key),
        offset: start(duplicate.object),
        lost: false,
    });
    let constants = document.constants.iter().map(move |constant| ReadWarning {
        message: "a number that is none (`NaN`, `Infinity`) is no JSON; it is read as `null`".to_owned(),
        offset: start(*constant),
        lost: false,
    });
    duplicates.chain(constants)
}
