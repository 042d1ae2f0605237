//! What rules and catalogues say of tools, put into the run before it is judged: how calls ended of which the run does not say it, and the
//! tags and annotations of their tools. Everything else sees them as if the run had recorded them.

use super::context::ExpressionScope;
use super::machine::Machine;
use super::prepare::{PreparedProgram, ToolNeeds};
use crate::bytecode::program::{CodeId, Program};
use averment_base::limits::Limits;
use averment_base::truth::Truth;
use averment_base::value::glob::matches_wildcard;
use averment_base::value::json::parse;
use averment_base::value::{Node, Object, ObjectEntry, TextOrigin, Value};
use averment_checker::ir::{NameTest, ToolClaim};
use averment_runs::normal::{of_run, of_step};
use averment_runs::run::{Run, RunSource, Step, StepKind, StepStatus};
use bumpalo::Bump;
use rustc_hash::FxHashMap;
use smallvec::SmallVec;

/// MCP hints that become tags when true.
const HINTS: [(&str, &str); 4] = [
    ("destructiveHint", "destructive"),
    ("readOnlyHint", "read-only"),
    ("openWorldHint", "open-world"),
    ("idempotentHint", "idempotent"),
];

impl<'run> Machine<'run> {
    /// A machine for one program and one run, with what is said of the tools of the run.
    #[must_use]
    pub fn new(
        program: &'run Program,
        prepared: &'run PreparedProgram,
        run: &'run Run<'run>,
        arena: &'run Bump,
        limits: Limits,
    ) -> Self {
        let mut machine = Self::new_unadjusted(program, prepared, run, arena, limits);
        let needs = prepared.tool_needs();
        if needs.is_any() {
            let run = apply_facts(&mut machine, needs);
            machine = Self::new_unadjusted(program, prepared, run, arena, limits);
        }
        machine
    }
}

/// The run with tool facts applied; `machine` evaluates facts on the recorded run.
fn apply_facts<'run>(machine: &mut Machine<'run>, needs: ToolNeeds) -> &'run Run<'run> {
    let (run, arena) = (machine.run, machine.arena);
    let mut facts = FactLookup { program: machine.program, known: FxHashMap::default(), of_run: FxHashMap::default() };
    if needs.looks {
        facts.of_run = recorded_annotations(run);
    }
    let looks = needs.looks && facts.has_tags();
    if run.steps.iter().all(|step| step.kind != StepKind::Call) || !(looks || needs.ends) {
        return run;
    }
    let steps = arena.alloc_slice_fill_iter(run.steps.iter().copied());
    let mut ended: Option<(TextOrigin, StepStatus)> = None;
    for step in steps.iter_mut() {
        if step.kind != StepKind::Call {
            // What follows from a call stands where that stands, and ended with it.
            if let Some((_, status)) = ended.filter(|(call, _)| *call == step.node.origin && ends_with_call(step.kind))
            {
                *step = with_entries(step, Some(status), &[], arena);
            }
            continue;
        }
        let status = if needs.ends { facts.call_status(machine, step) } else { None };
        ended = status.map(|status| (step.node.origin, status)).filter(|(call, _)| *call != TextOrigin::COMPUTED);
        let told = if looks { facts.tool_entries(step, arena, &machine.limits) } else { SmallVec::new() };
        *step = with_entries(step, status, &told, arena);
    }
    arena.alloc(Run {
        text: run.text,
        // It is the given run that reports name.
        source: RunSource::default(),
        format: run.format,
        concludes_ok: run.concludes_ok,
        id: run.id,
        object: with_lists(run, steps, arena),
        steps,
        order: run.order,
        recorded: run.recorded,
        complete: run.complete,
        records: run.records,
        warnings: Vec::new(),
        withheld: Vec::new(),
        priced: run.priced.clone(),
    })
}

fn ends_with_call(kind: StepKind) -> bool {
    matches!(kind, StepKind::Command | StepKind::Read | StepKind::Write)
}

fn recorded_annotations<'run>(run: &Run<'run>) -> FxHashMap<&'run str, Node<'run>> {
    let Value::List(tools) = run.root_value(of_run::TOOLS).value else { return FxHashMap::default() };
    let about = |tool: &Node<'run>| {
        let function = tool.field("function");
        let tool = if matches!(function.value, Value::Object(_)) { function } else { *tool };
        match (tool.field(of_step::NAME).value, tool.field(of_step::ANNOTATIONS)) {
            (Value::Text(name), node @ Node { value: Value::Object(_), .. }) => Some((name.as_str(), node)),
            _ => None,
        }
    };
    tools.iter().filter_map(about).collect()
}

/// True where the run itself does not say how a call ended, so that rules are asked.
pub(super) fn asks_rules(run: &Run<'_>, step: &Step<'_>) -> bool {
    step.status == StepStatus::Unknown || run.concludes_ok && is_concluded(step)
}

type ToolEntries<'run> = SmallVec<[ObjectEntry<'run>; 4]>;

