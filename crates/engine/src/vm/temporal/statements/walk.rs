//! The texts, numbers and booleans inside a value: in which of them a predicate finds something.
//!
//! What is found is often a secret: findings name its place and its length, never the value.

use crate::bytecode::ops::Op;
use crate::bytecode::program::CodeId;
use crate::vm::context::ExpressionScope;
use crate::vm::fault::Fault;
use crate::vm::outcome::{Evidence, Role, Violation, Violations};
use crate::vm::temporal::explain::{amount, why};
use crate::vm::temporal::monitor::Why;
use crate::vm::temporal::view::View;
use averment_base::value::{Node, Text, Value};
use averment_builtins::detect::Detector;

/// Where a value was found.
#[derive(Debug, Clone)]
pub(super) struct FoundValue {
    /// JSON pointer inside the value that was walked.
    pub(super) path: String,
    /// The value's type.
    pub(super) type_name: &'static str,
    /// Characters of a text; digits and signs of a number.
    pub(super) length: usize,
    /// The JSON pointer into the run, where it is known.
    pub(super) pointer: Option<String>,
    /// The step that it was found in.
    pub(super) step: Option<u32>,
    /// What was found, where a detector of the standard set looked: `github-token`.
    pub(super) kinds: Vec<&'static str>,
    /// Where the value stands in the text of the run.
    pub(super) origin: Option<std::ops::Range<usize>>,
    /// The text or number itself: for those who have to keep it out of reports.
    pub(super) content: Option<String>,
}

/// What a walk found.
#[derive(Debug, Default)]
pub(super) struct Walk {
    /// The first values of which the predicate is true, as many as are asked for.
    pub(super) found: Vec<FoundValue>,
    /// The first of which it cannot be decided.
    pub(super) unknown: Option<FoundValue>,
    /// Of how many values it is true: more than are kept, where all are counted.
    pub(super) count: u64,
    /// How many values were looked at.
    pub(super) looked: u64,
    /// Whether one of them is not recorded.
    pub(super) has_absent: bool,
}

/// A value on the way, with the way to it.
struct Visit<'run> {
    node: Node<'run>,
    parent: Option<usize>,
    segment: Segment<'run>,
}

#[derive(Clone, Copy)]
enum Segment<'run> {
    Key(&'run str),
    Index(usize),
}

/// How much of what is found is wanted.
#[derive(Debug, Clone, Copy)]
pub(super) enum Finds {
    /// The first.
    First,
    /// So many places, and how many there are.
    All(usize),
}

/// Looks at every text, number and boolean inside a value, in order, without recursion.
pub(super) fn walk<'run>(
    root: Node<'run>,
    predicate: CodeId,
    scope: &ExpressionScope<'_, 'run>,
    wanted: Finds,
    view: &mut View<'_, 'run>,
) -> Result<Walk, Fault> {
    let mut visits = vec![Visit { node: root, parent: None, segment: Segment::Index(0) }];
    let mut open = vec![0_usize];
    let mut walk = Walk::default();
    while let Some(at) = open.pop() {
        view.spend(1)?;
        let Some(Visit { node, .. }) = visits.get(at) else { continue };
        let node = *node;
        let from = visits.len();
        view.machine.meter.check_memory(from.saturating_mul(size_of::<Visit<'_>>()))?;
        match node.value {
            Value::List(items) => {
                visits.extend(items.iter().enumerate().map(|(index, item)| Visit {
                    node: *item,
                    parent: Some(at),
                    segment: Segment::Index(index),
                }));
            }
            Value::Object(object) => visits.extend(object.entries().iter().map(|entry| Visit {
                node: entry.node,
                parent: Some(at),
                segment: Segment::Key(entry.key),
            })),
            Value::Text(_) | Value::Number(_) | Value::Boolean(_) => {
                walk.looked += 1;
                let locals = [node];
                view.machine.cache.look_at(key(&visits, at).zip(text(&node)));
                let truth = view.machine.truth(predicate, &scope.with_locals(&locals));
                view.machine.cache.look_at(None);
                match truth?.plain() {
                    Some(false) => {}
                    Some(true) => {
                        walk.count += 1;
                        if matches!(wanted, Finds::All(most) if walk.found.len() >= most) {
                            continue;
                        }
                        let kinds = kinds(&node, key(&visits, at), predicate, view)?;
                        walk.found.push(FoundValue { kinds, ..place(&visits, at, view) });
                        if matches!(wanted, Finds::First) {
                            return Ok(walk);
                        }
                    }
                    None if walk.unknown.is_none() => walk.unknown = Some(place(&visits, at, view)),
                    None => {}
                }
            }
            value => walk.has_absent |= value.is_absent(),
        }
        open.extend((from..visits.len()).rev());
    }
    Ok(walk)
}

fn text<'run>(node: &Node<'run>) -> Option<Text<'run>> {
    match node.value {
        Value::Text(text) => Some(text),
        _ => None,
    }
}

