//! Statements about occurrence, counts, conditions and values.

use super::super::arguments::Misfit;
use super::super::monitor::Why;
use super::super::predicate::Place;
use super::super::timeline::Env;
use super::super::view::{Hit, View};
use super::clash::for_which;
use super::order::end;
use super::{amount, why};
use crate::bytecode::program::CodeId;
use crate::ir::Course;
use crate::vm::context::Scope;
use crate::vm::outcome::{Evidence, Role};
use averment_base::value::json::to_json;

/// Steps that are listed as evidence of a count.
const LISTED: usize = 20;

/// Something occurs that must not.
pub(in super::super) fn occurs(view: &mut View<'_, '_>, hit: &Hit) -> Why {
    let text = super::short(view.text(hit.slot));
    let condition = view.written_of(hit).and_then(|alternative| alternative.condition);
    let (because, values) = condition.map_or_else(Default::default, |code| explained(view, hit, code));
    let plain = view.pattern(hit.slot) == text;
    let reason = match because.as_str() {
        // A pattern that is nothing but a name has been said with the step.
        "" if plain => format!("there is {}", view.say(hit.step)),
        "" => format!("{} matches `{text}`", view.say(hit.step)),
        because => format!("{} matches `{text}`: {because}", view.say(hit.step)),
    };
    let mut evidence = view.decisive(hit, String::new());
    evidence.extend(values);
    why(reason, evidence)
}

/// Nothing occurs of what should.
pub(in super::super) fn nothing_occurs(view: &mut View<'_, '_>) -> Why {
    let things: Vec<String> = (0..view.slots.len()).map(|slot| view.thing(slot, &view.header)).collect();
    let end = super::super::timeline::index(view.context.window.end);
    let mut evidence: Vec<Evidence> = Vec::new();
    for slot in 0..view.slots.len() {
        let header = view.header.clone();
        evidence.extend(view.near_miss(slot, &header, end, true).or_else(|| view.misspelt(slot)));
    }
    why(format!("there is no {}", things.join(" and no ")), evidence)
}

/// Two patterns occur that must not both.
pub(in super::super) fn both(view: &mut View<'_, '_>, hit: &Hit, other: u32) -> Why {
    let reason = format!("both {} and {} occur", view.say(other), view.say(hit.step));
    let mut evidence = vec![view.step_proof(other, 1 - hit.slot.min(1), Role::Decisive, String::new())];
    evidence.extend(view.decisive(hit, String::new()));
    why(reason, evidence)
}

/// A match without its partner.
pub(in super::super) fn no_partner(view: &mut View<'_, '_>, hit: &Hit, wanted: usize) -> Why {
    let thing = view.thing(wanted, &hit.env);
    let refusing = view.refusing(wanted, hit, &hit.env, true);
    let refusing = refusing.or_else(|| view.refusing(wanted, hit, &hit.env, false));
    let test = refusing.as_ref().map_or_else(String::new, |(test, _)| for_which(test));
    let reason = [&view.say(hit.step), " occurs, but no ", &thing, &test].concat();
    let mut evidence = view.decisive(hit, String::new());
    let near = refusing.map(|(_, near)| near);
    let near = near.or_else(|| view.near_miss(wanted, &hit.env, hit.step, true));
    let near = near.or_else(|| view.near_miss(wanted, &hit.env, hit.step, false));
    evidence.extend(near.or_else(|| view.misspelt(wanted)));
    why(reason, evidence)
}

/// A number that does not meet its test.
pub(in super::super) fn counted(view: &mut View<'_, '_>, count: u64, env: &Env, steps: &[u32]) -> Why {
    let wanted = match view.entry.map(|entry| &entry.course) {
        Some(Course::Require { times: Some(times), .. }) => {
            format!(", wanted {}", times_words(times.least, times.most))
        }
        Some(Course::Count { test, .. }) => format!(", wanted `count {}`", view.machine.code_text(*test)),
        _ => String::new(),
    };
    let mut counted = number(view, count, env, steps);
    if count == 0 {
        let near = view.near_miss(0, &view.header.clone(), end(view), true);
        counted.evidence.extend(near.or_else(|| view.misspelt(0)));
    }
    Why { reason: format!("{}{wanted}", counted.reason), ..counted }
}

