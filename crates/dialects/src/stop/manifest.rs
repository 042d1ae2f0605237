//! Checks a manifest against the rules of the specification.

use super::pieces::{TemplatePiece, split_pieces};
use super::regex::regex_literal;
use crate::shape::{DiagnosticSink, listed_names};
use crate::yaml::{YamlNode, YamlValue};
use averment_base::diagnostic::{Slug, suggest};

pub(super) struct SkillManifest<'a> {
    inputs: Vec<ManifestField<'a>>,
    outputs: Vec<ManifestField<'a>>,
}

pub(super) struct ManifestField<'a> {
    name: &'a str,
    pub(super) kind: Option<&'a str>,
    pub(super) default: Option<&'a YamlNode>,
}

impl<'a> SkillManifest<'a> {
    pub(super) fn find_input(&self, name: &str) -> Option<&ManifestField<'a>> {
        self.inputs.iter().find(|field| field.name == name)
    }

    pub(super) fn find_output(&self, name: &str) -> Option<&ManifestField<'a>> {
        self.outputs.iter().find(|field| field.name == name)
    }

    pub(super) fn output_names(&self) -> impl Iterator<Item = &'a str> {
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

/// Reads everything but the assertions; returns `None` if it is not a manifest.
pub(super) fn read_manifest<'a>(document: &'a YamlNode, said: &mut DiagnosticSink) -> Option<SkillManifest<'a>> {
    if !document.is_map() {
        said.wrong_shape(document, "a manifest", "a mapping with `sop`, `name`, `version` and `description`");
        return None;
    }
    said.check_keys(document, "a manifest", KEYS);
    check_identity(document, said);
    check_texts(document, &["author", "license", "repository"], "a manifest", said);
    check_names(document, "tags", "a manifest", said);
    check_names(document, "tools_used", "a manifest", said);
    let inputs = read_fields(document, "inputs", "an input", said);
    let outputs = read_fields(document, "outputs", "an output", said);
    let manifest = SkillManifest { inputs, outputs };
    side_effects(document, said);
    check_requirements(document, said);
    check_observability(document, said);
    check_references(document, &manifest, said);
    Some(manifest)
}

fn check_identity(document: &YamlNode, said: &mut DiagnosticSink) {
    for key in ["sop", "name", "version", "description"] {
        let given = document.get(key);
        let filled = given.filter(|node| !node.is_null() && node.as_text() != Some(""));
        let Some(node) = filled else {
            let place = given.map_or(document.span.at_start(), |node| node.span);
            let help = if key == "sop" { "write `sop: \"0.1\"`".to_owned() } else { format!("write `{key}: …`") };
            said.error(Slug::TypeMismatch, place, format!("the manifest has no `{key}`"), help);
            continue;
        };
        let plain = node.as_text().is_some() || (node.as_number().is_some() && ["sop", "version"].contains(&key));
        match key {
            _ if !plain => {
                said.as_text(node, &format!("`{key}` of a manifest"));
            }
            "sop" if node.key_text() != "0.1" => super::other_version(node, said),
            "name" => check_kebab(node, said),
            _ => {}
        }
    }
}

/// Warns about names that are not kebab-case; they are accepted.
fn check_kebab(node: &YamlNode, said: &mut DiagnosticSink) {
    let name = node.key_text();
    let plain = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit();
    let ends = |byte: Option<&u8>| byte.is_some_and(|byte| plain(*byte));
    let bytes = name.as_bytes();
    if ends(bytes.first()) && ends(bytes.last()) && bytes.iter().all(|byte| plain(*byte) || *byte == b'-') {
        return;
    }
    let help = "write lower-case letters and digits with `-` between them, such as `publish-article`";
    said.warning(Slug::TypeMismatch, node.span, format!("the name `{name}` is not in kebab-case"), help);
}

