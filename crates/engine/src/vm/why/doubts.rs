//! What an expression leaves open although it is decided: elements of a quantifier that something missing decided, and values that a list was made
//! without, as in `sum(calls[*].args.amount) <= 100` where one call has `total`. One good call must not hide a bad one.
//!
//! The first evaluation only notes that there is such a place. Whether it matters says a second look, in which each place has the other answer
//! (an element) or a value that is not recorded (a list).

use super::doubt_notes::{DoubtNotes, FilledPlaces, ListedPlaces, MOST};
use super::evidence::{ElementChoice, ElementListing, EvidenceRecord, SeenTest, SeenTestKind};
use super::observer::Look;
use crate::bytecode::ops::Op;
use crate::bytecode::program::CodeId;
use crate::vm::context::ExpressionScope;
use crate::vm::locate;
use crate::vm::machine::Machine;
use crate::vm::outcome::UnjudgedRecord;
use crate::vm::temporal::unjudged_steps::count_steps;
use averment_base::source::Span;
use averment_base::truth::{Truth, Verdict};
use averment_base::value::{Node, Value};
use averment_runs::run::{Step, StepKind};
use rustc_hash::FxHashSet;

/// What the machine tells of lists that it makes.
impl<'run> Machine<'run> {
    /// True while the places that lack a value are filled.
    pub(in crate::vm) fn fills_places(&self) -> bool {
        self.observer.filled.is_some()
    }

    /// Notes an element of which a key is taken; true if it stands for a value that is not recorded. A missing field of a step says something
    /// by itself.
    pub(in crate::vm) fn note_listed(&mut self, node: &Node<'run>, lacks: bool, key: &'run str, at: usize) -> bool {
        if !self.fills_places() {
            return false;
        }
        let pointer = locate::node_pointer(self.run, node);
        let within = pointer.as_deref().and_then(|pointer| {
            let end = pointer.match_indices('/').nth(2).map_or(pointer.len(), |(end, _)| end);
            let step = locate::step_of(self.run, pointer.get(..end)?)?;
            Some((step, end == pointer.len()))
        });
        if matches!(within, Some((_, true))) {
            return false;
        }
        self.note_place(within.map(|(step, _)| step), lacks, (Some(key), self.op_span(at)));
        lacks
    }

    /// Notes an element of a list that is filtered; true if something missing decided it, and it is to be kept as one that is not known.
    pub(in crate::vm) fn note_filtered(&mut self, node: &Node<'run>, lacks: bool, condition: Span) -> bool {
        if !self.fills_places() {
            return false;
        }
        self.note_place(self.step_at(node), lacks, (None, condition));
        lacks
    }

