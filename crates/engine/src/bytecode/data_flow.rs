//! Which instruction made which value: the data flow of an expression, recovered from its code for reports.
//!
//! Control flow is structured, so that a walk from the first to the last instruction that ignores jumps sees every value made and used.

use super::ops::Op;
use averment_syntax::ast::ExprQuantifier;

/// The data flow of one expression. Instructions are counted from its start.
#[derive(Debug, Clone, Default)]
pub struct DataFlow {
    sources: Vec<Vec<usize>>,
    consumer: Vec<Option<usize>>,
    ends: Vec<Option<(usize, ExprQuantifier)>>,
}

/// How the truth of a part affects the truth of the whole.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TruthEffect {
    /// The whole can be false because the part is false.
    Same,
    /// The whole can be false because the part is true.
    Opposite,
    /// The part is not a condition of the whole: it is counted, used to choose, or used as a value.
    None,
}

impl TruthEffect {
    /// A part of a part.
    #[must_use]
    pub fn through_part(self, inner: Self) -> Self {
        match (self, inner) {
            (Self::None, _) | (_, Self::None) => Self::None,
            (a, b) if a == b => Self::Same,
            _ => Self::Opposite,
        }
    }
}

impl DataFlow {
    /// The data flow of verified code; of any other code some of it.
    #[must_use]
    pub fn from_ops(ops: &[Op]) -> Self {
        let mut flow =
            Self { sources: vec![Vec::new(); ops.len()], consumer: vec![None; ops.len()], ends: vec![None; ops.len()] };
        let mut stack: Vec<usize> = Vec::new();
        let mut loops: Vec<(ExprQuantifier, Option<usize>)> = Vec::new();
        for (at, op) in ops.iter().enumerate() {
            let (pops, pushes) = op.effect();
            let taken = stack.split_off(stack.len().saturating_sub(pops as usize));
            for &source in &taken {
                if let Some(place) = flow.consumer.get_mut(source) {
                    *place = Some(at);
                }
            }
            if let Some(place) = flow.sources.get_mut(at) {
                *place = taken;
            }
            stack.extend((0..pushes).map(|_| at));
            match op {
                Op::Begin(quantifier) => loops.push((*quantifier, None)),
                Op::Repeat(_) => {
                    if let Some(open) = loops.last_mut() {
                        open.1 = Some(at);
                    }
                }
                Op::End() => flow.close_loop(loops.pop(), at),
                _ => {}
            }
        }
        flow
    }

    fn close_loop(&mut self, open: Option<(ExprQuantifier, Option<usize>)>, at: usize) {
        if let Some((quantifier, Some(repeat))) = open
            && let Some(place) = self.ends.get_mut(repeat)
        {
            *place = Some((at, quantifier));
        }
    }

    /// The instructions that made the values which an instruction takes.
    #[must_use]
    pub fn sources(&self, at: usize) -> &[usize] {
        self.sources.get(at).map_or(&[], Vec::as_slice)
    }

    /// How the truth that an instruction produces affects the truth of the whole expression.
    #[must_use]
    pub fn truth_effect(&self, ops: &[Op], mut at: usize) -> TruthEffect {
        let mut polarity = TruthEffect::Same;
        while let Some(user) = self.consumer.get(at).copied().flatten() {
            match ops.get(user) {
                Some(Op::Not() | Op::Premise()) => polarity = polarity.through_part(TruthEffect::Opposite),
                Some(Op::And() | Op::Or() | Op::Condition()) => {}
                Some(Op::Choose()) if self.sources(user).first() != Some(&at) => {}
                Some(Op::Repeat(_)) => match self.ends.get(user).copied().flatten() {
                    Some((end, quantifier)) => {
                        match quantifier {
                            ExprQuantifier::Any | ExprQuantifier::All => {}
                            ExprQuantifier::No => polarity = polarity.through_part(TruthEffect::Opposite),
                            ExprQuantifier::Count => return TruthEffect::None,
                        }
                        at = end;
                        continue;
                    }
                    None => return TruthEffect::None,
                },
                _ => return TruthEffect::None,
            }
            at = user;
        }
        polarity
    }
}
