//! `calls match VALUE`: the calls of the run are those that a value of the data expects, each by a call of its own.

#[path = "calls_match_reasons.rs"]
mod reasons;

use super::{ExerciseRule, StatementDefinition, StatementSemantics};
use crate::bytecode::program::CodeId;
use crate::vm::call_matching::{ArgumentComparison, ExpectedCall, ExpectedRoutes, RunCall, read_expected};
use crate::vm::context::ExpressionScope;
use crate::vm::fault::Fault;
use crate::vm::temporal::decision::Decision;
use crate::vm::temporal::explain::reason_with;
use crate::vm::temporal::search::Search;
use crate::vm::temporal::view::WindowView;
use crate::vm::temporal::window_events::{KnownPresence, PossibleOutcomes};
use averment_base::truth::Truth;
use averment_base::value::json::parse;
use averment_base::value::{Node, Object, ObjectEntry, Value};
use averment_builtins::assignment::{FittingPairs, MatchedPairs};
use averment_checker::ir::CallMatching;
use averment_runs::run::StepKind;
use averment_syntax::ast::MatchExtent;
use rustc_hash::FxHashMap;

/// Most cells of the table in which calls are matched in order.
const MOST_CELLS: usize = 4_000_000;

/// `calls match VALUE`.
pub(super) fn match_statement(expected: CodeId, matching: &CallMatching) -> StatementDefinition {
    let meaning = CallsMatchSemantics { expected, matching: matching.clone() };
    StatementDefinition::new(Vec::new(), ExerciseRule::Own, meaning).of_calls()
}

#[derive(Debug)]
struct CallsMatchSemantics {
    expected: CodeId,
    matching: CallMatching,
}

impl StatementSemantics for CallsMatchSemantics {
    fn decide(&self, search: &mut Search<'_, '_, '_>) -> Result<Option<Decision>, Fault> {
        let Some((view, _)) = search.window() else { return Ok(None) };
        let (code, matching) = (self.expected, &self.matching);
        let open = PossibleOutcomes { may_fail: true, may_hold: true, ..PossibleOutcomes::default() };
        let judged = match judge_routes(code, matching, view)? {
            JudgedRoutes::Routes(judged) => judged,
            JudgedRoutes::Unrecorded => {
                return Ok(Some(Decision::new(open).failing(move |view| reasons::not_recorded(view, code))));
            }
            JudgedRoutes::Unreadable(why) => {
                return Ok(Some(Decision::new(open).failing(move |_| reason_with(why.clone(), Vec::new()))));
            }
        };
        let exercised = judged.routes.iter().any(|route| match matching.extent {
            MatchExtent::Subset => route.made > 0,
            MatchExtent::Exactly | MatchExtent::Superset => route.expected > 0,
        });
        let holds = judged.routes.iter().any(|route| matching.is_met(&route.sure));
        let stands = PossibleOutcomes {
            may_fail: !holds,
            may_hold: judged.routes.iter().any(|route| matching.is_met(&route.possible)),
            failed_for_good: judged.routes.iter().all(|route| route.failed_for_good),
            fails_unproved: !holds && judged.routes.iter().any(|route| route.fits_alike(view.context.window.closed)),
            passed_for_good: holds && matching.extent == MatchExtent::Superset,
            exercised: Some(KnownPresence::of(exercised)),
            ..PossibleOutcomes::default()
        };
        let score = judged.nearest().map(|route| matching.score_of(&route.sure)).filter(|_| exercised);
        let again = matching.clone();
        let decision = Decision::new(stands).with_score(score);
        Ok(Some(decision.failing(move |view| reasons::failure_reason(view, code, &again).unwrap_or_default())))
    }

    fn vacuous_reason(&self, _: &mut WindowView<'_, '_>) -> String {
        match self.matching.extent {
            MatchExtent::Subset => "there are no calls to compare".to_owned(),
            MatchExtent::Exactly | MatchExtent::Superset => "no calls are expected".to_owned(),
        }
    }
}

/// A question about the calls that have a partner.
trait MatchCriterion {
    fn score_of(&self, matched: &MatchedPairs) -> f64;
    fn is_met(&self, matched: &MatchedPairs) -> bool;
}

impl MatchCriterion for CallMatching {
    /// The share of matched calls among all that need a partner; 1 where none does.
    fn score_of(&self, matched: &MatchedPairs) -> f64 {
        let (pairs, expected, made) = (matched.count(), matched.expected.len(), matched.made.len());
        let of_made = matched.made_count();
        match self.extent {
            MatchExtent::Exactly if self.repeats_ignored => {
                share(pairs.saturating_add(of_made), expected.saturating_add(made))
            }
            MatchExtent::Exactly => share(pairs, expected.max(made)),
            MatchExtent::Superset => share(pairs, expected),
            MatchExtent::Subset => share(of_made, made),
        }
    }

