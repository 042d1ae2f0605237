//! Statements about the course: the same statements with numbers for patterns and expressions, in the order in which they are written.

use super::Compiler;
use crate::bytecode::program::{CodeId, PatternId};
use crate::ir::{Course, Expr, Flow, Pattern};

/// Compiles a statement. One arm per statement, each only names its parts.
pub(super) fn compile(c: &mut Compiler, course: &Course<Pattern, Expr>) -> Course<PatternId, CodeId> {
    use Course as C;
    match course {
        C::Require { step, times } => C::Require { step: c.pattern(step), times: *times },
        C::Never { steps } => C::Never { steps: c.patterns(steps) },
        C::NeverAfter { steps, open, until, within } => {
            let (steps, open) = (c.patterns(steps), c.pattern(open));
            C::NeverAfter { steps, open, until: until.as_ref().map(|until| c.pattern(until)), within: *within }
        }
        C::NeverBefore { steps, close, within } => {
            C::NeverBefore { steps: c.patterns(steps), close: c.pattern(close), within: *within }
        }
        C::NeverBetween { steps, open, close, within } => {
            let (steps, open, close) = (c.patterns(steps), c.pattern(open), c.pattern(close));
            C::NeverBetween { steps, open, close, within: *within }
        }
        C::Only { steps } => C::Only { steps: c.patterns(steps) },
        C::Count { step, test } => C::Count { step: c.pattern(step), test: c.code(test, 1) },
        C::First { step } => C::First { step: c.pattern(step) },
        C::Last { step } => C::Last { step: c.pattern(step) },
        &C::Before { each, immediately, ref step, ref targets, within } => {
            C::Before { each, immediately, step: c.pattern(step), targets: c.patterns(targets), within }
        }
        &C::After { each, immediately, ref step, ref targets, within } => {
            C::After { each, immediately, step: c.pattern(step), targets: c.patterns(targets), within }
        }
        C::Sequence { mode, steps, within } => C::Sequence { mode: *mode, steps: c.patterns(steps), within: *within },
        C::Together { left, right } => C::Together { left: c.pattern(left), right: c.pattern(right) },
        C::Apart { left, right } => C::Apart { left: c.pattern(left), right: c.pattern(right) },
        C::IfThen { condition, consequence } => {
            C::IfThen { condition: c.pattern(condition), consequence: c.pattern(consequence) }
        }
        C::Iff { left, right } => C::Iff { left: c.pattern(left), right: c.pattern(right) },
        C::Either { steps } => C::Either { steps: c.patterns(steps) },
        C::NotBoth { left, right } => C::NotBoth { left: c.pattern(left), right: c.pattern(right) },
        C::Repeat { step, limit } => C::Repeat { step: c.pattern(step), limit: *limit },
        C::Flow { flow: parts } => C::Flow { flow: flow(c, parts) },
        C::Each { quantifier, step, condition } => {
            C::Each { quantifier: *quantifier, step: c.pattern(step), condition: c.code(condition, 0) }
        }
        C::NoneIn { values, predicate } => C::NoneIn { values: c.code(values, 0), predicate: c.code(predicate, 1) },
        C::NoneInSteps { step, predicate } => C::NoneInSteps { step: c.pattern(step), predicate: c.code(predicate, 1) },
        C::ArgsValid { step, strict } => {
            C::ArgsValid { step: step.as_ref().map(|step| c.pattern(step)), strict: *strict }
        }
    }
}

/// The depth of a flow is limited by that of the brackets it is written with.
fn flow(c: &mut Compiler, parts: &Flow<Pattern>) -> Flow<PatternId> {
    match parts {
        Flow::Step(step) => Flow::Step(c.pattern(step)),
        Flow::Sequence(parts) => Flow::Sequence(parts.iter().map(|part| flow(c, part)).collect()),
        Flow::Choice(parts) => Flow::Choice(parts.iter().map(|part| flow(c, part)).collect()),
        Flow::Repeat { body, least, most } => {
            Flow::Repeat { body: Box::new(flow(c, body)), least: *least, most: *most }
        }
    }
}
