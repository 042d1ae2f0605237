//! Members of a path: fields of steps by kind, arguments by the catalog, and everything from the recorded run.

use super::chain::{PathPrefix, PrefixPart};
use super::context::{CursorContext, ToolShape};
use super::cursor::StepScope;
use super::entries::USAGE;
use super::skeleton::ValueSkeleton;
use super::vocabulary;
use super::word_role::Role;
use averment_runs::run::StepKind;
use globset::Glob;
use serde_json::Value;

/// Maximum schema references followed in a row.
const HOPS: usize = 16;
/// Maximum places examined for one path.
const PLACES: usize = 400;

#[derive(Debug, Clone)]
pub(super) enum PathTarget<'f> {
    Run,
    /// A step of this kind; for calls, of these tools (empty: any).
    Step(StepKind, Vec<String>),
    Steps(StepKind, Vec<String>),
    Usage,
    /// A value described by a schema: the document and the location in it.
    Schema(&'f Value, &'f Value),
    Recorded(&'f ValueSkeleton),
}

#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct KnownField {
    pub name: String,
    /// Its type in words; empty if unknown.
    pub ty: String,
    pub doc: String,
    /// Recorded or allowed values, in the notation of the rule language.
    pub examples: Vec<String>,
    /// True if the schema requires it.
    pub required: bool,
}

pub(super) fn step_kind(word: &str) -> Option<StepKind> {
    match word {
        "user" | "assistant" | "thinking" | "message" => Some(StepKind::Message),
        _ => StepKind::ALL.into_iter().find(|kind| kind.list_key() == word || kind.as_str() == word),
    }
}

/// Returns the targets of a path; `left` is true if its first name is an argument of a call.
pub(super) fn resolve_path<'f>(
    chain: &PathPrefix,
    scope: Option<&StepScope>,
    left: bool,
    context: &'f CursorContext,
) -> Vec<PathTarget<'f>> {
    let mut segments = chain.segments.iter();
    let Some(PrefixPart::Name(first)) = segments.next() else { return Vec::new() };
    let mut found = first_places(first, scope, left, context);
    for segment in segments {
        found = found.into_iter().flat_map(|place| follow_part(place, segment, context)).take(PLACES).collect();
    }
    found
}

fn first_places<'f>(
    first: &str,
    scope: Option<&StepScope>,
    left: bool,
    context: &'f CursorContext,
) -> Vec<PathTarget<'f>> {
    if let Some(scope) = scope {
        let kind = scope.kind.as_deref().and_then(step_kind).unwrap_or(StepKind::Call);
        let place = PathTarget::Step(kind, scope.tools.clone());
        if left && kind == StepKind::Call && !matches!(first, "args" | "result") {
            let arguments = field_places(place, "args", context);
            return arguments.into_iter().flat_map(|place| field_places(place, first, context)).collect();
        }
        if kind.field_names().contains(&first) {
            return field_places(place, first, context);
        }
    }
    match first {
        "run" => vec![PathTarget::Run],
        "response" => field_places(PathTarget::Run, "output", context),
        _ => field_places(PathTarget::Run, first, context),
    }
}

fn follow_part<'f>(place: PathTarget<'f>, segment: &PrefixPart, context: &'f CursorContext) -> Vec<PathTarget<'f>> {
    match segment {
        PrefixPart::Name(name) => field_places(place, name, context),
        PrefixPart::Element => element_places(place),
        PrefixPart::Deep => Vec::new(),
    }
}

