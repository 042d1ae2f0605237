//! Where a value stands in the normal form: its JSON pointer and its step.

use averment_base::value::compare::deeper;
use averment_base::value::{Node, Origin, Value};
use averment_runs::run::{Kind, Run};

/// The JSON pointer to a value of the run; `None` for a computed value.
#[must_use]
pub fn pointer(run: &Run<'_>, node: &Node<'_>) -> Option<String> {
    pointer_at(run, node.origin, node.value.type_name())
}

/// The JSON pointer to a value inside of a step: the same as [`pointer`], without a search through the run.
#[must_use]
pub fn pointer_in_step(run: &Run<'_>, step: u32, node: &Node<'_>) -> Option<String> {
    let wanted = SearchedValue { range: node.origin.range()?, type_name: node.value.type_name() };
    let mut path = Vec::new();
    let found = run.steps.get(step as usize).is_some_and(|step| search(&step.node, &wanted, &mut path));
    if !found {
        return pointer(run, node);
    }
    let mut pointer = step_pointer(run, step)?;
    write(&path, &mut pointer);
    Some(pointer)
}

/// The JSON pointer to the value of a type that stands at a place of the run's text.
#[must_use]
pub fn pointer_at(run: &Run<'_>, origin: Origin, type_name: &str) -> Option<String> {
    let wanted = SearchedValue { range: origin.range()?, type_name };
    let mut path = Vec::new();
    let found = run.object.entries().iter().any(|entry| {
        path.push(PathSegment::Key(entry.key));
        let found = search(&entry.node, &wanted, &mut path);
        if !found {
            path.pop();
        }
        found
    });
    let mut pointer = String::new();
    write(&path, &mut pointer);
    found.then_some(pointer)
}

/// The step that a JSON pointer leads into, as an index into [`Run::steps`].
#[must_use]
pub fn step_of(run: &Run<'_>, pointer: &str) -> Option<u32> {
    let mut segments = pointer.split('/').skip(1);
    let (list, index) = (segments.next()?, segments.next()?.parse::<u32>().ok()?);
    let kind = Kind::ALL.into_iter().find(|kind| kind.list_key() == list)?;
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

#[derive(Clone, Copy)]
enum PathSegment<'a> {
    Key(&'a str),
    Index(usize),
}

/// What is looked for. A list and its only element can share a place when an adapter made the list: the type tells them apart.
struct SearchedValue<'a> {
    range: std::ops::Range<usize>,
    type_name: &'a str,
}

/// Looks below a value for another. What lies outside of a value's text is not inside the value.
fn search<'a>(at: &Node<'a>, wanted: &SearchedValue<'_>, path: &mut Vec<PathSegment<'a>>) -> bool {
    if at.origin.range().as_ref() == Some(&wanted.range) && at.value.type_name() == wanted.type_name {
        return true;
    }
    if at.origin.range().is_some_and(|range| wanted.range.start < range.start || wanted.range.end > range.end) {
        return false;
    }
    let mut below = |segment, inner: &Node<'a>| {
        path.push(segment);
        let found = deeper(|| search(inner, wanted, path));
        if !found {
            path.pop();
        }
        found
    };
    match at.value {
        Value::List(items) => {
            // Items mostly stand in the order of their text, so that the right one is nearly always guessed.
            let before = |item: &Node<'a>| item.origin.range().is_some_and(|range| range.end < wanted.range.end);
            let guess = items.partition_point(before);
            let mut look = |index: usize| items.get(index).is_some_and(|item| below(PathSegment::Index(index), item));
            look(guess) || (0..items.len()).any(|index| index != guess && look(index))
        }
        Value::Object(object) => object.entries().iter().any(|entry| below(PathSegment::Key(entry.key), &entry.node)),
        _ => false,
    }
}

/// Adds a path to a pointer.
fn write(path: &[PathSegment<'_>], out: &mut String) {
    for segment in path {
        out.push('/');
        match segment {
            PathSegment::Key(key) if key.contains(['~', '/']) => {
                out.push_str(&key.replace('~', "~0").replace('/', "~1"))
            }
            PathSegment::Key(key) => out.push_str(key),
            PathSegment::Index(index) => out.push_str(&index.to_string()),
        }
    }
}