    fn is_met(&self, matched: &MatchedPairs) -> bool {
        self.score_of(matched) >= self.least_score.unwrap_or(1.0)
    }
}

fn share(part: usize, whole: usize) -> f64 {
    let number = |count: usize| f64::from(u32::try_from(count).unwrap_or(u32::MAX));
    if whole == 0 { 1.0 } else { number(part) / number(whole) }
}

/// One accepted route and how the calls of the run match it.
#[derive(Debug, Clone)]
struct JudgedRoute {
    expected: usize,
    made: usize,
    sure: MatchedPairs,
    possible: MatchedPairs,
    /// Whether the run would be as expected, and may still become so, if arguments that differ by their writing alone were equal. Then they
    /// are no evidence that other calls were made.
    alike_is_met: bool,
    alike_fails_for_good: bool,
    failed_for_good: bool,
    /// Whether some pair fits only perhaps.
    has_unknown: bool,
    /// Expected calls that fit some call, though another stands for that or it comes in another order.
    fitting: Vec<bool>,
}

impl JudgedRoute {
    fn fits_alike(&self, finished: bool) -> bool {
        if finished { self.alike_is_met } else { !self.alike_fails_for_good }
    }
}

struct JudgedCalls<'run> {
    expected: Vec<Vec<ExpectedCall<'run>>>,
    made: Vec<RunCall<'run>>,
    routes: Vec<JudgedRoute>,
    /// The number of the route that came nearest.
    nearest: usize,
}

impl JudgedCalls<'_> {
    fn nearest(&self) -> Option<&JudgedRoute> {
        self.routes.get(self.nearest)
    }
}

enum JudgedRoutes<'run> {
    Routes(JudgedCalls<'run>),
    Unrecorded,
    Unreadable(String),
}

fn judge_routes<'run>(
    code: CodeId,
    matching: &CallMatching,
    view: &mut WindowView<'_, 'run>,
) -> Result<JudgedRoutes<'run>, Fault> {
    let root = expected_value(code, view)?;
    let expected = match read_expected(root, view.machine.arena) {
        ExpectedRoutes::Routes(routes) => routes,
        ExpectedRoutes::Unrecorded => return Ok(JudgedRoutes::Unrecorded),
        ExpectedRoutes::Unreadable(why) => return Ok(JudgedRoutes::Unreadable(why)),
    };
    let made = made_calls(view);
    let defaults = tool_defaults(&expected, view)?;
    let comparison = ArgumentComparison::new(matching, |tool| defaults.get(tool).copied());
    let mut routes = Vec::with_capacity(expected.len());
    for route in &expected {
        routes.push(judge_route(route, &made, &comparison, view)?);
    }
    let mut nearest = 0;
    let mut best = f64::NEG_INFINITY;
    for (number, route) in routes.iter().enumerate() {
        let score = matching.score_of(&route.sure);
        if score > best {
            (nearest, best) = (number, score);
        }
    }
    Ok(JudgedRoutes::Routes(JudgedCalls { expected, made, routes, nearest }))
}

fn expected_value<'run>(code: CodeId, view: &mut WindowView<'_, 'run>) -> Result<Node<'run>, Fault> {
    let bindings = view.context.bindings.clone();
    let scope = ExpressionScope { bindings: &bindings, ..view.context.expression_scope() };
    view.machine.evaluate_code(code, &scope)
}

fn made_calls<'run>(view: &WindowView<'_, 'run>) -> Vec<RunCall<'run>> {
    let steps = view.calls.iter().filter_map(|number| Some((*number, view.step(*number)?)));
    let calls = steps.filter(|(_, step)| step.kind == StepKind::Call).map(|(number, step)| {
        let arguments = match step.object.get("args").map(|node| node.value) {
            None | Some(Value::Absent | Value::Missing) => None,
            Some(value) => Some(value),
        };
        RunCall { step: number, tool: step.name, arguments }
    });
    calls.collect()
}

