//! A derivation in the form that all formats use: words and marks, independent of the run's memory, without hidden values.

use super::hidden::HiddenValues;
use super::timeline::{self, StepChoice, StepMarks, TimelineLine};
use crate::redact::REDACTED;
use crate::table::{ReportItem, ReportTable};
use crate::value::shorten_text;
use averment_base::diagnostic::render::one_line;
use averment_base::source::Span;
use averment_base::truth::{Truth, Verdict};
use averment_checker::ir::GroupKind;
use averment_engine::vm::derivation::{
    Derivation, DerivationPart, HitTrace, MissTrace, PartKind, PartResult, PatternTrace, ShownValue,
};
use averment_engine::vm::outcome::VerdictEvidence;
use averment_runs::run::Run;
use serde::Serialize;

/// One run and the explained assertions.
#[derive(Debug, Serialize)]
pub struct DerivationView {
    /// The run.
    pub run: RunView,
    /// The assertions, in file order.
    pub assertions: Vec<AssertionView>,
}

/// A short description of the run.
#[derive(Debug, Serialize)]
pub struct RunView {
    /// Its name: the file, and the location in it.
    pub name: String,
    /// Its id.
    pub id: Option<String>,
    /// The number of steps.
    pub steps: usize,
    /// False if the run is unfinished.
    pub complete: bool,
}

/// One assertion.
#[derive(Debug, Serialize)]
pub struct AssertionView {
    /// Its id.
    pub id: String,
    /// True if its author gave it the id; otherwise the text is its display name.
    #[serde(skip)]
    pub named: bool,
    /// Its rule's sentence.
    pub sentence: Option<String>,
    /// Its text.
    pub text: String,
    /// Its location: `FILE:LINE:COLUMN`.
    pub location: String,
    /// Its span in the table's sources.
    #[serde(skip)]
    pub span: Span,
    /// Its verdict.
    pub verdict: Verdict,
    /// Its status, as used in reports.
    pub status: &'static str,
    /// Its severity.
    pub severity: &'static str,
    /// Its score; `None` if it does not count.
    pub score: Option<f64>,
    /// The reason; empty for a pass.
    pub reason: String,
    /// The author's message.
    pub message: Option<String>,
    /// The evidence.
    pub evidence: Vec<EvidenceView>,
    /// Its parts.
    pub parts: Vec<DerivationNode>,
    /// The run with the steps that its patterns match; empty for an assertion that looks at no steps.
    pub timeline: Vec<TimelineLine>,
    /// True if some data is left out.
    pub cut: bool,
}

/// A piece of evidence.
#[derive(Debug, Clone, Serialize)]
pub struct EvidenceView {
    /// The step, from 1.
    pub step: Option<u64>,
    /// JSON pointer into the normal form; empty if it is no single value.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub path: String,
    /// A remark.
    pub label: String,
    /// The action of the step.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub what: Option<String>,
}

/// The result of a part, as a mark.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum PartMark {
    /// True, or pass.
    Yes,
    /// False, or fail.
    No,
    /// Undecided.
    Unknown,
    /// Vacuous: true only because a value is missing, or nothing matched.
    Vacuous,
    /// An error.
    Error,
    /// No truth value: another value, or a heading.
    None,
}

/// A part of a derivation.
#[derive(Debug, Clone, Serialize)]
pub struct DerivationNode {
    /// The result.
    pub mark: PartMark,
    /// The letter, if the part is a pattern.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub letter: Option<String>,
    /// The text of the rule, or a description of the part.
    pub text: String,
    /// Its value, unless it is a truth value.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub value: Option<String>,
    /// An additional note.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub note: String,
    /// Its parts.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub parts: Vec<DerivationNode>,
}

impl DerivationNode {
    fn new(mark: PartMark, text: impl Into<String>) -> Self {
        Self { mark, letter: None, text: text.into(), value: None, note: String::new(), parts: Vec::new() }
    }
}

