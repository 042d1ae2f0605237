//! Where a value stands in the normal form: its JSON pointer and its step.

use averment_base::limits::Limits;
use averment_base::value::compare::with_deep_stack;
use averment_base::value::json::{self, to_json};
use averment_base::value::text::EscapedText;
use averment_base::value::{Node, TextOrigin, Value, ValueText};
use averment_runs::run::{Run, StepKind};
use bumpalo::Bump;

/// The JSON pointer to a value of the run; `None` for a computed value.
#[must_use]
pub fn node_pointer(run: &Run<'_>, node: &Node<'_>) -> Option<String> {
    found_at(run, &SearchedValue::of_origin(node.origin, node.value.type_name(), Some(node.value))?)
}

/// The JSON pointer to a value inside of a step: the same as [`node_pointer`], without a search through the run.
#[must_use]
pub fn pointer_in_step(run: &Run<'_>, step: u32, node: &Node<'_>) -> Option<String> {
    let wanted = SearchedValue::of_origin(node.origin, node.value.type_name(), Some(node.value))?;
    let mut path = Vec::new();
    let found = run.steps.get(step as usize).is_some_and(|step| search_value(&step.node, &wanted, &mut path));
    if !found {
        return node_pointer(run, node);
    }
    let mut pointer = step_pointer(run, step)?;
    write_pointer(&path, &mut pointer);
    Some(pointer)
}

/// The JSON pointer to the value of a type that stands at a place of the run's text.
#[must_use]
pub fn pointer_at(run: &Run<'_>, origin: TextOrigin, type_name: &str) -> Option<String> {
    found_at(run, &SearchedValue::of_origin(origin, type_name, None)?)
}

fn found_at(run: &Run<'_>, wanted: &SearchedValue<'_>) -> Option<String> {
    let mut path = Vec::new();
    let found = run.object.entries().iter().any(|entry| {
        path.push(PathSegment::Key(entry.key));
        let found = search_value(&entry.node, wanted, &mut path);
        if !found {
            path.pop();
        }
        found
    });
    let mut pointer = String::new();
    write_pointer(&path, &mut pointer);
    found.then_some(pointer)
}

/// The step that a JSON pointer leads into, as an index into [`Run::steps`].
#[must_use]
pub fn step_of(run: &Run<'_>, pointer: &str) -> Option<u32> {
    let mut segments = pointer.split('/').skip(1);
    let (list, index) = (segments.next()?, segments.next()?.parse::<u32>().ok()?);
    let kind = StepKind::ALL.into_iter().find(|kind| kind.list_key() == list)?;
    // So many steps of its kind come before it.
    let mut later = run.steps.iter().enumerate().skip(index as usize);
    let (at, _) = later.find(|(_, step)| step.kind == kind && step.index == index)?;
    u32::try_from(at).ok()
}

/// The JSON pointer to a step.
#[must_use]
pub fn step_pointer(run: &Run<'_>, step: u32) -> Option<String> {
    let step = run.steps.get(step as usize)?;
    Some(["/", step.kind.list_key(), "/", &step.index.to_string()].concat())
}

enum PathSegment<'a> {
    Key(&'a str),
    Index(usize),
    Inside(String),
}

/// A list made by an adapter can share the place of its only element; the type tells them apart.
struct SearchedValue<'a> {
    range: std::ops::Range<usize>,
    type_name: &'a str,
    /// The value itself, because all values of a text inside a text share one place.
    value: Option<Value<'a>>,
}

impl<'a> SearchedValue<'a> {
    fn of_origin(origin: TextOrigin, type_name: &'a str, value: Option<Value<'a>>) -> Option<Self> {
        Some(Self { range: origin.byte_range()?, type_name, value })
    }

    fn differs(&self, other: &Value<'_>) -> bool {
        self.value.is_some_and(|value| to_json(&value) != to_json(other))
    }
}

