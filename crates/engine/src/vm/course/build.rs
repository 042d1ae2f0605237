//! From a statement to its monitor.

use super::adjacency::{Edge, Immediate, Only};
use super::arguments::ArgsValid;
use super::before_first::NeverBefore;
use super::concurrency::Together;
use super::count::{Count, Test};
use super::each::Each;
use super::exact::Exact;
use super::flow::FlowMonitor;
use super::monitor::Monitor;
use super::occurrence::{NotBoth, Occurs, Partners};
use super::precedence::Precedence;
use super::predicate::{NoneIn, NoneInSteps};
use super::repeat::Repeat;
use super::response::Response;
use super::sequence::Sequence;
use super::statement::Statement;
use super::view::View;
use super::window::{All, NeverAfter, NeverBetween};
use crate::ir::Course;
use crate::vm::fault::Fault;
use averment_syntax::ast::SequenceMode;
use std::sync::Arc;

/// A fresh monitor for the statement of a view.
pub(super) fn monitor<'run>(
    view: &View<'_, 'run>,
    statement: &Statement,
) -> Result<Box<dyn Monitor<'run> + 'run>, Fault> {
    let Some(entry) = view.entry else { return Err(crate::vm::machine::broken()) };
    Ok(match &entry.course {
        Course::Require { times: Some(times), .. } => Box::new(Count::new(Test::Times(*times))),
        Course::Require { times: None, .. } | Course::Either { .. } => Box::new(Occurs::new(view, true)),
        Course::Never { .. } => Box::new(Occurs::new(view, false)),
        Course::NeverAfter { steps, within, .. } => {
            Box::new(All::new(view, steps.len(), |slots| NeverAfter::new(view, slots, *within)))
        }
        Course::NeverBefore { steps, within, .. } => {
            Box::new(All::new(view, steps.len(), |slots| NeverBefore::new(view, slots, *within)))
        }
        Course::NeverBetween { steps, within, .. } => {
            Box::new(All::new(view, steps.len(), |slots| NeverBetween::new(view, slots, *within)))
        }
        Course::Only { .. } => Box::new(Only::new()),
        Course::Count { test, .. } => Box::new(Count::new(Test::Code(*test))),
        Course::First { .. } => Box::new(Edge::new(false)),
        Course::Last { .. } => Box::new(Edge::new(true)),
        Course::Before { immediately: true, within, .. } => Box::new(Immediate::new(false, *within)),
        Course::Before { each, within, .. } => Box::new(Precedence::new(view, *each, *within)),
        Course::After { immediately: true, within, .. } => Box::new(Immediate::new(true, *within)),
        Course::After { each, within, .. } => Box::new(Response::new(view, *each, *within)),
        Course::Sequence { mode: SequenceMode::Gaps, within, .. } => Box::new(Sequence::new(view, *within)),
        Course::Sequence { mode, within, .. } => Box::new(Exact::new(view, *mode == SequenceMode::Exactly, *within)),
        Course::Together { .. } => Box::new(Together::new(view, true)),
        Course::Apart { .. } => Box::new(Together::new(view, false)),
        Course::IfThen { .. } => Box::new(Partners::new(view, false)),
        Course::Iff { .. } => Box::new(Partners::new(view, true)),
        Course::NotBoth { .. } => Box::new(NotBoth::new(view)),
        Course::Repeat { limit, .. } => Box::new(Repeat::new(*limit)),
        Course::Flow { .. } => match &statement.automaton {
            Some(automaton) => Box::new(FlowMonitor::new(view, Arc::clone(automaton))),
            None => {
                return Err(Fault::Other("this flow is too large: its repetitions need too many states".to_owned()));
            }
        },
        Course::Each { quantifier, condition, .. } => Box::new(Each::new(*quantifier, *condition)),
        Course::NoneIn { values, predicate } => Box::new(NoneIn::new(*values, *predicate)),
        Course::NoneInSteps { predicate, .. } => Box::new(NoneInSteps::new(*predicate)),
        Course::ArgsValid { step, strict } => Box::new(ArgsValid::new(view, step.is_none(), *strict)),
    })
}
