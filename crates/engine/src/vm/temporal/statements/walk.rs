//! The texts, numbers and booleans inside a value: in which of them a predicate finds something.
//!
//! What is found is often a secret: findings name its place and its length, never the value.

use crate::bytecode::ops::Op;
use crate::bytecode::program::CodeId;
use crate::vm::context::ExpressionScope;
use crate::vm::fault::Fault;
use crate::vm::outcome::{AssertionViolation, Role, VerdictEvidence, ViolationList};
use crate::vm::temporal::explain::reason_with;
use crate::vm::temporal::view::WindowView;
use crate::vm::temporal::window_events::VerdictReason;
use averment_base::value::{Node, Value, ValueText};
use averment_base::words::count_noun;
use averment_builtins::detect::Detector;

#[derive(Debug, Clone, Default)]
pub(super) struct FoundValue {
    pub(super) path: String,
    pub(super) type_name: &'static str,
    /// Characters of a text; digits and signs of a number.
    pub(super) length: usize,
    pub(super) pointer: Option<String>,
    pub(super) step: Option<u32>,
    /// Findings of a standard detector: `github-token`.
    pub(super) kinds: Vec<&'static str>,
    pub(super) origin: Option<std::ops::Range<usize>>,
    /// The text or number itself, needed to redact it from reports.
    pub(super) content: Option<String>,
}

#[derive(Debug, Default)]
pub(super) struct ValueWalk {
    pub(super) found: Vec<FoundValue>,
    pub(super) unknown: Option<FoundValue>,
    /// Number of values that satisfy it; may exceed those kept.
    pub(super) count: u64,
    pub(super) looked: u64,
    pub(super) has_absent: bool,
    /// Fuel that the predicate took, with what it was asked for.
    fuel: u64,
}

impl ValueWalk {
    pub(super) fn of_first(first: &FoundValue) -> Self {
        Self { found: vec![first.clone()], count: 1, ..Self::default() }
    }
}

struct WalkVisit<'run> {
    node: Node<'run>,
    parent: Option<usize>,
    segment: WalkSegment<'run>,
}

#[derive(Clone, Copy)]
enum WalkSegment<'run> {
    Key(&'run str),
    Index(usize),
}

#[derive(Debug, Clone, Copy)]
pub(super) enum FindLimit<'a> {
    First,
    All(usize),
    /// All up to a number, behind what a walk over the same values looked at that ended with the first. That is not evaluated again, and
    /// counts as if it were: limits end both ways at the same value.
    Behind(&'a ValueWalk, usize),
}

impl FindLimit<'_> {
    /// What is known before the walk begins.
    fn begin_walk(self, view: &mut WindowView<'_, '_>) -> Result<(ValueWalk, u64), Fault> {
        let Self::Behind(begun, _) = self else { return Ok((ValueWalk::default(), 0)) };
        view.machine.spend(begun.fuel)?;
        let (found, unknown, count, fuel) = (begun.found.clone(), begun.unknown.clone(), begun.count, begun.fuel);
        Ok((ValueWalk { found, unknown, count, fuel, ..ValueWalk::default() }, begun.looked))
    }

    fn has_enough(self, found: usize) -> bool {
        matches!(self, Self::All(most) | Self::Behind(_, most) if found >= most)
    }
}

