//! Elements of a quantifier that something missing decided although the whole was decided by others: one good call must not hide a bad one.

use super::context::ExpressionScope;
use super::locate;
use super::machine::{LetState, Machine};
use super::observe::{EvaluationRecorder, SeenTest, SeenTestKind};
use super::outcome::UnjudgedRecord;
use super::temporal::unjudged_steps::count_steps;
use crate::bytecode::ops::Op;
use crate::bytecode::program::CodeId;
use averment_base::truth::{Truth, Verdict};
use averment_base::value::{Node, Value};
use averment_runs::run::Step;
use std::ops::Range;

#[derive(Debug, Clone, Copy, Default)]
pub(super) struct ElementDoubts {
    /// Whether a body was false, and whether one was true, because something was missing.
    seen: [bool; 2],
    assumed: Option<bool>,
    /// Whether a list was made without some of its elements.
    pub(super) leaves_out: bool,
}

impl ElementDoubts {
    pub(super) fn of_body(&mut self, truth: Truth) -> Truth {
        match truth.plain_answer() {
            Some(answer) if truth.by_missing() => {
                if let Some(seen) = self.seen.get_mut(usize::from(answer)) {
                    *seen = true;
                }
                self.assumed.map_or(truth, Truth::from_bool)
            }
            _ => truth,
        }
    }
}

#[derive(Debug, Default)]
pub(super) struct DoubtListing<'run> {
    answer: bool,
    doubtful: Vec<(Node<'run>, Range<usize>)>,
    judged: Vec<Node<'run>>,
    current: Option<(Node<'run>, usize)>,
}

/// Elements examined per expression.
const MOST: usize = 100_000;

impl<'run> DoubtListing<'run> {
    pub(super) fn enter_element(&mut self, element: Node<'run>, seen: usize) {
        self.current = Some((element, seen));
    }

    pub(super) fn leave_element(&mut self, truth: Truth, seen: usize) -> usize {
        let Some((element, from)) = self.current.take() else { return seen };
        if truth.by_missing() && truth.plain_answer() == Some(self.answer) && self.doubtful.len() < MOST {
            self.doubtful.push((element, from..seen));
            return seen;
        }
        if !truth.by_missing() && self.judged.len() < MOST {
            self.judged.push(element);
        }
        from
    }
}

struct DoubtfulElement<'run> {
    number: u32,
    step: Option<&'run Step<'run>>,
}

impl DoubtfulElement<'_> {
    /// True for calls of one tool and for list elements, which should have the same fields.
    fn is_like(&self, other: &Self) -> bool {
        match (self.step, other.step) {
            (Some(one), Some(other)) => one.kind == other.kind && one.name == other.name,
            (None, None) => true,
            _ => false,
        }
    }
}

impl<'run> Machine<'run> {
    /// Elements decided by something missing where the other answer would have changed the verdict.
    pub(super) fn doubtful_elements(
        &mut self,
        code: CodeId,
        scope: &ExpressionScope<'_, 'run>,
        verdict: Verdict,
    ) -> Option<Box<UnjudgedRecord>> {
        let doubts = self.doubts.seen;
        if doubts == [false; 2] || !self.may_quantify(code) {
            return None;
        }
        let coverage = self.seen.take();
        let mut hides = |answer: bool| {
            doubts.get(usize::from(answer)) == Some(&true)
                && self.verdict_assuming(!answer, code, scope) != Some(verdict)
        };
        let answer = [false, true].into_iter().find(|answer| hides(*answer));
        let found = answer.and_then(|answer| self.list_doubtful(answer, code, scope));
        self.seen = coverage;
        found
    }

    /// True if, since the last call of `forget_doubts`, something missing decided an element, or an element was left out.
    #[must_use]
    pub fn has_doubts(&self) -> bool {
        self.doubts.seen != [false; 2] || self.doubts.leaves_out
    }

    /// Begins with an expression of which nothing is doubtful yet.
    pub fn forget_doubts(&mut self) {
        self.doubts = ElementDoubts::default();
    }

    fn may_quantify(&self, code: CodeId) -> bool {
        let chunk = self.program.chunks.get(code.0 as usize);
        let ops = chunk.and_then(|chunk| self.program.code.get(chunk.start as usize..chunk.end as usize));
        let quantifies = |op: &Op| matches!(op, Op::Begin(_) | Op::Let(_) | Op::CallDef(..));
        ops.is_some_and(|ops| ops.iter().any(quantifies))
    }

    fn verdict_assuming(&mut self, answer: bool, code: CodeId, scope: &ExpressionScope<'_, 'run>) -> Option<Verdict> {
        self.doubts.assumed = Some(answer);
        self.start_afresh();
        let truth = self.evaluate_truth(code, scope);
        self.doubts.assumed = None;
        self.start_afresh();
        truth.ok().map(Truth::verdict)
    }

