//! Home-grown formats: an object with its tool calls in one list, under the names that people choose. Nothing is guessed beyond names:
//! a number whose unit is not plain from its name is left out.

use super::calls::Usage;
use super::draft::{Draft, field};
use super::fields::{Parsed, Record, Shapes};
use super::format::{Format, IN_FULL, Projected};
use super::messages::OfCall;
use super::nodes::{list, object_of};
use crate::error::Placed;
use crate::names::{Names, Part, Unit, at};
use averment_base::diagnostic::suggest::nearest;
use averment_base::value::{Entry, Node, Number, Object, Value};
use averment_runs::normal::{of_run, of_step};
use averment_runs::run::Kind;
use std::borrow::Cow;

/// An object with `tool_calls` or its kin.
pub(super) const FORMAT: Format = Format {
    name: "tool calls of one's own making",
    known_by: "a list of objects that each name a tool, under a name that such lists have",
    description: "an object with `tool_calls`, each with a `name` or `tool`",
    marks: &[],
    object: is_generic,
    read,
    projected: Projected::Calls,
    ..IN_FULL
};

fn is_generic(object: Object<'_>) -> bool {
    is_run(object, Names::known())
}

/// Whether an object is a run under these names.
pub(super) fn is_run(object: Object<'_>, names: &Names) -> bool {
    let has_tool = |node: &Node<'_>| super::nodes::object(*node).is_some_and(|call| tool(call, names).is_some());
    // What the normal form has under these keys is the normal form, unless a file of the user says otherwise.
    let calls = names.of(Part::Calls);
    let other = |key: &str| object.get(key).is_none() || calls.iter().any(|name| name == key);
    other(Kind::Call.list_key())
        && other(of_run::STEPS)
        && calls.iter().any(|key| list_under(object, key).is_some_and(|calls| calls.iter().all(has_tool)))
}

fn list_under<'run>(object: Object<'run>, key: &str) -> Option<&'run [Node<'run>]> {
    at(object, key).and_then(list)
}

/// Why an object is no run under these names, and what may help.
pub(super) fn why_not(object: Object<'_>, names: &Names) -> (String, String) {
    let keys =
        |object: Object<'_>| object.entries().iter().take(20).map(|entry| entry.key.to_owned()).collect::<Vec<_>>();
    let Some((key, calls)) = names.of(Part::Calls).iter().find_map(|key| Some((key, list_under(object, key)?))) else {
        let wanted = names.of(Part::Calls).first().map_or("", AsRef::as_ref);
        let message = match object.get(wanted) {
            Some(other) => format!("`{wanted}` is no list of calls but {}", other.value.type_name()),
            None => format!("no list of calls: there is no `{wanted}`"),
        };
        return (message, instead(wanted, &keys(object), Part::Calls));
    };
    let wanted = names.of(Part::Tool).first().map_or("", AsRef::as_ref);
    let bad = calls.iter().enumerate().find_map(|(number, node)| match node.value {
        Value::Object(call) if tool(call, names).is_some() => None,
        Value::Object(call) => Some((number, keys(call))),
        _ => Some((number, Vec::new())),
    });
    match bad {
        Some((number, keys)) => (
            format!("element {} of `{key}` is no call: its tool is not there (`{wanted}`)", number + 1),
            instead(wanted, &keys, Part::Tool),
        ),
        None => ("a run of another form".to_owned(), "the names of `--map` do not fit it".to_owned()),
    }
}

/// What may be meant by a name that is not there.
fn instead(wanted: &str, keys: &[String], part: Part) -> String {
    let near = nearest(wanted, keys.iter().map(String::as_str)).map(|near| format!("did you mean `{near}`? "));
    let shown: Vec<_> = keys.iter().take(8).map(|key| format!("`{key}`")).collect();
    format!(
        "{}its keys are {}; name one of them as `{part}` in the file of `--map`",
        near.unwrap_or_default(),
        shown.join(", "),
        part = part.word(),
    )
}

/// The first of several names that is there and not `null`.
fn first<'run>(object: Object<'run>, names: &[Cow<'static, str>]) -> Option<Node<'run>> {
    names.iter().find_map(|key| at(object, key).filter(|node| !matches!(node.value, Value::Null)))
}

/// The name of the tool; OpenAI's `function: {name}` too.
fn tool<'run>(call: Object<'run>, names: &Names) -> Option<Node<'run>> {
    let node = first(call, names.of(Part::Tool))?;
    match node.value {
        Value::Text(_) => Some(node),
        Value::Object(function) => function.field(OfCall::Name).filter(|name| Parsed.is_text(*name)),
        _ => None,
    }
}