/// The defaults that the schemas of the expected tools declare.
fn tool_defaults<'run>(
    expected: &[Vec<ExpectedCall<'run>>],
    view: &mut WindowView<'_, 'run>,
) -> Result<FxHashMap<&'run str, Object<'run>>, Fault> {
    let (program, arena) = (view.machine.program, view.machine.arena);
    let mut defaults = FxHashMap::default();
    if program.tools.is_empty() {
        return Ok(defaults);
    }
    let tools: FxHashMap<&str, Option<u32>> =
        program.tools.iter().map(|tool| (tool.name.as_str(), tool.arguments)).collect();
    for call in expected.iter().flatten() {
        let schema = tools.get(call.tool).copied().flatten().and_then(|number| program.schemas.get(number as usize));
        let Some(schema) = schema.filter(|_| !defaults.contains_key(call.tool)) else { continue };
        view.spend_fuel(schema.json.len() / 16)?;
        let Ok(document) = parse(&schema.json, 0, arena, &view.machine.limits) else { continue };
        let Value::Object(properties) = document.node.field("properties").value else { continue };
        let entries = properties.entries().iter().filter_map(|property| {
            let Value::Object(property_schema) = property.node.value else { return None };
            let value = property_schema.get("default")?.value;
            Some(ObjectEntry::computed(property.key, value))
        });
        let entries: Vec<ObjectEntry<'run>> = entries.collect();
        defaults.insert(call.tool, Object::new(arena, arena.alloc_slice_fill_iter(entries)));
    }
    Ok(defaults)
}

fn judge_route<'run>(
    expected: &[ExpectedCall<'run>],
    made: &[RunCall<'run>],
    comparison: &ArgumentComparison<'_, 'run>,
    view: &mut WindowView<'_, 'run>,
) -> Result<JudgedRoute, Fault> {
    let matching = comparison.matching();
    let mut pairs = FittingPairs::new(expected.len(), made.len());
    let mut alike_pairs = FittingPairs::new(expected.len(), made.len());
    for (row, wanted) in expected.iter().enumerate() {
        for (column, given) in made.iter().enumerate() {
            let fit = comparison.call_fit(wanted, given);
            pairs.note_fit(row, column, fit);
            alike_pairs.note_fit(row, column, Truth::from_bool(matches!(fit, Truth::True | Truth::FalseByMissing)));
        }
        view.spend_fuel(comparison.take_looked())?;
    }
    if matching.in_order {
        if pairs.cells() > MOST_CELLS {
            let (expected, made) = (expected.len(), made.len());
            return Err(Fault::Other(format!(
                "{expected} expected calls and {made} made ones are too many to match in order"
            )));
        }
        view.spend_fuel(pairs.cells() / 4)?;
    }
    let match_calls = |pairs: &FittingPairs, sure| match () {
        () if matching.repeats_ignored => pairs.match_repeatedly(sure),
        () if matching.in_order => pairs.match_in_order(sure),
        () => pairs.match_in_any_order(sure),
    };
    let has_unknown = pairs.has_unknown();
    let sure = match_calls(&pairs, true);
    let possible = if has_unknown { match_calls(&pairs, false) } else { sure.clone() };
    let alike = match_calls(&alike_pairs, true);
    let fitting = (0..expected.len()).map(|row| pairs.fits_any(row, true)).collect();
    let failed_for_good = fails_for_good(matching, &pairs, &possible);
    Ok(JudgedRoute {
        expected: expected.len(),
        made: made.len(),
        sure,
        possible,
        alike_is_met: matching.is_met(&alike),
        alike_fails_for_good: fails_for_good(matching, &alike_pairs, &alike),
        failed_for_good,
        has_unknown,
        fitting,
    })
}

/// Whether no further calls can make up for those that there are: each that comes may stand for a missing one at best.
fn fails_for_good(matching: &CallMatching, pairs: &FittingPairs, possible: &MatchedPairs) -> bool {
    let (count, expected, made) = (possible.count(), possible.expected.len(), possible.made.len());
    if matching.repeats_ignored {
        // Any number of calls may come that are expected, and their share grows towards all of them.
        let reachable = expected > 0 && matching.least_score.unwrap_or(1.0) < 1.0;
        return matching.extent != MatchExtent::Superset
            && !reachable
            && !matching.is_met(possible)
            && possible.extra().next().is_some();
    }
    let missing = expected.saturating_sub(count);
    let best = match matching.extent {
        MatchExtent::Superset => 1.0,
        MatchExtent::Exactly => share(expected, expected.saturating_add(made).saturating_sub(count)),
        MatchExtent::Subset => share(expected, made.saturating_add(missing)),
    };
    if best < matching.least_score.unwrap_or(1.0) {
        return true;
    }
    let is_strict = matching.in_order && matching.extent == MatchExtent::Exactly && matching.least_score.is_none();
    is_strict && (0..made).any(|place| !pairs.fits_at(place, place))
}
