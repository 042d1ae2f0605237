//! The entries of a run beside its steps.

use super::StepBuilder;
use super::fields::wrong_type;
use super::near_run_keys::misspelt_key;
use crate::adapt::content;
use crate::error::PlacedError;
use averment_base::value::{Node, Number, Object, ObjectEntry, Value};
use averment_runs::normal::{EntryType, entry_type, of_run, of_usage, role};
use averment_runs::run::{Step, StepKind};
use bumpalo::Bump;

/// `null` means not recorded.
fn known_entry<'run>(object: Object<'run>, key: &str) -> Option<Node<'run>> {
    object.get(key).filter(|node| !matches!(node.value, Value::Null | Value::Absent))
}

pub(super) fn list_entries<'run>(object: Object<'run>, key: &str) -> Result<Option<&'run [Node<'run>]>, PlacedError> {
    match known_entry(object, key) {
        None => Ok(None),
        Some(Node { value: Value::List(items), .. }) => Ok(Some(items)),
        Some(node) => Err(wrong_type(node, "a run", key, "a list")),
    }
}

/// Text or a number.
pub(super) fn run_id<'run>(object: Object<'run>) -> Result<Option<&'run str>, PlacedError> {
    match known_entry(object, of_run::ID) {
        None => Ok(None),
        Some(Node { value: Value::Text(text), .. }) => Ok(Some(text.as_str())),
        Some(Node { value: Value::Number(Number::Written(text)), .. }) => Ok(Some(text)),
        Some(node) => Err(wrong_type(node, "a run", of_run::ID, "text")),
    }
}

/// Entries that say nothing about actions or answers, except composite `meta` values.
const SAYS_NOTHING: [&str; 8] = [
    of_run::ID,
    of_run::META,
    of_run::TOOLS,
    of_run::TURNS,
    of_run::ENV,
    of_run::COMPLETE,
    of_run::STEPS,
    of_run::UNRECORDED_ROLES,
];

pub(super) const EMPTY: &str = "the run is empty: no step and no output of it is recorded";

/// In normal form an empty step list is a statement; formats have empty lists for all kinds.
pub(super) fn is_unset(object: Object<'_>, of_format: bool) -> bool {
    let is_nothing = |node: Node<'_>| matches!(node.value, Value::Null | Value::Absent | Value::Missing);
    let is_plain = |node: Node<'_>| !matches!(node.value, Value::Object(_) | Value::List(_));
    object.entries().iter().filter(|entry| !is_nothing(entry.node)).all(|entry| match entry.node.value {
        Value::Object(meta) if entry.key == of_run::META => meta.entries().iter().all(|entry| is_plain(entry.node)),
        Value::List(_) if entry.key == of_run::STEPS => of_format,
        _ if StepKind::ALL.iter().any(|kind| kind.list_key() == entry.key) => of_format,
        _ => SAYS_NOTHING.contains(&entry.key),
    })
}

/// False for `complete: false`.
pub(super) fn is_complete(object: Object<'_>) -> Result<bool, PlacedError> {
    match known_entry(object, of_run::COMPLETE) {
        None => Ok(true),
        Some(Node { value: Value::Boolean(complete), .. }) => Ok(complete),
        Some(node) => Err(wrong_type(node, "a run", of_run::COMPLETE, "`true` or `false`")),
    }
}

