//! What a manifest may hold, by the rules of the specification.

use super::pieces::{Piece, pieces};
use super::regex::regex;
use crate::shape::{Said, listed};
use crate::yaml::{Node, Value};
use averment_base::diagnostic::{Slug, suggest};

/// What assertions need to know of a manifest.
pub(super) struct Manifest<'a> {
    inputs: Vec<Field<'a>>,
    outputs: Vec<Field<'a>>,
}

/// An input or output.
pub(super) struct Field<'a> {
    name: &'a str,
    /// Its type, where it is declared.
    pub(super) kind: Option<&'a str>,
    /// What it is where it is not given.
    pub(super) default: Option<&'a Node>,
}

impl<'a> Manifest<'a> {
    /// An input by its name.
    pub(super) fn input(&self, name: &str) -> Option<&Field<'a>> {
        self.inputs.iter().find(|field| field.name == name)
    }

    /// An output by its name.
    pub(super) fn output(&self, name: &str) -> Option<&Field<'a>> {
        self.outputs.iter().find(|field| field.name == name)
    }

    /// The names of its outputs.
    pub(super) fn outputs(&self) -> impl Iterator<Item = &'a str> {
        self.outputs.iter().map(|field| field.name)
    }
}

const KEYS: &[&str] = &[
    "sop",
    "name",
    "version",
    "description",
    "author",
    "license",
    "repository",
    "tags",
    "inputs",
    "outputs",
    "tools_used",
    "side_effects",
    "requirements",
    "assertions",
    "observability",
];
const TYPES: &[&str] = &["string", "number", "boolean", "file_path", "dir_path", "url", "json", "array", "enum"];
const EFFECTS: &[&str] = &["filesystem", "network", "message", "exec", "state"];
const ACCESSES: &[&str] = &["read", "write", "delete"];
const LEVELS: &[&str] = &["L0", "L1", "L2", "L3"];
const METRICS: &[&str] = &["counter", "gauge", "histogram"];

/// Looks at everything but the assertions. `None` where it is no manifest at all.
pub(super) fn read<'a>(document: &'a Node, said: &mut Said) -> Option<Manifest<'a>> {
    if !document.is_map() {
        said.shape(document, "a manifest", "a mapping with `sop`, `name`, `version` and `description`");
        return None;
    }
    said.keys(document, "a manifest", KEYS);
    identity(document, said);
    texts(document, &["author", "license", "repository"], "a manifest", said);
    names(document, "tags", "a manifest", said);
    names(document, "tools_used", "a manifest", said);
    let inputs = fields(document, "inputs", "an input", said);
    let outputs = fields(document, "outputs", "an output", said);
    let manifest = Manifest { inputs, outputs };
    side_effects(document, said);
    requirements(document, said);
    observability(document, said);
    references(document, &manifest, said);
    Some(manifest)
}

/// The four keys that have to be there.
fn identity(document: &Node, said: &mut Said) {
    for key in ["sop", "name", "version", "description"] {
        let given = document.get(key);
        let filled = given.filter(|node| !node.is_null() && node.text() != Some(""));
        let Some(node) = filled else {
            let place = given.map_or(document.span.at_start(), |node| node.span);
            let help = if key == "sop" { "write `sop: \"0.1\"`".to_owned() } else { format!("write `{key}: …`") };
            said.error(Slug::TypeMismatch, place, format!("the manifest has no `{key}`"), help);
            continue;
        };
        let plain = node.text().is_some() || (node.number().is_some() && ["sop", "version"].contains(&key));
        match key {
            _ if !plain => {
                said.as_text(node, &format!("`{key}` of a manifest"));
            }
            "sop" if node.key() != "0.1" => super::other_version(node, said),
            "name" => kebab(node, said),
            _ => {}
        }
    }
}

