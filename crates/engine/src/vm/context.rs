//! What is in scope while something is judged: the window of a block, the values of bindings, the step, the response.
//!
//! `evaluate` starts with [`JudgeContext::of_run`]; the engine of `vm::temporal` opens windows and hands on contexts of its own. Its two entries:
//!
//! - `Engine::judge(&mut self, &mut Machine<'run>, TemporalId, &Context<'run>) -> Result<Finding, Fault>`
//! - `Engine::scoped(&mut self, &mut Machine<'run>, &ir::Scope<PatternId>, &Context<'run>, &mut dyn FnMut(&mut Engine<'run>,
//!   &mut Machine<'run>, &Context<'run>) -> Result<Finding, Fault>) -> Result<Finding, Fault>`: the verdict over all windows

use averment_base::value::Node;
use averment_runs::run::{Run, Step};
use smallvec::SmallVec;

/// Violations of one assertion on one run that are listed, unless somebody asks for more; all of them are counted.
pub const LISTED: usize = 100;

/// The steps that a statement is judged on: a range of [`Run::steps`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StepWindow {
    /// Index of the first step.
    pub start: usize,
    /// Index behind the last step.
    pub end: usize,
    /// True when no step can be added any more: a closing step stands at `end`, or the run is complete.
    pub closed: bool,
}

/// The context in which a statement of a block or group is judged.
#[derive(Debug, Clone)]
pub struct JudgeContext<'run> {
    /// The steps it looks at.
    pub window: StepWindow,
    /// The values of the assertion's bindings that block headers gave, by [`averment_checker::ir::Binding`].
    pub bindings: SmallVec<[Option<Node<'run>>; 1]>,
    /// The step of an `each A { … }`.
    pub step: Option<&'run Step<'run>>,
    /// The response of the call that an invariant judges.
    pub response: Option<Node<'run>>,
    /// True if a pass needs evidence, too: behind `not` it is the failure.
    pub proves_passes: bool,
    /// True if reasons and remarks are requested.
    pub explains: bool,
    /// False if of these remarks alone are: what a statement fails by is not put into words.
    pub tells_failures: bool,
    /// Violations listed per failure; with 0 they are not counted, either.
    pub listed: usize,
    /// True if a block without a window is skipped: an invariant does not apply to a run without its call.
    pub of_invariant: bool,
}

impl<'run> JudgeContext<'run> {
    /// The whole run, with nothing bound; `bindings` is how many the assertion has.
    #[must_use]
    pub fn of_run(run: &Run<'run>, bindings: usize) -> Self {
        let window = StepWindow { start: 0, end: run.steps.len(), closed: run.complete };
        Self {
            window,
            bindings: smallvec::smallvec![None; bindings],
            step: None,
            response: None,
            proves_passes: false,
            explains: true,
            tells_failures: true,
            listed: LISTED,
            of_invariant: false,
        }
    }

    /// The scope of an expression in this context.
    #[must_use]
    pub fn expression_scope(&self) -> ExpressionScope<'_, 'run> {
        ExpressionScope { step: self.step, bindings: &self.bindings, locals: &[], response: self.response }
    }
}

/// The scope of one expression, beside the run.
#[derive(Debug, Clone, Copy, Default)]
pub struct ExpressionScope<'a, 'run> {
    /// The step in scope: its fields come first.
    pub step: Option<&'run Step<'run>>,
    /// The values of bindings; one that is beyond the end or `None` is missing.
    pub bindings: &'a [Option<Node<'run>>],
    /// Given locals ([`averment_checker::ir::Local::VALUE`], [`averment_checker::ir::Local::COUNT`]); the others start as missing.
    pub locals: &'a [Node<'run>],
    /// The response of the call that an invariant judges.
    pub response: Option<Node<'run>>,
}

impl<'a, 'run> ExpressionScope<'a, 'run> {
    /// A step alone.
    #[must_use]
    pub fn of_step(step: &'run Step<'run>) -> Self {
        Self { step: Some(step), ..Self::default() }
    }

    /// Replaces the bindings.
    #[must_use]
    pub fn with_bindings(self, bindings: &'a [Option<Node<'run>>]) -> Self {
        Self { bindings, ..self }
    }

    /// Replaces the locals.
    #[must_use]
    pub fn with_locals(self, locals: &'a [Node<'run>]) -> Self {
        Self { locals, ..self }
    }
}