/// Recorded and derived entries, steps in order. `null` numbers, lists and objects are omitted.
pub(super) fn build_entries<'run>(
    builder: &mut StepBuilder<'run>,
    object: Object<'run>,
    recorded: [bool; StepKind::ALL.len()],
    steps: &'run [Step<'run>],
) -> Result<&'run [ObjectEntry<'run>], PlacedError> {
    let mut entries = bumpalo::collections::Vec::with_capacity_in(object.entries().len() + 4, builder.arena);
    for given in object.entries() {
        if StepKind::ALL.iter().any(|kind| kind.list_key() == given.key) || given.key == of_run::STEPS {
            continue;
        }
        if given.key == of_run::DURATION && is_too_short(given.node, steps) {
            builder.warn_once(given.node.origin, TOO_SHORT);
            continue;
        }
        if entry_type(given.key) == EntryType::Number && is_negative(given.node.value) {
            let message = format!("the `{}` of the run is below 0: it counts as not recorded", given.key);
            builder.warn_once(given.node.origin, &message);
            continue;
        }
        if !builder.of_format
            && let Some(message) = misspelt_key(object, given)
        {
            builder.warn_once(given.node.origin, &message);
        }
        if let Some(node) = standard_entry(builder, given)? {
            entries.push(ObjectEntry { key: given.key, node });
        }
    }
    for (kind, recorded) in StepKind::ALL.into_iter().zip(recorded) {
        if recorded {
            let of_kind = || steps.iter().filter(move |step| step.kind == kind).map(|step| step.node);
            let mut nodes = bumpalo::collections::Vec::with_capacity_in(of_kind().count(), builder.arena);
            nodes.extend(of_kind());
            entries.push(list_entry(object, kind.list_key(), nodes.into_bump_slice()));
        }
    }
    if recorded.contains(&true) {
        let nodes = builder.arena.alloc_slice_fill_iter(steps.iter().map(|step| step.node));
        entries.push(list_entry(object, of_run::STEPS, nodes));
    }
    // `null` in the normal form: nobody has counted them, and neither do we.
    let withheld = object.get(of_run::TURNS).is_some_and(|node| match node.value {
        Value::Absent => true,
        Value::Null => !builder.of_format,
        _ => false,
    });
    if known_entry(object, of_run::TURNS).is_none()
        && !withheld
        && let Some(turns) = count_turns(recorded, steps)
    {
        entries.push(ObjectEntry::computed(of_run::TURNS, Value::Number(Number::Integer(turns))));
    }
    Ok(entries.into_bump_slice())
}

/// No duration, cost or count is negative.
pub(crate) fn is_negative(value: Value<'_>) -> bool {
    matches!(value, Value::Number(number) if number.to_f64() < 0.0)
}

const TOO_SHORT: &str =
    "the `duration` of the run is shorter than the time that its steps span: it counts as not recorded";

/// True if the steps span clearly more time.
fn is_too_short(duration: Node<'_>, steps: &[Step<'_>]) -> bool {
    let Value::Number(duration) = duration.value else { return false };
    let first = steps.iter().filter_map(|step| step.start).fold(f64::INFINITY, f64::min);
    let last = steps.iter().filter_map(|step| step.end.or(step.start)).fold(f64::NEG_INFINITY, f64::max);
    crate::time::is_too_short(duration.to_f64(), first, last)
}

fn list_entry<'run>(object: Object<'run>, key: &'static str, nodes: &'run [Node<'run>]) -> ObjectEntry<'run> {
    let value = Value::List(nodes);
    ObjectEntry { key, node: object.get(key).map_or(Node::computed(value), |given| Node::new(value, given.origin)) }
}

/// `None` if it is not recorded.
fn standard_entry<'run>(
    builder: &mut StepBuilder<'run>,
    given: &ObjectEntry<'run>,
) -> Result<Option<Node<'run>>, PlacedError> {
    let node = given.node;
    let fits = match entry_type(given.key) {
        EntryType::Number => match node.value {
            Value::Null | Value::Absent => return Ok(None),
            Value::Number(number) => number.to_f64().is_finite(),
            _ => return Err(wrong_type(node, "a run", given.key, "a number")),
        },
        EntryType::Object => match node.value {
            Value::Null | Value::Absent => return Ok(None),
            Value::Object(usage) => return Ok(Some(with_total(builder, node, usage))),
            _ => return Err(wrong_type(node, "a run", given.key, "an object")),
        },
        EntryType::TextOrNumber | EntryType::Boolean if matches!(node.value, Value::Null) => return Ok(None),
        EntryType::Any if matches!(given.key, of_run::OUTPUT | of_run::PROMPT) && !builder.of_format => {
            return Ok(Some(content::of_blocks(node, builder.arena).unwrap_or(node)).filter(is_recorded));
        }
        EntryType::TextOrNumber | EntryType::Boolean | EntryType::Any => !matches!(node.value, Value::Absent),
    };
    if given.key == of_run::COST && !fits {
        return Err(wrong_type(node, "a run", given.key, "a number that a computer can hold"));
    }
    Ok(fits.then_some(node))
}

