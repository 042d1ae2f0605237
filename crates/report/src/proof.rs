//! Evidence in reports: words without hidden values, values, locations, and trace excerpts.

use super::model::{EvidenceReport, TraceBytes, TraceExcerpt, ViolationReport};
use super::redact::{self, WithheldTexts, redact};
use super::step_line::{self, StepLine, WantedValue};
use super::table::ReportTable;
use super::value;
use averment_engine::vm::outcome::VerdictEvidence;
use averment_engine::vm::temporal::numbered_step;
use averment_runs::run::{Run, RunSource, StepKind};
use std::cell::OnceCell;
use std::collections::BTreeMap;
use std::ops::Range;

/// Maximum length of a value, in characters.
const SHOWN: usize = 120;
/// Maximum length of a reason, in characters.
const REASON: usize = 2_000;
/// Maximum number of evidence pieces for one result, since a report should not copy the run.
const EVIDENCE: usize = 64;

/// Maximum number of excerpts for one result.
const PLACES: usize = 5;

/// The input of a report: the text of a run, with the values that were read.
#[derive(Clone, Copy)]
pub struct RunText<'a, 'run> {
    /// The text of the run.
    pub text: &'a str,
    /// Its file and position.
    pub source: &'a RunSource,
    /// The run, if it was read in full.
    pub run: Option<&'a Run<'run>>,
}

/// The run's text with its line starts, which are computed only when evidence needs them.
pub(super) struct TraceText<'a, 'run> {
    pub(super) text: &'a str,
    pub(super) source: &'a RunSource,
    pub(super) run: Option<&'a Run<'run>>,
    /// Texts of the recorded environment, and other hidden texts.
    pub(super) withheld: WithheldTexts,
    pub(super) lines: OnceCell<Vec<usize>>,
}

impl TraceText<'_, '_> {
    /// Returns the line of a byte offset, from 0, and the line's start.
    pub(super) fn line_at(&self, offset: usize) -> (usize, usize) {
        let lines = self.lines.get_or_init(|| {
            std::iter::once(0).chain(memchr::memchr_iter(b'\n', self.text.as_bytes()).map(|at| at + 1)).collect()
        });
        let index = lines.partition_point(|&start| start <= offset).saturating_sub(1);
        (index, lines.get(index).copied().unwrap_or(0))
    }

    /// Returns the line and column of a byte offset, from 1.
    pub(super) fn place_at(&self, offset: usize) -> (usize, usize) {
        if self.source.parts.is_some() {
            return self.source.line_column(self.text, offset);
        }
        let (line, start) = self.line_at(offset);
        let column = self.text.get(start..offset).map_or(0, |before| before.chars().count()) + 1;
        (self.source.line.max(1) + line, column)
    }

    pub(super) fn trace_bytes(&self, range: &Range<usize>) -> TraceBytes {
        let start = self.source.offset_in_file(range.start);
        let length = u64::try_from(range.len()).unwrap_or(u64::MAX);
        // Only the line is needed. Computing a column would count all characters before it.
        let line = match self.source.parts {
            Some(_) => self.source.line_column(self.text, range.start).0,
            None => self.source.line.max(1) + self.line_at(range.start).0,
        };
        TraceBytes { line, start, end: start.saturating_add(length) }
    }
}

pub(super) struct ProofMaker<'a, 'run> {
    pub(super) table: &'a ReportTable,
    pub(super) program: usize,
    pub(super) text: &'a TraceText<'a, 'run>,
    pub(super) masked: bool,
    /// True if values and places are described for people even without drawings.
    pub(super) shows: bool,
    pub(super) found: &'a [&'a VerdictEvidence],
}

impl ProofMaker<'_, '_> {
    /// Creates a violation, and returns the texts that it must hide. `width` is for drawings, `draws` adds trace excerpts.
    pub(super) fn make_violation(
        &self,
        reason: &str,
        proof: &[VerdictEvidence],
        width: Option<usize>,
        draws: bool,
    ) -> (ViolationReport, WithheldTexts) {
        let kept = proof.get(..EVIDENCE).unwrap_or(proof);
        let hides: Vec<bool> = kept.iter().map(|one| self.masked || is_secret(one)).collect();
        let hidden = WithheldTexts::of_texts(hidden_texts(kept, &hides)).joined_with(&self.text.withheld);
        let all = kept.iter().zip(&hides);
        let evidence =
            all.map(|(one, hide)| self.evidence_report(one, self.shows || width.is_some(), *hide, &hidden)).collect();
        let excerpts = self.make_excerpts(kept, &hides, &hidden, width.filter(|_| draws));
        (ViolationReport { reason: visible_words(reason, &hidden), evidence, excerpts }, hidden)
    }
}

#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
enum ShownLine {
    Step(usize),
    Entry(String),
}

