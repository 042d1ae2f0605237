//! Home-grown formats: an object with its tool calls in one list, under the names that people choose. Nothing is guessed beyond names:
//! a number whose unit is not plain from its name is left out.

use super::calls::TokenUsage;
use super::fields::{FieldRecord, NodeShapes, ShapeReader};
use super::format::{IN_FULL, LineProjection, TraceFormat};
use super::messages::ToolCallKey;
use super::nodes::{node_list, object_of};
use super::run_builder::{RunBuilder, field_entry};
use crate::error::PlacedError;
use crate::names::{NamedPart, PartNames, TimeUnit, value_at};
use averment_base::diagnostic::suggest::suggest_name;
use averment_base::value::{Node, Number, Object, ObjectEntry, Value};
use averment_runs::normal::{of_run, of_step};
use averment_runs::run::StepKind;
use std::borrow::Cow;

pub(super) const FORMAT: TraceFormat = TraceFormat {
    name: "tool calls of one's own making",
    known_by: "a list of objects that each name a tool, under a name that such lists have",
    description: "an object with `tool_calls`, each with a `name` or `tool`",
    marks: &[],
    object: is_generic,
    read: read_run,
    projected: LineProjection::Calls,
    partial_roles: &[],
    ..IN_FULL
};

fn is_generic(object: Object<'_>) -> bool {
    is_run(object, PartNames::known_names())
}

pub(super) fn is_run(object: Object<'_>, names: &PartNames) -> bool {
    let has_tool =
        |node: &Node<'_>| super::nodes::node_object(*node).is_some_and(|call| tool_name(call, names).is_some());
    // What the normal form has under these keys is the normal form, unless a file of the user says otherwise.
    let calls = names.names_of(NamedPart::Calls);
    let other = |key: &str| object.get(key).is_none() || calls.iter().any(|name| name == key);
    other(StepKind::Call.list_key())
        && other(of_run::STEPS)
        && calls.iter().any(|key| list_under(object, key).is_some_and(|calls| calls.iter().all(has_tool)))
}

fn list_under<'run>(object: Object<'run>, key: &str) -> Option<&'run [Node<'run>]> {
    value_at(object, key).and_then(node_list)
}

pub(super) fn explain_mismatch(object: Object<'_>, names: &PartNames) -> (String, String) {
    let keys =
        |object: Object<'_>| object.entries().iter().take(20).map(|entry| entry.key.to_owned()).collect::<Vec<_>>();
    let Some((key, calls)) =
        names.names_of(NamedPart::Calls).iter().find_map(|key| Some((key, list_under(object, key)?)))
    else {
        let wanted = names.names_of(NamedPart::Calls).first().map_or("", AsRef::as_ref);
        let message = match object.get(wanted) {
            Some(other) => format!("`{wanted}` is no list of calls but {}", other.value.type_name()),
            None => format!("no list of calls: there is no `{wanted}`"),
        };
        return (message, suggest_keys(wanted, &keys(object), NamedPart::Calls));
    };
    let wanted = names.names_of(NamedPart::Tool).first().map_or("", AsRef::as_ref);
    let bad = calls.iter().enumerate().find_map(|(number, node)| match node.value {
        Value::Object(call) if tool_name(call, names).is_some() => None,
        Value::Object(call) => Some((number, keys(call))),
        _ => Some((number, Vec::new())),
    });
    match bad {
        Some((number, keys)) => (
            format!("element {} of `{key}` is no call: its tool is not there (`{wanted}`)", number + 1),
            suggest_keys(wanted, &keys, NamedPart::Tool),
        ),
        None => ("a run of another form".to_owned(), "the names of `--map` do not fit it".to_owned()),
    }
}

fn suggest_keys(wanted: &str, keys: &[String], part: NamedPart) -> String {
    let near = suggest_name(wanted, keys.iter().map(String::as_str)).map(|near| format!("did you mean `{near}`? "));
    let shown: Vec<_> = keys.iter().take(8).map(|key| format!("`{key}`")).collect();
    format!(
        "{}its keys are {}; name one of them as `{part}` in the file of `--map`",
        near.unwrap_or_default(),
        shown.join(", "),
        part = part.map_word(),
    )
}

/// The first that is present and not `null`.
fn first_named<'run>(object: Object<'run>, names: &[Cow<'static, str>]) -> Option<Node<'run>> {
    names.iter().find_map(|key| value_at(object, key).filter(|node| !matches!(node.value, Value::Null)))
}

/// Also OpenAI's `function: {name}`.
fn tool_name<'run>(call: Object<'run>, names: &PartNames) -> Option<Node<'run>> {
    let node = first_named(call, names.names_of(NamedPart::Tool))?;
    match node.value {
        Value::Text(_) => Some(node),
        Value::Object(function) => function.field(ToolCallKey::Name).filter(|name| NodeShapes.is_text(*name)),
        _ => None,
    }
}

fn read_run<'run>(root: Node<'run>, builder: &mut RunBuilder<'run, '_>) -> Result<(), PlacedError> {
    read_under(root, builder, PartNames::known_names());
    Ok(())
}

