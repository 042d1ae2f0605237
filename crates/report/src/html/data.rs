//! Compact data for the script of the page: the table of assertions, the index of a block, the runs of a block.

use crate::classify::FailureClass;
use crate::gate::Gate;
use crate::model::{EvidenceReport, ResultReport, RunReport, StepReport, TimelineReport, ViolationReport};
use crate::table::{ReportItem, ReportTable};
use averment_base::diagnostic::render::{one_line, printable};
use averment_base::source::Span;
use averment_engine::vm::outcome::Status;
use rustc_hash::FxHashMap;
use serde::Serialize;
use std::borrow::Cow;
use std::ops::Range;

/// Maximum number of shown lines of a rule.
const LINES: usize = 14;
/// Maximum size of a shown rule, in bytes.
const SOURCE: usize = 2_000;

fn result_letter(result: &ResultReport) -> char {
    match result.status {
        _ if result.known => 'k',
        Status::Passed => 'p',
        Status::Failed => 'f',
        Status::ExpectedFailed => 'x',
        Status::UnexpectedPassed => 'y',
        Status::Vacuous => 'v',
        Status::Undecided => 'u',
        Status::Error => 'e',
        Status::Skipped => 's',
    }
}

#[derive(Serialize)]
pub(super) struct TableData<'a> {
    items: Vec<ItemData<'a>>,
}

#[derive(Serialize)]
struct ItemData<'a> {
    name: Cow<'a, str>,
    /// True if the name is the assertion's text.
    code: bool,
    rule: Option<&'a str>,
    sentence: Option<Cow<'a, str>>,
    severity: &'static str,
    tags: &'a [String],
    class: Option<&'a str>,
    expected: Option<Cow<'a, str>>,
    place: String,
    line: usize,
    source: Cow<'a, str>,
    /// The assertion's range in its source, in UTF-16 units.
    mark: (usize, usize),
}

impl<'a> TableData<'a> {
    pub(super) fn new(table: &'a ReportTable) -> Self {
        Self { items: table.items.iter().map(|item| ItemData::new(table, item)).collect() }
    }
}

impl<'a> ItemData<'a> {
    fn new(table: &'a ReportTable, item: &'a ReportItem) -> Self {
        let (source, mark) = source_of(table, item, item.span);
        let rule = table.rule_of(item);
        Self {
            name: one_line(item.display_name()),
            code: item.display_name() == item.text,
            rule: rule.map(|rule| rule.id.as_str()),
            sentence: rule.and_then(|rule| rule.sentence.as_deref()).map(one_line),
            severity: item.severity.as_str(),
            tags: &item.tags,
            class: item.class.as_ref().map(FailureClass::name),
            expected: item.expected.as_deref().map(one_line),
            place: item.location.to_string(),
            line: item.location.line,
            source,
            mark,
        }
    }
}

fn source_of<'a>(table: &'a ReportTable, item: &ReportItem, span: Span) -> (Cow<'a, str>, (usize, usize)) {
    let Some((range, text)) = lines_of(table, item) else { return (Cow::Borrowed(""), (0, 0)) };
    let place = |at: usize| utf16_offset(text, at.saturating_sub(range.start).min(text.len()));
    let Range { start, end } = span.as_range();
    (printable(text), (place(start), place(end)))
}

fn lines_of<'a>(table: &'a ReportTable, item: &ReportItem) -> Option<(Range<usize>, &'a str)> {
    let file = &table.sources.get(item.span.file).filter(|file| !file.is_data)?.text;
    let Range { start, end } = item.span.as_range();
    let from = file.get(..start)?.rfind('\n').map_or(0, |at| at + 1);
    let to = file.get(end..)?.find('\n').map_or(file.len(), |at| end + at);
    let all = file.get(from..to)?;
    let end = all.match_indices('\n').nth(LINES - 1).map_or(all.len(), |(at, _)| at).min(SOURCE);
    let text = all.get(..all.floor_char_boundary(end))?;
    Some((from..from + text.len(), text))
}

/// Converts a byte offset to UTF-16 units, as used in JavaScript.
fn utf16_offset(text: &str, at: usize) -> usize {
    text.get(..text.floor_char_boundary(at)).map_or(0, |before| before.encode_utf16().count())
}

#[derive(Default, Serialize)]
pub(super) struct BlockIndex {
    /// Strings that several runs share, stored once.
    texts: Vec<String>,
    runs: Vec<IndexRun>,
    #[serde(skip)]
    known: FxHashMap<String, usize>,
}

#[derive(Serialize)]
struct IndexRun {
    run: String,
    gate: u8,
    score: Option<f64>,
    verdicts: String,
    tools: Vec<usize>,
    /// Indexes of names, with their scores.
    scores: Vec<(usize, f64)>,
    /// Results with details: assertion, reason, message, number of violations.
    findings: Vec<(usize, usize, Option<usize>, u64)>,
    steps: usize,
    warnings: usize,
}

