//! Checks a program from a file before anything runs: every number in range, every jump forward, every stack balanced.
//!
//! The machine needs none of it to be safe (it has no unchecked access), but a program that passes gives no faults of its own, and
//! one that does not is refused with a sentence instead of failing somewhere inside a run.

mod names;
mod parts;

use super::ops::{InstructionOperand, Op, Target};
use super::program::{CodeChunk, Program};
use std::fmt;

/// The deepest stack that one expression may need.
pub const STACK_LIMIT: u32 = 1 << 20;
/// The most locals that one expression may use.
pub const LOCAL_LIMIT: u32 = 4096;

/// Why a program is not good.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct VerifyError(String);

impl VerifyError {
    fn new(text: impl Into<String>) -> Self {
        Self(text.into())
    }
}

impl fmt::Display for VerifyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for VerifyError {}

/// Checks a whole program.
pub fn verify_program(program: &Program) -> Result<(), VerifyError> {
    if program.spans.len() != program.code.len() {
        return Err(VerifyError::new("instructions and their places do not match"));
    }
    for (index, chunk) in program.chunks.iter().enumerate() {
        verify_chunk(program, *chunk).map_err(|error| VerifyError::new(format!("expression {index}: {error}")))?;
    }
    names::verify_names(program)?;
    parts::verify_tables(program)
}

fn verify_chunk(program: &Program, chunk: CodeChunk) -> Result<(), VerifyError> {
    let range = chunk.start as usize..chunk.end as usize;
    let ops = program.code.get(range).ok_or_else(|| VerifyError::new("its instructions are not in the program"))?;
    if chunk.locals > LOCAL_LIMIT || chunk.stack > STACK_LIMIT {
        return Err(VerifyError::new("it needs more locals or stack than the limit allows"));
    }
    let stack = stack_depth(ops)?;
    if stack != chunk.stack {
        return Err(VerifyError::new(format!("it says that it needs a stack of {} but needs {stack}", chunk.stack)));
    }
    for (at, op) in ops.iter().enumerate() {
        verify_operands(program, chunk, *op)
            .map_err(|what| VerifyError::new(format!("instruction {at} (`{}`): {what}", op.info().mnemonic)))?;
    }
    Ok(())
}

