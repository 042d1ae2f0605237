//! Why calls do not match the expected ones: what is missing, what is too much, and the call that came nearest.

use super::{JudgedCalls, JudgedRoute, JudgedRoutes, MatchCriterion, judge_routes, tool_defaults};
use crate::bytecode::program::CodeId;
use crate::vm::call_matching::{ArgumentComparison, ExpectedCall, RunCall};
use crate::vm::fault::Fault;
use crate::vm::locate;
use crate::vm::outcome::{Role, VerdictEvidence};
use crate::vm::temporal::decision::FailureList;
use crate::vm::temporal::explain::reason_with;
use crate::vm::temporal::view::WindowView;
use crate::vm::temporal::window_events::VerdictReason;
use averment_base::near::nearest_name;
use averment_base::value::json::json_start;
use averment_base::value::notation::notation_with;
use averment_base::value::{Node, Value};
use averment_base::words::count_noun;
use averment_builtins::detect::redacted_start;
use averment_checker::ir::CallMatching;
use averment_syntax::ast::MatchExtent;

/// Length of a value in a sentence.
const SHOWN: usize = 60;

/// A call without a partner.
#[derive(Debug, Clone, Copy)]
enum UnmatchedCall {
    Missing(usize),
    Extra(usize),
}

pub(super) fn not_recorded(view: &mut WindowView<'_, '_>, expected: CodeId) -> VerdictReason {
    let text = view.machine.rule_text(view.machine.code_span(expected));
    reason_with(format!("the run does not record `{text}`, so no calls are known to be expected"), Vec::new())
}

pub(super) fn failure_reason(
    view: &mut WindowView<'_, '_>,
    code: CodeId,
    matching: &CallMatching,
) -> Result<VerdictReason, Fault> {
    view.machine.refuel();
    let JudgedRoutes::Routes(judged) = judge_routes(code, matching, view)? else { return Ok(VerdictReason::default()) };
    let Some(route) = judged.nearest() else { return Ok(VerdictReason::default()) };
    if route.has_unknown && judged.routes.iter().any(|route| matching.is_met(&route.possible)) {
        return Ok(unknown_reason(view, &judged, route));
    }
    let defaults = tool_defaults(&judged.expected, view)?;
    let comparison = ArgumentComparison::new(matching, |tool| defaults.get(tool).copied());
    let mut unmatched = FailureList::new(view.listed);
    if matching.extent != MatchExtent::Subset {
        unmatched.extend(route.possible.missing().map(UnmatchedCall::Missing));
    }
    if matching.extent != MatchExtent::Superset {
        unmatched.extend(route.possible.extra().map(UnmatchedCall::Extra));
    }
    let words = RouteWords { judged: &judged, route, comparison: &comparison, matching, code };
    let mut number = 0usize;
    Ok(unmatched.explain_places(view, |view, call| {
        number = number.saturating_add(1);
        Some(words.explain_call(view, *call, number == 1))
    }))
}

fn unknown_reason(view: &WindowView<'_, '_>, judged: &JudgedCalls<'_>, route: &JudgedRoute) -> VerdictReason {
    let bare = judged.made.iter().find(|call| call.arguments.is_none());
    let unsure = route.possible.extra().chain(0..judged.made.len()).find_map(|place| judged.made.get(place));
    let Some(call) = bare.or(unsure) else { return VerdictReason::default() };
    let reason = format!("the run does not record all arguments of {}", view.describe_step(call.step));
    view.step_reason(reason, call.step, 0)
}

struct RouteWords<'w, 'run> {
    judged: &'w JudgedCalls<'run>,
    route: &'w JudgedRoute,
    comparison: &'w ArgumentComparison<'w, 'run>,
    matching: &'w CallMatching,
    code: CodeId,
}

