//! Home-grown formats: an object with its tool calls in one list, under the names that people choose. Nothing is guessed beyond names:
//! a number whose unit is not plain from its name is left out.

use super::calls::Usage;
use super::draft::{Draft, field};
use super::{Format, list_of, never, object_of, objects, text_of};
use crate::error::Placed;
use crate::names::{Names, Part};
use averment_base::diagnostic::suggest::nearest;
use averment_base::value::{Entry, Node, Number, Object, Value};
use averment_runs::run::Kind;
use std::borrow::Cow;

/// An object with `tool_calls` or its kin.
pub(super) const FORMAT: Format = Format {
    name: "tool calls of one's own making",
    description: "an object with `tool_calls`, each with a `name` or `tool`",
    object: is_generic,
    element: never,
    line: never,
    read,
};

fn is_generic(object: Object<'_>) -> bool {
    is_run(object, Names::known())
}

/// Whether an object is a run under these names.
pub(super) fn is_run(object: Object<'_>, names: &Names) -> bool {
    let has_tool = |node: &Node<'_>| matches!(node.value, Value::Object(call) if tool(call, names).is_some());
    // What the normal form has under these keys is the normal form, unless a file of the user says otherwise.
    let other = |key: &str| object.get(key).is_none() || names.calls.iter().any(|name| name == key);
    other("calls")
        && other("steps")
        && names.calls.iter().any(|key| list_of(object, key).is_some_and(|calls| calls.iter().all(has_tool)))
}

/// Why an object is no run under these names, and what may help.
pub(super) fn why_not(object: Object<'_>, names: &Names) -> (String, String) {
    let keys =
        |object: Object<'_>| object.entries().iter().take(20).map(|entry| entry.key.to_owned()).collect::<Vec<_>>();
    let Some((key, calls)) = names.calls.iter().find_map(|key| Some((key, list_of(object, key)?))) else {
        let wanted = names.calls.first().map_or("", AsRef::as_ref);
        let message = match object.get(wanted) {
            Some(other) => format!("`{wanted}` is no list of calls but {}", other.value.type_name()),
            None => format!("no list of calls: there is no `{wanted}`"),
        };
        return (message, instead(wanted, &keys(object), "calls"));
    };
    let wanted = names.tool.first().map_or("", AsRef::as_ref);
    let bad = calls.iter().enumerate().find_map(|(number, node)| match node.value {
        Value::Object(call) if tool(call, names).is_some() => None,
        Value::Object(call) => Some((number, keys(call))),
        _ => Some((number, Vec::new())),
    });
    match bad {
        Some((number, keys)) => (
            format!("element {} of `{key}` is no call: its tool is not there (`{wanted}`)", number + 1),
            instead(wanted, &keys, "tool"),
        ),
        None => ("a run of another form".to_owned(), "the names of `--map` do not fit it".to_owned()),
    }
}

/// What may be meant by a name that is not there.
fn instead(wanted: &str, keys: &[String], part: &str) -> String {
    let near = nearest(wanted, keys.iter().map(String::as_str)).map(|near| format!("did you mean `{near}`? "));
    let shown: Vec<_> = keys.iter().take(8).map(|key| format!("`{key}`")).collect();
    format!(
        "{}its keys are {}; name one of them as `{part}` in the file of `--map`",
        near.unwrap_or_default(),
        shown.join(", ")
    )
}

/// The first of several names that is there and not `null`.
fn first<'run>(object: Object<'run>, names: &[Cow<'static, str>]) -> Option<Node<'run>> {
    names.iter().find_map(|key| object.get(key).filter(|node| !matches!(node.value, Value::Null)))
}

/// The name of the tool; OpenAI's `function: {name}` too.
fn tool<'run>(call: Object<'run>, names: &Names) -> Option<Node<'run>> {
    let node = first(call, &names.tool)?;
    match node.value {
        Value::Text(_) => Some(node),
        Value::Object(function) => function.get("name").filter(|name| matches!(name.value, Value::Text(_))),
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
    draft.kinds_in_no_order();
    draft.records(&[Kind::Call]);
    let key = names.calls.iter().find(|key| list_of(object, key).is_some()).map_or("", AsRef::as_ref);
    for (node, call) in objects(list_of(object, key).unwrap_or_default()) {
        add_call(draft, node, call, names);
    }
    if let Some(messages) = names.messages.iter().find_map(|key| list_of(object, key)) {
        draft.records(&[Kind::Message]);
        for (node, message) in objects(messages).filter(|(_, message)| text_of(*message, "role").is_some()) {
            draft.step(Kind::Message, message.entries().to_vec(), node.origin);
        }
    }
    draft.set_some("id", first(object, &names.id));
    let input = first(object, &names.input);
    draft.set_some("inputs", input);
    draft.set_some("prompt", input.filter(|input| matches!(input.value, Value::Text(_))));
    draft.set_some("output", first(object, &names.output));
    draft.set_some("error", first(object, &names.error));
    draft.set_some("duration", duration(object, names));
    read_usage(object, draft, names);
    for entry in object.entries() {
        if entry.key != key && !names.is_of_run(entry.key) {
            draft.set(entry.key, entry.node);
        }
    }
}

