//! `args valid`, `args valid for A`, `args valid strict`: arguments fit the schemas that the tools declare.

use super::{ExerciseRule, StatementDefinition, StatementSemantics, mixed_operands};
use crate::bytecode::program::PatternId;
use crate::vm::fault::Fault;
use crate::vm::outcome::{Role, VerdictEvidence};
use crate::vm::profile::CostCenter;
use crate::vm::temporal::decision::{Decision, FailureList};
use crate::vm::temporal::explain::reason_with;
use crate::vm::temporal::search::Search;
use crate::vm::temporal::view::WindowView;
use crate::vm::temporal::window_events::{KnownPresence, PossibleOutcomes, VerdictReason};
use averment_base::value::{Node, Object, Value};
use averment_builtins::schema::SchemaViolation;
use averment_runs::run::StepKind;
use rustc_hash::FxHashMap;

/// Without a step it covers all calls.
pub(super) fn args_statement(step: Option<PatternId>, strict: bool) -> StatementDefinition {
    let meaning = ArgsValidSemantics { all: step.is_none(), strict };
    StatementDefinition::new(mixed_operands(step.as_slice()), ExerciseRule::Own, meaning).of_calls()
}

#[derive(Debug)]
struct ArgsValidSemantics {
    /// True if every executed call is checked, not only matches of a pattern.
    all: bool,
    strict: bool,
}

impl StatementSemantics for ArgsValidSemantics {
    fn decide(&self, search: &mut Search<'_, '_, '_>) -> Result<Option<Decision>, Fault> {
        let Some((view, hits)) = search.window() else { return Ok(None) };
        let mut checked = CheckedCalls::new(view, self.strict);
        for step in hits.steps() {
            if let Some(first) = step.first() {
                checked.check_call(first.step, step.iter().any(|hit| hit.sure), view)?;
            }
        }
        for call in view.calls.iter().filter(|_| self.all) {
            checked.check_call(*call, true, view)?;
        }
        let CheckedCalls { sure, possible, declared, .. } = checked;
        let stands = PossibleOutcomes {
            exercised: Some(declared),
            ..PossibleOutcomes::unwanted(!sure.is_empty(), !sure.is_empty() || possible.is_some())
        };
        Ok(Some(Decision::new(stands).failing(move |view| match &possible {
            Some(possible) if sure.is_empty() => misfit_reason(view, possible),
            _ => sure.explain_places(view, |view, misfit| Some(misfit_reason(view, misfit))),
        })))
    }

    fn vacuous_reason(&self, view: &mut WindowView<'_, '_>) -> String {
        let thing = if self.all { "call".to_owned() } else { view.pattern_words(0) };
        format!("there is no {thing} of a declared tool")
    }
}

struct CheckedCalls<'run> {
    strict: bool,
    tools: FxHashMap<&'run str, Option<u32>>,
    sure: FailureList<CallMisfit>,
    possible: Option<CallMisfit>,
    /// Whether calls of declared tools surely occur, and whether they may.
    declared: KnownPresence,
}

#[derive(Debug, Clone)]
enum CallMisfit {
    Unknown(u32),
    Breaks(u32, SchemaViolation),
    Absent(u32),
    /// The schema of the tool cannot be used.
    Unusable(u32, String),
}

enum CallValidity {
    Yes,
    Ignored,
    No(CallMisfit),
    Perhaps(CallMisfit),
}

impl<'run> CheckedCalls<'run> {
    fn new(view: &WindowView<'_, 'run>, strict: bool) -> Self {
        let tools = view.machine.program.tools.iter().map(|tool| (tool.name.as_str(), tool.arguments)).collect();
        let sure = FailureList::new(view.listed);
        Self { strict, tools, sure, possible: None, declared: KnownPresence::of(false) }
    }