impl ShownLine {
    fn of_evidence(evidence: &VerdictEvidence) -> Option<Self> {
        if let Some(step) = evidence.step {
            return Some(Self::Step(step as usize));
        }
        let key = evidence.path.split('/').nth(1)?;
        Some(Self::Entry(key.replace("~1", "/").replace("~0", "~")))
    }
}

impl ProofMaker<'_, '_> {
    fn make_excerpts(
        &self,
        evidence: &[VerdictEvidence],
        hides: &[bool],
        hide: &WithheldTexts,
        width: Option<usize>,
    ) -> Vec<TraceExcerpt> {
        let (Some(width), Some(run)) = (width, self.text.run) else { return Vec::new() };
        let mut lines: BTreeMap<ShownLine, Vec<usize>> = BTreeMap::new();
        let places = evidence.iter().enumerate().filter(|(_, one)| one.origin.is_some());
        for (shown, number) in
            places.filter_map(|(number, one)| Some((ShownLine::of_evidence(one)?, number))).take(PLACES)
        {
            lines.entry(shown).or_default().push(number);
        }
        let others = self.found.iter().map(|one| WantedValue { number: None, path: &one.path, hidden: true });
        let others: Vec<WantedValue<'_>> = others.collect();
        let drawn = lines.into_iter().map(|(shown, numbers)| {
            let own = evidence.iter().zip(hides).enumerate().map(|(number, (one, hidden))| WantedValue {
                number: Some(number).filter(|number| numbers.contains(number)),
                path: &one.path,
                hidden: *hidden,
            });
            let wanted: Vec<WantedValue<'_>> = own.chain(others.iter().copied()).collect();
            let StepLine { text, marks } = match &shown {
                ShownLine::Step(step) => step_line::render_step(run, *step, &wanted, hide, width),
                ShownLine::Entry(key) => step_line::render_entry(run, key, &wanted, hide, width),
            };
            let first = numbers.iter().find_map(|number| evidence.get(*number)?.origin.clone());
            let (line, column) = self.text.place_at(first.map_or(0, |range| range.start));
            TraceExcerpt { line, column, text, marks }
        });
        drawn.filter(|excerpt| !excerpt.text.is_empty()).collect()
    }
}

/// True if a value must not be shown: its name marks a secret (`password`), or it is from the environment.
pub(super) fn is_secret(evidence: &VerdictEvidence) -> bool {
    let Some(json) = &evidence.value else { return false };
    let name = evidence.path.rsplit('/').next().unwrap_or("");
    let of_environment = evidence.path == "/env" || evidence.path.starts_with("/env/");
    of_environment || json.starts_with('"') && !redact::find_secrets(&format!("\"{name}\": {json}")).is_empty()
}

pub(super) fn hidden_texts<'e>(evidence: impl IntoIterator<Item = &'e VerdictEvidence>, hides: &[bool]) -> Vec<String> {
    let hidden = evidence.into_iter().zip(hides).filter(|(_, hide)| **hide);
    let texts = hidden.filter_map(|(one, _)| serde_json::from_str::<String>(one.value.as_deref()?).ok());
    texts.collect()
}

pub(super) fn visible_words(words: &str, hidden: &WithheldTexts) -> String {
    let words = redact(words);
    if hidden.is_empty() {
        return value::shorten_text(&words, REASON);
    }
    value::shorten_text(&hidden.remove_from(words.into_owned()), REASON)
}

impl<'run> ProofMaker<'_, 'run> {
    fn evidence_tool(&self, evidence: &VerdictEvidence) -> Option<&'run str> {
        let step = self.text.run?.steps.get(evidence.step? as usize)?;
        (step.kind == StepKind::Call).then_some(step.name)
    }

    fn evidence_report(
        &self,
        evidence: &VerdictEvidence,
        shows: bool,
        masked: bool,
        hidden: &WithheldTexts,
    ) -> EvidenceReport {
        let text = self.text;
        let json = evidence.value.as_deref().map(|json| text.withheld.without_in_json(json));
        let json = json.as_deref();
        let origin = evidence.origin.clone().filter(|range| text.text.get(range.clone()).is_some());
        EvidenceReport {
            role: evidence.role,
            label: visible_words(&evidence.label, hidden),
            step: evidence.step.map(|step| step.saturating_add(1)),
            tool: self.evidence_tool(evidence).map(|tool| visible_words(tool, hidden)),
            place: self.text.run.zip(evidence.step).filter(|_| shows).map(|(run, step)| numbered_step(run, step)),
            path: hidden.remove_from(redact(&evidence.path).into_owned()),
            value: json.and_then(|json| value::for_machines(json, masked)),
            shown: json.filter(|_| shows).map(|json| value::for_people(json, masked, SHOWN)),
            source: origin.map(|range| text.trace_bytes(&range)),
            rule_span: evidence.rule_span.map(|span| self.table.source_span(self.program, span)),
        }
    }
}