fn verify_operands(program: &Program, chunk: CodeChunk, op: Op) -> Result<(), VerifyError> {
    for operand in op.operands() {
        let (number, limit, what) = match operand {
            InstructionOperand::Literal(number) => (number, program.constants.len(), "literal"),
            InstructionOperand::Name(number) => (number, program.names.len(), "text"),
            InstructionOperand::Pattern(number) => (number, program.regexes.len(), "regular expression"),
            InstructionOperand::SchemaRef(number) => (number, program.schemas.len(), "schema"),
            InstructionOperand::Parameter(number) => (number, program.params.len(), "parameter"),
            InstructionOperand::LetRef(number) => (number, program.lets.len(), "`let`"),
            InstructionOperand::DefRef(number) => (number, program.defs.len(), "`def`"),
            InstructionOperand::CodeRef(number) => (number, program.chunks.len(), "expression"),
            InstructionOperand::SelectionRef(number) => (number, program.selections.len(), "selection"),
            InstructionOperand::Slot(number) => (number, chunk.locals as usize, "local"),
            // A binding that has no value is missing; jumps and amounts are part of the stack's balance.
            InstructionOperand::BindingRef(_) | InstructionOperand::Amount(_) | InstructionOperand::Target(_) => {
                continue;
            }
            InstructionOperand::Test(_)
            | InstructionOperand::Type(_)
            | InstructionOperand::Quantifier(_)
            | InstructionOperand::Flag(_) => continue,
        };
        if number as usize >= limit {
            return Err(VerifyError::new(format!("there is no {what} {number}")));
        }
    }
    match op {
        Op::Object(count, keys) => parts::object_keys(program, count, keys),
        Op::CallDef(def, count) => match program.defs.get(def.0 as usize) {
            Some(def) if def.parameters != count.0 => {
                Err(VerifyError::new("the `def` takes another number of arguments"))
            }
            _ => Ok(()),
        },
        Op::Select(selection, count) | Op::Fold(_, selection, count) => {
            match program.selections.get(selection.0 as usize) {
                Some(selection) if selection.given.len() != count.0 as usize => {
                    Err(VerifyError::new("the selection takes another number of values"))
                }
                _ => Ok(()),
            }
        }
        // The body has the locals that are there, and the element.
        Op::Collect(code, slot, _) => match program.chunks.get(code.0 as usize) {
            Some(body) if body.locals <= slot.0 => Err(VerifyError::new("the body has no room for its element")),
            _ => Ok(()),
        },
        _ => Ok(()),
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct StackState {
    stack: u32,
    loops: u32,
}

/// The deepest stack that the code of one expression needs; an error when its stack or its loops do not balance.
pub fn stack_depth(ops: &[Op]) -> Result<u32, VerifyError> {
    let mut walk = StackWalk { ops, before: vec![None; ops.len() + 1], deepest: 0 };
    let mut state = Some(StackState { stack: 0, loops: 0 });
    for (at, op) in ops.iter().enumerate() {
        let here = walk.join_states(at, state)?;
        state = walk.verify_step(at, *op, here)?;
    }
    match walk.join_states(ops.len(), state)? {
        StackState { stack: 1, loops: 0 } => Ok(walk.deepest),
        _ => Err(VerifyError::new("it does not leave exactly one value")),
    }
}

struct StackWalk<'a> {
    ops: &'a [Op],
    before: Vec<Option<StackState>>,
    deepest: u32,
}

impl StackWalk<'_> {
    fn join_states(&mut self, at: usize, falls: Option<StackState>) -> Result<StackState, VerifyError> {
        let jumps = self.before.get(at).copied().flatten();
        let state = match (falls, jumps) {
            (Some(a), Some(b)) if a != b => return Err(unbalanced_stack(at)),
            (Some(state), _) | (None, Some(state)) => state,
            (None, None) => return Err(VerifyError::new(format!("instruction {at} is never reached"))),
        };
        if let Some(place) = self.before.get_mut(at) {
            *place = Some(state);
        }
        Ok(state)
    }

    /// The state after an instruction; `None` when nothing falls through.
    fn verify_step(&mut self, at: usize, op: Op, state: StackState) -> Result<Option<StackState>, VerifyError> {
        let (pops, pushes) = op.effect();
        let stack = state.stack.checked_sub(pops).and_then(|stack| stack.checked_add(pushes));
        let mut next = StackState { stack: stack.ok_or_else(|| unbalanced_stack(at))?, ..state };
        match op {
            Op::SkipIfFalse(target) | Op::SkipIfTrue(target) | Op::SkipIfUnmet(target) => {
                self.require_values(at, state, 1)?;
                self.verify_jump(at, target, next)?;
            }
            Op::SkipThen(target) => self.verify_skip(at, target, state, 1)?,
            Op::SkipElse(target) => self.verify_skip(at, target, state, 2)?,
            Op::Begin(_) => next.loops += 1,
            Op::Next(_, exit) => {
                self.in_loop(at, state)?;
                self.verify_jump(at, exit, next)?;
            }
            Op::Repeat(target) => {
                self.in_loop(at, state)?;
                self.verify_back_jump(at, target, next)?;
                return Ok(None);
            }
            Op::End() => next.loops = next.loops.checked_sub(1).ok_or_else(|| unbalanced_stack(at))?,
            _ => {}
        }
        self.deepest = self.deepest.max(next.stack);
        if self.deepest > STACK_LIMIT {
            return Err(VerifyError::new("it needs more stack than the limit allows"));
        }
        Ok(Some(next))
    }

    fn require_values(&self, at: usize, state: StackState, values: u32) -> Result<(), VerifyError> {
        if state.stack < values { Err(unbalanced_stack(at)) } else { Ok(()) }
    }

    fn in_loop(&self, at: usize, state: StackState) -> Result<(), VerifyError> {
        if state.loops == 0 { Err(unbalanced_stack(at)) } else { Ok(()) }
    }

    fn verify_skip(&mut self, at: usize, target: Target, state: StackState, values: u32) -> Result<(), VerifyError> {
        self.require_values(at, state, values)?;
        let placed = StackState { stack: state.stack.saturating_add(1), ..state };
        self.deepest = self.deepest.max(placed.stack);
        self.verify_jump(at, target, placed)
    }

    fn verify_jump(&mut self, at: usize, target: Target, state: StackState) -> Result<(), VerifyError> {
        let to = target.0 as usize;
        let place = self.before.get_mut(to).filter(|_| to > at);
        let place = place.ok_or_else(|| VerifyError::new(format!("instruction {at} jumps to {to}")))?;
        match *place {
            Some(other) if other != state => Err(unbalanced_stack(to)),
            _ => {
                *place = Some(state);
                Ok(())
            }
        }
    }

    /// The only backward jump: from a loop body's end to its `next`, so the element count bounds it.
    fn verify_back_jump(&self, at: usize, target: Target, state: StackState) -> Result<(), VerifyError> {
        let to = target.0 as usize;
        let is_next = to < at && matches!(self.ops.get(to), Some(Op::Next(..)));
        if is_next && self.before.get(to).copied().flatten() == Some(state) {
            Ok(())
        } else {
            Err(unbalanced_stack(at))
        }
    }
}

fn unbalanced_stack(at: usize) -> VerifyError {
    VerifyError::new(format!("stack or loops do not balance at instruction {at}"))
}
