//! What reports show of evidence: words without what is hidden, values, places, pieces of the trace.

use super::model::{Bytes, EvidenceReport, Excerpt, ViolationReport};
use super::redact::{self, Withheld, redact};
use super::step_line::{self, StepLine, Wanted};
use super::table::Table;
use super::value;
use averment_engine::vm::outcome::Evidence;
use averment_engine::vm::temporal::numbered_step;
use averment_runs::run::{Kind, Run, RunSource};
use std::cell::OnceCell;
use std::collections::BTreeMap;
use std::ops::Range;

/// Values for people are cut to this many characters.
const SHOWN: usize = 120;
/// Reasons and messages are cut to this many characters.
const REASON: usize = 2_000;
/// More evidence of one result than this is left out: it is for people and their tools, not a copy of the run.
const EVIDENCE: usize = 64;

/// Pieces of evidence that are shown at most.
const PLACES: usize = 5;

/// What a report is made of: the text of a run, with what was read of it.
#[derive(Clone, Copy)]
pub struct RunText<'a, 'run> {
    /// The text.
    pub text: &'a str,
    /// Where it stands.
    pub source: &'a RunSource,
    /// The run, where it was read in full.
    pub run: Option<&'a Run<'run>>,
}

/// The run's text with its line starts, which are looked for only when evidence needs them.
pub(super) struct Text<'a, 'run> {
    pub(super) text: &'a str,
    pub(super) source: &'a RunSource,
    /// The run, where it was read.
    pub(super) run: Option<&'a Run<'run>>,
    /// The texts of the recorded environment, and others that are shown nowhere.
    pub(super) withheld: Withheld,
    pub(super) lines: OnceCell<Vec<usize>>,
}

impl Text<'_, '_> {
    /// The line of a byte offset, from 0, and where that line starts.
    pub(super) fn line(&self, offset: usize) -> (usize, usize) {
        let lines = self.lines.get_or_init(|| {
            std::iter::once(0).chain(memchr::memchr_iter(b'\n', self.text.as_bytes()).map(|at| at + 1)).collect()
        });
        let index = lines.partition_point(|&start| start <= offset).saturating_sub(1);
        (index, lines.get(index).copied().unwrap_or(0))
    }

    /// The line and column of a byte offset in the file, from 1.
    pub(super) fn place(&self, offset: usize) -> (usize, usize) {
        if self.source.parts.is_some() {
            return self.source.place(self.text, offset);
        }
        let (line, start) = self.line(offset);
        let column = self.text.get(start..offset).map_or(0, |before| before.chars().count()) + 1;
        (self.source.line.max(1) + line, column)
    }

    pub(super) fn bytes(&self, range: &Range<usize>) -> Bytes {
        let start = self.source.offset_in_file(range.start);
        let length = u64::try_from(range.len()).unwrap_or(u64::MAX);
        Bytes { line: self.place(range.start).0, start, end: start.saturating_add(length) }
    }
}

/// Makes what reports show of an assertion.
pub(super) struct Maker<'a, 'run> {
    pub(super) table: &'a Table,
    pub(super) program: usize,
    pub(super) text: &'a Text<'a, 'run>,
    /// Whether its values are not shown.
    pub(super) masked: bool,
    /// Whether values and places are said for people, also where nothing is drawn.
    pub(super) shows: bool,
    /// What predicates have found, all that is known of it.
    pub(super) found: &'a [&'a Evidence],
}

impl Maker<'_, '_> {
    /// A violation, and what nothing that is said of it shows. `width` is that of what people see of it, `draws` whether pieces of the
    /// trace are among that.
    pub(super) fn violation(
        &self,
        reason: &str,
        proof: &[Evidence],
        width: Option<usize>,
        draws: bool,
    ) -> (ViolationReport, Withheld) {
        let kept = proof.get(..EVIDENCE).unwrap_or(proof);
        let hides: Vec<bool> = kept.iter().map(|one| self.masked || is_secret(one)).collect();
        let hidden = Withheld::of(hidden_texts(kept, &hides)).and(&self.text.withheld);
        let all = kept.iter().zip(&hides);
        let evidence =
            all.map(|(one, hide)| self.evidence(one, self.shows || width.is_some(), *hide, &hidden)).collect();
        let excerpts = self.excerpts(kept, &hides, &hidden, width.filter(|_| draws));
        (ViolationReport { reason: said(reason, &hidden), evidence, excerpts }, hidden)
    }
}

/// What a line of the picture shows.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
enum Shown {
    /// A step, by its index.
    Step(usize),
    /// An entry of the run, by its key.
    Entry(String),
}