impl BlockIndex {
    fn text_number(&mut self, text: &str) -> usize {
        if let Some(known) = self.known.get(text) {
            return *known;
        }
        let number = self.texts.len();
        self.texts.push(text.to_owned());
        self.known.insert(text.to_owned(), number);
        number
    }

    pub(super) fn add_run(&mut self, table: &ReportTable, run: &RunReport) {
        let mut verdicts = vec!['-'; table.items.len()];
        for result in &run.results {
            if let Some(place) = verdicts.get_mut(result.item) {
                *place = result_letter(result);
            }
        }
        let timeline = run.timeline.as_deref();
        let of_run = IndexRun {
            run: one_line(&run.run).into_owned(),
            gate: match run.gate {
                Gate::Open => 0,
                Gate::Failed => 1,
                Gate::Error => 2,
            },
            score: run.score.map(round_score),
            verdicts: verdicts.into_iter().collect(),
            tools: timeline.map_or(&[][..], |one| &one.tools).iter().map(|tool| self.text_number(tool)).collect(),
            scores: run
                .named_scores
                .iter()
                .map(|(name, score)| (self.text_number(&one_line(name)), round_score(*score)))
                .collect(),
            findings: run.results.iter().filter(|one| has_words(one)).map(|one| self.finding_entry(one)).collect(),
            steps: timeline.map_or(0, |one| one.count),
            warnings: run.warnings.len(),
        };
        self.runs.push(of_run);
    }

    fn finding_entry(&mut self, result: &ResultReport) -> (usize, usize, Option<usize>, u64) {
        let reason = self.text_number(&printable(&result.reason));
        let message = result.message.as_deref().map(|message| self.text_number(&printable(message)));
        (result.item, reason, message, result.violation_count())
    }
}

/// Rounds a score, because further digits would dominate the page's size.
fn round_score(score: f64) -> f64 {
    (score * 1e4 + 1e-9).floor() / 1e4
}

fn has_words(result: &ResultReport) -> bool {
    !result.reason.is_empty() || result.message.is_some() || !result.evidence.is_empty() || result.unjudged.is_some()
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ShownDetail {
    /// Steps with inputs and outputs.
    Everything,
    Steps,
    Proof,
    /// No steps.
    Nothing,
}

impl ShownDetail {
    pub(super) const ALL: [Self; 4] = [Self::Everything, Self::Steps, Self::Proof, Self::Nothing];
}

pub(super) struct RunData<'a> {
    findings: Vec<FindingData<'a>>,
    proofs: Vec<Vec<usize>>,
    run: &'a RunReport,
}

#[derive(Serialize)]
pub(super) struct ShownRun<'d, 'a> {
    file: Cow<'a, str>,
    findings: &'d [FindingData<'a>],
    #[serde(skip_serializing_if = "Vec::is_empty")]
    warnings: Vec<(usize, Cow<'a, str>)>,
    /// Number of steps omitted to keep the page small.
    #[serde(skip_serializing_if = "is_zero")]
    without: usize,
    /// True if step inputs and outputs are omitted.
    lean: bool,
    steps: Vec<StepData<'a>>,
}

fn is_zero(number: &usize) -> bool {
    *number == 0
}

#[derive(Serialize)]
pub(super) struct FindingData<'a> {
    item: usize,
    /// The failure class that its own message assigns.
    #[serde(skip_serializing_if = "Option::is_none")]
    class: Option<&'a str>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    evidence: Vec<EvidenceData<'a>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    violations: Vec<ViolationData<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    unjudged: Option<String>,
}

#[derive(Serialize)]
struct ViolationData<'a> {
    reason: Cow<'a, str>,
    evidence: Vec<EvidenceData<'a>>,
}

#[derive(Serialize)]
struct EvidenceData<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    step: Option<u32>,
    role: averment_engine::vm::outcome::Role,
    #[serde(skip_serializing_if = "str::is_empty")]
    label: Cow<'a, str>,
    #[serde(skip_serializing_if = "str::is_empty")]
    path: Cow<'a, str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    shown: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    line: Option<usize>,
    /// The range of the failing part in its source.
    #[serde(skip_serializing_if = "Option::is_none")]
    rule: Option<(usize, usize)>,
}

#[derive(Serialize)]
struct StepData<'a> {
    n: u32,
    kind: &'static str,
    text: &'a str,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    marks: Vec<(usize, usize, usize)>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    items: Vec<usize>,
    #[serde(skip_serializing_if = "is_zero")]
    line: usize,
    #[serde(skip_serializing_if = "str::is_empty")]
    turn: &'a str,
    #[serde(skip_serializing_if = "str::is_empty")]
    time: &'a str,
    #[serde(skip_serializing_if = "str::is_empty")]
    status: &'a str,
    #[serde(skip_serializing_if = "str::is_empty")]
    took: &'a str,
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    parts: &'a [(&'static str, String)],
}