struct FactLookup<'run> {
    program: &'run Program,
    known: FxHashMap<&'run str, Option<Node<'run>>>,
    of_run: FxHashMap<&'run str, Node<'run>>,
}

impl<'run> FactLookup<'run> {
    fn has_tags(&self) -> bool {
        let says = |fact: &averment_checker::ir::ToolFact<CodeId>| matches!(fact.says, ToolClaim::Tagged(_));
        self.is_listed() || self.program.tool_facts.iter().any(says)
    }

    /// True if a catalog describes tools; nothing is known then about unlisted ones.
    fn is_listed(&self) -> bool {
        !self.of_run.is_empty() || self.program.tools.iter().any(|tool| tool.annotations.is_some())
    }

    fn tool_names(&self, tool: &'run str) -> SmallVec<[&'run str; 2]> {
        let mut names: SmallVec<[&'run str; 2]> = SmallVec::from_slice(&[tool]);
        for fact in &self.program.tool_facts {
            if let ToolClaim::Named(name) = &fact.says
                && fact.tools.iter().any(|test| fits_name(test, tool))
                && !names.contains(&name.as_str())
            {
                names.push(name.as_str());
            }
        }
        names
    }

    /// The status of a call by the rules; `None` if the run records it, no rule covers the tool, or it is undecided.
    fn call_status(&self, machine: &mut Machine<'run>, step: &'_ Step<'run>) -> Option<StepStatus> {
        let concluded = machine.run.concludes_ok && is_concluded(step);
        if !asks_rules(machine.run, step) {
            return None;
        }
        let names = self.tool_names(step.name);
        let conditions = self.program.tool_facts.iter().filter_map(|fact| match fact.says {
            ToolClaim::Fails(code) => Some((nearness(&fact.tools, &names)?, code)),
            _ => None,
        });
        let conditions: SmallVec<[(u8, CodeId); 4]> = conditions.collect();
        let nearest = conditions.iter().map(|(near, _)| *near).max()?;
        let step = &*machine.arena.alloc(*step);
        for near in (0..=nearest).rev() {
            let mut fails = None;
            for (_, code) in conditions.iter().filter(|(other, _)| *other == near) {
                machine.refuel();
                // What is true or false for want of something says nothing of how the call ended.
                match machine.evaluate_truth(*code, &ExpressionScope::of_step(step)) {
                    Ok(Truth::True) => fails = Some(true),
                    Ok(Truth::False) => fails = fails.or(Some(false)),
                    _ => {}
                }
            }
            if let Some(fails) = fails {
                return Some(if fails { StepStatus::Failed } else { StepStatus::Ok });
            }
        }
        // Where that is what its own tool fails by, a result alone does not say it either.
        (concluded && nearest == EXACTLY).then_some(StepStatus::Unknown)
    }

    fn tool_entries(&mut self, step: &Step<'run>, arena: &'run Bump, limits: &Limits) -> ToolEntries<'run> {
        let names = self.tool_names(step.name);
        let mut told = ToolEntries::new();
        let annotations = names.iter().find_map(|name| self.tool_annotations(name, arena, limits));
        let mut tags: Vec<&'run str> = Vec::new();
        let mut named = false;
        for fact in &self.program.tool_facts {
            if let ToolClaim::Tagged(all) = &fact.says
                && nearness(&fact.tools, &names).is_some()
            {
                named = true;
                tags.extend(all.iter().map(String::as_str));
            }
        }
        if let Some(annotations) = annotations {
            told.push(ObjectEntry { key: of_step::ANNOTATIONS, node: annotations });
            let is_true = |hint: &str| matches!(annotations.field(hint).value, Value::Boolean(true));
            tags.extend(HINTS.iter().filter(|(hint, _)| is_true(hint)).map(|(_, tag)| *tag));
        }
        let known =
            named || annotations.is_some() || !self.is_listed() || names.iter().any(|name| self.lists_tool(name));
        if known {
            told.push(ObjectEntry { key: of_step::TAGS, node: tags_node(step, &tags, arena) });
        }
        told
    }

    fn lists_tool(&self, name: &str) -> bool {
        self.of_run.contains_key(name) || self.program.tools.iter().any(|tool| tool.name == name)
    }

    fn tool_annotations(&mut self, name: &'run str, arena: &'run Bump, limits: &Limits) -> Option<Node<'run>> {
        if let Some(known) = self.known.get(name) {
            return *known;
        }
        let of_rules = self.program.tools.iter().find(|tool| tool.name == name).and_then(|tool| {
            let about = parse(tool.annotations.as_deref()?, 0, arena, limits).ok()?.node.field(of_step::ANNOTATIONS);
            matches!(about.value, Value::Object(_)).then_some(without_places(about, arena))
        });
        let found = of_rules.or_else(|| self.of_run.get(name).copied());
        self.known.insert(name, found);
        found
    }
}