/// Creates the view of the derivations on one run, in the order of the table.
#[must_use]
pub fn derivation_view(
    table: &ReportTable,
    run: &Run<'_>,
    derivations: &[(usize, Vec<Derivation>)],
    choice: StepChoice,
) -> DerivationView {
    let mut assertions = Vec::new();
    let hidden = HiddenValues::new(run, derivations.iter().flat_map(|(_, of_program)| of_program));
    for (program, derivations) in derivations {
        let item = |derivation: &Derivation| {
            table.item_index(*program, derivation.outcome.assertion).and_then(|item| table.items.get(item))
        };
        for derivation in derivations {
            if let Some(item) = item(derivation) {
                let teller = AssertionFormatter { table, program: *program, run, hidden: &hidden, masked: item.masked };
                assertions.push(teller.assertion_view(item, derivation, choice));
            }
        }
    }
    let run = RunView {
        name: one_line(&crate::redact::redact_source(&run.source)).into_owned(),
        id: run.id.map(|id| shorten_text(&HiddenValues::new(run, std::iter::empty()).hide_words(id), TEXT)),
        steps: run.steps.len(),
        complete: run.complete,
    };
    DerivationView { run, assertions }
}

/// Returns the parts of an expression with its value. `part` must be derived on this run, with the program's own table.
#[must_use]
pub fn value_view(
    table: &ReportTable,
    run: &Run<'_>,
    shown: &ShownValue,
    part: &DerivationPart,
) -> (String, Vec<DerivationNode>) {
    let hidden = HiddenValues::of_part(run, part, shown);
    let teller = AssertionFormatter { table, program: 0, run, hidden: &hidden, masked: false };
    let nodes = vec![teller.part_node(part, &mut StepMarks::default())];
    (hidden.hide_value(shown, false), nodes)
}

/// Returns words about the value of an expression, without hidden values.
#[must_use]
pub fn value_words(run: &Run<'_>, part: &DerivationPart, shown: &ShownValue, words: &str) -> String {
    HiddenValues::of_part(run, part, shown).hide_words(words)
}

/// Maximum number of listed evidence for one assertion.
const EVIDENCE: usize = 64;
/// Parts nested deeper than this are omitted.
const DEEPEST: usize = 40;
/// Maximum length of an excerpt of a rule, in characters.
const TEXT: usize = 200;

struct AssertionFormatter<'a, 'run> {
    table: &'a ReportTable,
    program: usize,
    run: &'a Run<'run>,
    hidden: &'a HiddenValues,
    masked: bool,
}

impl AssertionFormatter<'_, '_> {
    fn assertion_view(&self, item: &ReportItem, derivation: &Derivation, choice: StepChoice) -> AssertionView {
        let outcome = &derivation.outcome;
        let mut marks = StepMarks::new(&derivation.parts);
        let parts = derivation.parts.iter().map(|part| self.part_node(part, &mut marks)).collect();
        let look = timeline::TimelineContext { run: self.run, hidden: self.hidden, masked: self.masked };
        AssertionView {
            id: item.id.clone(),
            named: item.display_name() == item.id,
            sentence: self
                .table
                .rule_of(item)
                .and_then(|rule| rule.sentence.clone())
                .map(|text| one_line(&text).into_owned()),
            text: shorten_text(&one_line(&item.text), 4 * TEXT),
            location: item.location.to_string(),
            span: item.span,
            verdict: outcome.verdict,
            status: outcome.status.as_str(),
            severity: item.severity.as_str(),
            score: outcome.score,
            reason: self.hidden.hide_words(&outcome.reason),
            message: outcome.message.as_deref().map(|message| self.hidden.hide_words(message)),
            evidence: outcome.evidence.iter().take(EVIDENCE).map(|one| self.evidence_view(&look, one)).collect(),
            parts,
            timeline: timeline::timeline_lines(&look, &marks, choice),
            cut: derivation.cut || marks.cut,
        }
    }

    fn evidence_view(&self, look: &timeline::TimelineContext<'_, '_>, evidence: &VerdictEvidence) -> EvidenceView {
        let secret = ShownValue {
            text: evidence.value.clone().unwrap_or_default(),
            path: self.hidden.hide_words(&evidence.path),
            truth: None,
        };
        let label = match self.hidden.is_secret(&secret) || self.masked && evidence.value.is_some() {
            true => REDACTED.to_owned(),
            false => self.hidden.hide_words(&evidence.label),
        };
        EvidenceView {
            step: evidence.step.map(|step| u64::from(step) + 1),
            path: self.hidden.hide_words(&evidence.path),
            label,
            what: evidence.step.and_then(|step| look.step_summary(step as usize)),
        }
    }

