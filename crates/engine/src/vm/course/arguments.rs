//! `args valid`, `args valid for A`, `args valid strict`: arguments fit the schemas that the tools declare.

use super::explain;
use super::monitor::{Judged, Monitor, Why};
use super::view::{Hit, View};
use crate::vm::fault::Fault;
use crate::vm::profile::Part;
use averment_base::value::{Object, Value};
use averment_builtins::schema::Violation;
use averment_runs::run::Kind;
use rustc_hash::FxHashMap;

/// The monitor.
pub(super) struct ArgsValid<'run> {
    strict: bool,
    /// True when every executed call is looked at, not only those that match a pattern.
    all: bool,
    tools: FxHashMap<&'run str, Option<u32>>,
    /// A call that surely matches and surely does not fit.
    sure: Option<Misfit>,
    /// A call that may.
    possible: Option<Misfit>,
    /// Calls of declared tools: surely some, perhaps some.
    declared: (bool, bool),
    /// How far all calls have been looked at.
    looked: usize,
}

/// How a call does not fit.
#[derive(Debug, Clone)]
pub(super) enum Misfit {
    /// Its tool is not declared.
    Unknown(u32),
    /// Its arguments break the schema.
    Breaks(u32, Violation),
    /// Its arguments are not recorded.
    Absent(u32),
}

/// What one call says.
enum Fits {
    Yes,
    Ignored,
    No(Misfit),
    Perhaps(Misfit),
}

impl<'run> ArgsValid<'run> {
    /// A monitor that has seen nothing.
    pub(super) fn new(view: &View<'_, 'run>, all: bool, strict: bool) -> Self {
        let tools = view.machine.program.tools.iter().map(|tool| (tool.name.as_str(), tool.arguments)).collect();
        Self { strict, all, tools, sure: None, possible: None, declared: (false, false), looked: 0 }
    }

    fn look(&mut self, number: u32, sure: bool, view: &mut View<'_, 'run>) -> Result<(), Fault> {
        let fits = self.fits(number, view)?;
        if !matches!(fits, Fits::Ignored) {
            self.declared = (self.declared.0 || sure, true);
        }
        let (misfit, certain) = match fits {
            Fits::Yes | Fits::Ignored => return Ok(()),
            Fits::No(misfit) => (misfit, sure),
            Fits::Perhaps(misfit) => (misfit, false),
        };
        let slot = if certain { &mut self.sure } else { &mut self.possible };
        slot.get_or_insert(misfit);
        Ok(())
    }

    fn fits(&self, number: u32, view: &mut View<'_, 'run>) -> Result<Fits, Fault> {
        let Some(step) = view.step(number).filter(|step| step.kind == Kind::Call) else { return Ok(Fits::Ignored) };
        let schema = match self.tools.get(step.name) {
            None if self.strict => return Ok(Fits::No(Misfit::Unknown(number))),
            None => return Ok(Fits::Ignored),
            Some(None) => return Ok(Fits::Yes),
            Some(Some(schema)) => *schema,
        };
        let value = match step.object.get("args").map(|node| node.value) {
            None | Some(Value::Absent | Value::Missing) => return Ok(Fits::Perhaps(Misfit::Absent(number))),
            Some(Value::Null) => Value::Object(Object::new(view.machine.arena, &[])),
            Some(value) => value,
        };
        view.spend(50)?;
        view.machine.costing(Part::Schema(schema), |machine| {
            let schema = machine.prepared.schema(machine.program, schema, &machine.limits)?;
            schema.charge(&value, &mut machine.meter)?;
            Ok(match schema.check(&value) {
                Ok(()) => Fits::Yes,
                Err(violation) => Fits::No(Misfit::Breaks(number, violation)),
            })
        })
    }
}

impl<'run> Monitor<'run> for ArgsValid<'run> {
    fn step(&mut self, hits: &[Hit], view: &mut View<'_, 'run>) -> Result<(), Fault> {
        let sure = hits.iter().any(|hit| hit.sure);
        match hits.first() {
            Some(hit) => self.look(hit.step, sure, view),
            None => Ok(()),
        }
    }

    fn judge(&mut self, view: &mut View<'_, 'run>) -> Result<Judged, Fault> {
        while let Some(&call) = view.calls.get(self.looked).filter(|_| self.all) {
            self.look(call, true, view)?;
            self.looked += 1;
        }
        let sure = self.sure.is_some();
        Ok(Judged {
            may_fail: sure || self.possible.is_some(),
            may_hold: !sure,
            failed_for_good: sure,
            exercised: Some((!self.declared.0, self.declared.1)),
            ..Judged::default()
        })
    }

    fn explain(&self, view: &mut View<'_, 'run>) -> Why {
        let misfit = self.sure.as_ref().or(self.possible.as_ref());
        misfit.map_or_else(Why::default, |misfit| explain::misfit(view, misfit))
    }

    fn sees_all_answers(&self) -> bool {
        true
    }
}