impl<'run> RouteWords<'_, 'run> {
    fn expected_calls(&self) -> &[ExpectedCall<'run>] {
        self.judged.expected.get(self.judged.nearest).map_or(&[], Vec::as_slice)
    }

    fn explain_call(&self, view: &WindowView<'_, '_>, call: UnmatchedCall, is_first: bool) -> VerdictReason {
        let (what, mut evidence) = match call {
            UnmatchedCall::Missing(place) => self.explain_missing(view, place),
            UnmatchedCall::Extra(place) => self.explain_extra(view, place),
        };
        let reason = if is_first { format!("{}: {what}", self.summary()) } else { what };
        if let Some(first) = evidence.first_mut() {
            first.rule_span = Some(view.machine.code_span(self.code));
        }
        reason_with(reason, evidence)
    }

    /// `1 of 2 expected calls matched`, with the route and the score if the statement has them.
    fn summary(&self) -> String {
        let matched =
            |pairs: usize, all: usize, noun: &str| format!("{pairs} of {} matched", count_noun(all as u64, noun));
        let possible = &self.route.possible;
        let mut words = match (self.route.expected, self.matching.extent) {
            (0, _) => "no calls are expected".to_owned(),
            (_, MatchExtent::Subset) => matched(possible.made_count(), self.route.made, "call"),
            (expected, _) => matched(possible.count(), expected, "expected call"),
        };
        if self.judged.routes.len() > 1 {
            let number = self.judged.nearest.saturating_add(1);
            words = format!("route {number} of {} came nearest, {words}", self.judged.routes.len());
        }
        if let Some(least) = self.matching.least_score {
            let score = self.matching.score_of(&self.route.possible);
            words.push_str(&format!(", the score {} is below {least}", (score * 1000.0).round() / 1000.0));
        }
        words
    }

    fn explain_missing(&self, view: &WindowView<'_, '_>, place: usize) -> (String, Vec<VerdictEvidence>) {
        let Some(expected) = self.expected_calls().get(place) else { return Default::default() };
        let words = expected_words(expected);
        let mut evidence = vec![expected_evidence(view, expected)];
        if self.route.fitting.get(place) == Some(&true) {
            let why = if self.matching.in_order { "in this order" } else { "as often as expected" };
            return (format!("`{words}` was not made {why}"), evidence);
        }
        let Some((near, difference)) = self.nearest_call(expected) else {
            let names = self.judged.made.iter().map(|call| call.tool);
            let near = nearest_name(expected.tool, names).filter(|name| *name != expected.tool);
            let near = near.map_or_else(String::new, |near| format!("; did the run mean `{near}`?"));
            return (format!("`{words}` was not made{near}"), evidence);
        };
        evidence.push(view.step_proof(near.step, 0, Role::NearMiss, difference.clone()));
        (format!("`{words}` was not made; the nearest is {}: {difference}", view.describe_step(near.step)), evidence)
    }

    /// The call of the same tool, without a partner where there is one, that differs in the fewest arguments.
    fn nearest_call(&self, expected: &ExpectedCall<'run>) -> Option<(&RunCall<'run>, String)> {
        /// Calls that are compared for a hint.
        const MOST_COMPARED: usize = 200;
        let same = self.judged.made.iter().enumerate().filter(|(_, call)| call.tool == expected.tool);
        let (_, near) = same.take(MOST_COMPARED).min_by_key(|(place, call)| {
            let taken = self.route.possible.made.get(*place).copied().flatten().is_some();
            (taken, self.comparison.difference_count(expected, call))
        })?;
        let difference = self.comparison.first_difference(expected, near)?;
        let key =
            if difference.key.is_empty() { "what it is given".to_owned() } else { format!("`{}`", difference.key) };
        Some((
            near,
            match (difference.wanted, difference.given) {
                (Some(wanted), Some(given)) => format!("{key} is {}, expected {}", shown(&given), shown(&wanted)),
                (Some(wanted), None) => format!("{key} is missing, expected {}", shown(&wanted)),
                (None, Some(given)) => format!("{key} is {}, and not expected", shown(&given)),
                (None, None) => format!("{key} differs"),
            },
        ))
    }

    fn explain_extra(&self, view: &WindowView<'_, '_>, place: usize) -> (String, Vec<VerdictEvidence>) {
        let Some(call) = self.judged.made.get(place) else { return Default::default() };
        let step = view.describe_step(call.step);
        (format!("{step} is not expected"), vec![view.step_proof(call.step, 0, Role::Decisive, String::new())])
    }
}

/// `refund(id: 7, amount: 40)`.
fn expected_words(expected: &ExpectedCall<'_>) -> String {
    let arguments = match expected.arguments.map(|node| node.value) {
        None => String::new(),
        Some(Value::Object(object)) => {
            let words = notation_with(&Value::Object(object), SHOWN, redacted_start);
            let inner = words.strip_prefix('{').and_then(|rest| rest.strip_suffix('}')).unwrap_or(&words);
            format!("({})", inner.trim())
        }
        Some(_) => "(…)".to_owned(),
    };
    format!("{}{arguments}", expected.tool)
}

fn shown(node: &Node<'_>) -> String {
    notation_with(&node.value, SHOWN, redacted_start)
}

fn expected_evidence(view: &WindowView<'_, '_>, expected: &ExpectedCall<'_>) -> VerdictEvidence {
    VerdictEvidence {
        role: Role::Decisive,
        label: format!("expected: {}", expected_words(expected)),
        path: locate::node_pointer(view.machine.run, &expected.node).unwrap_or_default(),
        value: Some(json_start(&expected.node.value)),
        origin: expected.node.origin.byte_range(),
        ..VerdictEvidence::default()
    }
}