/// Visits every text, number and boolean in order, without recursion.
pub(super) fn walk_value<'run>(
    root: Node<'run>,
    predicate: CodeId,
    scope: &ExpressionScope<'_, 'run>,
    wanted: FindLimit<'_>,
    view: &mut WindowView<'_, 'run>,
) -> Result<ValueWalk, Fault> {
    let mut visits = vec![WalkVisit { node: root, parent: None, segment: WalkSegment::Index(0) }];
    let mut open = vec![0_usize];
    let (mut walk, known) = wanted.begin_walk(view)?;
    while let Some(at) = open.pop() {
        view.spend_fuel(1)?;
        let Some(WalkVisit { node, .. }) = visits.get(at) else { continue };
        let node = *node;
        let from = visits.len();
        view.machine.meter.check_memory(from.saturating_mul(size_of::<WalkVisit<'_>>()))?;
        match node.value {
            Value::List(items) => {
                visits.extend(items.iter().enumerate().map(|(index, item)| WalkVisit {
                    node: *item,
                    parent: Some(at),
                    segment: WalkSegment::Index(index),
                }));
            }
            Value::Object(object) => visits.extend(object.entries().iter().map(|entry| WalkVisit {
                node: entry.node,
                parent: Some(at),
                segment: WalkSegment::Key(entry.key),
            })),
            Value::Text(_) | Value::Number(_) | Value::Boolean(_) => {
                walk.looked += 1;
                if walk.looked <= known {
                    continue;
                }
                let locals = [node];
                let spent = view.machine.meter.fuel_spent();
                view.machine.cache.look_at(nearest_key(&visits, at).zip(scalar_text(&node)));
                let truth = view.machine.evaluate_truth(predicate, &scope.with_locals(&locals));
                view.machine.cache.look_at(None);
                let answer = truth?.plain_answer();
                let kinds = match answer {
                    Some(true) if !wanted.has_enough(walk.found.len()) => {
                        found_kinds(&node, nearest_key(&visits, at), predicate, view)?
                    }
                    _ => Vec::new(),
                };
                walk.fuel = walk.fuel.saturating_add(view.machine.meter.fuel_spent().saturating_sub(spent));
                match answer {
                    Some(false) => {}
                    Some(true) => {
                        walk.count += 1;
                        if wanted.has_enough(walk.found.len()) {
                            continue;
                        }
                        walk.found.push(FoundValue { kinds, ..found_place(&visits, at, view) });
                        if matches!(wanted, FindLimit::First) {
                            return Ok(walk);
                        }
                    }
                    None if walk.unknown.is_none() => walk.unknown = Some(found_place(&visits, at, view)),
                    None => {}
                }
            }
            value => walk.has_absent |= value.is_absent(),
        }
        open.extend((from..visits.len()).rev());
    }
    Ok(walk)
}

fn scalar_text<'run>(node: &Node<'run>) -> Option<ValueText<'run>> {
    match node.value {
        Value::Text(text) => Some(text),
        _ => None,
    }
}

fn nearest_key<'run>(visits: &[WalkVisit<'run>], at: usize) -> Option<&'run str> {
    let mut visit = visits.get(at)?;
    loop {
        match visit.segment {
            WalkSegment::Key(key) => return Some(key),
            WalkSegment::Index(_) => visit = visits.get(visit.parent?)?,
        }
    }
}

fn found_place(visits: &[WalkVisit<'_>], at: usize, view: &WindowView<'_, '_>) -> FoundValue {
    let mut segments = Vec::new();
    let mut next = visits.get(at);
    let Some(node) = next.map(|visit| visit.node) else { return FoundValue::default() };
    while let Some(visit) = next {
        if visit.parent.is_some() {
            segments.push(match visit.segment {
                WalkSegment::Key(key) => key.replace('~', "~0").replace('/', "~1"),
                WalkSegment::Index(index) => index.to_string(),
            });
        }
        next = visit.parent.and_then(|parent| visits.get(parent));
    }
    let path = segments.iter().rev().fold(String::new(), |path, segment| path + "/" + segment);
    let length = match node.value {
        Value::Text(text) => text.as_str().chars().count(),
        value => averment_base::value::json::to_json(&value).len(),
    };
    let pointer = crate::vm::locate::node_pointer(view.machine.run, &node);
    let (type_name, origin) = (node.value.type_name(), node.origin.byte_range());
    let content = match node.value {
        Value::Text(text) => Some(text.as_str().to_owned()),
        Value::Number(_) => Some(averment_base::value::json::to_json(&node.value)),
        _ => None,
    };
    FoundValue { path, type_name, length, pointer, step: None, kinds: Vec::new(), origin, content }
}

/// Empty unless the predicate is a standard detector.
fn found_kinds(
    node: &Node<'_>,
    key: Option<&str>,
    predicate: CodeId,
    view: &mut WindowView<'_, '_>,
) -> Result<Vec<&'static str>, Fault> {
    let program = view.machine.program;
    let called = program.code_ops(predicate).into_iter().flatten().find_map(|op| match op {
        Op::CallDef(number, _) => program.defs.get(number.0 as usize),
        _ => None,
    });
    let file = called.map(|def| view.machine.code_span(def.code).file.0 as usize);
    let detector = match file.and_then(|file| program.sources.get(file)).map(|source| source.name.as_str()) {
        Some("std/secrets.assert") => Detector::Secrets,
        Some("std/pii.assert") => Detector::Pii,
        _ => return Ok(Vec::new()),
    };
    Ok(detector.find_kinds(key, &node.value, &mut view.machine.meter)?)
}