    fn rule_text(&self, span: Option<Span>) -> String {
        let text = span.map_or("", |span| self.table.sources.span_text(self.table.source_span(self.program, span)));
        // Only the beginning of a long text is folded, since the rest is cut anyway.
        let end = text.char_indices().nth(8 * TEXT).map_or(text.len(), |(at, _)| at);
        let folded = text.get(..end).unwrap_or("").split_whitespace().collect::<Vec<_>>().join(" ");
        shorten_text(&one_line(&folded), TEXT)
    }

    fn part_node(&self, part: &DerivationPart, marks: &mut StepMarks) -> DerivationNode {
        let mut node = DerivationNode::new(mark_of(&part.found), self.part_title(part));
        node.note = self.part_note(part);
        if let PartResult::Value(shown) = &part.found
            && shown.truth.is_none()
            && part.kind != PartKind::Literal
        {
            node.value = Some(self.hidden.hide_value(shown, self.masked));
        }
        if part.kind == PartKind::Element {
            let element = node.value.take().unwrap_or_default();
            node = DerivationNode { mark: PartMark::None, text: format!("for {element}"), ..node };
        }
        if let Some(temporal) = &part.temporal {
            if let Some(label) = marks.add_statement(temporal) {
                node.text = format!("{label} {}", node.text);
            }
            for pattern in &temporal.patterns {
                let letter = marks.add_pattern(&self.rule_text(Some(pattern.span)), pattern);
                node.parts.push(self.pattern_node(pattern, letter));
            }
        }
        marks.depth += 1;
        if marks.depth < DEEPEST {
            node.parts.extend(part.parts.iter().map(|part| self.part_node(part, marks)));
        } else if !part.parts.is_empty() {
            node.parts.push(DerivationNode::new(PartMark::None, "… and deeper parts"));
        }
        marks.depth -= 1;
        if let (PartKind::Not, [only]) = (part.kind, node.parts.as_mut_slice()) {
            // A negation and its operand start at the same place, so the operand's text is the rest.
            node.text.clone_from(&only.text);
            only.text = only.text.trim_start_matches("not ").to_owned();
        }
        if let (PartKind::Definition, [only]) = (part.kind, node.parts.as_slice())
            && only.value == node.value
            && only.parts.is_empty()
            && node.note.is_empty()
        {
            node.note = format!("from {}", only.text);
            node.parts.clear();
        }
        if let (PartKind::Expression, [only]) = (part.kind, node.parts.as_slice())
            && only.text == node.text
        {
            // The part is the whole expression, so its value is shown only once.
            let only = only.clone();
            let mark = if node.mark == PartMark::None { only.mark } else { node.mark };
            node = DerivationNode { mark, ..only };
        }
        if part.more > 0 {
            node.parts.push(DerivationNode::new(PartMark::None, format!("… {} more of the kind", part.more)));
        }
        node
    }

    fn part_title(&self, part: &DerivationPart) -> String {
        let written = self.rule_text(part.span);
        match part.kind {
            PartKind::When if written.is_empty() => "when".to_owned(),
            PartKind::Not => "not".to_owned(),
            PartKind::Group(GroupKind::Any) => "any of".to_owned(),
            PartKind::Group(GroupKind::All) => "all of".to_owned(),
            PartKind::Group(GroupKind::None) => "none of".to_owned(),
            PartKind::Group(GroupKind::AtLeast(count)) => format!("at least {count} of"),
            PartKind::Block => "in each window of the block".to_owned(),
            PartKind::Window => match part.step {
                Some(step) => self.step_name(step),
                None => format!("window: {}", part.note),
            },
            PartKind::World if written.is_empty() => "what is around the run".to_owned(),
            PartKind::Unseen if written.is_empty() => "the other branch".to_owned(),
            _ => written,
        }
    }

    fn part_note(&self, part: &DerivationPart) -> String {
        match part.kind {
            PartKind::Window => self.binding_text(&part.bindings),
            PartKind::Unseen => "not looked at: the answer was known".to_owned(),
            _ => {
                let by_missing =
                    matches!(&part.found, PartResult::Value(shown) if shown.truth.is_some_and(Truth::by_missing));
                let tested = matches!(part.kind, PartKind::Test | PartKind::Logic | PartKind::Quantifier);
                match (self.hidden.hide_words(&part.note), by_missing && tested && part.kind == PartKind::Test) {
                    (note, true) if note.is_empty() => "because something is missing".to_owned(),
                    (note, _) => note,
                }
            }
        }
    }