impl Shown {
    fn of(evidence: &Evidence) -> Option<Self> {
        if let Some(step) = evidence.step {
            return Some(Self::Step(step as usize));
        }
        let key = evidence.path.split('/').nth(1)?;
        Some(Self::Entry(key.replace("~1", "/").replace("~0", "~")))
    }
}

impl Maker<'_, '_> {
    /// The steps and values that the evidence speaks of, each on a line, in the order of the run.
    fn excerpts(&self, evidence: &[Evidence], hides: &[bool], hide: &Withheld, width: Option<usize>) -> Vec<Excerpt> {
        let (Some(width), Some(run)) = (width, self.text.run) else { return Vec::new() };
        let mut lines: BTreeMap<Shown, Vec<usize>> = BTreeMap::new();
        let places = evidence.iter().enumerate().filter(|(_, one)| one.origin.is_some());
        for (shown, number) in places.filter_map(|(number, one)| Some((Shown::of(one)?, number))).take(PLACES) {
            lines.entry(shown).or_default().push(number);
        }
        let others = self.found.iter().map(|one| Wanted { number: None, path: &one.path, hidden: true });
        let others: Vec<Wanted<'_>> = others.collect();
        let drawn = lines.into_iter().map(|(shown, numbers)| {
            let own = evidence.iter().zip(hides).enumerate().map(|(number, (one, hidden))| Wanted {
                number: Some(number).filter(|number| numbers.contains(number)),
                path: &one.path,
                hidden: *hidden,
            });
            let wanted: Vec<Wanted<'_>> = own.chain(others.iter().copied()).collect();
            let StepLine { text, marks } = match &shown {
                Shown::Step(step) => step_line::of_step(run, *step, &wanted, hide, width),
                Shown::Entry(key) => step_line::of_entry(run, key, &wanted, hide, width),
            };
            let first = numbers.iter().find_map(|number| evidence.get(*number)?.origin.clone());
            let (line, column) = self.text.place(first.map_or(0, |range| range.start));
            Excerpt { line, column, text, marks }
        });
        drawn.filter(|excerpt| !excerpt.text.is_empty()).collect()
    }
}

/// True for a value that no report shows: one that its name makes a secret (`password`), and what comes from the environment.
pub(super) fn is_secret(evidence: &Evidence) -> bool {
    let Some(json) = &evidence.value else { return false };
    let name = evidence.path.rsplit('/').next().unwrap_or("");
    let of_environment = evidence.path == "/env" || evidence.path.starts_with("/env/");
    of_environment || json.starts_with('"') && !redact::secrets(&format!("\"{name}\": {json}")).is_empty()
}

/// Texts that are not shown.
pub(super) fn hidden_texts<'e>(evidence: impl IntoIterator<Item = &'e Evidence>, hides: &[bool]) -> Vec<String> {
    let hidden = evidence.into_iter().zip(hides).filter(|(_, hide)| **hide);
    let texts = hidden.filter_map(|(one, _)| serde_json::from_str::<String>(one.value.as_deref()?).ok());
    texts.collect()
}

/// Words for people: redacted, without what is hidden, and not longer than anyone reads.
pub(super) fn said(words: &str, hidden: &Withheld) -> String {
    value::shortened(&hidden.without(redact(words).into_owned()), REASON)
}

impl<'run> Maker<'_, 'run> {
    /// The tool of the call that evidence speaks of.
    fn tool(&self, evidence: &Evidence) -> Option<&'run str> {
        let step = self.text.run?.steps.get(evidence.step? as usize)?;
        (step.kind == Kind::Call).then_some(step.name)
    }

    fn evidence(&self, evidence: &Evidence, shows: bool, masked: bool, hidden: &Withheld) -> EvidenceReport {
        let text = self.text;
        let json = evidence.value.as_deref().map(|json| text.withheld.without_in_json(json));
        let json = json.as_deref();
        let origin = evidence.origin.clone().filter(|range| text.text.get(range.clone()).is_some());
        EvidenceReport {
            role: evidence.role,
            label: said(&evidence.label, hidden),
            step: evidence.step.map(|step| step.saturating_add(1)),
            tool: self.tool(evidence).map(|tool| said(tool, hidden)),
            place: self.text.run.zip(evidence.step).filter(|_| shows).map(|(run, step)| numbered_step(run, step)),
            path: hidden.without(redact(&evidence.path).into_owned()),
            value: json.and_then(|json| value::for_machines(json, masked)),
            shown: json.filter(|_| shows).map(|json| value::for_people(json, masked, SHOWN)),
            source: origin.map(|range| text.bytes(&range)),
            rule_span: evidence.rule_span.map(|span| self.table.span(self.program, span)),
        }
    }
}
