//! Rules about the order of calls that a run which goes on may still meet.
//!
//! Of a finished run each of these is a statement. A run that goes on is judged there by what it holds so far, which expressions say; where more calls
//! may still meet the rule, the statement beside the expression leaves it undecided.

use super::Assay;
use super::reading::{Form, Reading};
use super::select::{Selector, choice};
use super::sentence::Sentence;
use crate::yaml::Node;
use averment_base::diagnostic::Slug;

/// That no call of a pattern stands before a place.
pub(super) fn not_before(pattern: &str, place: &str) -> String {
    format!("all c in (it of {pattern}): {place} <= c.index")
}

/// The tool is among the first calls.
pub(super) fn eventually(assay: &mut Assay<'_, '_>, rule: &Node, reading: Reading<'_>) -> Option<Sentence> {
    let tool = assay.select(rule, "tool", reading)?;
    let within = assay.required_number(rule, "within")?;
    let pattern = tool.pattern();
    if reading.form == Form::Documented {
        return Some(Sentence::new(rule.span, format!("some {pattern}: index < {within}")));
    }
    let waiting = [format!("require {pattern}"), format!("(count any) < {within}")];
    let waiting = waiting.map(|text| Sentence::new(rule.span, text)).to_vec();
    let seen = Sentence::new(rule.span, format!("first(index of {pattern}) < {within}"));
    let all = vec![seen, Sentence::group(rule.span, "all of", waiting)];
    let message = format!("tool '{}' required within first {within} calls", tool.shown);
    Some(Sentence::group(rule.span, "any of", all).with("allow undecided").saying(&message))
}

/// Each call of the trigger is answered soon.
pub(super) fn after(assay: &mut Assay<'_, '_>, rule: &Node, reading: Reading<'_>) -> Option<Sentence> {
    let trigger = assay.select(rule, "trigger", reading)?;
    let then = assay.select(rule, "then", reading)?;
    let within = assay.number(rule, "within")?.unwrap_or(1);
    let calls = if within == 1 { "call" } else { "calls" };
    let (from, to) = (trigger.pattern(), then.pattern());
    let statement = format!("after {from} -> {to} within {within} {calls}");
    let next = then.which(&format!("index in c.index + 1..c.index + {within}"));
    let so_far = format!("all c in (it of {from}): (count {next}) >= 1");
    let message = format!("tool '{}' required within {within} {calls} after '{}'", then.shown, trigger.shown);
    Some(match (reading.form, within) {
        (_, 0) => Sentence::new(rule.span, format!("each {from}: (count {from}) == 0")).saying(&message),
        (Form::Documented, _) if !trigger.overlaps(&then) => Sentence::new(rule.span, statement),
        _ => {
            let [statement, so_far] = [statement, so_far].map(|text| Sentence::new(rule.span, text));
            let statement = if from == to { statement.allowing("self-precedence") } else { statement };
            Sentence::group(rule.span, "any of", vec![statement, so_far]).with("allow undecided").saying(&message)
        }
    })
}

/// Nothing of it comes behind the first call of the trigger.
pub(super) fn never_after(assay: &mut Assay<'_, '_>, rule: &Node, reading: Reading<'_>) -> Option<Sentence> {
    let trigger = assay.select(rule, "trigger", reading)?;
    let forbidden = assay.select(rule, "forbidden", reading)?;
    if reading.form == Form::Documented && !trigger.overlaps(&forbidden) {
        let text = format!("never {} after {}", forbidden.pattern(), trigger.pattern());
        return Some(Sentence::new(rule.span, text));
    }
    let later = forbidden.which("index > c.index");
    let text = format!("all c in (it of {}): (count {later}) == 0", trigger.pattern());
    let message = format!("tool '{}' is forbidden after '{}'", forbidden.shown, trigger.shown);
    Some(Sentence::new(rule.span, text).saying(&message))
}

