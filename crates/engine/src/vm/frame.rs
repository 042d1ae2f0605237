//! What an expression in work keeps beside its values: where its part of the stacks starts, its open loops, and the scores of its values.

use super::fault::{Fault, UnfitValue};
use averment_base::source::Span;
use averment_base::truth::Truth;
use averment_base::value::{Node, Number, ObjectEntry, Value};
use averment_syntax::ast::ExprQuantifier;

#[derive(Debug, Clone, Copy)]
pub(super) struct StackFrame {
    pub(super) stack: usize,
    pub(super) locals: usize,
    pub(super) loops: usize,
}

#[derive(Debug, Clone, Copy)]
pub(super) struct QuantifierLoop<'run> {
    quantifier: ExprQuantifier,
    items: LoopItems<'run>,
    position: usize,
    answer: LoopAnswer<'run>,
    pub(super) grade: Option<f64>,
    /// True if it continues when settled, to list every failing element.
    pub(super) lists: bool,
    leads_nowhere: bool,
}

#[derive(Debug, Clone, Copy)]
enum LoopItems<'run> {
    List(&'run [Node<'run>]),
    Values(&'run [ObjectEntry<'run>]),
    Nothing,
}

#[derive(Debug, Clone, Copy)]
enum LoopAnswer<'run> {
    /// The source decides: it is missing or not recorded.
    Settled(Value<'run>),
    /// Bodies joined by `or` (`any`, `no`) or `and` (`all`), and whether evidence decided one.
    Joined(Truth, bool),
    /// Number of true bodies, whether one is undecided, and whether evidence decided one.
    Counted(usize, bool, bool),
}

impl<'run> QuantifierLoop<'run> {
    pub(super) fn new(quantifier: ExprQuantifier, source: &Node<'run>, span: Span) -> Result<Self, Fault> {
        let items = match source.value {
            Value::List(items) => LoopItems::List(items),
            Value::Object(object) => LoopItems::Values(object.entries()),
            Value::Missing | Value::Null | Value::Absent => LoopItems::Nothing,
            Value::Truth(truth) if truth.plain_answer().is_none() => LoopItems::Nothing,
            _ => return Err(Fault::NotAList(Box::new(UnfitValue::new(source, span)))),
        };
        let answer = match (&source.value, quantifier) {
            (Value::Missing | Value::Null, ExprQuantifier::Count) => LoopAnswer::Settled(Value::Missing),
            (Value::Missing | Value::Null, _) => LoopAnswer::Settled(Value::Truth(empty_truth(quantifier))),
            (Value::Absent | Value::Truth(_), ExprQuantifier::Count) => LoopAnswer::Settled(Value::Absent),
            (Value::Absent | Value::Truth(_), _) => LoopAnswer::Settled(Value::Truth(Truth::Undecided)),
            (_, ExprQuantifier::Count) => LoopAnswer::Counted(0, false, false),
            (_, ExprQuantifier::All) => LoopAnswer::Joined(Truth::True, false),
            (_, ExprQuantifier::Any | ExprQuantifier::No) => LoopAnswer::Joined(Truth::False, false),
        };
        Ok(Self {
            quantifier,
            items,
            position: 0,
            answer,
            grade: None,
            lists: false,
            leads_nowhere: source.leads_nowhere(),
        })
    }