fn check_texts(node: &YamlNode, keys: &[&str], what: &str, said: &mut DiagnosticSink) {
    for key in keys {
        if node.get(key).is_some_and(|value| !value.is_null()) {
            said.optional_text(node, key, what);
        }
    }
}

fn check_names(node: &YamlNode, key: &str, what: &str, said: &mut DiagnosticSink) {
    if node.get(key).is_some_and(YamlNode::is_null) {
        return;
    }
    for item in said.list_items(node, key, what) {
        said.as_text(item, &format!("an element of `{key}`"));
    }
}

fn check_word(node: &YamlNode, key: &str, what: &str, known: &[&str], said: &mut DiagnosticSink) {
    if let Some(value) = node.get(key)
        && !value.as_text().is_some_and(|word| known.contains(&word))
    {
        said.unknown_word(value, what, known);
    }
}

fn check_boolean(node: &YamlNode, key: &str, what: &str, said: &mut DiagnosticSink) {
    if let Some(value) = node.get(key).filter(|value| value.as_boolean().is_none()) {
        said.wrong_shape(value, &format!("`{key}` of {what}"), "`true` or `false`");
    }
}

fn check_number(node: &YamlNode, key: &str, what: &str, said: &mut DiagnosticSink) {
    if let Some(value) = node.get(key).filter(|value| value.as_number().is_none()) {
        said.wrong_shape(value, &format!("`{key}` of {what}"), "a number");
    }
}

fn read_fields<'a>(document: &'a YamlNode, key: &str, what: &str, said: &mut DiagnosticSink) -> Vec<ManifestField<'a>> {
    let known: &[&str] = match key {
        "inputs" => &["name", "type", "required", "description", "default", "constraints"],
        _ => &["name", "type", "description", "guaranteed"],
    };
    let mut fields: Vec<ManifestField<'a>> = Vec::new();
    if document.get(key).is_some_and(YamlNode::is_null) {
        return fields;
    }
    for node in said.list_items(document, key, "a manifest") {
        if !node.is_map() {
            said.wrong_shape(node, what, "a mapping with `name` and `type`");
            continue;
        }
        said.check_keys(node, what, known);
        check_word(node, "type", "type of values", TYPES, said);
        check_boolean(node, "required", what, said);
        check_boolean(node, "guaranteed", what, said);
        check_texts(node, &["description"], what, said);
        check_constraints(node, said);
        let Some(name) = said.required_text(node, "name", what) else { continue };
        if fields.iter().any(|field| field.name == name) {
            let place = node.get("name").map_or(node.span, |name| name.span);
            said.error(Slug::Duplicate, place, format!("`{name}` is declared twice"), "keep one of them");
        }
        fields.push(ManifestField {
            name,
            kind: node.get("type").and_then(YamlNode::as_text),
            default: node.get("default"),
        });
    }
    fields
}

fn check_constraints(field: &YamlNode, said: &mut DiagnosticSink) {
    let what = "`constraints`";
    let Some(node) = field.get("constraints").filter(|node| !node.is_null()) else { return };
    said.check_keys(node, what, &["pattern", "enum", "min", "max"]);
    if let Some(pattern) = node.get("pattern")
        && let Some(text) = said.as_text(pattern, "`pattern` of `constraints`")
    {
        regex_literal(text, pattern.span, said);
    }
    said.list_items(node, "enum", what);
    check_number(node, "min", what, said);
    check_number(node, "max", what, said);
}

fn side_effects(document: &YamlNode, said: &mut DiagnosticSink) {
    let what = "a side effect";
    if document.get("side_effects").is_some_and(YamlNode::is_null) {
        return;
    }
    for node in said.list_items(document, "side_effects", "a manifest") {
        if !said.check_keys(node, what, &["type", "access", "description", "paths", "destinations"]) && !node.is_map() {
            continue;
        }
        if node.get("type").is_none() {
            said.error(
                Slug::TypeMismatch,
                node.span,
                "a side effect has no `type`",
                format!("write {}", listed_names(EFFECTS)),
            );
        }
        check_word(node, "type", "type of side effects", EFFECTS, said);
        check_word(node, "access", "access", ACCESSES, said);
        check_texts(node, &["description"], what, said);
        check_names(node, "paths", what, said);
        check_names(node, "destinations", what, said);
    }
}

