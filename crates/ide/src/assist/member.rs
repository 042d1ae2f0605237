//! What lies behind a path: fields of steps by their kind, arguments by the catalogue, and everything by the recorded run.

use super::chain::{Chain, Segment};
use super::context::{Called, CursorContext};
use super::cursor::Steps;
use super::skeleton::Skeleton;
use super::vocabulary::{self, Role};
use averment_runs::run::Kind;
use globset::Glob;
use serde_json::Value;

/// The names of `usage`.
pub(super) const USAGE: [&str; 5] =
    ["input_tokens", "output_tokens", "reasoning_tokens", "cache_read_tokens", "total_tokens"];
/// References of a schema that are followed one after another.
const HOPS: usize = 16;
/// Places that are looked at for one path.
const PLACES: usize = 400;

/// One place that a path may lead to.
#[derive(Debug, Clone)]
pub(super) enum PathTarget<'f> {
    /// The run.
    Run,
    /// A step of a kind; of a call with these tools (none: any).
    Step(Kind, Vec<String>),
    /// A list of steps.
    Steps(Kind, Vec<String>),
    /// `usage`.
    Usage,
    /// A value that a schema describes: the document and the place in it.
    Schema(&'f Value, &'f Value),
    /// A recorded value.
    Recorded(&'f Skeleton),
}

/// A field with what is known of it.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Field {
    pub name: String,
    /// Its type in words; empty where nothing is known.
    pub ty: String,
    pub doc: String,
    /// Values that were recorded or are allowed, as the language writes them.
    pub examples: Vec<String>,
    /// True for one that the schema requires.
    pub required: bool,
}

/// The kind of a list's name or of a kind word.
pub(super) fn kind_of(word: &str) -> Option<Kind> {
    match word {
        "user" | "assistant" | "thinking" | "message" => Some(Kind::Message),
        _ => Kind::ALL.into_iter().find(|kind| kind.list_key() == word || kind.as_str() == word),
    }
}

/// The places that a path leads to; `left` says that its first name starts at the arguments of a call.
pub(super) fn places<'f>(
    chain: &Chain,
    scope: Option<&Steps>,
    left: bool,
    context: &'f CursorContext,
) -> Vec<PathTarget<'f>> {
    let mut segments = chain.segments.iter();
    let Some(Segment::Name(first)) = segments.next() else { return Vec::new() };
    let mut found = first_places(first, scope, left, context);
    for segment in segments {
        found = found.into_iter().flat_map(|place| step(place, segment, context)).take(PLACES).collect();
    }
    found
}

fn first_places<'f>(first: &str, scope: Option<&Steps>, left: bool, context: &'f CursorContext) -> Vec<PathTarget<'f>> {
    if let Some(scope) = scope {
        let kind = scope.kind.as_deref().and_then(kind_of).unwrap_or(Kind::Call);
        let place = PathTarget::Step(kind, scope.tools.clone());
        if left && kind == Kind::Call && !matches!(first, "args" | "result") {
            let arguments = field_places(place, "args", context);
            return arguments.into_iter().flat_map(|place| field_places(place, first, context)).collect();
        }
        if kind.fields().contains(&first) {
            return field_places(place, first, context);
        }
    }
    match first {
        "run" => vec![PathTarget::Run],
        "response" => field_places(PathTarget::Run, "output", context),
        _ => field_places(PathTarget::Run, first, context),
    }
}

fn step<'f>(place: PathTarget<'f>, segment: &Segment, context: &'f CursorContext) -> Vec<PathTarget<'f>> {
    match segment {
        Segment::Name(name) => field_places(place, name, context),
        Segment::Element => element_places(place),
        Segment::Deep => Vec::new(),
    }
}

