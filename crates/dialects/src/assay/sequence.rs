//! Rules about the order of calls that an unfinished run may still satisfy.
//!
//! For a finished run, each of these rules is a statement. Assay judges an unfinished run by its steps so far, which an expression checks. If later
//! calls may still satisfy the rule, the statement beside the expression leaves it undecided.

use super::AssayLowering;
use super::reading::{RuleContext, RuleSemantics};
use super::select::{CallSelector, choice_pattern};
use super::sentence::AssayAssertion;
use crate::yaml::YamlNode;
use averment_base::diagnostic::Slug;

pub(super) fn not_before(pattern: &str, place: &str) -> String {
    format!("all c in (it of {pattern}): {place} <= c.index")
}

/// The tool must be among the first calls.
pub(super) fn eventually_called(
    assay: &mut AssayLowering<'_, '_>,
    rule: &YamlNode,
    reading: RuleContext<'_>,
) -> Option<AssayAssertion> {
    let tool = assay.required_selector(rule, "tool", reading)?;
    let within = assay.required_number(rule, "within")?;
    let pattern = tool.to_pattern();
    if reading.form == RuleSemantics::Documented {
        return Some(AssayAssertion::new(rule.span, format!("some {pattern}: index < {within}")));
    }
    let waiting = [format!("require {pattern}"), format!("(count any) < {within}")];
    let waiting = waiting.map(|text| AssayAssertion::new(rule.span, text)).to_vec();
    let seen = AssayAssertion::new(rule.span, format!("first(index of {pattern}) < {within}"));
    let all = vec![seen, AssayAssertion::in_group(rule.span, "all of", waiting)];
    let message = format!("tool '{}' required within first {within} calls", tool.shown);
    Some(AssayAssertion::in_group(rule.span, "any of", all).with_modifier("allow undecided").with_message(&message))
}

/// Each trigger call must be followed by the other tool within a bound.
pub(super) fn called_after(
    assay: &mut AssayLowering<'_, '_>,
    rule: &YamlNode,
    reading: RuleContext<'_>,
) -> Option<AssayAssertion> {
    let trigger = assay.required_selector(rule, "trigger", reading)?;
    let then = assay.required_selector(rule, "then", reading)?;
    let within = assay.optional_number(rule, "within")?.unwrap_or(1);
    let calls = if within == 1 { "call" } else { "calls" };
    let (from, to) = (trigger.to_pattern(), then.to_pattern());
    let statement = format!("after {from} -> {to} within {within} {calls}");
    let next = then.pattern_where(&format!("index in c.index + 1..c.index + {within}"));
    let so_far = format!("all c in (it of {from}): (count {next}) >= 1");
    let message = format!("tool '{}' required within {within} {calls} after '{}'", then.shown, trigger.shown);
    Some(match (reading.form, within) {
        (_, 0) => {
            AssayAssertion::new(rule.span, format!("all c in (it of {from}): c.index < 0")).with_message(&message)
        }
        (RuleSemantics::Documented, _) if !trigger.overlaps(&then) => AssayAssertion::new(rule.span, statement),
        _ => {
            let [statement, so_far] = [statement, so_far].map(|text| AssayAssertion::new(rule.span, text));
            let statement = if from == to { statement.allow_lint("self-precedence") } else { statement };
            AssayAssertion::in_group(rule.span, "any of", vec![statement, so_far])
                .with_modifier("allow undecided")
                .with_message(&message)
        }
    })
}

/// The tool must not be called after the first trigger call.
pub(super) fn never_after(
    assay: &mut AssayLowering<'_, '_>,
    rule: &YamlNode,
    reading: RuleContext<'_>,
) -> Option<AssayAssertion> {
    let trigger = assay.required_selector(rule, "trigger", reading)?;
    let forbidden = assay.required_selector(rule, "forbidden", reading)?;
    if reading.form == RuleSemantics::Documented && !trigger.overlaps(&forbidden) {
        let text = format!("never {} after {}", forbidden.to_pattern(), trigger.to_pattern());
        return Some(AssayAssertion::new(rule.span, text));
    }
    let later = forbidden.pattern_where("index > c.index");
    let text = format!("all c in (it of {}): (count {later}) == 0", trigger.to_pattern());
    let message = format!("tool '{}' is forbidden after '{}'", forbidden.shown, trigger.shown);
    Some(AssayAssertion::new(rule.span, text).with_message(&message))
}