fn add_call<'run>(draft: &mut Draft<'run, '_>, node: Node<'run>, call: Object<'run>, names: &Names) {
    let parts = Parts::of(call, names);
    let mut fields: Vec<Entry<'run>> = Vec::with_capacity(call.entries().len() + 1);
    let mut add = |key: &'run str, node: Option<Node<'run>>| {
        if let Some(node) = node {
            fields.push(field(key, node));
        }
    };
    add("tool", tool(call, names));
    let function = object_of(call, "function");
    let args = parts.get(Part::Args).or_else(|| first(function?, &names.args));
    add("args", args.map(|args| super::calls::arguments(draft, args)));
    // `null` is what serialisers write for no result and no error; a result of `null` with nothing else said is a result.
    add("result", parts.get(Part::Result).or(parts.null_result.map(|(_, node)| node)));
    add("error", parts.get(Part::Error));
    add("start", parts.get(Part::Start));
    add("end", parts.get(Part::End));
    add("duration", parts.get(Part::Milliseconds).or_else(|| in_milliseconds(parts.get(Part::Seconds)?)));
    for (name, part) in PLAIN {
        add(name, parts.get(part));
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

/// The fields of a call that are read under one of their names as they stand.
const PLAIN: [(&str, Part); 5] =
    [("id", Part::Id), ("status", Part::Status), ("ok", Part::Ok), ("turn", Part::Turn), ("agent", Part::Agent)];

/// The parts of a call, each under the first of its names that is there and not `null`.
#[derive(Default)]
struct Parts<'run> {
    found: [Option<(u8, Node<'run>)>; Part::ALL.len()],
    null_result: Option<(u8, Node<'run>)>,
}

impl<'run> Parts<'run> {
    fn of(call: Object<'run>, names: &Names) -> Self {
        let mut parts = Self::default();
        for entry in call.entries() {
            let Some((part, rank)) = names.part(entry.key) else { continue };
            let place = match entry.node.value {
                Value::Null if part == Part::Result => Some(&mut parts.null_result),
                Value::Null => None,
                _ => parts.found.get_mut(part as usize),
            };
            if let Some(place) = place.filter(|place| place.is_none_or(|(known, _)| rank < known)) {
                *place = Some((rank, entry.node));
            }
        }
        parts
    }

    fn get(&self, part: Part) -> Option<Node<'run>> {
        self.found.get(part as usize).copied().flatten().map(|(_, node)| node)
    }
}

/// Milliseconds, from a name that says its unit.
fn duration<'run>(object: Object<'run>, names: &Names) -> Option<Node<'run>> {
    first(object, &names.milliseconds).or_else(|| in_milliseconds(first(object, &names.seconds)?))
}

/// Seconds as milliseconds.
pub(crate) fn in_milliseconds(node: Node<'_>) -> Option<Node<'_>> {
    let Value::Number(seconds) = node.value else { return None };
    Some(Node::new(crate::time::value(seconds.multiply(Number::Integer(1000))?.to_f64()), node.origin))
}

fn read_usage<'run>(object: Object<'run>, draft: &mut Draft<'run, '_>, names: &Names) {
    let usage = names.usage.iter().find_map(|key| object_of(object, key));
    let cost = first(object, &names.cost).or_else(|| first(usage?, &names.cost));
    draft.set_some("cost", cost.filter(|cost| matches!(cost.value, Value::Number(_))));
    if let Some(usage) = usage {
        let mut counts = Usage::default();
        counts.add(usage);
        counts.set(draft);
    }
}