impl<'a> RunData<'a> {
    pub(super) fn new(table: &'a ReportTable, run: &'a RunReport) -> Self {
        let findings = run.results.iter().filter(|one| has_words(one));
        let count = run.timeline.as_deref().map_or(0, |timeline| timeline.count);
        let mut proofs = vec![Vec::new(); count];
        for result in &run.results {
            for step in steps_of(result) {
                let place = (step as usize).checked_sub(1).and_then(|at| proofs.get_mut(at));
                if let Some(items) = place.filter(|items| items.last() != Some(&result.item)) {
                    items.push(result.item);
                }
            }
        }
        Self { findings: findings.map(|one| FindingData::new(table, one)).collect(), proofs, run }
    }

    pub(super) fn show_run(&self, shows: ShownDetail) -> ShownRun<'_, 'a> {
        let steps = match self.run.timeline.as_deref() {
            Some(timeline) if shows != ShownDetail::Nothing => self.shown_steps(timeline, shows),
            _ => Vec::new(),
        };
        let count = self.run.timeline.as_deref().map_or(0, |timeline| timeline.count);
        ShownRun {
            file: one_line(&self.run.file),
            findings: &self.findings,
            warnings: self.run.warnings.iter().map(|(line, words)| (*line, printable(words))).collect(),
            without: count - steps.len().min(count),
            lean: shows != ShownDetail::Everything,
            steps,
        }
    }

    fn shown_steps(&self, timeline: &'a TimelineReport, shows: ShownDetail) -> Vec<StepData<'a>> {
        let proves = |step: &StepReport| !self.step_items(step).is_empty();
        let shown = timeline.steps.iter().filter(|step| shows != ShownDetail::Proof || proves(step));
        shown.map(|step| self.step_data(step, shows)).collect()
    }

    fn step_items(&self, step: &StepReport) -> &[usize] {
        (step.number as usize).checked_sub(1).and_then(|at| self.proofs.get(at)).map_or(&[], Vec::as_slice)
    }

    fn step_data(&self, step: &'a StepReport, shows: ShownDetail) -> StepData<'a> {
        let item = |result: usize| self.run.results.get(result).map(|result| result.item);
        let place = |at: usize| utf16_offset(&step.text, at);
        let marks =
            step.marks.iter().filter_map(|(result, mark)| Some((item(*result)?, place(mark.start), place(mark.end))));
        StepData {
            n: step.number,
            kind: step.kind,
            text: &step.text,
            marks: marks.collect(),
            items: self.step_items(step).to_vec(),
            line: step.line,
            turn: &step.turn,
            time: &step.time,
            status: step.status,
            took: &step.duration,
            parts: if shows == ShownDetail::Everything { &step.parts } else { &[] },
        }
    }
}

/// Returns the steps that are evidence for a result, from 1.
fn steps_of(result: &ResultReport) -> impl Iterator<Item = u32> {
    let of_violations = result.violations.listed.iter().flat_map(|one| &one.evidence);
    result.evidence.iter().chain(of_violations).filter_map(|one| one.step).chain(result.matched.iter().copied())
}

impl<'a> FindingData<'a> {
    fn new(table: &'a ReportTable, result: &'a ResultReport) -> Self {
        let item = table.items.get(result.item);
        let evidence = |all: &'a [EvidenceReport]| all.iter().map(|one| EvidenceData::new(table, item, one)).collect();
        let violation = |one: &'a ViolationReport| ViolationData {
            reason: printable(&one.reason),
            evidence: evidence(&one.evidence),
        };
        Self {
            item: result.item,
            class: result.classified.and(item.and_then(|item| item.class_of(result))).map(FailureClass::name),
            evidence: evidence(&result.evidence),
            violations: result.violations.listed.iter().map(violation).collect(),
            unjudged: result.unjudged.as_ref().map(|one| one.in_words()),
        }
    }
}

impl<'a> EvidenceData<'a> {
    fn new(table: &'a ReportTable, item: Option<&ReportItem>, evidence: &'a EvidenceReport) -> Self {
        let rule = evidence.rule_span.zip(item).filter(|(span, item)| {
            let own = |range: &Range<usize>| range.start <= span.as_range().start && span.as_range().end <= range.end;
            span.file == item.span.file && lines_of(table, item).is_some_and(|(range, _)| own(&range))
        });
        Self {
            step: evidence.step,
            role: evidence.role,
            label: printable(&evidence.label),
            path: one_line(&evidence.path),
            shown: evidence.shown.as_deref(),
            line: evidence.source.map(|source| source.line),
            rule: rule.map(|(span, item)| source_of(table, item, span).1),
        }
    }
}
