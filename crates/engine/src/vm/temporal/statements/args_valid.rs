//! `args valid`, `args valid for A`, `args valid strict`: arguments fit the schemas that the tools declare.

use super::{Exercise, Exercised, Meaning, Statement, mixed};
use crate::bytecode::program::PatternId;
use crate::vm::fault::Fault;
use crate::vm::outcome::{Evidence, Role};
use crate::vm::profile::CostCenter;
use crate::vm::temporal::explain::why;
use crate::vm::temporal::failures::Failures;
use crate::vm::temporal::monitor::{Judged, Monitor, Why};
use crate::vm::temporal::view::{Hit, View};
use averment_base::value::{Node, Object, Value};
use averment_builtins::schema::Violation;
use averment_runs::run::Kind;
use rustc_hash::FxHashMap;

/// The definition; without a step it is about all calls.
pub(super) fn statement(step: Option<PatternId>, strict: bool) -> Statement {
    let meaning = ArgsValid { all: step.is_none(), strict };
    Statement::new(step.into_iter().map(mixed).collect(), Exercise::Own, meaning).of_calls()
}

#[derive(Debug)]
struct ArgsValid {
    /// True when every executed call is looked at, not only those that match a pattern.
    all: bool,
    strict: bool,
}

impl Meaning for ArgsValid {
    fn monitor<'run>(&self, view: &View<'_, 'run>) -> Result<Box<dyn Monitor<'run> + 'run>, Fault> {
        Ok(Box::new(ArgsValidMonitor::new(view, self.all, self.strict)))
    }

    fn vacuous(&self, view: &mut View<'_, '_>) -> String {
        let thing = if self.all { "call".to_owned() } else { view.pattern(0) };
        format!("there is no {thing} of a declared tool")
    }
}

/// The monitor.
struct ArgsValidMonitor<'run> {
    strict: bool,
    /// True when every executed call is looked at, not only those that match a pattern.
    all: bool,
    tools: FxHashMap<&'run str, Option<u32>>,
    /// The calls that surely match and surely do not fit.
    sure: Failures<CallMisfit>,
    /// A call that may.
    possible: Option<CallMisfit>,
    /// Calls of declared tools: surely some, perhaps some.
    declared: (bool, bool),
    /// How far all calls have been looked at.
    looked: usize,
}

/// How a call does not fit.
#[derive(Debug, Clone)]
enum CallMisfit {
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
    No(CallMisfit),
    Perhaps(CallMisfit),
}

impl<'run> ArgsValidMonitor<'run> {
    /// A monitor that has seen nothing.
    fn new(view: &View<'_, 'run>, all: bool, strict: bool) -> Self {
        let tools = view.machine.program.tools.iter().map(|tool| (tool.name.as_str(), tool.arguments)).collect();
        let sure = Failures::of(view);
        Self { strict, all, tools, sure, possible: None, declared: (false, false), looked: 0 }
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
        if certain {
            self.sure.push(misfit);
        } else {
            self.possible.get_or_insert(misfit);
        }
        Ok(())
    }

    fn fits(&self, number: u32, view: &mut View<'_, 'run>) -> Result<Fits, Fault> {
        let Some(step) = view.step(number).filter(|step| step.kind == Kind::Call) else { return Ok(Fits::Ignored) };
        let schema = match self.tools.get(step.name) {
            None if self.strict => return Ok(Fits::No(CallMisfit::Unknown(number))),
            None => return Ok(Fits::Ignored),
            Some(None) => return Ok(Fits::Yes),
            Some(Some(schema)) => *schema,
        };
        let value = match step.object.get("args").map(|node| node.value) {
            None | Some(Value::Absent | Value::Missing) => return Ok(Fits::Perhaps(CallMisfit::Absent(number))),
            Some(Value::Null) => Value::Object(Object::new(view.machine.arena, &[])),
            Some(value) => value,
        };
        view.spend(50)?;
        view.machine.costing(CostCenter::Schema(schema), |machine| {
            let schema = machine.prepared.schema(machine.program, schema, &machine.limits)?;
            schema.charge(&value, &mut machine.meter)?;
            Ok(match schema.check(&value) {
                Ok(()) => Fits::Yes,
                Err(violation) => Fits::No(CallMisfit::Breaks(number, violation)),
            })
        })
    }
}

impl<'run> Monitor<'run> for ArgsValidMonitor<'run> {
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
        let (sure, (declared, may_be_declared)) = (!self.sure.is_empty(), self.declared);
        Ok(Judged {
            may_fail: sure || self.possible.is_some(),
            may_hold: !sure,
            failed_for_good: sure,
            exercised: Some(Exercised { may_be_vacuous: !declared, may_pass: may_be_declared }),
            ..Judged::default()
        })
    }

    fn explain(&self, view: &mut View<'_, 'run>) -> Why {
        match &self.possible {
            Some(possible) if self.sure.is_empty() => explained(view, possible),
            _ => self.sure.explain(view, |view, misfit| Some(explained(view, misfit))),
        }
    }

    fn sees_all_answers(&self) -> bool {
        true
    }
}

/// A call whose arguments do not fit.
fn explained(view: &mut View<'_, '_>, misfit: &CallMisfit) -> Why {
    match misfit {
        CallMisfit::Unknown(step) => {
            let reason = format!("the tool of {} is not declared", view.say(*step));
            why(reason, vec![view.step_proof(*step, 0, Role::Decisive, String::new())])
        }
        CallMisfit::Absent(step) => {
            let reason = format!("the run does not record the arguments of {}", view.say(*step));
            why(reason, vec![view.step_proof(*step, 0, Role::Decisive, String::new())])
        }
        CallMisfit::Breaks(step, violation) => {
            let place =
                if violation.instance.is_empty() { String::new() } else { format!(" at `{}`", violation.instance) };
            let reason = format!("the arguments of {} do not fit{place}: {}", view.say(*step), violation.message);
            why(reason, vec![argument(view, *step, &violation.instance, &violation.message)])
        }
    }
}

/// The argument that breaks a schema, as evidence.
fn argument(view: &View<'_, '_>, step: u32, instance: &str, message: &str) -> Evidence {
    let whole = view.step_proof(step, 0, Role::Decisive, message.to_owned());
    let args = view.step(step).and_then(|step| step.object.get("args"));
    let node =
        args.and_then(|args| instance.split('/').skip(1).try_fold(args, |node, segment| inner(&node.value, segment)));
    Evidence {
        path: format!("{}/args{instance}", whole.path),
        value: node.map(|node| view.machine.proof(&node.value)),
        origin: node.and_then(|node| node.origin.range()).or(whole.origin.clone()),
        ..whole
    }
}

fn inner<'run>(value: &Value<'run>, segment: &str) -> Option<Node<'run>> {
    match value {
        Value::Object(object) => object.get(&segment.replace("~1", "/").replace("~0", "~")),
        Value::List(items) => items.get(segment.parse::<usize>().ok()?).copied(),
        _ => None,
    }
}