pub(super) fn read_under<'run>(root: Node<'run>, builder: &mut RunBuilder<'run, '_>, names: &PartNames) {
    let Value::Object(object) = root.value else { return };
    builder.is_home_grown();
    builder.mark_unordered();
    builder.mark_recorded(&[StepKind::Call]);
    let calls = names.names_of(NamedPart::Calls).iter().find_map(|key| Some((key.as_ref(), list_under(object, key)?)));
    for (node, call) in builder.record_objects(calls.map_or(&[], |(_, calls)| calls)) {
        builder.count_record();
        add_call(builder, node, call, names);
    }
    if let Some(messages) = names.names_of(NamedPart::Messages).iter().find_map(|key| list_under(object, key)) {
        builder.mark_recorded(&[StepKind::Message]);
        for (node, message) in builder.record_objects(messages) {
            add_message(builder, node, message, names);
        }
    }
    let entry = |entry: &str| first_named(object, names.of_entry(entry)?);
    builder.set_some(of_run::ID, entry(of_run::ID));
    let input = entry(of_run::INPUTS);
    builder.set_some(of_run::INPUTS, input);
    builder.set_some(of_run::PROMPT, input.filter(|input| NodeShapes.is_text(*input)));
    builder.set_some(of_run::OUTPUT, entry(of_run::OUTPUT));
    builder.set_some(of_run::ERROR, entry(of_run::ERROR));
    let seconds = || in_milliseconds(first_named(object, names.names_of(NamedPart::Seconds))?);
    let lasted = names.names_of(NamedPart::Milliseconds).iter().find_map(|key| {
        let node = value_at(object, key).filter(|node| !matches!(node.value, Value::Null))?;
        with_unit(builder, key, node, names, names.map_settings().duration_unit)
    });
    builder.set_some(of_run::DURATION, lasted.or_else(seconds));
    read_usage(object, builder, names);
    let key = calls.map_or("", |(key, _)| key);
    for entry in object.entries() {
        if entry.key != key && !names.is_of_run(entry.key) {
            builder.set_entry(entry.key, entry.node);
        }
    }
}

fn add_message<'run>(builder: &mut RunBuilder<'run, '_>, node: Node<'run>, message: Object<'run>, names: &PartNames) {
    let role = first_named(message, names.names_of(NamedPart::Role)).filter(|role| NodeShapes.is_text(*role));
    let Some(role) = role else { return };
    let mut fields = vec![field_entry(of_step::ROLE, role)];
    let is_said = |text: &Node<'_>| matches!(text.value, Value::Text(_));
    fields.extend(
        first_named(message, names.names_of(NamedPart::Text))
            .filter(is_said)
            .map(|text| field_entry(of_step::TEXT, text)),
    );
    let rest = message.entries().iter().filter(|entry| ![of_step::ROLE, of_step::TEXT].contains(&entry.key));
    fields.extend(rest.copied());
    builder.add_step(StepKind::Message, fields, node.origin);
}

/// In milliseconds; text has its own unit. `None` with a warning if the unit is unknown.
fn with_unit<'run>(
    builder: &mut RunBuilder<'run, '_>,
    name: &str,
    node: Node<'run>,
    names: &PartNames,
    unit: Option<TimeUnit>,
) -> Option<Node<'run>> {
    let Value::Number(number) = node.value else { return Some(node) };
    match unit {
        Some(unit) => {
            Some(Node::new(crate::time::milliseconds_value(unit.in_milliseconds(number.to_f64())), node.origin))
        }
        None if names.carries_unit(name) => Some(node),
        None => {
            let message = format!(
                "the `{name}` of a home-grown format has no unit and counts as not recorded: call it `{name}_ms`, or name it in `--map`"
            );
            builder.warn_once(node.origin, message);
            None
        }
    }
}

/// True if the result is text with a configured failure prefix.
fn says_failed(result: Option<Node<'_>>, names: &PartNames) -> bool {
    let text = result.and_then(super::nodes::node_text);
    text.is_some_and(|text| names.map_settings().failed.iter().any(|start| text.trim_start().starts_with(start)))
}

fn add_call<'run>(builder: &mut RunBuilder<'run, '_>, node: Node<'run>, call: Object<'run>, names: &PartNames) {
    let parts = CallParts::from_call(builder, call, names);
    let mut fields: Vec<ObjectEntry<'run>> = Vec::with_capacity(call.entries().len() + 1);
    let mut add = |key: &'run str, node: Option<Node<'run>>| fields.extend(node.map(|node| field_entry(key, node)));
    add(of_step::TOOL, tool_name(call, names));
    let function = object_of(call, ToolCallKey::Function);
    let args = parts.part_node(NamedPart::Args).or_else(|| first_named(function?, names.names_of(NamedPart::Args)));
    add(of_step::ARGS, args.map(|args| super::calls::parse_arguments(builder, args)));
    add(of_step::RESULT, parts.part_node(NamedPart::Result).or(parts.null_result.best_value()));
    let failed = || parts.part_node(NamedPart::Result).filter(|result| says_failed(Some(*result), names));
    add(of_step::ERROR, parts.part_node(NamedPart::Error).or_else(failed));
    add(of_step::START, parts.part_node(NamedPart::Start));
    add(of_step::END, parts.part_node(NamedPart::End));
    let seconds = || in_milliseconds(parts.part_node(NamedPart::Seconds)?);
    add(of_step::DURATION, parts.part_node(NamedPart::Milliseconds).or_else(seconds));
    for part in PLAIN {
        if let Some(key) = part.call_field() {
            add(key, parts.part_node(part));
        }
    }
    let standard = fields.len();
    for entry in call.entries() {
        let taken = || fields.iter().take(standard).any(|field| field.key == entry.key);
        if names.call_part(entry.key).is_none() && !taken() {
            fields.push(*entry);
        }
    }
    builder.add_step(StepKind::Call, fields, node.origin);
}

