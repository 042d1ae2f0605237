//! A derivation as every format sees it: words and marks, free of the run's memory, with everything hidden that is to be hidden.

use super::hidden::HiddenValues;
use super::timeline::{self, Choice, Marks, TimelineLine};
use crate::redact::REDACTED;
use crate::table::{Item, Table};
use crate::value::shortened;
use averment_base::diagnostic::render::one_line;
use averment_base::source::Span;
use averment_base::truth::{Truth, Verdict};
use averment_engine::ir::GroupKind;
use averment_engine::vm::derivation::{
    Derivation, DerivationPart, HitTrace, Miss, PartKind, PartResult, PatternTrace, Shown,
};
use averment_engine::vm::outcome::Evidence;
use averment_runs::run::Run;
use serde::Serialize;

/// What is explained: one run and some assertions.
#[derive(Debug, Serialize)]
pub struct DerivationView {
    /// The run.
    pub run: RunView,
    /// The assertions, in file order.
    pub assertions: Vec<AssertionView>,
}

/// The run in a few words.
#[derive(Debug, Serialize)]
pub struct RunView {
    /// Its name: the file, with the place in it.
    pub name: String,
    /// Its id.
    pub id: Option<String>,
    /// How many steps it has.
    pub steps: usize,
    /// False when more may come.
    pub complete: bool,
}

/// One assertion.
#[derive(Debug, Serialize)]
pub struct AssertionView {
    /// Its id.
    pub id: String,
    /// True when somebody gave it that id; otherwise its text is what people know it by.
    #[serde(skip)]
    pub named: bool,
    /// Its rule's sentence.
    pub sentence: Option<String>,
    /// Its text.
    pub text: String,
    /// Where it stands: `FILE:LINE:COLUMN`.
    pub location: String,
    /// The same as a span of the table's sources.
    #[serde(skip)]
    pub span: Span,
    /// Its verdict.
    pub verdict: Verdict,
    /// The verdict as reports see it.
    pub status: &'static str,
    /// Its severity.
    pub severity: &'static str,
    /// Its score; `None` for what does not count.
    pub score: Option<f64>,
    /// Why; empty for a pass.
    pub reason: String,
    /// The author's message.
    pub message: Option<String>,
    /// What proves it.
    pub evidence: Vec<EvidenceView>,
    /// Its parts.
    pub parts: Vec<Node>,
    /// The run with the steps that its patterns match; empty for an assertion that looks at no steps.
    pub timeline: Vec<TimelineLine>,
    /// True when not everything is shown.
    pub cut: bool,
}

/// A piece of evidence.
#[derive(Debug, Clone, Serialize)]
pub struct EvidenceView {
    /// The step, from 1.
    pub step: Option<u64>,
    /// JSON pointer into the normal form; empty when it is no single value.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub path: String,
    /// A remark.
    pub label: String,
    /// What the step did.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub what: Option<String>,
}

/// What came of a part, as a mark.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Mark {
    /// True, or pass.
    Yes,
    /// False, or fail.
    No,
    /// Undecided.
    Unknown,
    /// Vacuous: true only because something is missing, or nothing was there.
    Vacuous,
    /// An error.
    Error,
    /// Neither: a value, a heading.
    None,
}

/// A part.
#[derive(Debug, Clone, Serialize)]
pub struct Node {
    /// What came of it.
    pub mark: Mark,
    /// The letter of a pattern.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub letter: Option<String>,
    /// The text of the rule, or what the part is.
    pub text: String,
    /// Its value, where it has one that is no truth.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub value: Option<String>,
    /// More, in words.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub note: String,
    /// Its parts.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub parts: Vec<Node>,
}

impl Node {
    fn new(mark: Mark, text: impl Into<String>) -> Self {
        Self { mark, letter: None, text: text.into(), value: None, note: String::new(), parts: Vec::new() }
    }
}