    pub(super) fn start_afresh(&mut self) {
        self.refuel();
        self.lets.iter_mut().for_each(|state| *state = LetState::Unknown);
    }

    fn list_doubtful(
        &mut self,
        answer: bool,
        code: CodeId,
        scope: &ExpressionScope<'_, 'run>,
    ) -> Option<Box<UnjudgedRecord>> {
        self.recorder = Some(EvaluationRecorder::with_doubts(DoubtListing { answer, ..DoubtListing::default() }));
        self.start_afresh();
        let _ = self.evaluate_truth(code, scope);
        let mut recorder = self.recorder.take()?;
        let listing = recorder.doubts.take()?;
        let judged: Vec<DoubtfulElement<'run>> =
            listing.judged.iter().map(|node| self.doubtful_element(node, 0)).collect();
        let all = std::mem::take(&mut recorder.seen);
        let mut unjudged = UnjudgedRecord::default();
        let mut elements = Vec::new();
        for (number, (node, tests)) in (0_u32..).zip(&listing.doubtful) {
            let element = self.doubtful_element(node, number);
            let tests = all.get(tests.clone()).unwrap_or_default();
            if !judged.iter().any(|other| element.is_like(other)) && !is_chosen(&element, tests) {
                continue;
            }
            let Some(why) = self.lacking_text(tests, &element, &mut recorder, scope) else { continue };
            if unjudged.steps.is_empty() {
                unjudged.why = why;
            }
            unjudged.steps.push(element.number);
            elements.push(element);
        }
        if elements.is_empty() {
            return None;
        }
        let like = judged.into_iter().filter(|one| elements.iter().any(|other| other.is_like(one)));
        let numbered = like.zip(u32::try_from(listing.doubtful.len()).unwrap_or(u32::MAX)..);
        let like: Vec<DoubtfulElement<'run>> = numbered
            .map(|(one, behind)| DoubtfulElement {
                number: if one.step.is_some() { one.number } else { self.number_behind(behind) },
                ..one
            })
            .collect();
        unjudged.all = elements.iter().chain(&like).map(|element| element.number).collect();
        for numbers in [&mut unjudged.steps, &mut unjudged.all] {
            numbers.sort_unstable();
            numbers.dedup();
        }
        let steps: Option<Vec<&Step<'run>>> = elements.iter().chain(&like).map(|element| element.step).collect();
        unjudged.things = steps.map_or_else(|| "elements".to_owned(), |steps| count_steps(steps.into_iter()));
        Some(Box::new(unjudged))
    }

    /// An element that is not a step gets a number above those of the steps.
    fn doubtful_element(&self, node: &Node<'run>, number: u32) -> DoubtfulElement<'run> {
        let whole = locate::node_pointer(self.run, node).filter(|pointer| pointer.matches('/').count() == 2);
        let at = whole.and_then(|pointer| locate::step_of(self.run, &pointer));
        match at.and_then(|at| Some((at, self.run.steps.get(at as usize)?))) {
            Some((number, step)) => DoubtfulElement { number, step: Some(step) },
            None => DoubtfulElement { number: self.number_behind(number), step: None },
        }
    }

    fn number_behind(&self, number: u32) -> u32 {
        u32::try_from(self.run.steps.len()).unwrap_or(u32::MAX).saturating_add(number)
    }

    /// `None` if the catalog declares all of it optional.
    fn lacking_text(
        &self,
        tests: &[SeenTest<'run>],
        element: &DoubtfulElement<'run>,
        recorder: &mut EvaluationRecorder<'run>,
        scope: &ExpressionScope<'_, 'run>,
    ) -> Option<String> {
        let of_missing = tests.iter().filter(|seen| seen.truth.by_missing()).flat_map(|seen| &seen.gaps);
        let mut gaps = of_missing.filter(|gap| gap.why.is_none()).peekable();
        if gaps.peek().is_none() {
            recorder.seen = tests.to_vec();
            let reason = self.explain_recorded(recorder, Truth::TrueByMissing, scope).reason;
            return Some(if reason.is_empty() { "something is missing".to_owned() } else { reason });
        }
        let needed = gaps.find(|gap| match (element.step, self.key_of(gap)) {
            (Some(step), Some(key)) => !self.is_optional(step.name, key),
            _ => true,
        });
        needed.map(|gap| format!("no `{}`", self.rule_text(self.op_span(gap.at))))
    }
}

fn is_chosen(element: &DoubtfulElement<'_>, tests: &[SeenTest<'_>]) -> bool {
    let Some(step) = element.step else { return false };
    tests.iter().any(|seen| {
        let of_name = matches!(seen.subject.value, Value::Text(text) if text.as_str() == step.name);
        seen.kind == SeenTestKind::Compared && seen.truth == Truth::True && of_name
    })
}
