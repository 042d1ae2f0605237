//! Read sets: which values a condition looks at, and what it asks of each.
//!
//! Code is followed symbolically, without a run, where it is tests of paths against literals; of any other code the paths are taken that
//! stand in it. What comes out says what has to be read of a run, and which literals a text needs so that a predicate can hold of it. It
//! never says whether a condition holds.

use super::need::Need;
use super::predicate::{Base, Literal, Operand, Path, Predicate, small};
use averment_builtins::pattern::is_heavy;
use averment_engine::bytecode::ops::{Op, SelectionRef};
use averment_engine::bytecode::program::{CodeId, Program};
use averment_engine::ir::Constant;
use averment_runs::run::Kind;
use averment_syntax::ast::TestKind;
use averment_traces::projection::Field;

/// What a condition looks at.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct ConditionReads {
    /// Its tests, in order.
    pub(super) predicates: Vec<Predicate>,
    /// The tests of which one at least has to hold for it to be true, by number.
    needed: Option<Vec<usize>>,
    /// Whether it is nothing but tests against literals.
    plain: bool,
}

impl ConditionReads {
    /// The literals of which one at least has to stand in a given text for the condition to hold of it; `None` where it may hold without.
    pub(super) fn needed_literals(&self) -> Option<Vec<&Literal>> {
        let needed = self.needed.as_ref()?.iter().map(|number| self.predicates.get(*number));
        needed
            .map(|predicate| match predicate {
                Some(Predicate {
                    path: Path { base: Base::Given, keys }, operand: Operand::Found(literal), ..
                }) if keys.is_empty() => Some(literal),
                _ => None,
            })
            .collect()
    }

    /// The one value of the run that all its tests look at, where there is no other.
    pub(super) fn only_path(&self) -> Option<&Path> {
        let (first, rest) = self.predicates.split_first()?;
        let alone = matches!(first.path.base, Base::Root(_)) && rest.iter().all(|other| other.path == first.path);
        alone.then_some(&first.path)
    }

    /// Whether it is nothing but tests against literals: its reasons name no values but those that it tests.
    pub(super) fn is_plain(&self) -> bool {
        self.plain
    }

    /// Whether it looks at nothing but entries of the run.
    pub(super) fn is_of_entries(&self) -> bool {
        self.predicates.iter().all(|predicate| matches!(predicate.path.base, Base::Root(_)))
    }

    /// Whether it looks at nothing but the value that it is given.
    pub(super) fn is_of_given(&self) -> bool {
        self.predicates.iter().all(|predicate| predicate.path.base == Base::Given)
    }

    /// The fields of a call that it looks at; `None` where it looks at anything else but these, entries and the value that it is given.
    pub(super) fn fields(&self) -> Option<[bool; 2]> {
        let mut fields = [false; 2];
        for predicate in &self.predicates {
            match predicate.path.base {
                Base::Field(field) => *fields.get_mut(field as usize)? = true,
                Base::Given | Base::Root(_) => {}
                Base::Tool | Base::Calls => return None,
            }
        }
        Some(fields)
    }
}

/// Conditions are not followed beyond so many tests.
const MOST: usize = 200;
/// Definitions inside of each other that are followed.
const DEPTH: usize = 16;
/// Keys of one path.
const KEYS: usize = 32;

/// A value while code is followed.
#[derive(Clone)]
enum Symbol {
    Value(Path),
    Constant(Operand),
    /// A truth, with the tests of which one has to hold where that is known.
    Truth(Option<Vec<usize>>),
}

/// Follows the code of a program.
pub(super) struct Reader<'p> {
    program: &'p Program,
    predicates: Vec<Predicate>,
    /// The selections that code takes, where somebody asks for them.
    selections: Option<Vec<SelectionRef>>,
    /// What the code asked for last needs that no projection gives.
    obstacle: Option<Need>,
}

impl<'p> Reader<'p> {
    /// A reader for the code of a program.
    pub(super) fn new(program: &'p Program) -> Self {
        Self { program, predicates: Vec::new(), selections: None, obstacle: None }
    }

    /// The read set of code for which the values of bindings are there, and the selections that it takes of the whole run; what these look at
    /// is not in it.
    pub(super) fn with_selections(&mut self, code: CodeId) -> Option<(ConditionReads, Vec<SelectionRef>)> {
        self.predicates.clear();
        self.selections = Some(Vec::new());
        let read = self.paths(code, DEPTH);
        let selections = self.selections.take()?;
        read?;
        Some((
            ConditionReads { predicates: std::mem::take(&mut self.predicates), needed: None, plain: false },
            selections,
        ))
    }

