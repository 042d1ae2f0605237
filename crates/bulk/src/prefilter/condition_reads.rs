//! Read sets: which values a condition looks at, and what it asks of each.
//!
//! Code is followed symbolically, without a run, where it is tests of paths against literals; of any other code the paths are taken that
//! stand in it. What comes out says what has to be read of a run, and which literals a text needs so that a predicate can hold of it. It
//! never says whether a condition holds.

use super::need::Need;
use super::predicate::{PredicateOperand, SearchLiteral, ValueBase, ValuePath, ValuePredicate, small_integer};
use averment_builtins::other_spelling::{SPELLING_SIGNS, asks_for_start, needed_parts};
use averment_checker::ir::Constant;
use averment_engine::bytecode::ops::{Op, SelectionRef};
use averment_engine::bytecode::program::{CodeId, Program};
use averment_syntax::ast::TestKind;
use averment_traces::projection::{CallField, is_composed_entry};

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct ConditionReads {
    pub(super) predicates: Vec<ValuePredicate>,
    needed: Option<Vec<usize>>,
    /// True if it only tests literals.
    plain: bool,
}

impl ConditionReads {
    /// A given text must contain one of these literals; `None` if the condition can hold without.
    pub(super) fn needed_literals(&self) -> Option<Vec<&SearchLiteral>> {
        let mut literals = Vec::new();
        for number in self.needed.as_ref()? {
            match self.predicates.get(*number)? {
                ValuePredicate {
                    path: ValuePath { base: ValueBase::Given, keys },
                    operand: PredicateOperand::Found(found),
                    ..
                } if keys.is_empty() => literals.extend(found),
                _ => return None,
            }
        }
        Some(literals)
    }

    /// `None` if its tests read several values.
    pub(super) fn only_path(&self) -> Option<&ValuePath> {
        let (first, rest) = self.predicates.split_first()?;
        let alone = matches!(first.path.base, ValueBase::Root(_)) && rest.iter().all(|other| other.path == first.path);
        alone.then_some(&first.path)
    }

    /// True if it only tests literals, so that its reasons name no other values.
    pub(super) fn is_plain(&self) -> bool {
        self.plain
    }

    /// Whether it reads one of these entries, by the numbers of their names.
    pub(super) fn read_any(&self, entries: &[u32]) -> bool {
        let is_asked = |base: &ValueBase| matches!(base, ValueBase::Root(name) if entries.contains(name));
        self.predicates.iter().any(|predicate| is_asked(&predicate.path.base))
    }

    pub(super) fn is_of_entries(&self) -> bool {
        self.predicates.iter().all(|predicate| matches!(predicate.path.base, ValueBase::Root(_)))
    }

    pub(super) fn is_of_given(&self) -> bool {
        self.predicates.iter().all(|predicate| predicate.path.base == ValueBase::Given)
    }

    /// `None` if it reads anything beside call fields, entries and the given value.
    pub(super) fn call_fields(&self) -> Option<[bool; 2]> {
        let mut fields = [false; 2];
        for predicate in &self.predicates {
            match predicate.path.base {
                ValueBase::Field(field) => *fields.get_mut(field as usize)? = true,
                ValueBase::Given | ValueBase::Root(_) => {}
                ValueBase::Tool | ValueBase::Calls => return None,
            }
        }
        Some(fields)
    }
}

/// Tests followed per condition.
const MOST: usize = 200;
/// Nested definitions followed.
const DEPTH: usize = 16;
/// Keys per path.
const KEYS: usize = 32;

#[derive(Clone)]
enum SymbolicValue {
    Value(ValuePath),
    Constant(PredicateOperand),
    /// A truth, and the tests of which one must hold, if known.
    Truth(Option<Vec<usize>>),
}

pub(super) struct CodeTracer<'p> {
    program: &'p Program,
    predicates: Vec<ValuePredicate>,
    selections: Option<Vec<SelectionRef>>,
    /// What the code asked for last needs that no projection gives.
    obstacle: Option<Need>,
}