/// The first finding represents all; each listed one is reported.
pub(super) fn found_all(
    view: &mut WindowView<'_, '_>,
    places: &[FoundValue],
    count: u64,
    predicate: CodeId,
) -> VerdictReason {
    let Some((first, more)) = places.split_first() else { return VerdictReason::default() };
    let mut why = found_reason(view, first, more, count.saturating_sub(1), predicate);
    if count > 1 && view.listed > 0 {
        let listed = places.iter().take(view.listed).map(|place| {
            let one = found_reason(view, place, &[], 0, predicate);
            AssertionViolation { reason: one.reason, evidence: one.evidence }
        });
        why.violations = ViolationList { count, listed: listed.collect() };
    }
    why
}

/// The place and length of a finding, never its value; and the number of further findings.
pub(super) fn found_reason(
    view: &mut WindowView<'_, '_>,
    place: &FoundValue,
    more: &[FoundValue],
    others: u64,
    predicate: CodeId,
) -> VerdictReason {
    let text = view.machine.rule_text(view.machine.code_span(predicate));
    let name = text.split(['(', ' ']).next().unwrap_or("").to_owned();
    let shown = place.pointer.clone().unwrap_or_else(|| place.path.clone());
    let at = if shown.is_empty() { "the value itself".to_owned() } else { format!("`{shown}`") };
    let step = place.step.map(|step| format!(" in {}", view.describe_step(step))).unwrap_or_default();
    let mut reason = format!("`{name}` finds {} at {at}{step}, {}", place.found_words(), place.size_words());
    if others > 0 {
        reason.push_str(&format!("; and in {}", count_noun(others, "more value")));
    }
    let evidence = std::iter::once(place).chain(more).enumerate().map(|(number, place)| {
        let pointer = place.pointer.clone().unwrap_or_default();
        VerdictEvidence {
            role: if number == 0 { Role::Decisive } else { Role::Value },
            label: format!("`{name}` finds {} here, {}", place.found_words(), place.size_words()),
            step: place.step.or_else(|| crate::vm::locate::step_of(view.machine.run, &pointer)),
            path: pointer,
            found: place.content.clone(),
            rule_span: Some(view.machine.code_span(predicate)),
            origin: place.origin.clone(),
            ..VerdictEvidence::default()
        }
    });
    let evidence = evidence.collect();
    reason_with(reason, evidence)
}

impl FoundValue {
    fn found_words(&self) -> String {
        if self.kinds.is_empty() { "something".to_owned() } else { self.kinds.join(", ") }
    }

    /// The value that it was found in: `in a text of 40 characters`.
    fn size_words(&self) -> String {
        let within = if self.kinds.is_empty() { "" } else { "in " };
        match self.type_name {
            "string" => format!("{within}a text of {}", count_noun(self.length as u64, "character")),
            other => format!("{within}a {other}"),
        }
    }
}