/// Strips places: these entries occur in no trace.
fn without_places<'run>(node: Node<'run>, arena: &'run Bump) -> Node<'run> {
    match node.value {
        Value::Object(object) => {
            let entries = object.entries().iter().map(|entry| ObjectEntry::computed(entry.key, entry.node.value));
            let entries = arena.alloc_slice_fill_iter(entries.collect::<Vec<_>>());
            Node::computed(Value::Object(Object::new(arena, entries)))
        }
        value => Node::computed(value),
    }
}

/// Tags recorded by the run come first; duplicates are dropped.
fn tags_node<'run>(step: &Step<'run>, tags: &[&'run str], arena: &'run Bump) -> Node<'run> {
    let own = step.object.get(of_step::TAGS);
    let mut all: Vec<Node<'run>> = match own.map(|node| node.value) {
        Some(Value::List(items)) => items.to_vec(),
        _ => Vec::new(),
    };
    for tag in tags {
        let has = |node: &Node<'_>| matches!(node.value, Value::Text(text) if text.as_str() == *tag);
        if !all.iter().any(has) {
            all.push(Node::computed(Value::plain_text(tag)));
        }
    }
    let origin = own.map_or(TextOrigin::COMPUTED, |node| node.origin);
    Node::new(Value::List(arena.alloc_slice_copy(&all)), origin)
}

fn is_concluded(step: &Step<'_>) -> bool {
    let computed = |key| step.object.get(key).is_none_or(|node| node.origin == TextOrigin::COMPUTED);
    step.status == StepStatus::Ok && computed(of_step::STATUS) && computed(of_step::OK)
}

pub(super) fn fits_name(test: &NameTest, name: &str) -> bool {
    match test {
        NameTest::Any => true,
        NameTest::Exactly(exact) => exact == name,
        NameTest::Glob(glob) => matches_wildcard(glob, name),
        _ => false,
    }
}

const EXACTLY: u8 = 2;

/// Match quality: whole name, part of the name, any tool; `None` for no match.
fn nearness(tests: &[NameTest], names: &[&str]) -> Option<u8> {
    let fitting = tests.iter().filter(|test| names.iter().any(|name| fits_name(test, name)));
    let rank = |test: &NameTest| match test {
        NameTest::Exactly(_) => EXACTLY,
        NameTest::Any => 0,
        _ => 1,
    };
    fitting.map(rank).max()
}

fn with_entries<'run>(
    step: &Step<'run>,
    status: Option<StepStatus>,
    told: &[ObjectEntry<'run>],
    arena: &'run Bump,
) -> Step<'run> {
    let mut entries: Vec<ObjectEntry<'run>> = step.object.entries().to_vec();
    // A call that went well has no error; which one another has is still not recorded.
    if status == Some(StepStatus::Ok) {
        entries.retain(|entry| entry.key != of_step::ERROR || !entry.node.value.is_absent());
    }
    let mut put = |entry: ObjectEntry<'run>| match entries.iter_mut().find(|known| known.key == entry.key) {
        Some(known) => *known = entry,
        None => entries.push(entry),
    };
    if let Some(status) = status {
        put(ObjectEntry::computed(of_step::STATUS, status.as_str().map_or(Value::Absent, Value::plain_text)));
        let ok = if status == StepStatus::Unknown { Value::Absent } else { Value::Boolean(status == StepStatus::Ok) };
        put(ObjectEntry::computed(of_step::OK, ok));
    }
    told.iter().for_each(|entry| put(*entry));
    let object = Object::new(arena, arena.alloc_slice_copy(&entries));
    let node = Node::new(Value::Object(object), step.node.origin);
    Step { status: status.unwrap_or(step.status), object, node, ..*step }
}

fn with_lists<'run>(run: &Run<'run>, steps: &'run [Step<'run>], arena: &'run Bump) -> Object<'run> {
    let list = |wanted: &dyn Fn(&Step<'run>) -> bool| {
        let nodes: Vec<Node<'run>> = steps.iter().filter(|step| wanted(step)).map(|step| step.node).collect();
        Value::List(arena.alloc_slice_copy(&nodes))
    };
    let entries = run.object.entries().iter().map(|entry| {
        let value = match entry.key {
            of_run::STEPS => list(&|_| true),
            key => match StepKind::ALL.into_iter().find(|kind| kind.list_key() == key) {
                Some(kind) => list(&|step| step.kind == kind),
                None => return *entry,
            },
        };
        ObjectEntry { key: entry.key, node: Node::new(value, entry.node.origin) }
    });
    let entries = entries.collect::<Vec<_>>();
    Object::new(arena, arena.alloc_slice_copy(&entries))
}

pub(in crate::vm) fn how_to_say_failure(step: &Step<'_>) -> &'static str {
    let result = step.object.get(of_step::RESULT).map(|node| node.value);
    match (step.kind, result) {
        (StepKind::Call, Some(Value::Text(_))) => {
            "; say what failure is: `tool any fails when result starts with \"Error\"`"
        }
        (StepKind::Call, Some(Value::Object(_) | Value::List(_))) => {
            "; say what failure is: `tool any fails when result.error exists`"
        }
        _ => "",
    }
}