/// A name is in kebab-case; one that is not is taken all the same.
fn kebab(node: &Node, said: &mut Said) {
    let name = node.key();
    let plain = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit();
    let ends = |byte: Option<&u8>| byte.is_some_and(|byte| plain(*byte));
    let bytes = name.as_bytes();
    if ends(bytes.first()) && ends(bytes.last()) && bytes.iter().all(|byte| plain(*byte) || *byte == b'-') {
        return;
    }
    let help = "write lower-case letters and digits with `-` between them, such as `publish-article`";
    said.warning(Slug::TypeMismatch, node.span, format!("the name `{name}` is not in kebab-case"), help);
}

fn texts(node: &Node, keys: &[&str], what: &str, said: &mut Said) {
    for key in keys {
        if node.get(key).is_some_and(|value| !value.is_null()) {
            said.optional_text(node, key, what);
        }
    }
}

/// A list of texts under a key.
fn names(node: &Node, key: &str, what: &str, said: &mut Said) {
    if node.get(key).is_some_and(Node::is_null) {
        return;
    }
    for item in said.list(node, key, what) {
        said.as_text(item, &format!("an element of `{key}`"));
    }
}

/// One of a few words.
fn word(node: &Node, key: &str, what: &str, known: &[&str], said: &mut Said) {
    if let Some(value) = node.get(key)
        && !value.text().is_some_and(|word| known.contains(&word))
    {
        said.unknown_word(value, what, known);
    }
}

fn boolean(node: &Node, key: &str, what: &str, said: &mut Said) {
    if let Some(value) = node.get(key).filter(|value| value.boolean().is_none()) {
        said.shape(value, &format!("`{key}` of {what}"), "`true` or `false`");
    }
}

fn number(node: &Node, key: &str, what: &str, said: &mut Said) {
    if let Some(value) = node.get(key).filter(|value| value.number().is_none()) {
        said.shape(value, &format!("`{key}` of {what}"), "a number");
    }
}

/// Inputs or outputs.
fn fields<'a>(document: &'a Node, key: &str, what: &str, said: &mut Said) -> Vec<Field<'a>> {
    let known: &[&str] = match key {
        "inputs" => &["name", "type", "required", "description", "default", "constraints"],
        _ => &["name", "type", "description", "guaranteed"],
    };
    let mut fields: Vec<Field<'a>> = Vec::new();
    if document.get(key).is_some_and(Node::is_null) {
        return fields;
    }
    for node in said.list(document, key, "a manifest") {
        if !node.is_map() {
            said.shape(node, what, "a mapping with `name` and `type`");
            continue;
        }
        said.keys(node, what, known);
        word(node, "type", "type of values", TYPES, said);
        boolean(node, "required", what, said);
        boolean(node, "guaranteed", what, said);
        texts(node, &["description"], what, said);
        constraints(node, said);
        let Some(name) = said.required_text(node, "name", what) else { continue };
        if fields.iter().any(|field| field.name == name) {
            let place = node.get("name").map_or(node.span, |name| name.span);
            said.error(Slug::Duplicate, place, format!("`{name}` is declared twice"), "keep one of them");
        }
        fields.push(Field { name, kind: node.get("type").and_then(Node::text), default: node.get("default") });
    }
    fields
}

fn constraints(field: &Node, said: &mut Said) {
    let what = "`constraints`";
    let Some(node) = field.get("constraints").filter(|node| !node.is_null()) else { return };
    said.keys(node, what, &["pattern", "enum", "min", "max"]);
    if let Some(pattern) = node.get("pattern")
        && let Some(text) = said.as_text(pattern, "`pattern` of `constraints`")
    {
        regex(text, pattern.span, said);
    }
    said.list(node, "enum", what);
    number(node, "min", what, said);
    number(node, "max", what, said);
}