    fn check_call(&mut self, number: u32, sure: bool, view: &mut WindowView<'_, 'run>) -> Result<(), Fault> {
        let fits = self.call_validity(number, view)?;
        if !matches!(fits, CallValidity::Ignored) {
            self.declared = self.declared.or(KnownPresence { sure, possible: true });
        }
        let (misfit, certain) = match fits {
            CallValidity::Yes | CallValidity::Ignored => return Ok(()),
            CallValidity::No(misfit) => (misfit, sure),
            CallValidity::Perhaps(misfit) => (misfit, false),
        };
        if certain {
            self.sure.push(misfit);
        } else {
            self.possible.get_or_insert(misfit);
        }
        Ok(())
    }

    fn call_validity(&self, number: u32, view: &mut WindowView<'_, 'run>) -> Result<CallValidity, Fault> {
        let Some(step) = view.step(number).filter(|step| step.kind == StepKind::Call) else {
            return Ok(CallValidity::Ignored);
        };
        let schema = match self.tools.get(step.name) {
            None if self.strict => return Ok(CallValidity::No(CallMisfit::Unknown(number))),
            None => return Ok(CallValidity::Ignored),
            Some(None) => return Ok(CallValidity::Yes),
            Some(Some(schema)) => *schema,
        };
        let value = match step.object.get("args").map(|node| node.value) {
            None | Some(Value::Absent | Value::Missing) => {
                return Ok(CallValidity::Perhaps(CallMisfit::Absent(number)));
            }
            Some(Value::Null) => Value::Object(Object::new(view.machine.arena, &[])),
            Some(value) => value,
        };
        view.spend_fuel(50)?;
        view.machine.costing(CostCenter::Schema(schema), |machine| {
            let schema = match machine.prepared.schema_validator(machine.program, schema, &machine.limits) {
                Ok(schema) => schema,
                Err(Fault::Other(why)) => return Ok(CallValidity::Perhaps(CallMisfit::Unusable(number, why))),
                Err(fault) => return Err(fault),
            };
            schema.charge_check(&value, &mut machine.meter)?;
            Ok(match schema.check_value(&value) {
                Ok(()) => CallValidity::Yes,
                Err(violation) => CallValidity::No(CallMisfit::Breaks(number, violation)),
            })
        })
    }
}

fn misfit_reason(view: &mut WindowView<'_, '_>, misfit: &CallMisfit) -> VerdictReason {
    let (step, reason) = match misfit {
        CallMisfit::Unknown(step) => (*step, format!("the tool of {} is not declared", view.describe_step(*step))),
        CallMisfit::Absent(step) => {
            (*step, format!("the run does not record the arguments of {}", view.describe_step(*step)))
        }
        CallMisfit::Unusable(step, why) => {
            (*step, format!("the arguments of {} are not checked: {why}", view.describe_step(*step)))
        }
        CallMisfit::Breaks(step, violation) => {
            let place =
                if violation.instance.is_empty() { String::new() } else { format!(" at `{}`", violation.instance) };
            let reason =
                format!("the arguments of {} do not fit{place}: {}", view.describe_step(*step), violation.message);
            return reason_with(reason, vec![argument_evidence(view, *step, &violation.instance, &violation.message)]);
        }
    };
    view.step_reason(reason, step, 0)
}

fn argument_evidence(view: &WindowView<'_, '_>, step: u32, instance: &str, message: &str) -> VerdictEvidence {
    let whole = view.step_proof(step, 0, Role::Decisive, message.to_owned());
    let args = view.step(step).and_then(|step| step.object.get("args"));
    let node = args
        .and_then(|args| instance.split('/').skip(1).try_fold(args, |node, segment| child_value(&node.value, segment)));
    VerdictEvidence {
        path: format!("{}/args{instance}", whole.path),
        value: node.map(|node| view.machine.evidence_text(&node.value)),
        origin: node.and_then(|node| node.origin.byte_range()).or(whole.origin.clone()),
        ..whole
    }
}

fn child_value<'run>(value: &Value<'run>, segment: &str) -> Option<Node<'run>> {
    match value {
        Value::Object(object) => object.get(&segment.replace("~1", "/").replace("~0", "~")),
        Value::List(items) => items.get(segment.parse::<usize>().ok()?).copied(),
        _ => None,
    }
}