    pub(super) fn next(&mut self) -> Option<Node<'run>> {
        let at = self.position;
        self.position += 1;
        match self.items {
            LoopItems::List(items) => items.get(at).copied(),
            LoopItems::Values(entries) => entries.get(at).map(|entry| entry.node),
            LoopItems::Nothing => None,
        }
    }

    pub(super) fn is_settled(&self) -> bool {
        match (self.answer, self.quantifier) {
            (LoopAnswer::Settled(_), _) => true,
            (LoopAnswer::Joined(truth, seen), ExprQuantifier::All) => seen && truth == Truth::False,
            (LoopAnswer::Joined(truth, seen), _) => seen && truth == Truth::True,
            (LoopAnswer::Counted(..), _) => false,
        }
    }

    pub(super) fn is_failed_by(&self, body: Truth) -> bool {
        match self.quantifier {
            ExprQuantifier::All => body.plain_answer() == Some(false),
            ExprQuantifier::No => body.plain_answer() == Some(true),
            ExprQuantifier::Any | ExprQuantifier::Count => false,
        }
    }

    pub(super) fn count_body(&mut self, body: Truth) {
        let plain = body.plain_answer().map_or(Truth::Undecided, Truth::from_bool);
        let seen = !body.by_missing();
        self.answer = match (self.answer, self.quantifier) {
            (LoopAnswer::Joined(truth, before), ExprQuantifier::All) => {
                LoopAnswer::Joined(truth.and(plain), before || seen)
            }
            (LoopAnswer::Joined(truth, before), _) => LoopAnswer::Joined(truth.or(plain), before || seen),
            (LoopAnswer::Counted(count, unknown, before), _) => match body.plain_answer() {
                Some(holds) => LoopAnswer::Counted(count + usize::from(holds), unknown, before || seen),
                None => LoopAnswer::Counted(count, true, true),
            },
            (settled, _) => settled,
        };
    }

    /// The minimum for `all`, the maximum otherwise.
    pub(super) fn count_grade(&mut self, body: f64) {
        let join = if self.quantifier == ExprQuantifier::All { f64::min } else { f64::max };
        self.grade = Some(self.grade.map_or(body, |grade| join(grade, body)));
    }

    pub(super) fn final_grade(&self) -> Option<f64> {
        match self.quantifier {
            ExprQuantifier::Count => None,
            ExprQuantifier::No => self.grade.map(|grade| 1.0 - grade),
            ExprQuantifier::Any | ExprQuantifier::All => self.grade,
        }
    }

    /// Over nothing, or if missing values decided every body, the answer is marked as decided by something missing.
    pub(super) fn loop_value(&self) -> Value<'run> {
        match self.answer {
            LoopAnswer::Settled(value) => value,
            LoopAnswer::Joined(..) if self.is_empty() => Value::Truth(empty_truth(self.quantifier)),
            LoopAnswer::Joined(truth, seen) => {
                let truth = if seen { truth } else { truth.marked_by(Truth::TrueByMissing) };
                Value::Truth(if self.quantifier == ExprQuantifier::No { !truth } else { truth })
            }
            LoopAnswer::Counted(_, true, _) => Value::Absent,
            LoopAnswer::Counted(count, false, _) => Value::Number(Number::from_count(count)),
        }
    }

    /// True if something missing decided every element, or the path to the elements leads nowhere.
    pub(super) fn counts_nowhere(&self) -> bool {
        let LoopAnswer::Counted(_, false, seen) = self.answer else { return false };
        if self.is_empty() { self.leads_nowhere } else { !seen }
    }

    fn is_empty(&self) -> bool {
        match self.items {
            LoopItems::List(items) => items.is_empty(),
            LoopItems::Values(entries) => entries.is_empty(),
            LoopItems::Nothing => true,
        }
    }
}

/// Scores of the values on the stack; `None` for a value without its own.
#[derive(Debug, Default)]
pub(super) struct ScoreStack {
    pub(super) scores: Vec<Option<f64>>,
    pub(super) pending: Option<f64>,
}

impl ScoreStack {
    pub(super) fn note_push(&mut self, length: usize) {
        self.scores.resize(length.saturating_sub(1), None);
        self.scores.push(self.pending.take());
    }
}

/// Over no elements, `any` is false and `all` and `no` are true, each because elements are missing.
fn empty_truth(quantifier: ExprQuantifier) -> Truth {
    Truth::from_missing(quantifier != ExprQuantifier::Any)
}