    /// The read set of a condition, where it can be told. `given` says whether it is given a value.
    pub(super) fn condition(&mut self, code: CodeId, given: bool) -> Option<ConditionReads> {
        self.predicates.clear();
        let locals: Vec<Symbol> =
            given.then(|| Symbol::Value(Path { base: Base::Given, keys: Vec::new() })).into_iter().collect();
        let symbol = self.chunk(code, &locals, DEPTH);
        if let Some(Symbol::Truth(needed)) = symbol {
            return Some(ConditionReads { predicates: std::mem::take(&mut self.predicates), needed, plain: true });
        }
        self.predicates.clear();
        self.paths(code, DEPTH)?;
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

    /// Notes the paths that stand in any code. Whatever takes an entry or a field from the stack stands right behind it, so that keys which
    /// stand there are all that is read of it. `None` where more than entries and fields is read.
    fn paths(&mut self, code: CodeId, depth: usize) -> Option<()> {
        let Some(depth) = depth.checked_sub(1) else { return self.stop(Need::TooMuch) };
        let chunk = self.program.chunks.get(code.0 as usize)?;
        let mut ops = self.program.code.get(chunk.start as usize..chunk.end as usize)?.iter().peekable();
        while let Some(op) = ops.next() {
            let base = match *op {
                Op::Root(name) if is_list_of_steps(self.name(name.0)?) => {
                    let list = self.name(name.0)?.to_owned();
                    return self.stop(Need::List(list));
                }
                Op::Root(name) => Base::Root(name.0),
                Op::StepField(name) => match of_step(self.name(name.0)?) {
                    Some(base) => base,
                    None => {
                        let field = self.name(name.0)?.to_owned();
                        return self.stop(Need::StepField(field));
                    }
                },
                Op::Let(number) => {
                    self.paths(*self.program.lets.get(number.0 as usize)?, depth)?;
                    continue;
                }
                Op::CallDef(number, _) => {
                    self.paths(self.program.defs.get(number.0 as usize)?.code, depth)?;
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
                keys.push(self.name(name.0)?.to_owned());
                ops.next();
            }
            let number = self.note(Path { base, keys }, Operand::Other)?;
            if let Some(Op::Inspect(kind, _)) = ops.peek() {
                self.note_asked(number, *kind);
            }
        }
        Some(())
    }

    /// Notes that a test asks whether there is such a key.
    fn note_asked(&mut self, number: usize, kind: TestKind) {
        if let Some(predicate) = self.predicates.get_mut(number) {
            predicate.asks_for_key = matches!(kind, TestKind::Exists | TestKind::IsMissing | TestKind::IsEmpty);
        }
    }

    /// Notes a test; gives its number.
    fn note(&mut self, path: Path, operand: Operand) -> Option<usize> {
        let number = self.predicates.len();
        if number >= MOST || path.keys.len() > KEYS {
            return self.stop(Need::TooMuch);
        }
        self.predicates.push(Predicate { path, operand, asks_for_key: false });
        Some(number)
    }

    /// The path that an expression is.
    pub(super) fn path(&mut self, code: CodeId) -> Option<Path> {
        self.predicates.clear();
        match self.chunk(code, &[], DEPTH)? {
            Symbol::Value(path) => Some(path),
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

    /// One instruction. A jump over what cannot change the answer is not followed: both ways read no more than what stands here.
    fn op(&mut self, op: Op, locals: &[Symbol], depth: usize, stack: &mut Vec<Symbol>) -> Option<()> {
        let symbol = match op {
            Op::SkipIfFalse(_) | Op::SkipIfTrue(_) | Op::SkipIfUnmet(_) => return Some(()),
            Op::Condition() => return matches!(stack.last()?, Symbol::Truth(_)).then_some(()),
            Op::Constant(literal) => constant(self.program.constants.get(literal.0 as usize)?),
            Op::Param(param) => constant(self.program.params.get(param.0 as usize)?.default.as_ref()?),
            Op::Regex(pattern) => {
                // Nobody counts what a search for many literals takes: what could take long is left to the evaluation.
                let regex = self.program.regexes.get(pattern.0 as usize)?;
                let found = Operand::Found(Literal::Regex(pattern.0));
                (!regex.backtracks && !is_heavy(&regex.pattern)).then_some(Symbol::Constant(found))?
            }
            Op::Root(name) => Symbol::Value(Path { base: Base::Root(name.0), keys: Vec::new() }),
            Op::StepField(name) => Symbol::Value(Path { base: of_step(self.name(name.0)?)?, keys: Vec::new() }),
            Op::Local(slot) => locals.get(slot.0 as usize)?.clone(),
            Op::Let(number) => self.chunk(*self.program.lets.get(number.0 as usize)?, &[], depth)?,
            Op::CallDef(number, count) => {
                let from = stack.len().checked_sub(count.0 as usize)?;
                let given = stack.split_off(from);
                self.chunk(self.program.defs.get(number.0 as usize)?.code, &given, depth)?
            }
            Op::Every(false) => self.every(stack.pop()?)?,
            Op::Field(name, spread) => field(stack.pop()?, self.name(name.0)?, spread)?,
            Op::Test(kind, negated) => {
                let (operand, subject) = (stack.pop()?, stack.pop()?);
                let Symbol::Constant(operand) = operand else { return None };
                self.test(subject, compared(kind, operand), negated)?
            }
            Op::Inspect(kind, negated) => {
                let operand = match kind {
                    TestKind::Exists | TestKind::IsMissing => Operand::Presence,
                    _ => Operand::Other,
                };
                let number = self.predicates.len();
                let truth = self.test(stack.pop()?, operand, negated)?;
                self.note_asked(number, kind);
                truth
            }
            Op::IsType(_, negated) => self.test(stack.pop()?, Operand::Other, negated)?,
            Op::Not() | Op::Premise() => truth(stack.pop()?).map(|_| Symbol::Truth(None))?,
            Op::And() => {
                truth(stack.pop()?)?;
                truth(stack.pop()?).map(|_| Symbol::Truth(None))?
            }
            Op::Or() => {
                let (right, left) = (truth(stack.pop()?)?, truth(stack.pop()?)?);
                Symbol::Truth(left.zip(right).map(|(left, right)| [left, right].concat()))
            }
            _ => return None,
        };
        stack.push(symbol);
        Some(())
    }

    fn name(&self, number: u32) -> Option<&'p str> {
        self.program.names.get(number as usize).map(String::as_str)
    }

    /// `calls[*]`.
    fn every(&self, symbol: Symbol) -> Option<Symbol> {
        match symbol {
            Symbol::Value(Path { base: Base::Root(root), keys })
                if keys.is_empty() && self.name(root) == Some("calls") =>
            {
                Some(Symbol::Value(Path { base: Base::Calls, keys }))
            }
            _ => None,
        }
    }

    fn test(&mut self, subject: Symbol, operand: Operand, negated: bool) -> Option<Symbol> {
        let Symbol::Value(path) = subject else { return None };
        if path.base == Base::Calls {
            return None;
        }
        let number = self.note(path, operand)?;
        Some(Symbol::Truth((!negated).then(|| vec![number])))
    }
}

/// What decides a comparison with a literal.
fn compared(kind: TestKind, operand: Operand) -> Operand {
    use TestKind as K;
    match (kind, operand) {
        (K::Matches | K::Contains, found @ Operand::Found(Literal::Regex(_)))
        | (K::Contains, found @ Operand::Found(Literal::Text(_)))
        | (K::Less | K::LessOrEqual | K::Greater | K::GreaterOrEqual, found @ Operand::Number(_)) => found,
        _ => Operand::Other,
    }
}

/// A literal of the program.
fn constant(constant: &Constant) -> Symbol {
    Symbol::Constant(match constant {
        Constant::Text(text) => Operand::Found(Literal::Text(text.clone())),
        Constant::Number(text) => small(text).map_or(Operand::Other, Operand::Number),
        _ => Operand::Other,
    })
}

fn of_step(name: &str) -> Option<Base> {
    if name == "tool" { Some(Base::Tool) } else { Field::parse(name).map(Base::Field) }
}

/// Whether an entry is put together from the steps of the run.
fn is_list_of_steps(name: &str) -> bool {
    name == "steps" || Kind::ALL.iter().any(|kind| kind.list_key() == name)
}

fn truth(symbol: Symbol) -> Option<Option<Vec<usize>>> {
    match symbol {
        Symbol::Truth(needed) => Some(needed),
        _ => None,
    }
}

fn field(symbol: Symbol, name: &str, spread: bool) -> Option<Symbol> {
    let Symbol::Value(mut path) = symbol else { return None };
    if spread != (path.base == Base::Calls) {
        return None;
    }
    path.keys.push(name.to_owned());
    Some(Symbol::Value(path))
}