/// The tools come in this order, others between them or (`strict`) not.
pub(super) fn sequence(assay: &mut Assay<'_, '_>, rule: &Node, reading: Reading<'_>) -> Option<Sentence> {
    let strict = match rule.get("strict") {
        None => false,
        Some(node) => match node.boolean() {
            Some(strict) => strict,
            None => {
                assay.low.said.shape(node, "`strict`", "`true` or `false`");
                return None;
            }
        },
    };
    let Some(list) = rule.get("tools").filter(|node| node.is_list()) else {
        let message = "the rule has no list of `tools`";
        assay.low.said.error(Slug::TypeMismatch, rule.span, message, "write `tools: [FIRST, SECOND]`");
        return None;
    };
    if list.items().is_empty() {
        let message = "`tools` names no tools: the rule can never fail";
        assay.low.said.warning(Slug::TypeMismatch, list.span, message, "write `tools: [FIRST, SECOND]`");
        let text = "all c in (it of (any where index < 0)): c.index >= 0";
        return Some(Sentence::new(rule.span, text).saying("the sequence names no tools"));
    }
    let tools = assay.selects(rule, "tools", reading)?;
    let names: Vec<&str> = tools.iter().map(|tool| tool.shown.as_str()).collect();
    let message = format!("{}sequence '{}'", if strict { "strict " } else { "" }, names.join("' -> '"));
    let members = if strict { contiguous(&tools) } else { in_order(&tools) };
    let mut members: Vec<Sentence> = members.into_iter().map(|text| Sentence::new(rule.span, text)).collect();
    if let Some([statement, so_far]) = if strict { all_there(&tools) } else { reached(&tools) } {
        let both = [statement, so_far].map(|text| Sentence::new(rule.span, text)).to_vec();
        members.push(Sentence::group(rule.span, "any of", both));
    }
    let all = Sentence::all_of(rule.span, members);
    Some(if tools.len() > 1 { all.with("allow undecided").saying(&message) } else { all.saying(&message) })
}

/// Of each tool the place at which its turn is done.
fn places(tools: &[Selector]) -> Vec<String> {
    let mut places: Vec<String> = Vec::new();
    for (at, tool) in tools.iter().enumerate() {
        let known = tools.iter().take(at).any(|earlier| earlier.overlaps(tool));
        let place = match places.last().filter(|_| known) {
            Some(before) => format!("first(index of {})", tool.which(&format!("index > {before}"))),
            None => format!("first(index of {})", tool.pattern()),
        };
        places.push(place);
    }
    places
}

/// No tool comes while an earlier one has not.
fn in_order(tools: &[Selector]) -> Vec<String> {
    let places = places(tools);
    let check = |at: usize, place: &str| {
        let (earlier, later) = (tools.get(..at)?, tools.get(at.saturating_add(1)..)?);
        let known = later.iter().any(|tool| earlier.iter().any(|before| before.overlaps(tool)));
        let before = at.checked_sub(1).and_then(|before| places.get(before)).filter(|_| known);
        let patterns = match before {
            Some(before) => {
                let mut restricted = later.iter().map(|tool| tool.which(&format!("index > {before}")));
                restricted.by_ref().fold(Vec::new(), |mut all, one| {
                    if !all.contains(&one) {
                        all.push(one);
                    }
                    all
                })
            }
            None => Selector::any_of(later),
        };
        (!patterns.is_empty()).then(|| not_before(&choice(&patterns), place))
    };
    let checks: Vec<String> = places.iter().enumerate().filter_map(|(at, place)| check(at, place)).collect();
    if checks.is_empty() { alone(tools) } else { checks }
}

/// A single tool is in order wherever it stands.
fn alone(tools: &[Selector]) -> Vec<String> {
    tools.iter().map(|tool| format!("all c in (it of {}): c.index >= 0", tool.pattern())).collect()
}

/// Once one of the tools came, the last one has its turn.
fn reached(tools: &[Selector]) -> Option<[String; 2]> {
    let (last, earlier) = tools.split_last().filter(|(_, earlier)| !earlier.is_empty())?;
    let places = places(tools);
    let known = earlier.iter().any(|tool| tool.overlaps(last));
    let before = places.get(earlier.len().saturating_sub(1))?;
    let goal = if known { last.which(&format!("index > {before}")) } else { last.pattern() };
    let any = Selector::any_of(tools);
    let some = choice(&any);
    Some([
        format!("if {} then {goal}", any.join(" | ")),
        format!("(count {some}) >= 1 implies {} exists", places.last()?),
    ])
}

/// What stands behind the first call of the first tool is the others, one behind the other.
fn contiguous(tools: &[Selector]) -> Vec<String> {
    let Some((first, others)) = tools.split_first().filter(|(_, others)| !others.is_empty()) else {
        return alone(tools);
    };
    let start = format!("first(index of {})", first.pattern());
    let follows = |tool: &Selector, at: usize| {
        format!("(count any) > {start} + {at} implies (index of {}) contains {start} + {at}", tool.pattern())
    };
    others.iter().zip(1_usize..).map(|(tool, at)| follows(tool, at)).collect()
}

/// Once the first tool came, there are as many calls as it takes.
fn all_there(tools: &[Selector]) -> Option<[String; 2]> {
    let (first, others) = tools.split_first().filter(|(_, others)| !others.is_empty())?;
    let pattern = first.pattern();
    let last = format!("first(index of {pattern}) + {}", others.len());
    Some([
        format!("if {pattern} then (any where index == {last})"),
        format!("(count {pattern}) >= 1 implies (count any) > {last}"),
    ])
}