/// How often something occurs; `env` are the values of the pattern's names.
pub(in super::super) fn number(view: &mut View<'_, '_>, count: u64, env: &Env, steps: &[u32]) -> Why {
    let mut named: Env = view.header.iter().copied().collect();
    for (name, part) in view.names(0).iter().zip(env) {
        if let Some(slot) = named.get_mut(*name as usize) {
            *slot = *part;
        }
    }
    let thing = view.thing(0, &named);
    let reason = match count {
        0 => format!("there is no {thing}"),
        count => format!("{thing} occurs {}", amount(count, "time")),
    };
    let shown = steps.iter().take(LISTED);
    why(reason, shown.map(|step| view.step_proof(*step, 0, Role::Decisive, String::new())).collect())
}

/// A statement that holds: its own text, and the first step of each of its patterns.
pub(in super::super) fn holds(view: &mut View<'_, '_>) -> Why {
    let text = view.entry.map_or_else(String::new, |entry| view.machine.rule_text(entry.span));
    // The text of a statement has the `not` before it; `not both` is one of its own.
    let inner = text.strip_prefix("not ").map(str::trim_start);
    let statement = inner.filter(|inner| !inner.starts_with("both ")).unwrap_or(&text);
    let reason = format!("`{}` holds", super::short(statement));
    let mut evidence: Vec<Evidence> = Vec::new();
    for slot in 0..view.slots.len() {
        let Some(first) = view.first_hit(slot) else { continue };
        if !evidence.iter().any(|known| known.step == Some(first.step)) {
            evidence.push(view.step_proof(first.step, slot, Role::Value, String::new()));
        }
    }
    why(reason, evidence)
}

fn times_words(least: u64, most: Option<u64>) -> String {
    match most {
        Some(most) if most == least => amount(least, "time"),
        Some(most) => format!("{least} to {most} times"),
        None => format!("at least {}", amount(least, "time")),
    }
}

/// The same call too often in a row.
pub(in super::super) fn repeated(view: &mut View<'_, '_>, first: u32, last: u32, length: u32) -> Why {
    let reason = format!("{} is the first of {length} same calls in a row, up to {}", view.say(first), view.say(last));
    let first = view.step_proof(first, 0, Role::Value, "the first of them".to_owned());
    let last = view.step_proof(last, 0, Role::Decisive, "the last of them".to_owned());
    why(reason, vec![first, last])
}

/// A step that fails the condition of an `each`, or meets that of a `no`.
pub(in super::super) fn condition(view: &mut View<'_, '_>, hit: &Hit, code: CodeId, meets: bool) -> Why {
    let step = view.say(hit.step);
    let explanation = explained(view, hit, code);
    let words = if meets { "meets" } else { "does not meet" };
    let text = view.machine.rule_text(view.machine.code_span(code));
    let reason = match explanation.0.as_str() {
        "" => format!("{step} {words} `{text}`"),
        because => format!("{step} {words} `{text}`: {because}"),
    };
    let mut evidence = vec![view.step_proof(hit.step, hit.slot, Role::Decisive, String::new())];
    evidence.extend(explanation.1);
    why(reason, evidence)
}

fn explained(view: &mut View<'_, '_>, hit: &Hit, code: CodeId) -> (String, Vec<Evidence>) {
    let Some(step) = view.step(hit.step) else { return Default::default() };
    let bindings = view.bindings(&hit.env);
    let explanation = view.machine.explain(code, &Scope::of_step(step).with_bindings(&bindings));
    (explanation.reason, explanation.evidence)
}