fn is_recorded(node: &Node<'_>) -> bool {
    !matches!(node.value, Value::Absent)
}

const TOKENS: [&str; 6] = [
    of_usage::INPUT,
    of_usage::OUTPUT,
    of_usage::TOTAL,
    of_usage::REASONING,
    of_usage::CACHE_READ,
    of_usage::CACHE_WRITE,
];

fn is_invalid_count(entry: &ObjectEntry<'_>) -> bool {
    let broken = |value| matches!(value, Value::Number(number) if number.to_f64().fract() != 0.0);
    TOKENS.contains(&entry.key) && (is_negative(entry.node.value) || broken(entry.node.value))
}

fn valid_counts<'run>(builder: &mut StepBuilder<'run>, usage: Object<'run>) -> Object<'run> {
    let Some(impossible) = usage.entries().iter().find(|entry| is_invalid_count(entry)) else { return usage };
    builder.warn_once(impossible.node.origin, NO_COUNT);
    let mut entries = bumpalo::collections::Vec::with_capacity_in(usage.entries().len(), builder.arena);
    entries.extend(usage.entries().iter().filter(|entry| !is_invalid_count(entry)));
    Object::new(builder.arena, entries.into_bump_slice())
}

const NO_COUNT: &str = "a number of tokens is below 0 or has a fraction: it counts as not recorded";

fn with_total<'run>(builder: &mut StepBuilder<'run>, node: Node<'run>, usage: Object<'run>) -> Node<'run> {
    let usage = valid_counts(builder, usage);
    sum_counts(builder.arena, Node::new(Value::Object(usage), node.origin), usage)
}

/// The counts of tokens as a run has them. `None` where one of them counts as not recorded, which somebody has to be told.
pub(crate) fn plain_usage<'run>(arena: &'run Bump, node: Node<'run>) -> Option<Node<'run>> {
    let Value::Object(usage) = node.value else { return None };
    (!usage.entries().iter().any(is_invalid_count)).then(|| sum_counts(arena, node, usage))
}

/// Input plus output, if only these are recorded.
fn sum_counts<'run>(arena: &'run Bump, node: Node<'run>, usage: Object<'run>) -> Node<'run> {
    let tokens = |key| match known_entry(usage, key).map(|node| node.value) {
        Some(Value::Number(number)) => Some(number),
        _ => None,
    };
    let total = match (known_entry(usage, of_usage::TOTAL), tokens(of_usage::INPUT), tokens(of_usage::OUTPUT)) {
        (None, Some(input), Some(output)) => input.add(output),
        _ => None,
    };
    let nulls = usage.entries().iter().any(|entry| matches!(entry.node.value, Value::Null));
    if total.is_none() && !nulls {
        return node;
    }
    let mut entries = bumpalo::collections::Vec::with_capacity_in(usage.entries().len() + 1, arena);
    entries.extend(usage.entries().iter().filter(|entry| !matches!(entry.node.value, Value::Null)));
    if let Some(total) = total {
        entries.push(ObjectEntry::computed(of_usage::TOTAL, Value::Number(total)));
    }
    Node::new(Value::Object(Object::new(arena, entries.into_bump_slice())), node.origin)
}

/// From the steps' turns, else from assistant messages.
fn count_turns(recorded: [bool; StepKind::ALL.len()], steps: &[Step<'_>]) -> Option<i64> {
    let turns = || steps.iter().filter_map(|step| step.turn);
    if let (Some(first), Some(last)) = (turns().min(), turns().max()) {
        // Some count turns from 0.
        return Some(i64::from(last) + i64::from(first == 0));
    }
    let assistant = |step: &&Step<'_>| step.kind == StepKind::Message && role::OF_ASSISTANT.contains(&step.name);
    let messages = recorded.get(StepKind::Message as usize).copied().unwrap_or(false);
    let count = messages.then(|| steps.iter().filter(assistant).count());
    // Somebody made the calls, in turns that nobody has counted.
    let calls = || steps.iter().any(|step| step.kind == StepKind::Call);
    count.filter(|count| *count > 0 || !calls()).and_then(|count| i64::try_from(count).ok())
}