/// The key under which a value stands, alone or in lists.
fn key<'run>(visits: &[Visit<'run>], at: usize) -> Option<&'run str> {
    let mut visit = visits.get(at)?;
    loop {
        match visit.segment {
            Segment::Key(key) => return Some(key),
            Segment::Index(_) => visit = visits.get(visit.parent?)?,
        }
    }
}

fn place(visits: &[Visit<'_>], at: usize, view: &View<'_, '_>) -> FoundValue {
    let mut segments = Vec::new();
    let mut next = visits.get(at);
    let Some(node) = next.map(|visit| visit.node) else { return FoundValue::nowhere() };
    while let Some(visit) = next {
        if visit.parent.is_some() {
            segments.push(match visit.segment {
                Segment::Key(key) => key.replace('~', "~0").replace('/', "~1"),
                Segment::Index(index) => index.to_string(),
            });
        }
        next = visit.parent.and_then(|parent| visits.get(parent));
    }
    let path = segments.iter().rev().fold(String::new(), |path, segment| path + "/" + segment);
    let length = match node.value {
        Value::Text(text) => text.as_str().chars().count(),
        value => averment_base::value::json::to_json(&value).len(),
    };
    let pointer = crate::vm::locate::pointer(view.machine.run, &node);
    let (type_name, origin) = (node.value.type_name(), node.origin.range());
    let content = match node.value {
        Value::Text(text) => Some(text.as_str().to_owned()),
        Value::Number(_) => Some(averment_base::value::json::to_json(&node.value)),
        _ => None,
    };
    FoundValue { path, type_name, length, pointer, step: None, kinds: Vec::new(), origin, content }
}

/// What was found, where the predicate is one of the standard set.
fn kinds(
    node: &Node<'_>,
    key: Option<&str>,
    predicate: CodeId,
    view: &mut View<'_, '_>,
) -> Result<Vec<&'static str>, Fault> {
    let program = view.machine.program;
    let ops = program
        .chunks
        .get(predicate.0 as usize)
        .and_then(|chunk| program.code.get(chunk.start as usize..chunk.end as usize));
    let called = ops.into_iter().flatten().find_map(|op| match op {
        Op::CallDef(number, _) => program.defs.get(number.0 as usize),
        _ => None,
    });
    let file = called.map(|def| view.machine.code_span(def.code).file.0 as usize);
    let detector = match file.and_then(|file| program.sources.get(file)).map(|source| source.name.as_str()) {
        Some("std/secrets.assert") => Detector::Secrets,
        Some("std/pii.assert") => Detector::Pii,
        _ => return Ok(Vec::new()),
    };
    Ok(detector.kinds(key, &node.value, &mut view.machine.meter)?)
}

impl FoundValue {
    fn nowhere() -> Self {
        Self {
            path: String::new(),
            type_name: "value",
            length: 0,
            pointer: None,
            step: None,
            kinds: Vec::new(),
            origin: None,
            content: None,
        }
    }
}

/// A predicate found something: in so many values, of which the first speaks for all, and each that is listed for itself.
pub(super) fn found_all(view: &mut View<'_, '_>, places: &[FoundValue], count: u64, predicate: CodeId) -> Why {
    let Some((first, more)) = places.split_first() else { return Why::default() };
    let mut why = found(view, first, more, count.saturating_sub(1), predicate);
    if count > 1 && view.listed > 0 {
        let listed = places.iter().take(view.listed).map(|place| {
            let one = found(view, place, &[], 0, predicate);
            Violation { reason: one.reason, evidence: one.evidence }
        });
        why.violations = Violations { count, listed: listed.collect() };
    }
    why
}

/// A predicate found something: its place and length, never the value; and in how many more values it finds something.
pub(super) fn found(
    view: &mut View<'_, '_>,
    place: &FoundValue,
    more: &[FoundValue],
    others: u64,
    predicate: CodeId,
) -> Why {
    let text = view.machine.rule_text(view.machine.code_span(predicate));
    let name = text.split(['(', ' ']).next().unwrap_or("").to_owned();
    let shown = place.pointer.clone().unwrap_or_else(|| place.path.clone());
    let at = if shown.is_empty() { "the value itself".to_owned() } else { format!("`{shown}`") };
    let step = place.step.map(|step| format!(" in {}", view.say(step))).unwrap_or_default();
    let mut reason = format!("`{name}` finds {} at {at}{step}, {}", place.what(), place.size());
    if others > 0 {
        reason.push_str(&format!("; and in {}", amount(others, "more value")));
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

impl FoundValue {
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
