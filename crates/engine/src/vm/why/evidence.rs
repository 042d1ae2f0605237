//! What a second look at an expression sees, for evidence: tests, values that are missing, elements. The first evaluation costs nothing extra,
//! and there is still only one evaluator.

use crate::bytecode::data_flow::{DataFlow, TruthEffect};
use crate::bytecode::program::Program;
use averment_base::source::Span;
use averment_base::truth::Truth;
use averment_base::value::Node;
use rustc_hash::FxHashMap;
use std::ops::Range;

/// Tests, and missing values, that are recorded; more would be noise.
const SEEN_LIMIT: usize = 10_000;

#[derive(Debug)]
pub(in crate::vm) struct EvidenceRecord<'run> {
    program: &'run Program,
    pub(super) seen: Vec<SeenTest<'run>>,
    pub(super) gaps: Vec<ValueGap<'run>>,
    flows: FxHashMap<usize, DataFlow>,
    around: Option<TruthEffect>,
    entered: Option<usize>,
    pub(super) listing: Option<ElementListing<'run>>,
}

#[derive(Debug, Clone)]
pub(in crate::vm) struct SeenTest<'run> {
    pub(in crate::vm) at: usize,
    pub(in crate::vm) kind: SeenTestKind,
    pub(in crate::vm) subject: Node<'run>,
    pub(in crate::vm) operand: Option<Node<'run>>,
    pub(in crate::vm) truth: Truth,
    pub(in crate::vm) polarity: TruthEffect,
    pub(in crate::vm) gaps: Vec<ValueGap<'run>>,
    pub(in crate::vm) misfit: Option<ValueMisfit<'run>>,
    pub(in crate::vm) within: Option<usize>,
    pub(in crate::vm) nearest: Option<String>,
}

#[derive(Debug, Clone)]
pub(in crate::vm) struct ValueMisfit<'run> {
    pub(in crate::vm) text: String,
    pub(in crate::vm) node: Option<Node<'run>>,
    pub(in crate::vm) keyword: Option<Span>,
}

/// Where a value went missing: a path step that leads nowhere, or a computation without a result.
#[derive(Debug, Clone, Copy)]
pub(in crate::vm) struct ValueGap<'run> {
    pub(in crate::vm) at: usize,
    /// The value that lacks the key or element, or that a computation could not use.
    pub(in crate::vm) base: Node<'run>,
    /// Why a computation has no result; `None` for a path.
    pub(in crate::vm) why: Option<&'run str>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::vm) enum SeenTestKind {
    Compared,
    Inspected,
    Condition,
    Source,
    Premise,
}

impl SeenTestKind {
    /// True if it counts as a test of the rule: it has two ways out.
    pub(super) fn branches(self) -> bool {
        !matches!(self, Self::Source | Self::Premise)
    }
}

impl<'run> EvidenceRecord<'run> {
    pub(super) fn new(program: &'run Program, listing: Option<ElementListing<'run>>) -> Box<Self> {
        Box::new(Self {
            program,
            seen: Vec::new(),
            gaps: Vec::new(),
            flows: FxHashMap::default(),
            around: None,
            entered: None,
            listing,
        })
    }

    pub(super) fn note_test(
        &mut self,
        at: usize,
        kind: SeenTestKind,
        subject: Node<'run>,
        operand: Option<Node<'run>>,
        truth: Truth,
    ) {
        let polarity = self.polarity_at(at);
        if self.seen.len() < SEEN_LIMIT {
            let (gaps, within) = (std::mem::take(&mut self.gaps), self.entered);
            let (misfit, nearest) = (None, None);
            self.seen.push(SeenTest { at, kind, subject, operand, truth, polarity, gaps, misfit, within, nearest });
        }
    }

    pub(super) fn note_gap(&mut self, gap: ValueGap<'run>) {
        if self.gaps.len() < SEEN_LIMIT {
            self.gaps.push(gap);
        }
    }

    /// Inside a `let` or `def`, tests count as the entering instruction does.
    pub(super) fn enter_definition(&mut self, at: usize) -> Option<TruthEffect> {
        let polarity = self.polarity_at(at);
        if self.around.is_none() {
            self.entered = Some(at);
        }
        self.around.replace(polarity)
    }

    pub(super) fn leave_definition(&mut self, around: Option<TruthEffect>) {
        self.around = around;
        self.entered = self.entered.filter(|_| around.is_some());
    }