fn element_places(place: PathTarget<'_>) -> Vec<PathTarget<'_>> {
    match place {
        PathTarget::Steps(kind, tools) => vec![PathTarget::Step(kind, tools)],
        PathTarget::Recorded(skeleton) => skeleton.element.iter().map(|one| PathTarget::Recorded(one)).collect(),
        PathTarget::Schema(root, at) => followed(root, at)
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
        PathTarget::Step(Kind::Call, tools) => call_places(&tools, name, context),
        PathTarget::Step(kind, _) => {
            let list = context.run.iter().filter_map(|run| run.root.fields.get(kind.list_key())?.element.as_deref());
            list.filter_map(|one| one.fields.get(name)).map(PathTarget::Recorded).collect()
        }
        PathTarget::Recorded(skeleton) => skeleton.fields.get(name).map(PathTarget::Recorded).into_iter().collect(),
        PathTarget::Schema(root, at) => alternatives(root, at)
            .into_iter()
            .filter_map(|at| at.get("properties")?.get(name))
            .map(|at| PathTarget::Schema(root, at))
            .collect(),
        PathTarget::Steps(..) | PathTarget::Usage => Vec::new(),
    }
}

fn run_places<'f>(name: &str, context: &'f CursorContext) -> Vec<PathTarget<'f>> {
    match kind_of(name).filter(|kind| kind.list_key() == name) {
        Some(kind) => vec![PathTarget::Steps(kind, Vec::new())],
        None if name == "usage" => vec![PathTarget::Usage],
        None => context.run.iter().filter_map(|run| run.root.fields.get(name)).map(PathTarget::Recorded).collect(),
    }
}

fn call_places<'f>(tools: &[String], name: &str, context: &'f CursorContext) -> Vec<PathTarget<'f>> {
    let fits = matcher(tools);
    let schemas = context.tools.iter().filter(|(tool, _)| name == "args" && fits(tool));
    let schemas =
        schemas.filter_map(|(_, tool)| tool.arguments.as_ref()).map(|schema| PathTarget::Schema(schema, schema));
    let recorded = context.run.iter().flat_map(|run| &run.tools).filter(|(tool, _)| fits(tool));
    let value = |called: &'f Called| match name {
        "args" => Some(&called.args),
        "result" => Some(&called.result),
        _ => None,
    };
    schemas.chain(recorded.filter_map(|(_, called)| value(called)).map(PathTarget::Recorded)).collect()
}

/// Whether a tool is one of these, globs among them; of none all are.
pub(super) fn matcher(tools: &[String]) -> impl Fn(&str) -> bool + use<> {
    let all = tools.is_empty() || tools.iter().any(|tool| tool == "any" || tool == "tool");
    let globs: Vec<_> = tools
        .iter()
        .filter(|tool| tool.contains(['*', '?']))
        .filter_map(|tool| Some(Glob::new(tool).ok()?.compile_matcher()))
        .collect();
    let names: Vec<String> = tools.to_vec();
    move |name: &str| all || names.iter().any(|one| one == name) || globs.iter().any(|glob| glob.is_match(name))
}

/// The place behind `$ref`s inside the document.
fn followed<'f>(root: &'f Value, at: &'f Value) -> Option<&'f Value> {
    let mut at = at;
    for _ in 0..HOPS {
        let Some(reference) = at.get("$ref").and_then(Value::as_str) else { return Some(at) };
        at = root.pointer(reference.strip_prefix('#')?)?;
    }
    None
}

/// The place itself and what `anyOf`, `oneOf` and `allOf` hold.
fn alternatives<'f>(root: &'f Value, at: &'f Value) -> Vec<&'f Value> {
    let Some(at) = followed(root, at) else { return Vec::new() };
    let inner = ["anyOf", "oneOf", "allOf"].into_iter().filter_map(|key| at.get(key)?.as_array()).flatten();
    std::iter::once(at).chain(inner.filter_map(|one| followed(root, one))).collect()
}