/// Searches below a value; only values within its span are inside it.
fn search_value<'a>(at: &Node<'a>, wanted: &SearchedValue<'_>, path: &mut Vec<PathSegment<'a>>) -> bool {
    if at.origin.byte_range().as_ref() == Some(&wanted.range) && at.value.type_name() == wanted.type_name {
        return true;
    }
    if at.origin.byte_range().is_some_and(|range| wanted.range.start < range.start || wanted.range.end > range.end) {
        return false;
    }
    let mut below = |segment, inner: &Node<'a>| {
        path.push(segment);
        let found = with_deep_stack(|| search_value(inner, wanted, path));
        if !found {
            path.pop();
        }
        found
    };
    match at.value {
        Value::List(items) => {
            // Items mostly stand in the order of their text, so that the right one is nearly always guessed.
            let before = |item: &Node<'a>| item.origin.byte_range().is_some_and(|range| range.end < wanted.range.end);
            let guess = items.partition_point(before);
            let mut look = |index: usize| items.get(index).is_some_and(|item| below(PathSegment::Index(index), item));
            look(guess) || (0..items.len()).any(|index| index != guess && look(index))
        }
        Value::Object(object) => object.entries().iter().any(|entry| below(PathSegment::Key(entry.key), &entry.node)),
        Value::Text(text) => match pointer_inside(text, at.origin, wanted) {
            Some(pointer) => {
                path.push(PathSegment::Inside(pointer));
                true
            }
            None => false,
        },
        _ => false,
    }
}

fn pointer_inside(text: ValueText<'_>, origin: TextOrigin, wanted: &SearchedValue<'_>) -> Option<String> {
    if !json::may_hold(text.raw_text().as_bytes()) {
        return None;
    }
    let (arena, limits) = (Bump::new(), Limits::default());
    // Places count in the run's text, so that the text is read where it stands.
    let held = json::parse_text(in_arena(text, &arena), origin, &arena, &limits).ok()?.node;
    let all_alike = held.origin.byte_range() == origin.byte_range();
    let mut path = Vec::new();
    let found = match held.value {
        Value::Object(_) | Value::List(_) if all_alike => search_alike(&held, wanted, &mut path),
        Value::Object(_) | Value::List(_) => search_value(&held, wanted, &mut path),
        _ => false,
    };
    let mut pointer = String::new();
    write_pointer(&path, &mut pointer);
    found.then_some(pointer)
}

fn in_arena<'a>(text: ValueText<'_>, arena: &'a Bump) -> ValueText<'a> {
    let raw = arena.alloc_str(text.raw_text());
    match text {
        ValueText::Plain(_) => ValueText::Plain(raw),
        ValueText::Escaped(_) => ValueText::Escaped(arena.alloc(EscapedText::new(raw, arena))),
    }
}

fn search_alike<'a>(at: &Node<'a>, wanted: &SearchedValue<'_>, path: &mut Vec<PathSegment<'a>>) -> bool {
    if at.value.type_name() == wanted.type_name && !wanted.differs(&at.value) {
        return true;
    }
    let mut below = |segment, inner: &Node<'a>| {
        path.push(segment);
        let found = with_deep_stack(|| search_alike(inner, wanted, path));
        if !found {
            path.pop();
        }
        found
    };
    match at.value {
        Value::List(items) => items.iter().enumerate().any(|(index, item)| below(PathSegment::Index(index), item)),
        Value::Object(object) => object.entries().iter().any(|entry| below(PathSegment::Key(entry.key), &entry.node)),
        _ => false,
    }
}

fn write_pointer(path: &[PathSegment<'_>], out: &mut String) {
    for segment in path {
        if !matches!(segment, PathSegment::Inside(_)) {
            out.push('/');
        }
        match segment {
            PathSegment::Inside(pointer) => out.push_str(pointer),
            PathSegment::Key(key) if key.contains(['~', '/']) => {
                out.push_str(&key.replace('~', "~0").replace('/', "~1"))
            }
            PathSegment::Key(key) => out.push_str(key),
            PathSegment::Index(index) => out.push_str(&index.to_string()),
        }
    }
}