fn element_places(place: PathTarget<'_>) -> Vec<PathTarget<'_>> {
    match place {
        PathTarget::Steps(kind, tools) => vec![PathTarget::Step(kind, tools)],
        PathTarget::Recorded(skeleton) => skeleton.element.iter().map(|one| PathTarget::Recorded(one)).collect(),
        PathTarget::Schema(root, at) => follow_refs(root, at)
            .and_then(|at| at.get("items"))
            .map(|items| PathTarget::Schema(root, items))
            .into_iter()
            .collect(),
        _ => Vec::new(),
    }
}

fn field_places<'f>(place: PathTarget<'f>, name: &str, context: &'f CursorContext) -> Vec<PathTarget<'f>> {
    match place {
        PathTarget::Run => run_places(name, context),
        PathTarget::Step(StepKind::Call, tools) => call_places(&tools, name, context),
        PathTarget::Step(kind, _) => {
            let list = context.run.iter().filter_map(|run| run.root.fields.get(kind.list_key())?.element.as_deref());
            list.filter_map(|one| one.fields.get(name)).map(PathTarget::Recorded).collect()
        }
        PathTarget::Recorded(skeleton) => skeleton.fields.get(name).map(PathTarget::Recorded).into_iter().collect(),
        PathTarget::Schema(root, at) => schema_alternatives(root, at)
            .into_iter()
            .filter_map(|at| at.get("properties")?.get(name))
            .map(|at| PathTarget::Schema(root, at))
            .collect(),
        PathTarget::Steps(..) | PathTarget::Usage => Vec::new(),
    }
}

fn run_places<'f>(name: &str, context: &'f CursorContext) -> Vec<PathTarget<'f>> {
    match step_kind(name).filter(|kind| kind.list_key() == name) {
        Some(kind) => vec![PathTarget::Steps(kind, Vec::new())],
        None if name == "usage" => vec![PathTarget::Usage],
        None => context.run.iter().filter_map(|run| run.root.fields.get(name)).map(PathTarget::Recorded).collect(),
    }
}

fn call_places<'f>(tools: &[String], name: &str, context: &'f CursorContext) -> Vec<PathTarget<'f>> {
    let fits = tool_matcher(tools);
    let schemas = context.tools.iter().filter(|(tool, _)| name == "args" && fits(tool));
    let schemas =
        schemas.filter_map(|(_, tool)| tool.arguments.as_ref()).map(|schema| PathTarget::Schema(schema, schema));
    let recorded = context.run.iter().flat_map(|run| &run.tools).filter(|(tool, _)| fits(tool));
    let value = |called: &'f ToolShape| match name {
        "args" => Some(&called.args),
        "result" => Some(&called.result),
        _ => None,
    };
    schemas.chain(recorded.filter_map(|(_, called)| value(called)).map(PathTarget::Recorded)).collect()
}

/// Returns a matcher for tool names, including globs; without names it matches all.
pub(super) fn tool_matcher(tools: &[String]) -> impl Fn(&str) -> bool + use<> {
    let all = tools.is_empty() || tools.iter().any(|tool| tool == "any" || tool == "tool");
    let globs: Vec<_> = tools
        .iter()
        .filter(|tool| tool.contains(['*', '?']))
        .filter_map(|tool| Some(Glob::new(tool).ok()?.compile_matcher()))
        .collect();
    let names: Vec<String> = tools.to_vec();
    move |name: &str| all || names.iter().any(|one| one == name) || globs.iter().any(|glob| glob.is_match(name))
}

fn follow_refs<'f>(root: &'f Value, at: &'f Value) -> Option<&'f Value> {
    let mut at = at;
    for _ in 0..HOPS {
        let Some(reference) = at.get("$ref").and_then(Value::as_str) else { return Some(at) };
        at = root.pointer(reference.strip_prefix('#')?)?;
    }
    None
}

/// Returns the location itself and its `anyOf`, `oneOf` and `allOf` parts.
fn schema_alternatives<'f>(root: &'f Value, at: &'f Value) -> Vec<&'f Value> {
    let Some(at) = follow_refs(root, at) else { return Vec::new() };
    let inner = ["anyOf", "oneOf", "allOf"].into_iter().filter_map(|key| at.get(key)?.as_array()).flatten();
    std::iter::once(at).chain(inner.filter_map(|one| follow_refs(root, one))).collect()
}

pub(super) fn target_fields(place: &PathTarget<'_>, context: &CursorContext) -> Vec<KnownField> {
    match place {
        PathTarget::Run => {
            let roots = vocabulary::words_with_role(Role::Root).filter(|word| word.word != "run");
            let mut all: Vec<KnownField> = roots.map(|word| described_field(word.word, word.doc)).collect();
            let more = context.run.iter().flat_map(|run| &run.root.fields).map(|(name, one)| skeleton_field(name, one));
            all.extend(more);
            all
        }
        PathTarget::Step(kind, _) => kind.field_names().iter().map(|name| step_field(*kind, name, context)).collect(),
        PathTarget::Usage => USAGE.iter().map(|name| known_field(name)).collect(),
        PathTarget::Recorded(skeleton) => skeleton.fields.iter().map(|(name, one)| skeleton_field(name, one)).collect(),
        PathTarget::Schema(root, at) => {
            schema_alternatives(root, at).into_iter().flat_map(|at| schema_fields(root, at)).collect()
        }
        PathTarget::Steps(..) => Vec::new(),
    }
}