/// The derivations of one program on one run, in the order of the table.
#[must_use]
pub fn view(table: &Table, run: &Run<'_>, derivations: &[(usize, Vec<Derivation>)], choice: Choice) -> DerivationView {
    let mut assertions = Vec::new();
    let hidden = HiddenValues::new(run, derivations.iter().flat_map(|(_, of_program)| of_program));
    for (program, derivations) in derivations {
        let item = |derivation: &Derivation| {
            table.item(*program, derivation.outcome.assertion).and_then(|item| table.items.get(item))
        };
        for derivation in derivations {
            if let Some(item) = item(derivation) {
                let teller = Teller { table, program: *program, run, hidden: &hidden, masked: item.masked };
                assertions.push(teller.assertion(item, derivation, choice));
            }
        }
    }
    let run = RunView {
        name: one_line(&crate::redact::of_name(&run.source)).into_owned(),
        id: run.id.map(|id| shortened(&HiddenValues::new(run, std::iter::empty()).words(id), TEXT)),
        steps: run.steps.len(),
        complete: run.complete,
    };
    DerivationView { run, assertions }
}

/// The value of an expression, and its parts, where `part` was derived on the run with the program's own table.
#[must_use]
pub fn value(table: &Table, run: &Run<'_>, shown: &Shown, part: &DerivationPart) -> (String, Vec<Node>) {
    let hidden = HiddenValues::of_part(run, part, shown);
    let teller = Teller { table, program: 0, run, hidden: &hidden, masked: false };
    let nodes = vec![teller.part(part, &mut Marks::default())];
    (hidden.value(shown, false), nodes)
}

/// Words about the value of an expression, without what is hidden of it and of the run.
#[must_use]
pub fn words(run: &Run<'_>, part: &DerivationPart, shown: &Shown, words: &str) -> String {
    HiddenValues::of_part(run, part, shown).words(words)
}

/// Evidence of one assertion that is listed.
const EVIDENCE: usize = 64;
/// Parts deeper than this are left out: nobody follows them.
const DEEPEST: usize = 40;
/// Characters of a piece of a rule.
const TEXT: usize = 200;

/// Puts one assertion into words.
struct Teller<'a, 'run> {
    table: &'a Table,
    program: usize,
    run: &'a Run<'run>,
    hidden: &'a HiddenValues,
    masked: bool,
}

impl Teller<'_, '_> {
    fn assertion(&self, item: &Item, derivation: &Derivation, choice: Choice) -> AssertionView {
        let outcome = &derivation.outcome;
        let mut marks = Marks::new(&derivation.parts);
        let parts = derivation.parts.iter().map(|part| self.part(part, &mut marks)).collect();
        let look = timeline::Look { run: self.run, hidden: self.hidden, masked: self.masked };
        AssertionView {
            id: item.id.clone(),
            named: item.name() == item.id,
            sentence: self
                .table
                .rule_of(item)
                .and_then(|rule| rule.sentence.clone())
                .map(|text| one_line(&text).into_owned()),
            text: shortened(&one_line(&item.text), 4 * TEXT),
            location: item.location.to_string(),
            span: item.span,
            verdict: outcome.verdict,
            status: outcome.status.as_str(),
            severity: item.severity.as_str(),
            score: outcome.score,
            reason: self.hidden.words(&outcome.reason),
            message: outcome.message.as_deref().map(|message| self.hidden.words(message)),
            evidence: outcome.evidence.iter().take(EVIDENCE).map(|one| self.evidence(&look, one)).collect(),
            parts,
            timeline: timeline::lines(&look, &marks, choice),
            cut: derivation.cut || marks.cut,
        }
    }

    fn evidence(&self, look: &timeline::Look<'_, '_>, evidence: &Evidence) -> EvidenceView {
        let secret = Shown {
            text: evidence.value.clone().unwrap_or_default(),
            path: self.hidden.words(&evidence.path),
            truth: None,
        };
        let label = match self.hidden.is_secret(&secret) || self.masked && evidence.value.is_some() {
            true => REDACTED.to_owned(),
            false => self.hidden.words(&evidence.label),
        };
        EvidenceView {
            step: evidence.step.map(|step| u64::from(step) + 1),
            path: self.hidden.words(&evidence.path),
            label,
            what: evidence.step.and_then(|step| look.what(step as usize)),
        }
    }

