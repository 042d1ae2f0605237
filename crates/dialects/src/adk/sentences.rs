//! Writes the cases of an eval set as cases of the rule language.

use super::criteria::{EvalCriteria, TrajectoryCriterion, TrajectoryMatch, read_criteria};
use super::eval_set::{ExpectedCall, ExpectedCase, ExpectedTurn, read_cases};
use crate::Lowering;
use crate::writer::{CaseLine, RuleWriter, UniqueLabels, WrittenCase, quote_text, value_literal};
use averment_base::diagnostic::Slug;
use averment_base::source::Span;

/// Binds `called` to the calls of the run, for comparison with the expected calls.
const CALLED: &str = "let called = ({ tool: tool, args: args } of calls)";
const UNTOLD_TURNS: &str = "undecided(\"a run does not tell which turn of the user a call belongs to\")";

/// Writes a case for each case of an eval set.
pub(super) fn lower_eval_set(document: &crate::yaml::YamlNode, lowering: &mut Lowering<'_>) {
    let criteria = read_criteria(lowering);
    check_thresholds(&criteria, document.span.at_start(), lowering);
    let cases = read_cases(document, lowering);
    if cases.is_empty() && !lowering.sink.has_errors() {
        let help = "write cases with a `conversation` under `eval_cases`";
        lowering.sink.error(Slug::Syntax, document.span.at_start(), "the eval set has no cases", help);
    }
    let mut labels = UniqueLabels::default();
    let mut out = RuleWriter::default();
    for case in &cases {
        let lines = case_lines(case, &criteria);
        if lines.is_empty() {
            if !lowering.sink.has_errors() {
                let message = format!("`{}` expects nothing: ADK passes it whatever the agent does", case.id);
                let help = "write the calls that are expected under `tool_uses`";
                lowering.sink.warning(Slug::AlwaysTrue, case.place, message, help);
            }
            continue;
        }
        let label = labels.unique_label(&case.id);
        let prompt = case.turns.first().and_then(|turn| Some((turn.prompt.as_deref()?, turn.place)));
        out.write_case(&WrittenCase { place: case.place, label: &label, remark: None, prompt, lines: &lines });
    }
    if out.contains_text("called") {
        lowering.out.write_line(document.span.at_start(), |out| out.put_text(CALLED));
    }
    lowering.out.append(out);
}

/// Reports thresholds outside of 0 to 1: every score reaches one of 0 or less, and no score reaches one above 1.
fn check_thresholds(criteria: &EvalCriteria, start: Span, lowering: &mut Lowering<'_>) {
    let trajectory = criteria.trajectory.as_ref();
    let thresholds = trajectory.map(|one| one.threshold).into_iter().chain(criteria.response);
    let place = trajectory.and_then(|one| one.place).unwrap_or(start);
    for threshold in thresholds {
        if threshold <= 0.0 || threshold > 1.0 {
            let message = format!("a threshold is {threshold}, and scores are from 0 to 1");
            lowering.sink.error(Slug::TypeMismatch, place, message, "write a threshold above 0 and up to 1");
        }
    }
}

fn case_lines(case: &ExpectedCase, criteria: &EvalCriteria) -> Vec<CaseLine> {
    let mut lines = Vec::new();
    if case.is_simulated {
        return vec![CaseLine::undecided(case.place, "a simulated user leads the conversation, and a model judges it")];
    }
    if let Some(criterion) = &criteria.trajectory {
        lines.extend(trajectory_line(case, criterion));
    }
    if let Some(threshold) = criteria.response {
        lines.extend(response_line(&case.turns, threshold));
    }
    for (metric, place) in &criteria.judged {
        let why = format!("`{metric}` is judged by a model or a program");
        lines.push(CaseLine::undecided(*place, &why));
    }
    lines
}

