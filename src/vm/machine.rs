//! The machine: evaluates one chunk of code in one scope.

use super::context::Scope;
use super::fault::Fault;
use super::prepare::Prepared;
use crate::bytecode::program::{CodeId, Program};
use crate::limits::Limits;
use crate::trace::run::Run;
use crate::truth::Truth;
use crate::value::Node;
use bumpalo::Bump;

/// Evaluates the code of one program on one run. It keeps what the whole run shares: the values of `let`s and the memory that computed values took.
pub struct Machine<'run> {
    /// The program.
    pub program: &'run Program,
    /// What was built from the program once per process.
    pub prepared: &'run Prepared,
    /// The run.
    pub run: &'run Run<'run>,
    /// Where computed values live.
    pub arena: &'run Bump,
    limits: Limits,
    fuel: u64,
}

impl<'run> Machine<'run> {
    /// A machine for one program and one run.
    #[must_use]
    pub fn new(
        program: &'run Program,
        prepared: &'run Prepared,
        run: &'run Run<'run>,
        arena: &'run Bump,
        limits: Limits,
    ) -> Self {
        Self { program, prepared, run, arena, limits, fuel: limits.fuel }
    }

    /// Gives the next assertion its full share of fuel.
    pub fn refuel(&mut self) {
        self.fuel = self.limits.fuel;
    }

    /// Takes fuel for work outside the machine (a match, a step of an automaton): one unit is about one instruction.
    pub fn spend(&mut self, units: u64) -> Result<(), Fault> {
        self.fuel = self.fuel.checked_sub(units).ok_or(Fault::Fuel)?;
        Ok(())
    }

    /// The value of an expression. Test outcomes come as [`crate::value::Value::Truth`].
    pub fn evaluate(&mut self, code: CodeId, scope: &Scope<'_, 'run>) -> Result<Node<'run>, Fault> {
        let _ = (code, scope);
        Err(Fault::Other("expressions cannot be evaluated yet".to_owned()))
    }

    /// The truth of a condition: missing is [`Truth::FalseByMissing`], absent is undecided, any other value that is
    /// no boolean is [`Fault::NotBoolean`].
    pub fn truth(&mut self, code: CodeId, scope: &Scope<'_, 'run>) -> Result<Truth, Fault> {
        let _ = self.evaluate(code, scope)?;
        Err(Fault::Other("expressions cannot be evaluated yet".to_owned()))
    }
}