impl<'p> CodeTracer<'p> {
    pub(super) fn new(program: &'p Program) -> Self {
        Self { program, predicates: Vec::new(), selections: None, obstacle: None }
    }

    /// Code whose binding values are given, and its whole-run selections, whose own reads are excluded.
    pub(super) fn with_selections(&mut self, code: CodeId) -> Option<(ConditionReads, Vec<SelectionRef>)> {
        self.predicates.clear();
        self.selections = Some(Vec::new());
        let read = self.trace_paths(code, DEPTH);
        let selections = self.selections.take()?;
        read?;
        Some((
            ConditionReads { predicates: std::mem::take(&mut self.predicates), needed: None, plain: false },
            selections,
        ))
    }

    /// `given`: whether it gets a value. `None` if its reads cannot be determined.
    pub(super) fn trace_condition(&mut self, code: CodeId, given: bool) -> Option<ConditionReads> {
        self.predicates.clear();
        let locals: Vec<SymbolicValue> = given
            .then(|| SymbolicValue::Value(ValuePath { base: ValueBase::Given, keys: Vec::new() }))
            .into_iter()
            .collect();
        let symbol = self.trace_chunk(code, &locals, DEPTH);
        if let Some(SymbolicValue::Truth(needed)) = symbol {
            return Some(ConditionReads { predicates: std::mem::take(&mut self.predicates), needed, plain: true });
        }
        self.predicates.clear();
        self.trace_paths(code, DEPTH)?;
        Some(ConditionReads { predicates: std::mem::take(&mut self.predicates), needed: None, plain: false })
    }

    /// What the code asked for last needs that no projection gives, where its read set cannot be told for that.
    pub(super) fn take_obstacle(&mut self) -> Option<Need> {
        self.obstacle.take()
    }

    /// The read set cannot be told, because of this.
    fn stop<T>(&mut self, need: Need) -> Option<T> {
        self.obstacle = Some(need);
        None
    }

    /// Records paths in any code: keys follow their root directly. `None` if it reads more than entries and fields.
    fn trace_paths(&mut self, code: CodeId, depth: usize) -> Option<()> {
        let Some(depth) = depth.checked_sub(1) else { return self.stop(Need::TooMuch) };
        let mut ops = self.program.code_ops(code)?.iter().peekable();
        while let Some(op) = ops.next() {
            let base = match *op {
                Op::Root(name) => ValueBase::Root(name.0),
                Op::StepField(name) => match of_step(self.name_text(name.0)?) {
                    Some(base) => base,
                    None => {
                        let field = self.name_text(name.0)?.to_owned();
                        return self.stop(Need::StepField(field));
                    }
                },
                Op::Let(number) => {
                    self.trace_paths(*self.program.lets.get(number.0 as usize)?, depth)?;
                    continue;
                }
                Op::CallDef(number, _) => {
                    self.trace_paths(self.program.defs.get(number.0 as usize)?.code, depth)?;
                    continue;
                }
                Op::Select(selection, _) | Op::Fold(_, selection, _) if self.selections.is_some() => {
                    self.selections.iter_mut().for_each(|all| all.push(selection));
                    continue;
                }
                Op::Binding(_) if self.selections.is_some() => continue,
                Op::Run() => return self.stop(Need::WholeRun),
                Op::Binding(_) => return self.stop(Need::Binding),
                Op::Select(..) | Op::Fold(..) => return self.stop(Need::SelectedSteps),
                Op::Collect(..) | Op::Step() | Op::StepOrRoot(_) | Op::StepOwn(_) | Op::Response() => {
                    return self.stop(Need::WholeSteps);
                }
                _ => continue,
            };
            let mut keys = Vec::new();
            while let Some(Op::Field(name, false)) = ops.peek() {
                keys.push(self.name_text(name.0)?.to_owned());
                ops.next();
            }
            let number = self.note_predicate(ValuePath { base, keys }, PredicateOperand::Other)?;
            if let Some(Op::Inspect(kind, _)) = ops.peek() {
                self.note_asked(number, *kind);
            }
        }
        Some(())
    }