    fn polarity_at(&mut self, at: usize) -> TruthEffect {
        let Some((start, ops)) = self.program.chunk_around(at) else { return TruthEffect::None };
        let flow = self.flows.entry(start).or_insert_with(|| DataFlow::from_ops(ops));
        self.around.unwrap_or(TruthEffect::Same).through_part(flow.truth_effect(ops, at - start))
    }

    /// The instruction that made one of the values that an instruction takes.
    pub(super) fn find_source(&mut self, at: usize, taken: usize) -> usize {
        let _ = self.polarity_at(at);
        self.source_ops(at).get(taken).copied().unwrap_or(at)
    }

    /// The instructions that made the values of one that was tested.
    pub(in crate::vm) fn source_ops(&self, at: usize) -> Vec<usize> {
        let Some((start, _)) = self.program.chunk_around(at) else { return Vec::new() };
        let sources = self.flows.get(&start).map_or(&[][..], |flow| flow.sources(at - start));
        sources.iter().map(|source| source + start).collect()
    }

    pub(super) fn misfit_at(&self, at: usize) -> Option<&str> {
        self.seen.last().filter(|seen| seen.at == at)?.misfit.as_ref().map(|misfit| misfit.text.as_str())
    }

    pub(super) fn gap_at(&self, at: usize) -> Option<ValueGap<'run>> {
        self.gaps.last().copied().filter(|gap| gap.at == at)
    }

    pub(super) fn enter_element(&mut self, element: Node<'run>, lists: bool, is_outermost: bool) {
        let seen = self.seen.len();
        if let Some(listing) = &mut self.listing
            && listing.choice.is_of(lists, is_outermost)
        {
            listing.current = Some((element, seen));
        }
    }

    /// Keeps tests of listed elements only; takes whether the body fails the listed quantifier, and its truth if it is the outermost one.
    pub(super) fn leave_element(&mut self, fails: Option<bool>, outermost: Option<Truth>) {
        let seen = self.seen.len();
        if let Some(listing) = &mut self.listing
            && listing.choice.is_of(fails.is_some(), outermost.is_some())
        {
            self.seen.truncate(listing.leave_element(fails == Some(true), outermost, seen));
        }
    }
}

/// Elements of a quantifier, each with the tests that were seen in it.
#[derive(Debug)]
pub(in crate::vm) struct ElementListing<'run> {
    choice: ElementChoice,
    most: usize,
    pub(super) listed: Vec<(Node<'run>, Range<usize>)>,
    /// All that are chosen, also those that are not listed because they are too many.
    pub(super) count: u64,
    /// Elements that evidence decided, of a listing of doubtful ones.
    pub(super) judged: Vec<Node<'run>>,
    current: Option<(Node<'run>, usize)>,
}

#[derive(Debug, Clone, Copy)]
pub(super) enum ElementChoice {
    /// Those that fail the quantifier that begins at this instruction, which continues after its answer is known.
    Failing(usize),
    /// Those of the outermost quantifier whose body has this answer because something is missing.
    Doubtful(bool),
}

impl ElementChoice {
    fn is_of(self, lists: bool, is_outermost: bool) -> bool {
        match self {
            Self::Failing(_) => lists,
            Self::Doubtful(_) => is_outermost,
        }
    }
}

impl<'run> ElementListing<'run> {
    pub(super) fn new(choice: ElementChoice, most: usize) -> Self {
        Self { choice, most, listed: Vec::new(), count: 0, judged: Vec::new(), current: None }
    }

    pub(super) fn begins_at(&self, at: usize) -> bool {
        matches!(self.choice, ElementChoice::Failing(begin) if begin == at)
    }

    /// The number of tests to keep.
    fn leave_element(&mut self, fails: bool, outermost: Option<Truth>, seen: usize) -> usize {
        let Some((element, from)) = self.current.take() else { return seen };
        let truth = outermost.unwrap_or(Truth::Undecided);
        let chosen = match self.choice {
            ElementChoice::Failing(_) => fails,
            ElementChoice::Doubtful(answer) => truth.by_missing() && truth.plain_answer() == Some(answer),
        };
        self.count += u64::from(chosen);
        if chosen && self.listed.len() < self.most {
            self.listed.push((element, from..seen));
            return seen;
        }
        if matches!(self.choice, ElementChoice::Doubtful(_)) && !truth.by_missing() && self.judged.len() < self.most {
            self.judged.push(element);
        }
        from
    }
}