    /// The text of the rules at a place, on one line.
    fn written(&self, span: Option<Span>) -> String {
        let text = span.map_or("", |span| self.table.sources.text(self.table.span(self.program, span)));
        // Only the beginning of a long text is folded.
        let end = text.char_indices().nth(8 * TEXT).map_or(text.len(), |(at, _)| at);
        let folded = text.get(..end).unwrap_or("").split_whitespace().collect::<Vec<_>>().join(" ");
        shortened(&one_line(&folded), TEXT)
    }

    fn part(&self, part: &DerivationPart, marks: &mut Marks) -> Node {
        let mut node = Node::new(mark_of(&part.found), self.title(part));
        node.note = self.note(part);
        if let PartResult::Value(shown) = &part.found
            && shown.truth.is_none()
            && part.kind != PartKind::Literal
        {
            node.value = Some(self.hidden.value(shown, self.masked));
        }
        if part.kind == PartKind::Element {
            let element = node.value.take().unwrap_or_default();
            node = Node { mark: Mark::None, text: format!("for {element}"), ..node };
        }
        if let Some(temporal) = &part.temporal {
            if let Some(label) = marks.statement(temporal) {
                node.text = format!("{label} {}", node.text);
            }
            for pattern in &temporal.patterns {
                let letter = marks.pattern(&self.written(Some(pattern.span)), pattern);
                node.parts.push(self.pattern(pattern, letter));
            }
        }
        marks.depth += 1;
        if marks.depth < DEEPEST {
            node.parts.extend(part.parts.iter().map(|part| self.part(part, marks)));
        } else if !part.parts.is_empty() {
            node.parts.push(Node::new(Mark::None, "… and deeper parts"));
        }
        marks.depth -= 1;
        if let (PartKind::Not, [only]) = (part.kind, node.parts.as_mut_slice()) {
            // Both stand at one place; what is negated is the rest of it.
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
            // The expression itself: what it evaluated to is said once.
            let only = only.clone();
            let mark = if node.mark == Mark::None { only.mark } else { node.mark };
            node = Node { mark, ..only };
        }
        if part.more > 0 {
            node.parts.push(Node::new(Mark::None, format!("… {} more of the kind", part.more)));
        }
        node
    }

    /// What a part is called.
    fn title(&self, part: &DerivationPart) -> String {
        let written = self.written(part.span);
        match part.kind {
            PartKind::When if written.is_empty() => "when".to_owned(),
            PartKind::Not => "not".to_owned(),
            PartKind::Group(GroupKind::Any) => "any of".to_owned(),
            PartKind::Group(GroupKind::All) => "all of".to_owned(),
            PartKind::Group(GroupKind::None) => "none of".to_owned(),
            PartKind::Group(GroupKind::AtLeast(count)) => format!("at least {count} of"),
            PartKind::Block => "in each window of the block".to_owned(),
            PartKind::Window => match part.step {
                Some(step) => self.step(step),
                None => format!("window: {}", part.note),
            },
            PartKind::World if written.is_empty() => "what is around the run".to_owned(),
            PartKind::Unseen if written.is_empty() => "the other branch".to_owned(),
            _ => written,
        }
    }

    fn note(&self, part: &DerivationPart) -> String {
        match part.kind {
            PartKind::Window => self.values(&part.bindings),
            PartKind::Unseen => "not looked at: the answer was known".to_owned(),
            _ => {
                let by_missing =
                    matches!(&part.found, PartResult::Value(shown) if shown.truth.is_some_and(Truth::by_missing));
                let tested = matches!(part.kind, PartKind::Test | PartKind::Logic | PartKind::Quantifier);
                match (self.hidden.words(&part.note), by_missing && tested && part.kind == PartKind::Test) {
                    (note, true) if note.is_empty() => "because something is missing".to_owned(),
                    (note, _) => note,
                }
            }
        }
    }