fn side_effects(document: &Node, said: &mut Said) {
    let what = "a side effect";
    if document.get("side_effects").is_some_and(Node::is_null) {
        return;
    }
    for node in said.list(document, "side_effects", "a manifest") {
        if !said.keys(node, what, &["type", "access", "description", "paths", "destinations"]) && !node.is_map() {
            continue;
        }
        if node.get("type").is_none() {
            said.error(
                Slug::TypeMismatch,
                node.span,
                "a side effect has no `type`",
                format!("write {}", listed(EFFECTS)),
            );
        }
        word(node, "type", "type of side effects", EFFECTS, said);
        word(node, "access", "access", ACCESSES, said);
        texts(node, &["description"], what, said);
        names(node, "paths", what, said);
        names(node, "destinations", what, said);
    }
}

fn requirements(document: &Node, said: &mut Said) {
    const KEYS: &[&str] = &["env_vars", "files", "tools", "capabilities"];
    let Some(node) = document.get("requirements").filter(|node| !node.is_null()) else { return };
    said.keys(node, "`requirements`", KEYS);
    KEYS.iter().for_each(|key| names(node, key, "`requirements`", said));
}

fn observability(document: &Node, said: &mut Said) {
    let what = "`observability`";
    let Some(node) = document.get("observability").filter(|node| !node.is_null()) else { return };
    said.keys(node, what, &["level", "trace_sampling", "metrics"]);
    word(node, "level", "level of observability", LEVELS, said);
    number(node, "trace_sampling", what, said);
    let share = node.get("trace_sampling").and_then(|share| Some((share, share.number()?.parse::<f64>().ok()?)));
    if let Some((share, _)) = share.filter(|(_, share)| !(0.0..=1.0).contains(share)) {
        let message = format!("`trace_sampling` is {}, and no share of all executions", share.key());
        said.error(Slug::TypeMismatch, share.span, message, "write a number from 0.0 to 1.0");
    }
    if node.get("metrics").is_some_and(Node::is_null) {
        return;
    }
    for metric in said.list(node, "metrics", what) {
        if said.keys(metric, "a metric", &["name", "type", "description"]) {
            said.required_text(metric, "name", "a metric");
            word(metric, "type", "type of metrics", METRICS, said);
            texts(metric, &["description"], "a metric", said);
        }
    }
}

/// Every text that names an input names a declared one; of outputs, where any are declared, this is said as a warning.
fn references(node: &Node, manifest: &Manifest<'_>, said: &mut Said) {
    match &node.value {
        Value::Text(text) => text_references(text, node, manifest, said),
        Value::List(items) => items.iter().for_each(|item| references(item, manifest, said)),
        Value::Map(entries) => entries.iter().for_each(|(_, value)| references(value, manifest, said)),
        _ => {}
    }
}

fn text_references(text: &str, node: &Node, manifest: &Manifest<'_>, said: &mut Said) {
    for piece in pieces(text) {
        match piece {
            Piece::Input(name) if manifest.input(name).is_none() => {
                let help = match suggest::nearest(name, manifest.inputs.iter().map(|field| field.name)) {
                    Some(near) => format!("did you mean `${{inputs.{near}}}`?"),
                    None => format!("declare it: `inputs: [{{ name: {name}, type: string }}]`"),
                };
                let message = format!("`${{inputs.{name}}}` names no declared input");
                said.error(Slug::UnknownName, node.span, message, help);
            }
            Piece::Output(name) if !manifest.outputs.is_empty() => {
                undeclared_output(name, &format!("${{outputs.{name}}}"), node, manifest, said);
            }
            _ => {}
        }
    }
}

/// An output that is not among those that are declared, where any are.
pub(super) fn undeclared_output(name: &str, written: &str, node: &Node, manifest: &Manifest<'_>, said: &mut Said) {
    if manifest.output(name).is_some() || manifest.outputs.is_empty() {
        return;
    }
    let help = match suggest::nearest(name, manifest.outputs()) {
        Some(near) => format!("did you mean `{near}`?"),
        None => "declare it under `outputs`".to_owned(),
    };
    said.warning(Slug::UnknownName, node.span, format!("`{written}` names no declared output"), help);
}
