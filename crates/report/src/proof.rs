//! What reports show of evidence: words without what is hidden, values, places, pieces of the trace.

use super::excerpt::{self, Excerpt, Hidden};
use super::model::{Bytes, EvidenceReport, ViolationReport};
use super::redact::{self, Withheld, redact};
use super::table::Table;
use super::value;
use averment_engine::vm::outcome::Evidence;
use averment_runs::run::RunSource;
use std::cell::OnceCell;
use std::ops::Range;

/// Values for people are cut to this many characters.
const SHOWN: usize = 120;
/// Reasons and messages are cut to this many characters.
const REASON: usize = 2_000;
/// More evidence of one result than this is left out: it is for people and their tools, not a copy of the run.
const EVIDENCE: usize = 64;

/// The run's text with its line starts, which are looked for only when evidence needs them.
pub(super) struct Text<'a> {
    pub(super) text: &'a str,
    pub(super) source: &'a RunSource,
    /// The recorded environment, and each text in it.
    pub(super) environment: Vec<Range<usize>>,
    /// Those texts.
    pub(super) withheld: Withheld,
    pub(super) lines: OnceCell<Vec<usize>>,
}

impl Text<'_> {
    /// The line of a byte offset, from 0, and where that line starts.
    pub(super) fn line(&self, offset: usize) -> (usize, usize) {
        let lines = self.lines.get_or_init(|| {
            std::iter::once(0).chain(memchr::memchr_iter(b'\n', self.text.as_bytes()).map(|at| at + 1)).collect()
        });
        let index = lines.partition_point(|&start| start <= offset).saturating_sub(1);
        (index, lines.get(index).copied().unwrap_or(0))
    }

    pub(super) fn bytes(&self, range: &Range<usize>) -> Bytes {
        let at = |offset: usize| self.source.offset + u64::try_from(offset).unwrap_or(u64::MAX);
        Bytes { line: self.source.line.max(1) + self.line(range.start).0, start: at(range.start), end: at(range.end) }
    }
}

/// Makes what reports show of an assertion.
pub(super) struct Maker<'a> {
    pub(super) table: &'a Table,
    pub(super) program: usize,
    pub(super) text: &'a Text<'a>,
    /// Whether its values are not shown.
    pub(super) masked: bool,
}

impl Maker<'_> {
    /// A violation, and what nothing that is said of it shows. `width` is that of what people see of it, `draws` whether pieces of the
    /// trace are among that.
    pub(super) fn violation(
        &self,
        (reason, proof): (&str, &[Evidence]),
        width: Option<usize>,
        draws: bool,
    ) -> (ViolationReport, Withheld) {
        let kept = proof.get(..EVIDENCE).unwrap_or(proof);
        let hides: Vec<bool> = kept.iter().map(|one| self.masked || is_secret(one)).collect();
        let hidden = Withheld::of(hidden_texts(kept, &hides)).and(&self.text.withheld);
        let all = kept.iter().zip(&hides);
        let evidence = all.map(|(one, hide)| self.evidence(one, width.is_some(), *hide, &hidden)).collect();
        let excerpts = excerpts(kept, &hides, self.text, width.filter(|_| draws));
        (ViolationReport { reason: said(reason, &hidden), evidence, excerpts }, hidden)
    }
}

/// The pieces of the trace around the evidence.
fn excerpts(evidence: &[Evidence], hides: &[bool], text: &Text<'_>, width: Option<usize>) -> Vec<Excerpt> {
    let Some(width) = width else { return Vec::new() };
    let places = evidence.iter().enumerate().filter_map(|(number, one)| Some((number, one.origin.clone()?)));
    let line = |offset| {
        let (line, start) = text.line(offset);
        excerpt::Line { number: text.source.line.max(1) + line, start }
    };
    let hidden = evidence.iter().zip(hides).filter(|(_, hide)| **hide).filter_map(|(one, _)| one.origin.clone());
    let hide: Vec<Range<usize>> = hidden.chain(text.environment.iter().cloned()).collect();
    let hidden = Hidden { places: &hide, texts: text.withheld.in_json() };
    excerpt::windows(text.text, places, line, width, hidden)
}

/// True for a value that no report shows: one that its name makes a secret (`password`), and what comes from the environment.
fn is_secret(evidence: &Evidence) -> bool {
    let Some(json) = &evidence.value else { return false };
    let name = evidence.path.rsplit('/').next().unwrap_or("");
    let of_environment = evidence.path == "/env" || evidence.path.starts_with("/env/");
    of_environment || json.starts_with('"') && !redact::secrets(&format!("\"{name}\": {json}")).is_empty()
}

/// Texts that are not shown.
fn hidden_texts(evidence: &[Evidence], hides: &[bool]) -> Vec<String> {
    let hidden = evidence.iter().zip(hides).filter(|(_, hide)| **hide);
    let texts = hidden.filter_map(|(one, _)| serde_json::from_str::<String>(one.value.as_deref()?).ok());
    texts.collect()
}

/// Words for people: redacted, without what is hidden, and not longer than anyone reads.
pub(super) fn said(words: &str, hidden: &Withheld) -> String {
    value::shortened(&hidden.without(redact(words).into_owned()), REASON)
}

impl Maker<'_> {
    fn evidence(&self, evidence: &Evidence, shows: bool, masked: bool, hidden: &Withheld) -> EvidenceReport {
        let text = self.text;
        let json = evidence.value.as_deref().map(|json| text.withheld.without_in_json(json));
        let json = json.as_deref();
        let origin = evidence.origin.clone().filter(|range| text.text.get(range.clone()).is_some());
        EvidenceReport {
            role: evidence.role,
            label: said(&evidence.label, hidden),
            step: evidence.step.map(|step| step.saturating_add(1)),
            path: hidden.without(redact(&evidence.path).into_owned()),
            value: json.and_then(|json| value::for_machines(json, masked)),
            shown: json.filter(|_| shows).map(|json| value::for_people(json, masked, SHOWN)),
            source: origin.map(|range| text.bytes(&range)),
            rule_span: evidence.rule_span.map(|span| self.table.span(self.program, span)),
        }
    }
}