/// No step meets the condition of a `some`.
pub(in super::super) fn none_meets(view: &mut View<'_, '_>, first: Option<&Hit>, code: CodeId) -> Why {
    let thing = view.pattern(0);
    let Some(first) = first else {
        let near = view.near_miss(0, &view.header.clone(), end(view), true).or_else(|| view.misspelt(0));
        return why(format!("there is no {thing}"), near.into_iter().collect());
    };
    let text = view.machine.rule_text(view.machine.code_span(code));
    let (because, values) = explained(view, first, code);
    let mut reason = format!("no {thing} meets `{text}`");
    if !because.is_empty() {
        reason.push_str(&format!(": for {} {because}", view.say(first.step)));
    }
    let mut evidence = vec![view.step_proof(first.step, 0, Role::NearMiss, String::new())];
    evidence.extend(values);
    why(reason, evidence)
}

/// A predicate found something: its place and length, never the value; and how much more it finds.
pub(in super::super) fn found(view: &mut View<'_, '_>, place: &Place, more: &[Place], predicate: CodeId) -> Why {
    let text = view.machine.rule_text(view.machine.code_span(predicate));
    let name = text.split(['(', ' ']).next().unwrap_or("").to_owned();
    let shown = place.pointer.clone().unwrap_or_else(|| place.path.clone());
    let at = if shown.is_empty() { "the value itself".to_owned() } else { format!("`{shown}`") };
    let step = place.step.map(|step| format!(" in {}", view.say(step))).unwrap_or_default();
    let mut reason = format!("`{name}` finds {} at {at}{step}, {}", place.what(), place.size());
    if !more.is_empty() {
        reason.push_str(&format!("; and in {}", amount(more.len() as u64, "more value")));
    }
    let evidence = std::iter::once(place).chain(more).enumerate().map(|(number, place)| {
        let pointer = place.pointer.clone().unwrap_or_default();
        Evidence {
            role: if number == 0 { Role::Decisive } else { Role::Value },
            label: format!("`{name}` finds {} here, {}", place.what(), place.size()),
            step: place.step.or_else(|| crate::vm::locate::step_of(view.machine.run, &pointer)),
            path: pointer,
            found: place.content.clone(),
            rule_span: Some(view.machine.code_span(predicate)),
            origin: place.origin.clone(),
            ..Evidence::default()
        }
    });
    let evidence = evidence.collect();
    why(reason, evidence)
}

impl Place {
    /// What was found, as far as the predicate tells.
    fn what(&self) -> String {
        if self.kinds.is_empty() { "something".to_owned() } else { self.kinds.join(", ") }
    }

    /// The value that it was found in: `in a text of 40 characters`.
    fn size(&self) -> String {
        let within = if self.kinds.is_empty() { "" } else { "in " };
        match self.type_name {
            "string" => format!("{within}a text of {}", amount(self.length as u64, "character")),
            other => format!("{within}a {other}"),
        }
    }
}

/// The value that should be looked into is not recorded.
pub(in super::super) fn not_recorded(view: &mut View<'_, '_>, values: CodeId) -> Why {
    let text = view.machine.rule_text(view.machine.code_span(values));
    why(format!("the run does not record `{text}`"), Vec::new())
}

/// A call whose arguments do not fit.
pub(in super::super) fn misfit(view: &mut View<'_, '_>, misfit: &Misfit) -> Why {
    match misfit {
        Misfit::Unknown(step) => {
            let reason = format!("the tool of {} is not declared", view.say(*step));
            why(reason, vec![view.step_proof(*step, 0, Role::Decisive, String::new())])
        }
        Misfit::Absent(step) => {
            let reason = format!("the run does not record the arguments of {}", view.say(*step));
            why(reason, vec![view.step_proof(*step, 0, Role::Decisive, String::new())])
        }
        Misfit::Breaks(step, violation) => {
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
        value: node.map(|node| to_json(&node.value)),
        origin: node.and_then(|node| node.origin.range()).or(whole.origin.clone()),
        ..whole
    }
}

fn inner<'run>(value: &averment_base::value::Value<'run>, segment: &str) -> Option<averment_base::value::Node<'run>> {
    match value {
        averment_base::value::Value::Object(object) => object.get(&segment.replace("~1", "/").replace("~0", "~")),
        averment_base::value::Value::List(items) => items.get(segment.parse::<usize>().ok()?).copied(),
        _ => None,
    }
}