fn read<'run>(root: Node<'run>, draft: &mut Draft<'run, '_>) -> Result<(), Placed> {
    read_under(root, draft, Names::known());
    Ok(())
}

/// Reads a run under these names.
pub(super) fn read_under<'run>(root: Node<'run>, draft: &mut Draft<'run, '_>, names: &Names) {
    let Value::Object(object) = root.value else { return };
    draft.is_home_grown();
    draft.kinds_in_no_order();
    draft.records(&[Kind::Call]);
    let calls = names.of(Part::Calls).iter().find_map(|key| Some((key.as_ref(), list_under(object, key)?)));
    for (node, call) in draft.objects(calls.map_or(&[], |(_, calls)| calls)) {
        draft.record();
        add_call(draft, node, call, names);
    }
    if let Some(messages) = names.of(Part::Messages).iter().find_map(|key| list_under(object, key)) {
        draft.records(&[Kind::Message]);
        for (node, message) in draft.objects(messages) {
            add_message(draft, node, message, names);
        }
    }
    let entry = |entry: &str| first(object, names.of_entry(entry)?);
    draft.set_some(of_run::ID, entry(of_run::ID));
    let input = entry(of_run::INPUTS);
    draft.set_some(of_run::INPUTS, input);
    draft.set_some(of_run::PROMPT, input.filter(|input| Parsed.is_text(*input)));
    draft.set_some(of_run::OUTPUT, entry(of_run::OUTPUT));
    draft.set_some(of_run::ERROR, entry(of_run::ERROR));
    let seconds = || in_milliseconds(first(object, names.of(Part::Seconds))?);
    let lasted = names.of(Part::Milliseconds).iter().find_map(|key| {
        let node = at(object, key).filter(|node| !matches!(node.value, Value::Null))?;
        with_unit(draft, key, node, names, names.said().duration_unit)
    });
    draft.set_some(of_run::DURATION, lasted.or_else(seconds));
    read_usage(object, draft, names);
    let key = calls.map_or("", |(key, _)| key);
    for entry in object.entries() {
        if entry.key != key && !names.is_of_run(entry.key) {
            draft.set(entry.key, entry.node);
        }
    }
}

fn add_message<'run>(draft: &mut Draft<'run, '_>, node: Node<'run>, message: Object<'run>, names: &Names) {
    let role = first(message, names.of(Part::Role)).filter(|role| Parsed.is_text(*role));
    let Some(role) = role else { return };
    let mut fields = vec![field(of_step::ROLE, role)];
    let is_said = |text: &Node<'_>| matches!(text.value, Value::Text(_));
    fields.extend(first(message, names.of(Part::Text)).filter(is_said).map(|text| field(of_step::TEXT, text)));
    let rest = message.entries().iter().filter(|entry| ![of_step::ROLE, of_step::TEXT].contains(&entry.key));
    fields.extend(rest.copied());
    draft.step(Kind::Message, fields, node.origin);
}

/// A time in milliseconds, where it is told in which unit it is: text says it itself. `None` with a warning where nobody says it.
fn with_unit<'run>(
    draft: &mut Draft<'run, '_>,
    name: &str,
    node: Node<'run>,
    names: &Names,
    unit: Option<Unit>,
) -> Option<Node<'run>> {
    let Value::Number(number) = node.value else { return Some(node) };
    match unit {
        Some(unit) => Some(Node::new(crate::time::value(unit.in_milliseconds(number.to_f64())), node.origin)),
        None if names.carries_unit(name) => Some(node),
        None => {
            let message = format!(
                "the `{name}` of a home-grown format has no unit and counts as not recorded: call it `{name}_ms`, or name it in `--map`"
            );
            draft.warn_once(node.origin, message);
            None
        }
    }
}

/// Whether a result is a text that begins as one that says that the call failed.
fn says_failed(result: Option<Node<'_>>, names: &Names) -> bool {
    let text = result.and_then(super::nodes::text);
    text.is_some_and(|text| names.said().failed.iter().any(|start| text.trim_start().starts_with(start)))
}