    fn note_asked(&mut self, number: usize, kind: TestKind) {
        if let Some(predicate) = self.predicates.get_mut(number) {
            predicate.asks_for_key = matches!(kind, TestKind::Exists | TestKind::IsMissing | TestKind::IsEmpty);
        }
    }

    fn note_predicate(&mut self, path: ValuePath, operand: PredicateOperand) -> Option<usize> {
        let number = self.predicates.len();
        if number >= MOST || path.keys.len() > KEYS {
            return self.stop(Need::TooMuch);
        }
        if let ValueBase::Root(name) = path.base {
            let entry = self.name_text(name)?;
            if is_composed_entry(entry) {
                return self.stop(Need::of_entry(entry));
            }
        }
        self.predicates.push(ValuePredicate { path, operand, asks_for_key: false });
        Some(number)
    }

    pub(super) fn expression_path(&mut self, code: CodeId) -> Option<ValuePath> {
        self.predicates.clear();
        match self.trace_chunk(code, &[], DEPTH)? {
            SymbolicValue::Value(path) => Some(path),
            _ => None,
        }
    }

    fn trace_chunk(&mut self, code: CodeId, locals: &[SymbolicValue], depth: usize) -> Option<SymbolicValue> {
        let depth = depth.checked_sub(1)?;
        let ops = self.program.code_ops(code)?;
        let mut stack = Vec::new();
        for op in ops {
            self.trace_op(*op, locals, depth, &mut stack)?;
        }
        stack.pop().filter(|_| stack.is_empty())
    }

    /// Jumps that cannot change the answer are ignored: both ways read no more than this.
    fn trace_op(
        &mut self,
        op: Op,
        locals: &[SymbolicValue],
        depth: usize,
        stack: &mut Vec<SymbolicValue>,
    ) -> Option<()> {
        let symbol = match op {
            Op::SkipIfFalse(_) | Op::SkipIfTrue(_) | Op::SkipIfUnmet(_) => return Some(()),
            Op::Condition() => return matches!(stack.last()?, SymbolicValue::Truth(_)).then_some(()),
            Op::Constant(literal) => constant_symbol(self.program.constants.get(literal.0 as usize)?),
            Op::Param(param) => constant_symbol(self.program.params.get(param.0 as usize)?.default.as_ref()?),
            Op::Regex(pattern) => {
                // Nobody counts what a search for many literals takes: what could take long is left to the evaluation.
                let regex = self.program.regexes.get(pattern.0 as usize)?;
                let mut found = vec![SearchLiteral::Regex(pattern.0)];
                if asks_for_start(&regex.pattern) {
                    found.extend(SPELLING_SIGNS.map(|sign| SearchLiteral::Text(sign.to_owned())));
                }
                let found = PredicateOperand::Found(found);
                (!regex.backtracks && !regex.pattern.is_heavy()).then_some(SymbolicValue::Constant(found))?
            }
            Op::Root(name) => SymbolicValue::Value(ValuePath { base: ValueBase::Root(name.0), keys: Vec::new() }),
            Op::StepField(name) => {
                SymbolicValue::Value(ValuePath { base: of_step(self.name_text(name.0)?)?, keys: Vec::new() })
            }
            Op::Local(slot) => locals.get(slot.0 as usize)?.clone(),
            Op::Let(number) => self.trace_chunk(*self.program.lets.get(number.0 as usize)?, &[], depth)?,
            Op::CallDef(number, count) => {
                let from = stack.len().checked_sub(count.0 as usize)?;
                let given = stack.split_off(from);
                self.trace_chunk(self.program.defs.get(number.0 as usize)?.code, &given, depth)?
            }
            Op::Every(false) => self.every_call(stack.pop()?)?,
            Op::Field(name, spread) => field_symbol(stack.pop()?, self.name_text(name.0)?, spread)?,
            Op::Test(kind, negated) => {
                let (operand, subject) = (stack.pop()?, stack.pop()?);
                let SymbolicValue::Constant(operand) = operand else { return None };
                self.trace_test(subject, compared_operand(kind, operand), negated)?
            }
            Op::Inspect(kind, negated) => {
                let operand = match kind {
                    TestKind::Exists | TestKind::IsMissing => PredicateOperand::Presence,
                    _ => PredicateOperand::Other,
                };
                let number = self.predicates.len();
                let truth = self.trace_test(stack.pop()?, operand, negated)?;
                self.note_asked(number, kind);
                truth
            }
            Op::IsType(_, negated) => self.trace_test(stack.pop()?, PredicateOperand::Other, negated)?,
            Op::Not() | Op::Premise() => truth_tests(stack.pop()?).map(|_| SymbolicValue::Truth(None))?,
            Op::And() => {
                truth_tests(stack.pop()?)?;
                truth_tests(stack.pop()?).map(|_| SymbolicValue::Truth(None))?
            }
            Op::Or() => {
                let (right, left) = (truth_tests(stack.pop()?)?, truth_tests(stack.pop()?)?);
                SymbolicValue::Truth(left.zip(right).map(|(left, right)| [left, right].concat()))
            }
            _ => return None,
        };
        stack.push(symbol);
        Some(())
    }