fn step_field(kind: StepKind, name: &str, context: &CursorContext) -> KnownField {
    let list = context.run.iter().find_map(|run| run.root.fields.get(kind.list_key())?.element.as_deref());
    let examples = list.and_then(|one| one.fields.get(name)).map_or_else(Vec::new, |one| one.examples.clone());
    KnownField { examples, ..known_field(name) }
}

fn known_field(name: &str) -> KnownField {
    vocabulary::find_word(name, &[Role::Field])
        .map_or_else(|| described_field(name, ""), |word| described_field(word.word, word.doc))
}

/// Parses a field from `type: sentence`.
fn described_field(name: &str, doc: &str) -> KnownField {
    let (ty, doc) = doc.split_once(": ").unwrap_or(("", doc));
    KnownField { name: name.to_owned(), ty: ty.to_owned(), doc: doc.to_owned(), ..KnownField::default() }
}

pub(super) fn skeleton_field(name: &str, one: &ValueSkeleton) -> KnownField {
    KnownField { name: name.to_owned(), ty: one.type_words(), examples: one.examples.clone(), ..KnownField::default() }
}

fn schema_fields(root: &Value, at: &Value) -> Vec<KnownField> {
    let required: Vec<&str> =
        at.get("required").and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str).collect();
    let properties = at.get("properties").and_then(Value::as_object);
    let one = |name: &String, at: &Value| KnownField {
        name: name.clone(),
        required: required.contains(&name.as_str()),
        ..schema_field(root, at)
    };
    properties.into_iter().flatten().map(|(name, at)| one(name, at)).collect()
}

fn schema_field(root: &Value, at: &Value) -> KnownField {
    let at = follow_refs(root, at).unwrap_or(at);
    let ty = match at.get("type") {
        Some(Value::String(word)) => type_label(word).to_owned(),
        Some(Value::Array(words)) => {
            words.iter().filter_map(Value::as_str).map(type_label).collect::<Vec<_>>().join(" or ")
        }
        _ => String::new(),
    };
    let allowed = at.get("enum").and_then(Value::as_array).into_iter().flatten().chain(at.get("const"));
    let examples = allowed.filter(|value| !value.is_object() && !value.is_array()).take(40).map(Value::to_string);
    let doc = at.get("description").and_then(Value::as_str).unwrap_or("").to_owned();
    KnownField { ty, doc, examples: examples.collect(), ..KnownField::default() }
}

fn type_label(word: &str) -> &str {
    if word == "array" { "list" } else { word }
}

pub(super) fn value_field(place: &PathTarget<'_>) -> KnownField {
    match place {
        PathTarget::Run => described_field("run", "object: the run itself"),
        PathTarget::Step(kind, _) => described_field("", &format!("object: a {} of the run", kind.as_str())),
        PathTarget::Steps(kind, _) => described_field("", &format!("list: the {} of the run", kind.list_key())),
        PathTarget::Usage => described_field("usage", "object: the tokens that the run used"),
        PathTarget::Schema(root, at) => schema_field(root, at),
        PathTarget::Recorded(skeleton) => skeleton_field("", skeleton),
    }
}

/// Merges fields of several locations. The catalog takes precedence over the run; examples are joined.
pub(super) fn merge_fields(fields: impl IntoIterator<Item = KnownField>) -> Vec<KnownField> {
    let mut out: Vec<KnownField> = Vec::new();
    for field in fields {
        let Some(known) = out.iter_mut().find(|known| known.name == field.name) else {
            out.push(field);
            continue;
        };
        if known.ty.is_empty() {
            known.ty = field.ty;
        }
        if known.doc.is_empty() {
            known.doc = field.doc;
        }
        known.required |= field.required;
        for example in field.examples {
            if !known.examples.contains(&example) {
                known.examples.push(example);
            }
        }
    }
    out
}