fn check_requirements(document: &YamlNode, said: &mut DiagnosticSink) {
    const KEYS: &[&str] = &["env_vars", "files", "tools", "capabilities"];
    let Some(node) = document.get("requirements").filter(|node| !node.is_null()) else { return };
    said.check_keys(node, "`requirements`", KEYS);
    KEYS.iter().for_each(|key| check_names(node, key, "`requirements`", said));
}

fn check_observability(document: &YamlNode, said: &mut DiagnosticSink) {
    let what = "`observability`";
    let Some(node) = document.get("observability").filter(|node| !node.is_null()) else { return };
    said.check_keys(node, what, &["level", "trace_sampling", "metrics"]);
    check_word(node, "level", "level of observability", LEVELS, said);
    check_number(node, "trace_sampling", what, said);
    let share = node.get("trace_sampling").and_then(|share| Some((share, share.as_number()?.parse::<f64>().ok()?)));
    if let Some((share, _)) = share.filter(|(_, share)| !(0.0..=1.0).contains(share)) {
        let message = format!("`trace_sampling` is {}, and no share of all executions", share.key_text());
        said.error(Slug::TypeMismatch, share.span, message, "write a number from 0.0 to 1.0");
    }
    if node.get("metrics").is_some_and(YamlNode::is_null) {
        return;
    }
    for metric in said.list_items(node, "metrics", what) {
        if said.check_keys(metric, "a metric", &["name", "type", "description"]) {
            said.required_text(metric, "name", "a metric");
            check_word(metric, "type", "type of metrics", METRICS, said);
            check_texts(metric, &["description"], "a metric", said);
        }
    }
}

/// Checks references: they must be declared. For outputs this is a warning, and only if any outputs are declared.
fn check_references(node: &YamlNode, manifest: &SkillManifest<'_>, said: &mut DiagnosticSink) {
    match &node.value {
        YamlValue::Text(text) => text_references(text, node, manifest, said),
        YamlValue::List(items) => items.iter().for_each(|item| check_references(item, manifest, said)),
        YamlValue::Map(entries) => entries.iter().for_each(|(_, value)| check_references(value, manifest, said)),
        _ => {}
    }
}

fn text_references(text: &str, node: &YamlNode, manifest: &SkillManifest<'_>, said: &mut DiagnosticSink) {
    for piece in split_pieces(text) {
        match piece {
            TemplatePiece::Input(name) if manifest.find_input(name).is_none() => {
                let help = match suggest::suggest_name(name, manifest.inputs.iter().map(|field| field.name)) {
                    Some(near) => format!("did you mean `${{inputs.{near}}}`?"),
                    None => format!("declare it: `inputs: [{{ name: {name}, type: string }}]`"),
                };
                let message = format!("`${{inputs.{name}}}` names no declared input");
                said.error(Slug::UnknownName, node.span, message, help);
            }
            TemplatePiece::Output(name) if !manifest.outputs.is_empty() => {
                undeclared_output(name, &format!("${{outputs.{name}}}"), node, manifest, said);
            }
            _ => {}
        }
    }
}

pub(super) fn undeclared_output(
    name: &str,
    written: &str,
    node: &YamlNode,
    manifest: &SkillManifest<'_>,
    said: &mut DiagnosticSink,
) {
    if manifest.find_output(name).is_some() || manifest.outputs.is_empty() {
        return;
    }
    let help = match suggest::suggest_name(name, manifest.output_names()) {
        Some(near) => format!("did you mean `{near}`?"),
        None => "declare it under `outputs`".to_owned(),
    };
    said.warning(Slug::UnknownName, node.span, format!("`{written}` names no declared output"), help);
}
