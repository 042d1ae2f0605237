//! Expressions as formulas: tests of a value against a literal, joined by `and`, `or` and `not`.
//!
//! Code is read back into this form where it has it; equal tests of all assertions are one [`super::atom::Atom`].

use super::atom::{Atom, Base, Operand, Subject, Test};
use averment_base::truth::Truth;
use averment_builtins::pattern::is_heavy;
use averment_engine::bytecode::ops::Op;
use averment_engine::bytecode::program::{CodeId, Program};
use averment_engine::ir::Constant;
use rustc_hash::FxHashMap;

/// A condition made of tests.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Formula {
    /// A test, by number.
    Atom(u32),
    Not(Box<Formula>),
    And(Box<Formula>, Box<Formula>),
    Or(Box<Formula>, Box<Formula>),
}

impl Formula {
    /// Its truth; `None` where a test cannot be decided here.
    pub(super) fn truth(&self, atom: &mut impl FnMut(u32) -> Option<Truth>) -> Option<Truth> {
        Some(match self {
            Self::Atom(number) => atom(*number)?,
            Self::Not(inner) => !inner.truth(atom)?,
            Self::And(left, right) => match left.truth(atom)? {
                Truth::False => Truth::False,
                left => left.and(right.truth(atom)?),
            },
            Self::Or(left, right) => match left.truth(atom)? {
                Truth::True => Truth::True,
                left => left.or(right.truth(atom)?),
            },
        })
    }

    /// Its tests.
    pub(super) fn atoms(&self) -> Vec<u32> {
        match self {
            Self::Atom(number) => vec![*number],
            Self::Not(inner) => inner.atoms(),
            Self::And(left, right) | Self::Or(left, right) => [left.atoms(), right.atoms()].concat(),
        }
    }

    /// The tests of a formula that is one test or several joined by `or`; `None` for any other.
    pub(super) fn alternatives(&self, into: &mut Vec<u32>) -> Option<()> {
        match self {
            Self::Atom(number) => into.push(*number),
            Self::Or(left, right) => {
                left.alternatives(into)?;
                right.alternatives(into)?;
            }
            _ => return None,
        }
        Some(())
    }
}

/// Formulas are not made of more tests than this.
const MOST: usize = 200;
/// Definitions inside of each other that are followed.
const DEPTH: usize = 16;

/// A value while code is read back.
#[derive(Clone)]
enum Symbol {
    Value(Subject),
    Literal(Operand),
    Formula(Formula),
}

/// Reads code back.
pub(super) struct Reader<'p> {
    program: &'p Program,
    /// All tests so far.
    pub(super) atoms: Vec<Atom>,
    known: FxHashMap<Atom, u32>,
    budget: usize,
}

impl<'p> Reader<'p> {
    /// A reader for the code of a program.
    pub(super) fn new(program: &'p Program) -> Self {
        Self { program, atoms: Vec::new(), known: FxHashMap::default(), budget: 0 }
    }

    /// An expression as a formula. `local` says what its first local is, where it has one.
    pub(super) fn formula(&mut self, code: CodeId, local: Option<Base>) -> Option<Formula> {
        self.budget = MOST;
        let locals: Vec<Symbol> =
            local.map(|base| Symbol::Value(Subject { base, way: Vec::new() })).into_iter().collect();
        match self.chunk(code, &locals, DEPTH)? {
            Symbol::Formula(formula) => Some(formula),
            _ => None,
        }
    }

    /// An expression as a value that can be looked at.
    pub(super) fn subject(&mut self, code: CodeId) -> Option<Subject> {
        self.budget = MOST;
        match self.chunk(code, &[], DEPTH)? {
            Symbol::Value(subject) => Some(subject),
            _ => None,
        }
    }

    fn chunk(&mut self, code: CodeId, locals: &[Symbol], depth: usize) -> Option<Symbol> {
        let depth = depth.checked_sub(1)?;
        let chunk = self.program.chunks.get(code.0 as usize)?;
        let ops = self.program.code.get(chunk.start as usize..chunk.end as usize)?;
        let mut stack = Vec::new();
        for op in ops {
            self.op(*op, locals, depth, &mut stack)?;
        }
        stack.pop().filter(|_| stack.is_empty())
    }