/// The fields of a place.
pub(super) fn fields(place: &PathTarget<'_>, context: &CursorContext) -> Vec<Field> {
    match place {
        PathTarget::Run => {
            let roots = vocabulary::words(Role::Root).filter(|word| word.word != "run");
            let mut all: Vec<Field> = roots.map(|word| described(word.word, word.doc)).collect();
            let more = context.run.iter().flat_map(|run| &run.root.fields).map(|(name, one)| of_skeleton(name, one));
            all.extend(more);
            all
        }
        PathTarget::Step(kind, _) => kind.fields().iter().map(|name| step_field(*kind, name, context)).collect(),
        PathTarget::Usage => USAGE.iter().map(|name| known_field(name)).collect(),
        PathTarget::Recorded(skeleton) => skeleton.fields.iter().map(|(name, one)| of_skeleton(name, one)).collect(),
        PathTarget::Schema(root, at) => alternatives(root, at).into_iter().flat_map(|at| of_schema(root, at)).collect(),
        PathTarget::Steps(..) => Vec::new(),
    }
}

fn step_field(kind: Kind, name: &str, context: &CursorContext) -> Field {
    let list = context.run.iter().find_map(|run| run.root.fields.get(kind.list_key())?.element.as_deref());
    let examples = list.and_then(|one| one.fields.get(name)).map_or_else(Vec::new, |one| one.examples.clone());
    Field { examples, ..known_field(name) }
}

fn known_field(name: &str) -> Field {
    vocabulary::word(name, &[Role::Field]).map_or_else(|| described(name, ""), |word| described(word.word, word.doc))
}

/// A field from `type: sentence`.
fn described(name: &str, doc: &str) -> Field {
    let (ty, doc) = doc.split_once(": ").unwrap_or(("", doc));
    Field { name: name.to_owned(), ty: ty.to_owned(), doc: doc.to_owned(), ..Field::default() }
}

pub(super) fn of_skeleton(name: &str, one: &Skeleton) -> Field {
    Field { name: name.to_owned(), ty: one.types(), examples: one.examples.clone(), ..Field::default() }
}

fn of_schema(root: &Value, at: &Value) -> Vec<Field> {
    let required: Vec<&str> =
        at.get("required").and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str).collect();
    let properties = at.get("properties").and_then(Value::as_object);
    let one = |name: &String, at: &Value| Field {
        name: name.clone(),
        required: required.contains(&name.as_str()),
        ..schema_field(root, at)
    };
    properties.into_iter().flatten().map(|(name, at)| one(name, at)).collect()
}

/// What a schema says of its value.
fn schema_field(root: &Value, at: &Value) -> Field {
    let at = followed(root, at).unwrap_or(at);
    let ty = match at.get("type") {
        Some(Value::String(word)) => word_of(word).to_owned(),
        Some(Value::Array(words)) => {
            words.iter().filter_map(Value::as_str).map(word_of).collect::<Vec<_>>().join(" or ")
        }
        _ => String::new(),
    };
    let allowed = at.get("enum").and_then(Value::as_array).into_iter().flatten().chain(at.get("const"));
    let examples = allowed.filter(|value| !value.is_object() && !value.is_array()).take(40).map(Value::to_string);
    let doc = at.get("description").and_then(Value::as_str).unwrap_or("").to_owned();
    Field { ty, doc, examples: examples.collect(), ..Field::default() }
}

/// The language's word for a type of JSON Schema.
fn word_of(word: &str) -> &str {
    if word == "array" { "list" } else { word }
}

/// What is known of the value at a place itself.
pub(super) fn itself(place: &PathTarget<'_>) -> Field {
    match place {
        PathTarget::Run => described("run", "object: the run itself"),
        PathTarget::Step(kind, _) => described("", &format!("object: a {} of the run", kind.as_str())),
        PathTarget::Steps(kind, _) => described("", &format!("list: the {} of the run", kind.list_key())),
        PathTarget::Usage => described("usage", "object: the tokens that the run used"),
        PathTarget::Schema(root, at) => schema_field(root, at),
        PathTarget::Recorded(skeleton) => of_skeleton("", skeleton),
    }
}

/// One field of several places: what the catalogue says counts before what was recorded, examples are put together.
pub(super) fn merged(fields: impl IntoIterator<Item = Field>) -> Vec<Field> {
    let mut out: Vec<Field> = Vec::new();
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