    /// Notes the steps that a list is made of.
    pub(in crate::vm) fn note_selected(
        &mut self,
        lacking: &[u32],
        taken: impl Iterator<Item = u32>,
        wanted: (Option<&'run str>, Span),
    ) {
        lacking.iter().for_each(|step| self.note_place(Some(*step), true, wanted));
        taken.for_each(|step| self.note_place(Some(step), false, wanted));
    }

    fn note_place(&mut self, step: Option<u32>, lacks: bool, wanted: (Option<&'run str>, Span)) {
        if let Some(filled) = &mut self.observer.filled {
            filled.note_place(step, lacks, wanted);
        }
    }

    /// The step that a value is.
    fn step_at(&self, node: &Node<'run>) -> Option<u32> {
        let whole = locate::node_pointer(self.run, node).filter(|pointer| pointer.matches('/').count() == 2)?;
        locate::step_of(self.run, &whole)
    }
}

impl<'run> Machine<'run> {
    /// True if, since the last call of `forget_doubts`, something missing decided an element, or an element was left out.
    #[must_use]
    pub fn has_doubts(&self) -> bool {
        self.observer.look.doubts.is_any()
    }

    /// Begins with an expression of which nothing is doubtful yet.
    pub fn forget_doubts(&mut self) {
        self.observer.look.doubts = DoubtNotes::default();
    }

    /// The places that something missing decided where another answer would have changed the verdict.
    pub(in crate::vm) fn unjudged_places(
        &mut self,
        code: CodeId,
        scope: &ExpressionScope<'_, 'run>,
        verdict: Verdict,
    ) -> Option<Box<UnjudgedRecord>> {
        let doubts = self.observer.look.doubts;
        let hides = |machine: &mut Self, answer: bool| {
            doubts.bodies.get(usize::from(answer)) == Some(&true)
                && machine.verdict_assuming(!answer, code, scope) != Some(verdict)
        };
        if doubts.bodies != [false; 2]
            && self.may_quantify(code)
            && let Some(answer) = [false, true].into_iter().find(|answer| hides(self, *answer))
            && let Some(unjudged) = self.doubtful_elements(answer, code, scope)
        {
            return Some(unjudged);
        }
        if doubts.leaves_out { self.lacking_places(code, scope, verdict) } else { None }
    }

    fn may_quantify(&self, code: CodeId) -> bool {
        let quantifies = |op: &Op| matches!(op, Op::Begin(_) | Op::Let(_) | Op::CallDef(..));
        self.program.code_ops(code).is_some_and(|ops| ops.iter().any(quantifies))
    }

    fn verdict_assuming(&mut self, answer: bool, code: CodeId, scope: &ExpressionScope<'_, 'run>) -> Option<Verdict> {
        let doubts = DoubtNotes { assumed: Some(answer), ..DoubtNotes::default() };
        let look = Look { doubts, ..Look::default() };
        let (truth, _) = self.look_again(look, |machine| machine.evaluate_truth(code, scope));
        self.start_afresh();
        truth.ok().map(Truth::verdict)
    }

    fn doubtful_elements(
        &mut self,
        answer: bool,
        code: CodeId,
        scope: &ExpressionScope<'_, 'run>,
    ) -> Option<Box<UnjudgedRecord>> {
        let listing = ElementListing::new(ElementChoice::Doubtful(answer), MOST);
        let (_, mut evidence) = self.observe_code(code, scope, Some(listing));
        let ElementListing { listed, judged, .. } = evidence.listing.take()?;
        let mut of_judged = ListedPlaces::default();
        judged.iter().for_each(|node| of_judged.add_place(self.step_at(node)));
        let known = self.step_names(&of_judged);
        let all = std::mem::take(&mut evidence.seen);
        let (mut lacking, mut why) = (ListedPlaces::default(), None);
        for (node, tests) in &listed {
            let step = self.step_at(node);
            let tests = all.get(tests.clone()).unwrap_or_default();
            let is_like = match self.step_name(step) {
                Some(name) => known.contains(&name) || is_chosen(name.1, tests),
                None => of_judged.elements > 0,
            };
            if is_like && let Some(lack) = self.lacking_text(tests, step, &mut evidence, scope) {
                why.get_or_insert(lack);
                lacking.add_place(step);
            }
        }
        self.unjudged_record(lacking, of_judged, why?)
    }

    /// The steps or elements that a list was made without, where the verdict would be another one if they had a value.
    fn lacking_places(
        &mut self,
        code: CodeId,
        scope: &ExpressionScope<'_, 'run>,
        verdict: Verdict,
    ) -> Option<Box<UnjudgedRecord>> {
        self.observer.filled = Some(Box::default());
        let known = self.lets.clone();
        let (truth, _) = self.look_again(Look::default(), |machine| machine.evaluate_truth(code, scope));
        let filled = self.observer.filled.take();
        self.refuel();
        self.lets = known;
        // A value that was not recorded decides nothing that is decided without it.
        let filled = filled.filter(|_| truth.ok().map(Truth::verdict) != Some(verdict))?;
        let FilledPlaces { mut lacking, mut judged, wanted } = *filled;
        let (key, span) = wanted?;
        let known = self.step_names(&judged);
        lacking.steps.retain(|step| {
            let name = self.step_name(Some(*step));
            name.is_some_and(|name| known.contains(&name) && !key.is_some_and(|key| self.is_optional(name.1, key)))
        });
        if !lacking.steps.is_empty() {
            (lacking.elements, judged.elements) = (0, 0);
        } else if judged.elements == 0 {
            return None;
        }
        let text = self.rule_text(span);
        let why = match key {
            Some(_) => format!("no `{text}`"),
            None => format!("something missing or unfit decides `{text}`"),
        };
        self.unjudged_record(lacking, judged, why)
    }

    /// What is said of places that lack something, beside those that are judged and like them: calls of one tool, or elements of lists.
    fn unjudged_record(
        &self,
        lacking: ListedPlaces,
        mut judged: ListedPlaces,
        why: String,
    ) -> Option<Box<UnjudgedRecord>> {
        let names = self.step_names(&lacking);
        judged.steps.retain(|step| self.step_name(Some(*step)).is_some_and(|name| names.contains(&name)));
        let of_judged = if lacking.elements > 0 { judged.elements } else { 0 };
        // Elements have numbers behind those of the steps.
        let behind = u32::try_from(self.run.steps.len()).unwrap_or(u32::MAX);
        let numbered = |elements: u32| behind..behind.saturating_add(elements);
        let mut steps: Vec<u32> = lacking.steps.iter().copied().chain(numbered(lacking.elements)).collect();
        let elements = lacking.elements.saturating_add(of_judged);
        let mut all: Vec<u32> = lacking.steps.into_iter().chain(judged.steps).chain(numbered(elements)).collect();
        for numbers in [&mut steps, &mut all] {
            numbers.sort_unstable();
            numbers.dedup();
        }
        let of_all = all.iter().filter_map(|step| self.run.steps.get(*step as usize));
        let things = if elements > 0 { "elements".to_owned() } else { count_steps(of_all) };
        (!steps.is_empty()).then(|| Box::new(UnjudgedRecord { things, why, steps, all }))
    }

    /// The kind and name of a step: steps of one name should have the same fields.
    fn step_name(&self, step: Option<u32>) -> Option<(StepKind, &'run str)> {
        let step: &Step<'run> = self.run.steps.get(step? as usize)?;
        Some((step.kind, step.name))
    }

    fn step_names(&self, places: &ListedPlaces) -> FxHashSet<(StepKind, &'run str)> {
        places.steps.iter().filter_map(|step| self.step_name(Some(*step))).collect()
    }

    /// `None` if the catalog declares all of it optional.
    fn lacking_text(
        &self,
        tests: &[SeenTest<'run>],
        step: Option<u32>,
        evidence: &mut EvidenceRecord<'run>,
        scope: &ExpressionScope<'_, 'run>,
    ) -> Option<String> {
        let of_missing = tests.iter().filter(|seen| seen.truth.by_missing()).flat_map(|seen| &seen.gaps);
        let mut gaps = of_missing.filter(|gap| gap.why.is_none()).peekable();
        if gaps.peek().is_none() {
            evidence.seen = tests.to_vec();
            let reason = self.explain_recorded(evidence, Truth::TrueByMissing, scope).reason;
            return Some(if reason.is_empty() { "something is missing".to_owned() } else { reason });
        }
        let needed = gaps.find(|gap| match (self.step_name(step), self.program.key_at(gap.at)) {
            (Some((_, tool)), Some(key)) => !self.is_optional(tool, key),
            _ => true,
        });
        needed.map(|gap| format!("no `{}`", self.rule_text(self.op_span(gap.at))))
    }
}

/// True if a test of the element asks for the step by its name.
fn is_chosen(name: &str, tests: &[SeenTest<'_>]) -> bool {
    tests.iter().any(|seen| {
        let of_name = matches!(seen.subject.value, Value::Text(text) if text.as_str() == name);
        seen.kind == SeenTestKind::Compared && seen.truth == Truth::True && of_name
    })
}