fn add_call<'run>(draft: &mut Draft<'run, '_>, node: Node<'run>, call: Object<'run>, names: &Names) {
    let parts = Parts::of(draft, call, names);
    let mut fields: Vec<Entry<'run>> = Vec::with_capacity(call.entries().len() + 1);
    let mut add = |key: &'run str, node: Option<Node<'run>>| fields.extend(node.map(|node| field(key, node)));
    add(of_step::TOOL, tool(call, names));
    let function = object_of(call, OfCall::Function);
    let args = parts.get(Part::Args).or_else(|| first(function?, names.of(Part::Args)));
    add(of_step::ARGS, args.map(|args| super::calls::arguments(draft, args)));
    add(of_step::RESULT, parts.get(Part::Result).or(parts.null_result.value()));
    let failed = || parts.get(Part::Result).filter(|result| says_failed(Some(*result), names));
    add(of_step::ERROR, parts.get(Part::Error).or_else(failed));
    add(of_step::START, parts.get(Part::Start));
    add(of_step::END, parts.get(Part::End));
    let seconds = || in_milliseconds(parts.get(Part::Seconds)?);
    add(of_step::DURATION, parts.get(Part::Milliseconds).or_else(seconds));
    for part in PLAIN {
        if let Some(key) = part.field() {
            add(key, parts.get(part));
        }
    }
    let standard = fields.len();
    for entry in call.entries() {
        let taken = || fields.iter().take(standard).any(|field| field.key == entry.key);
        if names.part(entry.key).is_none() && !taken() {
            fields.push(*entry);
        }
    }
    draft.step(Kind::Call, fields, node.origin);
}

/// The parts of a call that are read as they stand.
const PLAIN: [Part; 5] = [Part::CallId, Part::Status, Part::Ok, Part::Turn, Part::Agent];

/// The value under the best of several names.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Best<V> {
    rank: u8,
    value: Option<V>,
}

impl<V> Default for Best<V> {
    fn default() -> Self {
        Self { rank: u8::MAX, value: None }
    }
}

impl<V: Copy> Best<V> {
    /// A value under a name of this rank; the first names are the best.
    #[inline]
    pub(crate) fn offer(&mut self, rank: u8, value: V) {
        if self.value.is_none() || rank < self.rank {
            *self = Self { rank, value: Some(value) };
        }
    }

    #[inline]
    pub(crate) fn value(&self) -> Option<V> {
        self.value
    }

    /// The rank of its name.
    pub(crate) fn rank(&self) -> u8 {
        self.rank
    }
}

/// The parts of a call, each under the first of its names that is there and not `null`.
#[derive(Default)]
struct Parts<'run> {
    found: [Best<Node<'run>>; Part::ALL.len()],
    null_result: Best<Node<'run>>,
}

impl<'run> Parts<'run> {
    fn of(draft: &mut Draft<'run, '_>, call: Object<'run>, names: &Names) -> Self {
        let mut parts = Self::default();
        for entry in call.entries() {
            if let Some((part, rank)) = names.part(entry.key) {
                parts.add(draft, part, rank, entry.key, entry.node, names);
            }
        }
        for (part, rank, path) in names.paths_of_calls() {
            if let Some(node) = at(call, path) {
                parts.add(draft, part, rank, path, node, names);
            }
        }
        parts
    }

    fn add(&mut self, draft: &mut Draft<'run, '_>, part: Part, rank: u8, name: &str, node: Node<'run>, names: &Names) {
        let said = names.said();
        let node = match (part, node.value) {
            (_, Value::Null) => Some(node),
            (Part::Start | Part::End, _) => with_unit(draft, name, node, names, said.time_unit),
            (Part::Milliseconds, _) => with_unit(draft, name, node, names, said.duration_unit),
            _ => Some(node),
        };
        let Some(node) = node else { return };
        let place = match node.value {
            Value::Null if part.has_null(false) => Some(&mut self.null_result),
            Value::Null => None,
            _ => self.found.get_mut(part as usize),
        };
        if let Some(place) = place {
            place.offer(rank, node);
        }
    }

    fn get(&self, part: Part) -> Option<Node<'run>> {
        self.found.get(part as usize).and_then(Best::value)
    }
}

/// Seconds as milliseconds.
pub(crate) fn in_milliseconds(node: Node<'_>) -> Option<Node<'_>> {
    let Value::Number(seconds) = node.value else { return None };
    Some(Node::new(crate::time::value(seconds.multiply(Number::Integer(1000))?.to_f64()), node.origin))
}

fn read_usage<'run>(object: Object<'run>, draft: &mut Draft<'run, '_>, names: &Names) {
    let usage = names.of(Part::Usage).iter().find_map(|key| object.get(key).and_then(super::nodes::object));
    let cost = names.of(Part::Cost);
    let cost = first(object, cost).or_else(|| first(usage?, cost));
    draft.set_some(of_run::COST, cost.filter(|cost| matches!(cost.value, Value::Number(_))));
    if let Some(usage) = usage {
        let mut counts = Usage::default();
        counts.add(usage);
        counts.set(draft);
    }
}