    /// `$id = "o-1", $user = 7`.
    fn values(&self, bindings: &[(String, Shown)]) -> String {
        let words = bindings.iter().map(|(name, shown)| format!("${name} = {}", self.hidden.value(shown, self.masked)));
        words.collect::<Vec<_>>().join(", ")
    }

    fn pattern(&self, pattern: &PatternTrace, letter: String) -> Node {
        let mut node = Node::new(Mark::None, self.written(Some(pattern.span)));
        node.letter = Some(letter);
        let sure = pattern.hits.iter().filter(|hit| hit.sure).count();
        node.note = match (pattern.hits.len() + pattern.more_hits, sure + pattern.more_hits) {
            (0, _) => "matches no step".to_owned(),
            (all, sure) if all == sure => format!("matches {}", steps(all)),
            (all, 0) => format!("may match {}", steps(all)),
            (all, sure) => format!("matches {}, and perhaps {} more", steps(sure), all - sure),
        };
        let (shown, more) = first(&pattern.hits, HITS);
        node.parts.extend(shown.iter().map(|hit| self.hit(hit)));
        let more = more.unwrap_or(0) + pattern.more_hits;
        if more > 0 {
            node.parts.push(Node::new(Mark::None, format!("… and {more} more")));
        }
        let (shown, more) = first(&pattern.misses, MISSES);
        node.parts.extend(shown.iter().map(|miss| self.miss(miss)));
        let more = more.unwrap_or(0) + pattern.more_misses;
        if more > 0 {
            let text = format!("… and {more} more that do not match");
            node.parts.push(Node::new(Mark::None, text));
        }
        node
    }

    fn hit(&self, hit: &HitTrace) -> Node {
        let mark = if hit.sure { Mark::Yes } else { Mark::Unknown };
        let mut node = Node::new(mark, self.step(hit.step));
        node.note = self.values(&hit.bindings);
        node.parts.extend(hit.condition.iter().map(|part| self.part(part, &mut Marks::default())));
        node
    }

    fn miss(&self, miss: &Miss) -> Node {
        let mut node = Node::new(Mark::No, self.step(miss.step));
        node.note = self.hidden.words(&miss.why);
        node.parts.extend(miss.condition.iter().map(|part| self.part(part, &mut Marks::default())));
        node
    }

    /// `step 3 (refund)`.
    fn step(&self, step: u32) -> String {
        let name = self.run.steps.get(step as usize).map_or("", |step| step.name);
        let name = shortened(&self.hidden.words(&shortened(name, 8 * NAME)), NAME);
        format!("step {} ({name})", u64::from(step) + 1)
    }
}

/// Characters of the name of a step.
const NAME: usize = 40;
/// Steps that are named below a pattern.
const HITS: usize = 20;
/// Steps that do not match and are named below a pattern.
const MISSES: usize = 5;

/// `1 step`, `3 steps`.
fn steps(count: usize) -> String {
    if count == 1 { "1 step".to_owned() } else { format!("{count} steps") }
}

/// The first of a list, and how many are left.
fn first<T>(list: &[T], most: usize) -> (&[T], Option<usize>) {
    let more = list.len().saturating_sub(most);
    (list.get(..most).unwrap_or(list), (more > 0).then_some(more))
}

fn mark_of(found: &PartResult) -> Mark {
    match found {
        PartResult::Nothing => Mark::None,
        PartResult::Verdict(Verdict::Pass) => Mark::Yes,
        PartResult::Verdict(Verdict::Fail) => Mark::No,
        PartResult::Verdict(Verdict::Undecided) => Mark::Unknown,
        PartResult::Verdict(Verdict::Vacuous) => Mark::Vacuous,
        PartResult::Verdict(Verdict::Error) => Mark::Error,
        PartResult::Verdict(Verdict::Skipped) => Mark::None,
        PartResult::Value(shown) => match shown.truth {
            Some(Truth::True) => Mark::Yes,
            Some(Truth::TrueByMissing) => Mark::Vacuous,
            Some(Truth::False | Truth::FalseByMissing) => Mark::No,
            Some(Truth::Undecided) => Mark::Unknown,
            None => Mark::None,
        },
    }
}