/// The tools must be called in this order; other calls are allowed between them unless `strict` is set.
pub(super) fn calls_in_order(
    assay: &mut AssayLowering<'_, '_>,
    rule: &YamlNode,
    reading: RuleContext<'_>,
) -> Option<AssayAssertion> {
    let strict = match rule.get("strict") {
        None => false,
        Some(node) => match node.as_boolean() {
            Some(strict) => strict,
            None => {
                assay.low.sink.wrong_shape(node, "`strict`", "`true` or `false`");
                return None;
            }
        },
    };
    let Some(list) = rule.get("tools").filter(|node| node.is_list()) else {
        let message = "the rule has no list of `tools`";
        assay.low.sink.error(Slug::TypeMismatch, rule.span, message, "write `tools: [FIRST, SECOND]`");
        return None;
    };
    if list.items().is_empty() {
        let message = "`tools` names no tools: the rule can never fail";
        assay.low.sink.warning(Slug::TypeMismatch, list.span, message, "write `tools: [FIRST, SECOND]`");
        let text = "all c in (it of (any where index < 0)): c.index >= 0";
        return Some(AssayAssertion::new(rule.span, text).with_message("the sequence names no tools"));
    }
    let tools = assay.required_selectors(rule, "tools", reading)?;
    let names: Vec<&str> = tools.iter().map(|tool| tool.shown.as_str()).collect();
    let message = format!("{}sequence '{}'", if strict { "strict " } else { "" }, names.join("' -> '"));
    let members = if strict { contiguous_calls(&tools) } else { in_order(&tools) };
    let mut members: Vec<AssayAssertion> =
        members.into_iter().map(|text| AssayAssertion::new(rule.span, text)).collect();
    if let Some([statement, so_far]) = if strict { all_there(&tools) } else { last_reached(&tools) } {
        let both = [statement, so_far].map(|text| AssayAssertion::new(rule.span, text)).to_vec();
        members.push(AssayAssertion::in_group(rule.span, "any of", both));
    }
    let all = AssayAssertion::all_of(rule.span, members);
    Some(if tools.len() > 1 {
        all.with_modifier("allow undecided").with_message(&message)
    } else {
        all.with_message(&message)
    })
}

/// Returns, for each tool, the position at which its place in the order is filled.
fn turn_places(tools: &[CallSelector]) -> Vec<String> {
    let mut places: Vec<String> = Vec::new();
    for (at, tool) in tools.iter().enumerate() {
        let known = tools.iter().take(at).any(|earlier| earlier.overlaps(tool));
        let place = match places.last().filter(|_| known) {
            Some(before) => format!("first(index of {})", tool.pattern_where(&format!("index > {before}"))),
            None => format!("first(index of {})", tool.to_pattern()),
        };
        places.push(place);
    }
    places
}

/// No tool may be called before an earlier one of the list.
fn in_order(tools: &[CallSelector]) -> Vec<String> {
    let places = turn_places(tools);
    let check = |at: usize, place: &str| {
        let (earlier, later) = (tools.get(..at)?, tools.get(at.saturating_add(1)..)?);
        let known = later.iter().any(|tool| earlier.iter().any(|before| before.overlaps(tool)));
        let before = at.checked_sub(1).and_then(|before| places.get(before)).filter(|_| known);
        let patterns = match before {
            Some(before) => {
                let mut restricted = later.iter().map(|tool| tool.pattern_where(&format!("index > {before}")));
                restricted.by_ref().fold(Vec::new(), |mut all, one| {
                    if !all.contains(&one) {
                        all.push(one);
                    }
                    all
                })
            }
            None => CallSelector::any_of(later),
        };
        (!patterns.is_empty()).then(|| not_before(&choice_pattern(&patterns), place))
    };
    let checks: Vec<String> = places.iter().enumerate().filter_map(|(at, place)| check(at, place)).collect();
    if checks.is_empty() { trivially_ordered(tools) } else { checks }
}

fn trivially_ordered(tools: &[CallSelector]) -> Vec<String> {
    tools.iter().map(|tool| format!("all c in (it of {}): c.index >= 0", tool.to_pattern())).collect()
}

/// Once one of the tools is called, the last one must be reached.
fn last_reached(tools: &[CallSelector]) -> Option<[String; 2]> {
    let (last, earlier) = tools.split_last().filter(|(_, earlier)| !earlier.is_empty())?;
    let places = turn_places(tools);
    let known = earlier.iter().any(|tool| tool.overlaps(last));
    let before = places.get(earlier.len().saturating_sub(1))?;
    let goal = if known { last.pattern_where(&format!("index > {before}")) } else { last.to_pattern() };
    let any = CallSelector::any_of(tools);
    let some = choice_pattern(&any);
    Some([
        format!("if {} then {goal}", any.join(" | ")),
        format!("(count {some}) >= 1 implies {} exists", places.last()?),
    ])
}

/// The first call of the first tool must be followed directly by the other tools, in order.
fn contiguous_calls(tools: &[CallSelector]) -> Vec<String> {
    let Some((first, others)) = tools.split_first().filter(|(_, others)| !others.is_empty()) else {
        return trivially_ordered(tools);
    };
    let start = format!("first(index of {})", first.to_pattern());
    let follows = |tool: &CallSelector, at: usize| {
        format!("(count any) > {start} + {at} implies (index of {}) contains {start} + {at}", tool.to_pattern())
    };
    others.iter().zip(1_usize..).map(|(tool, at)| follows(tool, at)).collect()
}

/// Once the first tool is called, enough calls must follow for the whole sequence.
fn all_there(tools: &[CallSelector]) -> Option<[String; 2]> {
    let (first, others) = tools.split_first().filter(|(_, others)| !others.is_empty())?;
    let pattern = first.to_pattern();
    let last = format!("first(index of {pattern}) + {}", others.len());
    Some([
        format!("if {pattern} then (any where index == {last})"),
        format!("(count {pattern}) >= 1 implies (count any) > {last}"),
    ])
}