    /// One instruction. A jump over what cannot change the answer is no change of it.
    fn op(&mut self, op: Op, locals: &[Symbol], depth: usize, stack: &mut Vec<Symbol>) -> Option<()> {
        let symbol = match op {
            Op::SkipIfFalse(_) | Op::SkipIfTrue(_) => return Some(()),
            Op::Condition() => return matches!(stack.last()?, Symbol::Formula(_)).then_some(()),
            Op::Constant(literal) => Symbol::Literal(Operand::of(self.program.constants.get(literal.0 as usize)?)?),
            Op::Param(param) => {
                Symbol::Literal(Operand::of(self.program.params.get(param.0 as usize)?.default.as_ref()?)?)
            }
            Op::Regex(pattern) => {
                // Nobody counts here what a search takes: what could take long is left to the evaluation.
                let text = &self.program.regexes.get(pattern.0 as usize)?.pattern;
                (!is_heavy(text)).then_some(Symbol::Literal(Operand::Regex(pattern.0)))?
            }
            Op::Root(name) => Symbol::Value(Subject { base: Base::Root(self.name(name.0)?), way: Vec::new() }),
            Op::StepField(name) => {
                Symbol::Value(Subject { base: Base::of_step(&self.name(name.0)?)?, way: Vec::new() })
            }
            Op::Local(slot) => locals.get(slot.0 as usize)?.clone(),
            Op::Let(number) => self.chunk(*self.program.lets.get(number.0 as usize)?, &[], depth)?,
            Op::CallDef(number, count) => {
                let from = stack.len().checked_sub(count.0 as usize)?;
                let given = stack.split_off(from);
                self.chunk(self.program.defs.get(number.0 as usize)?.code, &given, depth)?
            }
            Op::Every(false) => every(stack.pop()?)?,
            Op::Field(name, spread) => field(stack.pop()?, self.name(name.0)?, spread)?,
            Op::Test(kind, negated) => {
                let (operand, subject) = (stack.pop()?, stack.pop()?);
                self.test(Test::Compare(kind), negated, subject, Some(operand))?
            }
            Op::Inspect(kind, negated) => self.test(Test::Inspect(kind), negated, stack.pop()?, None)?,
            Op::IsType(ty, negated) => self.test(Test::Type(ty), negated, stack.pop()?, None)?,
            Op::Not() => Symbol::Formula(Formula::Not(Box::new(formula(stack.pop()?)?))),
            Op::And() | Op::Or() => {
                let (right, left) = (Box::new(formula(stack.pop()?)?), Box::new(formula(stack.pop()?)?));
                Symbol::Formula(if op == Op::And() { Formula::And(left, right) } else { Formula::Or(left, right) })
            }
            _ => return None,
        };
        stack.push(symbol);
        Some(())
    }

    fn name(&self, number: u32) -> Option<String> {
        self.program.names.get(number as usize).cloned()
    }

    fn test(&mut self, test: Test, negated: bool, subject: Symbol, operand: Option<Symbol>) -> Option<Symbol> {
        self.budget = self.budget.checked_sub(1)?;
        let Symbol::Value(subject) = subject else { return None };
        let operand = match operand {
            None => Operand::Nothing,
            Some(Symbol::Literal(operand)) => operand,
            Some(_) => return None,
        };
        let atom = Atom::new(subject, test, negated, operand)?;
        let next = u32::try_from(self.atoms.len()).ok()?;
        let number = *self.known.entry(atom.clone()).or_insert(next);
        if number == next {
            self.atoms.push(atom);
        }
        Some(Symbol::Formula(Formula::Atom(number)))
    }
}

fn formula(symbol: Symbol) -> Option<Formula> {
    match symbol {
        Symbol::Formula(formula) => Some(formula),
        _ => None,
    }
}

/// `calls[*]`.
fn every(symbol: Symbol) -> Option<Symbol> {
    match symbol {
        Symbol::Value(Subject { base: Base::Root(root), way }) if root == "calls" && way.is_empty() => {
            Some(Symbol::Value(Subject { base: Base::Calls, way }))
        }
        _ => None,
    }
}

fn field(symbol: Symbol, name: String, spread: bool) -> Option<Symbol> {
    let Symbol::Value(mut subject) = symbol else { return None };
    if spread != (subject.base == Base::Calls) {
        return None;
    }
    subject.way.push(name);
    Some(Symbol::Value(subject))
}

impl Operand {
    /// A literal of the program that tests can be made against here.
    fn of(constant: &Constant) -> Option<Self> {
        Some(match constant {
            Constant::Null => Self::Null,
            Constant::Boolean(value) => Self::Boolean(*value),
            Constant::Number(text) => Self::number(text),
            Constant::Text(text) => Self::text(text),
            Constant::List(items) => Self::List(items.iter().map(Self::of).collect::<Option<_>>()?),
            Constant::Object(_) => return None,
        })
    }
}