/// Writes the assertion about the trajectory. Its score is the mean over the turns, each of which scores 0 or 1.
fn trajectory_line(case: &ExpectedCase, criterion: &TrajectoryCriterion) -> Option<CaseLine> {
    let several = case.turns.len() > 1;
    let calls: Vec<&ExpectedCall> = case.turns.iter().flat_map(|turn| &turn.calls).collect();
    let place = match calls.as_slice() {
        [first, .., last] => first.place.cover_with(last.place),
        [only] => only.place,
        [] => case.turns.first().map_or(case.place, |turn| turn.place),
    };
    // If a single failed turn still satisfies the threshold, the verdict depends on the individual turns, which a run does not record.
    let turns = u32::try_from(case.turns.len()).map_or(f64::INFINITY, f64::from);
    if several && criterion.threshold <= (turns - 1.0) / turns {
        return Some(CaseLine::new(place, UNTOLD_TURNS));
    }
    let same = all_calls(&calls, criterion)?;
    Some(match several && !calls.is_empty() {
        // A mismatch over all turns together is a mismatch in at least one turn, and every turn has to pass.
        true => CaseLine::new(place, format!("{same} and {UNTOLD_TURNS}")),
        false => CaseLine::new(place, same),
    })
}

/// Returns a condition that compares all calls; `None` if no calls are expected.
fn all_calls(calls: &[&ExpectedCall], criterion: &TrajectoryCriterion) -> Option<String> {
    let literal = |call: &&ExpectedCall| match criterion.ignores_args {
        true => quote_text(&call.tool),
        false => {
            let args = call.args.as_ref().map_or_else(|| "null".to_owned(), value_literal);
            format!("{{ tool: {}, args: {args} }}", quote_text(&call.tool))
        }
    };
    let wanted: Vec<String> = calls.iter().map(literal).collect();
    let made = if criterion.ignores_args { "(tool of calls)" } else { "called" };
    let is_exact = criterion.order == TrajectoryMatch::Exact;
    if wanted.is_empty() {
        return is_exact.then(|| "length(calls) == 0".to_owned());
    }
    Some(match criterion.order {
        TrajectoryMatch::Exact => format!("{made} == [{}]", wanted.join(", ")),
        TrajectoryMatch::InOrder => format!("contains_in_order({made}, [{}])", wanted.join(", ")),
        TrajectoryMatch::AnyOrder => {
            let mut counted: Vec<(&String, usize)> = Vec::new();
            for one in &wanted {
                match counted.iter_mut().find(|(known, _)| *known == one) {
                    Some((_, often)) => *often = often.saturating_add(1),
                    None => counted.push((one, 1)),
                }
            }
            let test = |(one, often): &(&String, usize)| format!("(count c in {made}: c == {one}) >= {often}");
            counted.iter().map(test).collect::<Vec<_>>().join(" and ")
        }
    })
}

/// Writes the assertion about the answer. ADK compares word stems, which finds at least as many common words, so a match without stemming is also a
/// match for ADK.
fn response_line(turns: &[ExpectedTurn], threshold: f64) -> Option<CaseLine> {
    let (first, rest) = turns.split_first()?;
    let (answer, place) = &first.response;
    if !rest.is_empty() {
        return Some(CaseLine::undecided(*place, "a run does not tell the answer of each turn of the user"));
    }
    let score = format!("rouge_n(text(output), {}, 1) >= {threshold}", quote_text(answer));
    if !answer.chars().any(char::is_alphanumeric) {
        // Without any word to find, the score is 0.
        let why = quote_text("the case has no answer to compare with, and ADK fails it");
        return Some(CaseLine::new(*place, format!("{score} message {why}")));
    }
    if !answer.is_ascii() {
        return Some(CaseLine::undecided(*place, "ADK has rules of its own for words in other scripts"));
    }
    let plain = r"text(output) matches /^[\x00-\x7F]*$/";
    Some(CaseLine::new(*place, format!("{plain} and {score} or undecided(\"ADK compares the stems of words\")")))
}