    fn name_text(&self, number: u32) -> Option<&'p str> {
        self.program.names.get(number as usize).map(String::as_str)
    }

    fn every_call(&self, symbol: SymbolicValue) -> Option<SymbolicValue> {
        match symbol {
            SymbolicValue::Value(ValuePath { base: ValueBase::Root(root), keys })
                if keys.is_empty() && self.name_text(root) == Some("calls") =>
            {
                Some(SymbolicValue::Value(ValuePath { base: ValueBase::Calls, keys }))
            }
            _ => None,
        }
    }

    fn trace_test(
        &mut self,
        subject: SymbolicValue,
        operand: PredicateOperand,
        negated: bool,
    ) -> Option<SymbolicValue> {
        let SymbolicValue::Value(path) = subject else { return None };
        if path.base == ValueBase::Calls {
            return None;
        }
        let number = self.note_predicate(path, operand)?;
        Some(SymbolicValue::Truth((!negated).then(|| vec![number])))
    }
}

fn compared_operand(kind: TestKind, operand: PredicateOperand) -> PredicateOperand {
    use TestKind as K;
    match (kind, operand) {
        (K::Less | K::LessOrEqual | K::Greater | K::GreaterOrEqual, found @ PredicateOperand::Number(_)) => found,
        (K::Matches | K::Contains, PredicateOperand::Found(found)) => match found.as_slice() {
            [SearchLiteral::Regex(_), ..] => PredicateOperand::Found(found),
            [SearchLiteral::Text(text)] if kind == K::Contains => {
                PredicateOperand::Found(needed_parts(text).into_iter().map(SearchLiteral::Text).collect())
            }
            _ => PredicateOperand::Other,
        },
        _ => PredicateOperand::Other,
    }
}

fn constant_symbol(constant: &Constant) -> SymbolicValue {
    SymbolicValue::Constant(match constant {
        Constant::Text(text) => PredicateOperand::Found(vec![SearchLiteral::Text(text.clone())]),
        Constant::Number(text) => small_integer(text).map_or(PredicateOperand::Other, PredicateOperand::Number),
        _ => PredicateOperand::Other,
    })
}

fn of_step(name: &str) -> Option<ValueBase> {
    if name == "tool" { Some(ValueBase::Tool) } else { CallField::parse(name).map(ValueBase::Field) }
}

fn truth_tests(symbol: SymbolicValue) -> Option<Option<Vec<usize>>> {
    match symbol {
        SymbolicValue::Truth(needed) => Some(needed),
        _ => None,
    }
}

fn field_symbol(symbol: SymbolicValue, name: &str, spread: bool) -> Option<SymbolicValue> {
    let SymbolicValue::Value(mut path) = symbol else { return None };
    if spread != (path.base == ValueBase::Calls) {
        return None;
    }
    path.keys.push(name.to_owned());
    Some(SymbolicValue::Value(path))
}