    fn binding_text(&self, bindings: &[(String, ShownValue)]) -> String {
        let words =
            bindings.iter().map(|(name, shown)| format!("${name} = {}", self.hidden.hide_value(shown, self.masked)));
        words.collect::<Vec<_>>().join(", ")
    }

    fn pattern_node(&self, pattern: &PatternTrace, letter: String) -> DerivationNode {
        let mut node = DerivationNode::new(PartMark::None, self.rule_text(Some(pattern.span)));
        node.letter = Some(letter);
        let sure = pattern.hits.iter().filter(|hit| hit.sure).count();
        node.note = match (pattern.hits.len() + pattern.more_hits, sure + pattern.more_hits) {
            (0, _) => "matches no step".to_owned(),
            (all, sure) if all == sure => format!("matches {}", step_count(all)),
            (all, 0) => format!("may match {}", step_count(all)),
            (all, sure) => format!("matches {}, and perhaps {} more", step_count(sure), all - sure),
        };
        let (shown, more) = take_first(&pattern.hits, HITS);
        node.parts.extend(shown.iter().map(|hit| self.hit_node(hit)));
        let more = more.unwrap_or(0) + pattern.more_hits;
        if more > 0 {
            node.parts.push(DerivationNode::new(PartMark::None, format!("… and {more} more")));
        }
        let (shown, more) = take_first(&pattern.misses, MISSES);
        node.parts.extend(shown.iter().map(|miss| self.miss_node(miss)));
        let more = more.unwrap_or(0) + pattern.more_misses;
        if more > 0 {
            let text = format!("… and {more} more that do not match");
            node.parts.push(DerivationNode::new(PartMark::None, text));
        }
        node
    }

    fn hit_node(&self, hit: &HitTrace) -> DerivationNode {
        let mark = if hit.sure { PartMark::Yes } else { PartMark::Unknown };
        let mut node = DerivationNode::new(mark, self.step_name(hit.step));
        node.note = self.binding_text(&hit.bindings);
        node.parts.extend(hit.condition.iter().map(|part| self.part_node(part, &mut StepMarks::default())));
        node
    }

    fn miss_node(&self, miss: &MissTrace) -> DerivationNode {
        let mut node = DerivationNode::new(PartMark::No, self.step_name(miss.step));
        node.note = self.hidden.hide_words(&miss.why);
        node.parts.extend(miss.condition.iter().map(|part| self.part_node(part, &mut StepMarks::default())));
        node
    }

    fn step_name(&self, step: u32) -> String {
        let name = self.run.steps.get(step as usize).map_or("", |step| step.name);
        let name = shorten_text(&self.hidden.hide_words(&shorten_text(name, 8 * NAME)), NAME);
        format!("step {} ({name})", u64::from(step) + 1)
    }
}

/// Maximum length of a name, in characters.
const NAME: usize = 40;
/// Maximum number of matching steps listed below a pattern.
const HITS: usize = 20;
/// Maximum number of non-matching steps listed below a pattern.
const MISSES: usize = 5;

fn step_count(count: usize) -> String {
    if count == 1 { "1 step".to_owned() } else { format!("{count} steps") }
}

fn take_first<T>(list: &[T], most: usize) -> (&[T], Option<usize>) {
    let more = list.len().saturating_sub(most);
    (list.get(..most).unwrap_or(list), (more > 0).then_some(more))
}

fn mark_of(found: &PartResult) -> PartMark {
    match found {
        PartResult::Nothing => PartMark::None,
        PartResult::Verdict(Verdict::Pass) => PartMark::Yes,
        PartResult::Verdict(Verdict::Fail) => PartMark::No,
        PartResult::Verdict(Verdict::Undecided) => PartMark::Unknown,
        PartResult::Verdict(Verdict::Vacuous) => PartMark::Vacuous,
        PartResult::Verdict(Verdict::Error) => PartMark::Error,
        PartResult::Verdict(Verdict::Skipped) => PartMark::None,
        PartResult::Value(shown) => match shown.truth {
            Some(Truth::True) => PartMark::Yes,
            Some(Truth::TrueByMissing) => PartMark::Vacuous,
            Some(Truth::False | Truth::FalseByMissing) => PartMark::No,
            Some(Truth::Undecided) => PartMark::Unknown,
            None => PartMark::None,
        },
    }
}