/// Parts that are read as they are.
const PLAIN: [NamedPart; 5] = [NamedPart::CallId, NamedPart::Status, NamedPart::Ok, NamedPart::Turn, NamedPart::Agent];

#[derive(Debug, Clone, Copy)]
pub(crate) struct BestRanked<V> {
    rank: u8,
    value: Option<V>,
}

impl<V> Default for BestRanked<V> {
    fn default() -> Self {
        Self { rank: u8::MAX, value: None }
    }
}

impl<V: Copy> BestRanked<V> {
    #[inline]
    pub(crate) fn offer_value(&mut self, rank: u8, value: V) {
        if self.value.is_none() || rank < self.rank {
            *self = Self { rank, value: Some(value) };
        }
    }

    #[inline]
    pub(crate) fn best_value(&self) -> Option<V> {
        self.value
    }

    pub(crate) fn best_rank(&self) -> u8 {
        self.rank
    }
}

/// Each under its first name that is present and not `null`.
#[derive(Default)]
struct CallParts<'run> {
    found: [BestRanked<Node<'run>>; NamedPart::ALL.len()],
    null_result: BestRanked<Node<'run>>,
}

impl<'run> CallParts<'run> {
    fn from_call(builder: &mut RunBuilder<'run, '_>, call: Object<'run>, names: &PartNames) -> Self {
        let mut parts = Self::default();
        for entry in call.entries() {
            if let Some((part, rank)) = names.call_part(entry.key) {
                parts.add_part(builder, part, rank, entry.key, entry.node, names);
            }
        }
        for (part, rank, path) in names.paths_of_calls() {
            if let Some(node) = value_at(call, path) {
                parts.add_part(builder, part, rank, path, node, names);
            }
        }
        parts
    }

    fn add_part(
        &mut self,
        builder: &mut RunBuilder<'run, '_>,
        part: NamedPart,
        rank: u8,
        name: &str,
        node: Node<'run>,
        names: &PartNames,
    ) {
        let said = names.map_settings();
        let node = match (part, node.value) {
            (_, Value::Null) => Some(node),
            (NamedPart::Start | NamedPart::End, _) => with_unit(builder, name, node, names, said.time_unit),
            (NamedPart::Milliseconds, _) => with_unit(builder, name, node, names, said.duration_unit),
            _ => Some(node),
        };
        let Some(node) = node else { return };
        let place = match node.value {
            Value::Null if part.has_null(false) => Some(&mut self.null_result),
            Value::Null => None,
            _ => self.found.get_mut(part as usize),
        };
        if let Some(place) = place {
            place.offer_value(rank, node);
        }
    }

    fn part_node(&self, part: NamedPart) -> Option<Node<'run>> {
        self.found.get(part as usize).and_then(BestRanked::best_value)
    }
}

/// Converts seconds.
pub(crate) fn in_milliseconds(node: Node<'_>) -> Option<Node<'_>> {
    let Value::Number(seconds) = node.value else { return None };
    Some(Node::new(crate::time::milliseconds_value(seconds.multiply(Number::Integer(1000))?.to_f64()), node.origin))
}

fn read_usage<'run>(object: Object<'run>, builder: &mut RunBuilder<'run, '_>, names: &PartNames) {
    let usage =
        names.names_of(NamedPart::Usage).iter().find_map(|key| object.get(key).and_then(super::nodes::node_object));
    let cost = names.names_of(NamedPart::Cost);
    let (cost, counts) = cost_and_counts(first_named(object, cost), usage, cost);
    builder.set_some(of_run::COST, cost);
    counts.set_usage(builder);
}

/// What a run cost and its counts of tokens, of what stands under the names of the two.
pub(crate) fn cost_and_counts<'run>(
    cost: Option<Node<'run>>,
    usage: Option<Object<'run>>,
    cost_names: &[Cow<'static, str>],
) -> (Option<Node<'run>>, TokenUsage) {
    let cost = cost.or_else(|| first_named(usage?, cost_names));
    let mut counts = TokenUsage::default();
    if let Some(usage) = usage {
        counts.add_usage(usage);
    }
    (cost.filter(|cost| matches!(cost.value, Value::Number(_))), counts)
}
