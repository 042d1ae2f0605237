//! `no PREDICATE in EXPR` and `no PREDICATE in A`: the predicate finds nothing in any value inside.
//!
//! What is found is often a secret: findings name its place and its length, never the value.

use super::explain;
use super::monitor::{Judged, Monitor, Why};
use super::view::{Hit, View};
use crate::bytecode::ops::Op;
use crate::bytecode::program::CodeId;
use crate::vm::context::Scope;
use crate::vm::fault::Fault;
use averment_base::truth::Truth;
use averment_base::value::{Node, Text, Value};
use averment_builtins::detect::Detector;

/// Where a value was found.
#[derive(Debug, Clone)]
pub(super) struct Place {
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
struct Walk {
    /// The first values of which the predicate is true, as many as are asked for.
    found: Vec<Place>,
    /// The first of which it cannot be decided.
    unknown: Option<Place>,
    /// How many values were looked at.
    looked: u64,
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

/// Places that are looked for where it is said what was found.
const MOST_FOUND: usize = 1_000;

/// Looks at every text, number and boolean inside a value, in order, without recursion, until so many were found.
fn walk<'run>(
    root: Node<'run>,
    predicate: CodeId,
    scope: &Scope<'_, 'run>,
    most: usize,
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
                        let kinds = kinds(&node, key(&visits, at), predicate, view)?;
                        walk.found.push(Place { kinds, ..place(&visits, at, view) });
                        if walk.found.len() >= most {
                            return Ok(walk);
                        }
                    }
                    None if walk.unknown.is_none() => walk.unknown = Some(place(&visits, at, view)),
                    None => {}
                }
            }
            _ => {}
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

fn place(visits: &[Visit<'_>], at: usize, view: &View<'_, '_>) -> Place {
    let mut segments = Vec::new();
    let mut next = visits.get(at);
    let Some(node) = next.map(|visit| visit.node) else { return Place::nowhere() };
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
    Place { path, type_name, length, pointer, step: None, kinds: Vec::new(), origin, content }
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

impl Place {
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

/// `no PREDICATE in EXPR`.
pub(super) struct NoneIn {
    values: CodeId,
    predicate: CodeId,
    walk: Walk,
    recorded: bool,
}

impl NoneIn {
    /// A monitor that has not looked yet.
    pub(super) fn new(values: CodeId, predicate: CodeId) -> Self {
        Self { values, predicate, walk: Walk::default(), recorded: false }
    }

    /// All that is found: judging stops at the first.
    fn all(&self, view: &mut View<'_, '_>) -> Result<Vec<Place>, Fault> {
        let bindings = view.context.bindings.clone();
        let scope = Scope { bindings: &bindings, ..view.context.scope() };
        let root = view.machine.evaluate(self.values, &scope)?;
        Ok(walk(root, self.predicate, &scope, MOST_FOUND, view)?.found)
    }
}

impl<'run> Monitor<'run> for NoneIn {
    fn step(&mut self, _: &[Hit], _: &mut View<'_, 'run>) -> Result<(), Fault> {
        Ok(())
    }

    fn judge(&mut self, view: &mut View<'_, 'run>) -> Result<Judged, Fault> {
        let bindings = view.context.bindings.clone();
        let scope = Scope { bindings: &bindings, ..view.context.scope() };
        let root = view.machine.evaluate(self.values, &scope)?;
        self.recorded = !matches!(root.value, Value::Absent | Value::Truth(Truth::Undecided));
        self.walk = walk(root, self.predicate, &scope, 1, view)?;
        let (found, unknown) = (!self.walk.found.is_empty(), self.walk.unknown.is_some());
        Ok(Judged {
            may_fail: found || unknown || !self.recorded,
            may_hold: !found,
            failed_for_good: found,
            exercised: Some((self.walk.looked == 0, self.walk.looked > 0)),
            ..Judged::default()
        })
    }

    fn explain(&self, view: &mut View<'_, 'run>) -> Why {
        match self.walk.found.first().or(self.walk.unknown.as_ref()) {
            Some(place) => {
                let more = if self.walk.found.is_empty() { Vec::new() } else { self.all(view).unwrap_or_default() };
                explain::found(view, place, more.get(1..).unwrap_or_default(), self.predicate)
            }
            None => explain::not_recorded(view, self.values),
        }
    }

    fn sees_all_answers(&self) -> bool {
        true
    }
}

/// `no PREDICATE in A`.
pub(super) struct NoneInSteps {
    predicate: CodeId,
    /// Found in a step that surely matches.
    sure: Option<Place>,
    /// Found, or perhaps, in a step that matches or may match.
    possible: Option<Place>,
}

impl NoneInSteps {
    /// A monitor that has seen nothing.
    pub(super) fn new(predicate: CodeId) -> Self {
        Self { predicate, sure: None, possible: None }
    }

    /// All that is found in the steps, up to a number of them: judging stops at the first.
    fn all(&self, view: &mut View<'_, '_>) -> Result<Vec<Place>, Fault> {
        let hits: Vec<Hit> = view.hits_of(0).collect();
        let mut found = Vec::new();
        for hit in hits {
            let Some(step) = view.step(hit.step) else { continue };
            let bindings = view.bindings(&hit.env);
            let scope = Scope::of_step(step).with_bindings(&bindings);
            let walk = walk(step.node, self.predicate, &scope, MOST_FOUND - found.len(), view)?;
            found.extend(walk.found.into_iter().map(|place| Place { step: Some(hit.step), ..place }));
            if found.len() >= MOST_FOUND {
                break;
            }
        }
        Ok(found)
    }
}

impl<'run> Monitor<'run> for NoneInSteps {
    fn step(&mut self, hits: &[Hit], view: &mut View<'_, 'run>) -> Result<(), Fault> {
        if self.sure.is_some() {
            return Ok(());
        }
        for hit in hits {
            let Some(step) = view.step(hit.step) else { continue };
            let bindings = view.bindings(&hit.env);
            let scope = Scope::of_step(step).with_bindings(&bindings);
            let walk = walk(step.node, self.predicate, &scope, 1, view)?;
            let of_step = |place: Place| Place { step: Some(hit.step), ..place };
            if let (true, Some(place)) = (hit.sure && self.sure.is_none(), walk.found.first()) {
                self.sure = Some(of_step(place.clone()));
            }
            if self.possible.is_none() {
                self.possible = walk.found.into_iter().next().or(walk.unknown).map(of_step);
            }
        }
        Ok(())
    }

    fn judge(&mut self, _: &mut View<'_, 'run>) -> Result<Judged, Fault> {
        let (sure, possible) = (self.sure.is_some(), self.possible.is_some());
        Ok(Judged { may_fail: possible, may_hold: !sure, failed_for_good: sure, ..Judged::default() })
    }

    fn explain(&self, view: &mut View<'_, 'run>) -> Why {
        let place = self.sure.as_ref().or(self.possible.as_ref());
        let Some(place) = place else { return Why::default() };
        let all = self.all(view).unwrap_or_default();
        let more: Vec<Place> = all.into_iter().filter(|other| other.pointer != place.pointer).collect();
        explain::found(view, place, &more, self.predicate)
    }

    fn sees_all_answers(&self) -> bool {
        true
    }
}
