//! What an expression in work keeps beside its values: where its part of the stacks starts, and its open loops.

use super::fault::{Fault, Unfit};
use averment_base::source::Span;
use averment_base::truth::Truth;
use averment_base::value::{Entry, Node, Number, Value};
use averment_syntax::ast::ExprQuantifier;

/// Where the part of one expression starts on each stack of the machine.
#[derive(Debug, Clone, Copy)]
pub(super) struct Frame {
    pub(super) stack: usize,
    pub(super) locals: usize,
    pub(super) loops: usize,
}

/// A quantifier in work.
#[derive(Debug, Clone, Copy)]
pub(super) struct Loop<'run> {
    quantifier: ExprQuantifier,
    items: Items<'run>,
    position: usize,
    answer: Answer<'run>,
    /// The least or greatest score of a body so far, while grading.
    pub(super) grade: Option<f64>,
    /// Whether it goes on when it is settled: every element that fails it is listed.
    pub(super) lists: bool,
    /// Whether the path to what it runs over leads nowhere.
    leads_nowhere: bool,
}

/// What it runs over.
#[derive(Debug, Clone, Copy)]
enum Items<'run> {
    List(&'run [Node<'run>]),
    Values(&'run [Entry<'run>]),
    Nothing,
}

/// What it has found.
#[derive(Debug, Clone, Copy)]
enum Answer<'run> {
    /// The source itself decides: it was missing or is not recorded.
    Settled(Value<'run>),
    /// The plain answers of the bodies so far joined by `or` (`any`, `no`) or `and` (`all`), and whether one was decided by something
    /// that is there.
    Joined(Truth, bool),
    /// How many were true, whether one could not be decided, and whether one was decided by something that is there.
    Counted(usize, bool, bool),
}

impl<'run> Loop<'run> {
    /// A loop over a source. A source that is no list and no object is a fault that names it.
    pub(super) fn new(quantifier: ExprQuantifier, source: &Node<'run>, span: Span) -> Result<Self, Fault> {
        let items = match source.value {
            Value::List(items) => Items::List(items),
            Value::Object(object) => Items::Values(object.entries()),
            Value::Missing | Value::Null | Value::Absent => Items::Nothing,
            Value::Truth(truth) if truth.plain().is_none() => Items::Nothing,
            _ => return Err(Fault::NotAList(Box::new(Unfit::new(source, span)))),
        };
        let answer = match (&source.value, quantifier) {
            (Value::Missing | Value::Null, ExprQuantifier::Count) => Answer::Settled(Value::Missing),
            (Value::Missing | Value::Null, _) => Answer::Settled(Value::Truth(nothing(quantifier))),
            (Value::Absent | Value::Truth(_), ExprQuantifier::Count) => Answer::Settled(Value::Absent),
            (Value::Absent | Value::Truth(_), _) => Answer::Settled(Value::Truth(Truth::Undecided)),
            (_, ExprQuantifier::Count) => Answer::Counted(0, false, false),
            (_, ExprQuantifier::All) => Answer::Joined(Truth::True, false),
            (_, ExprQuantifier::Any | ExprQuantifier::No) => Answer::Joined(Truth::False, false),
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

    /// The next element; `None` at the end.
    pub(super) fn next(&mut self) -> Option<Node<'run>> {
        let at = self.position;
        self.position += 1;
        match self.items {
            Items::List(items) => items.get(at).copied(),
            Items::Values(entries) => entries.get(at).map(|entry| entry.node),
            Items::Nothing => None,
        }
    }

    /// Whether no further element can change the answer.
    pub(super) fn is_settled(&self) -> bool {
        match (self.answer, self.quantifier) {
            (Answer::Settled(_), _) => true,
            (Answer::Joined(truth, seen), ExprQuantifier::All) => seen && truth == Truth::False,
            (Answer::Joined(truth, seen), _) => seen && truth == Truth::True,
            (Answer::Counted(..), _) => false,
        }
    }

    /// Whether the truth of a body fails the whole by itself.
    pub(super) fn fails_by(&self, body: Truth) -> bool {
        match self.quantifier {
            ExprQuantifier::All => body.plain() == Some(false),
            ExprQuantifier::No => body.plain() == Some(true),
            ExprQuantifier::Any | ExprQuantifier::Count => false,
        }
    }

    /// Counts the truth of a body.
    pub(super) fn count(&mut self, body: Truth) {
        let plain = body.plain().map_or(Truth::Undecided, Truth::from_bool);
        let seen = !body.by_missing();
        self.answer = match (self.answer, self.quantifier) {
            (Answer::Joined(truth, before), ExprQuantifier::All) => Answer::Joined(truth.and(plain), before || seen),
            (Answer::Joined(truth, before), _) => Answer::Joined(truth.or(plain), before || seen),
            (Answer::Counted(count, unknown, before), _) => match body.plain() {
                Some(holds) => Answer::Counted(count + usize::from(holds), unknown, before || seen),
                None => Answer::Counted(count, true, true),
            },
            (settled, _) => settled,
        };
    }

    /// Joins the score of a body: the least for `all`, the greatest otherwise.
    pub(super) fn count_grade(&mut self, body: f64) {
        let join = if self.quantifier == ExprQuantifier::All { f64::min } else { f64::max };
        self.grade = Some(self.grade.map_or(body, |grade| join(grade, body)));
    }

    /// The score of the whole.
    pub(super) fn final_grade(&self) -> Option<f64> {
        match self.quantifier {
            ExprQuantifier::Count => None,
            ExprQuantifier::No => self.grade.map(|grade| 1.0 - grade),
            ExprQuantifier::Any | ExprQuantifier::All => self.grade,
        }
    }

    /// The value of the whole. Over nothing, `all` and `no` hold only because nothing was there; over elements each of which was decided by
    /// something missing the answer is decided so, too.
    pub(super) fn value(&self) -> Value<'run> {
        match self.answer {
            Answer::Settled(value) => value,
            Answer::Joined(..) if self.is_empty() => Value::Truth(nothing(self.quantifier)),
            Answer::Joined(truth, seen) => {
                let truth = if seen { truth } else { truth.marked_by(Truth::TrueByMissing) };
                Value::Truth(if self.quantifier == ExprQuantifier::No { !truth } else { truth })
            }
            Answer::Counted(_, true, _) => Value::Absent,
            Answer::Counted(count, false, _) => Value::Number(Number::from_count(count)),
        }
    }

    /// Whether what it has counted is decided by something missing: of every element, or the path to the elements leads nowhere.
    pub(super) fn counts_nowhere(&self) -> bool {
        let Answer::Counted(_, false, seen) = self.answer else { return false };
        if self.is_empty() { self.leads_nowhere } else { !seen }
    }

    fn is_empty(&self) -> bool {
        match self.items {
            Items::List(items) => items.is_empty(),
            Items::Values(entries) => entries.is_empty(),
            Items::Nothing => true,
        }
    }
}

/// The truth of a quantifier that had nothing to look at: `any` fails for want of elements, `all` and `no` hold for want of them.
fn nothing(quantifier: ExprQuantifier) -> Truth {
    Truth::missing(quantifier != ExprQuantifier::Any)
}
