//! The tests that the program runs: a prompt, and what is expected of the runs that were asked it.

use super::Assay;
use super::asked::ALL;
use super::reading::Form;
use super::sentence::{Rule, Sentence};
use crate::writer::{literal, quoted};
use crate::yaml::{self, Node, Schema, Value};
use averment_base::diagnostic::Slug;
use averment_base::source::Span;

/// The keys of a test.
const TEST: &[&str] = &["id", "description", "input", "expected", "assertions", "on_error", "tags", "metadata", "when"];

/// A kind of expectation: its keys, and what it says.
struct Kind {
    name: &'static str,
    keys: &'static [&'static str],
    lower: fn(&mut Assay<'_, '_>, &Node) -> Option<Vec<Sentence>>,
}

const SIMILARITY: &[&str] = &["semantic_similarity_to", "text", "min_score", "threshold", "thresholding"];
const JUDGED: &[&str] = &["min_score", "rubric_version", "thresholding"];

const KINDS: &[Kind] = &[
    Kind { name: "must_contain", keys: &["must_contain"], lower: must_contain },
    Kind { name: "must_not_contain", keys: &["must_not_contain"], lower: must_not_contain },
    Kind { name: "regex_match", keys: &["pattern", "flags"], lower: |assay, node| matches(assay, node, "matches") },
    Kind {
        name: "regex_not_match",
        keys: &["pattern", "flags"],
        lower: |assay, node| matches(assay, node, "not matches"),
    },
    Kind { name: "json_schema", keys: &["json_schema", "schema_file"], lower: json_schema },
    Kind { name: "args_valid", keys: &["policy", "schema"], lower: args_valid },
    Kind {
        name: "sequence_valid",
        keys: &["rules", "sequence", "policy"],
        lower: |assay, node| Some(assay.order(node, Form::Program)),
    },
    Kind { name: "tool_blocklist", keys: &["blocked"], lower: |assay, node| Some(assay.blocked(node, "blocked")) },
    Kind { name: "tool_output_valid", keys: &["schemas"], lower: outputs },
    Kind { name: "semantic_similarity_to", keys: SIMILARITY, lower: similar },
    Kind { name: "faithfulness", keys: JUDGED, lower: |assay, node| judged(assay, node, "faithfulness") },
    Kind { name: "relevance", keys: JUDGED, lower: |assay, node| judged(assay, node, "relevance") },
];

/// Kinds that nothing can decide on a recorded run, with what to write.
const REFUSED: &[(&str, &str)] = &[
    ("judge_criteria", "a model would have to judge it: write what the output has to contain"),
    ("tool_description_integrity", "runs do not record the descriptions of tools: pin them where the tools are served"),
    ("tool_collision_detect", "runs do not record which server offers a tool: ask it where the tools are served"),
];

/// Keys of the blocks of earlier versions, which name no type.
const UNTAGGED: &[(&str, &str)] = &[
    ("must_contain", "must_contain"),
    ("sequence", "sequence_valid"),
    ("rules", "sequence_valid"),
    ("schema", "args_valid"),
];

/// Writes the case of a test, and its unit tests.
pub(super) fn lower(assay: &mut Assay<'_, '_>, test: &Node, id: &str) {
    assay.low.said.keys(test, "a test", TEST);
    let name = assay.labels.of(id);
    let prompt = assay.prompt(test);
    let (mut sentences, units) = assay.assertions(test);
    let asserted = !sentences.is_empty() || !units.is_empty();
    let before = assay.low.said.diagnostics.0.len();
    let block = test.get("expected").filter(|node| !node.is_null());
    let found = block.and_then(|node| assay.expected(node, asserted));
    let (metric, mut expected) = found.map_or((None, Vec::new()), |(kind, sentences)| (Some(kind), sentences));
    if expected.is_empty() && !asserted && assay.low.said.diagnostics.0.len() == before {
        let message = format!("the test `{id}` expects nothing: it could never fail");
        assay.low.said.error(Slug::TypeMismatch, test.span.at_start(), message, "write `expected:` or `assertions:`");
    }
    expected.append(&mut sentences);
    if !expected.is_empty() {
        let mut settings = vec![format!("prompt {}", quoted(&prompt.unwrap_or_default()))];
        settings.extend(metric.map(|metric| format!("as {metric}")));
        settings.extend(assay.tags(test));
        let head = format!("case {name}");
        assay.write(&Rule { place: test.span, head, settings, sentences: expected });
    }
    units.iter().for_each(|unit| assay.write_unit(&name, unit));
}

impl Assay<'_, '_> {
    /// The prompt of a test: text, or a mapping with it.
    fn prompt(&mut self, test: &Node) -> Option<String> {
        let Some(input) = test.get("input") else {
            let message = "the test has no `input`";
            self.low.said.error(
                Slug::TypeMismatch,
                test.span.at_start(),
                message,
                "write `input: { prompt: … }`, or `metric: …`",
            );
            return None;
        };
        if input.is_map() {
            self.low.said.keys(input, "`input`", &["prompt", "context"]);
            return self.low.said.required_text(input, "prompt", "`input`").map(ToOwned::to_owned);
        }
        self.low.said.as_text(input, "`input`").map(ToOwned::to_owned)
    }

    /// What an `expected` block says, with its type; where others assert something, an empty one is left out.
    fn expected(&mut self, node: &Node, asserted: bool) -> Option<(&'static str, Vec<Sentence>)> {
        let node = match node.items() {
            [one] => one,
            [] if node.is_map() => node,
            _ => {
                self.low.said.shape(node, "`expected`", "one mapping: `type: must_contain` and its keys");
                return None;
            }
        };
        if let Some(reference) = node.get("$ref") {
            let target = self.referenced(reference, node)?;
            return match target.get("$ref") {
                Some(again) => {
                    self.low.said.error(
                        Slug::Recursion,
                        again.span,
                        "a reference leads to a reference",
                        "name the block itself",
                    );
                    None
                }
                None => self.expected(&target, asserted),
            };
        }
        let untagged = UNTAGGED.iter().find(|(key, _)| node.get(key).is_some()).map(|(_, name)| *name);
        let name = match node.get("type") {
            Some(word) => self.low.said.as_text(word, "`type`")?.to_owned(),
            None if untagged.is_some() => untagged?.to_owned(),
            None => self.low.said.required_text(node, "type", "`expected`")?.to_owned(),
        };
        let place = node.get("type").map_or(node.span, |word| word.span);
        if let Some((_, help)) = REFUSED.iter().find(|(refused, _)| *refused == name) {
            self.low.said.error(
                Slug::UnknownType,
                place,
                format!("`{name}` cannot be decided on recorded runs"),
                *help,
            );
            return None;
        }
        let Some(kind) = KINDS.iter().find(|kind| kind.name == name) else {
            let known: Vec<&str> = KINDS.iter().map(|kind| kind.name).collect();
            self.low.said.unknown_word(node.get("type").unwrap_or(node), "type of `expected`", &known);
            return None;
        };
        let known: Vec<&str> = ["type"].iter().chain(kind.keys).copied().collect();
        self.low.said.keys(node, &format!("`{name}`"), &known);
        let is_empty = node.get(&name).is_some_and(|list| list.is_list() && list.items().is_empty());
        if is_empty && asserted {
            let message = format!("`{name}` is empty: it says nothing");
            self.low.said.warning(Slug::TypeMismatch, place, message, "leave `expected` out, or write what it names");
            return None;
        }
        Some((kind.name, (kind.lower)(self, node)?))
    }

    /// Texts of a key, at least one, none of them empty.
    fn texts(&mut self, node: &Node, key: &str) -> Option<Vec<(String, Span)>> {
        let list = node.get(key).unwrap_or(node);
        let items = if list.text().is_some() { std::slice::from_ref(list) } else { list.items() };
        if items.is_empty() {
            let message = format!("`{key}` is empty: it could never fail");
            self.low.said.error(Slug::TypeMismatch, list.span, message, "write a list of texts");
            return None;
        }
        let texts: Vec<(String, Span)> = items
            .iter()
            .filter_map(|item| Some((self.low.said.as_text(item, "an element")?.to_owned(), item.span)))
            .collect();
        if let Some((_, place)) = texts.iter().find(|(text, _)| text.is_empty()) {
            self.low.said.error(Slug::EmptyNeedle, *place, "every text contains the empty text", "write a text");
            return None;
        }
        Some(texts)
    }

    /// The least score, as it is written.
    fn least(&mut self, node: &Node, keys: [&str; 2], otherwise: &str) -> Option<String> {
        let Some(score) = keys.iter().find_map(|key| node.get(key)) else { return Some(otherwise.to_owned()) };
        if score.number().is_none() {
            self.low.said.shape(score, "the least score", "a number");
        }
        score.number().map(ToOwned::to_owned)
    }
}

fn must_contain(assay: &mut Assay<'_, '_>, node: &Node) -> Option<Vec<Sentence>> {
    let texts = assay.texts(node, "must_contain")?;
    Some(texts.iter().map(|(text, at)| Sentence::new(*at, format!("output contains {}", quoted(text)))).collect())
}

fn must_not_contain(assay: &mut Assay<'_, '_>, node: &Node) -> Option<Vec<Sentence>> {
    let texts = assay.texts(node, "must_not_contain")?;
    Some(texts.iter().map(|(text, at)| Sentence::new(*at, format!("output not contains {}", quoted(text)))).collect())
}

fn matches(assay: &mut Assay<'_, '_>, node: &Node, test: &str) -> Option<Vec<Sentence>> {
    let flags = assay.flags(node)?;
    assay.low.said.required_text(node, "pattern", "the expectation")?;
    let pattern = node.get("pattern")?;
    if pattern.text() == Some("") {
        assay.low.said.error(
            Slug::EmptyNeedle,
            pattern.span,
            "the empty pattern is found everywhere",
            "write a pattern",
        );
        return None;
    }
    let regex = assay.regex(pattern, &flags)?;
    Some(vec![Sentence::new(pattern.span, format!("output {test} {regex}"))])
}

impl Assay<'_, '_> {
    /// The flags of an expression.
    fn flags(&mut self, node: &Node) -> Option<String> {
        let mut flags = String::new();
        for flag in self.low.said.list(node, "flags", "the expectation") {
            match flag.text() {
                Some(known @ ("i" | "m" | "s")) => flags.push_str(known),
                _ => {
                    self.low.said.unknown_word(flag, "flag", &["i", "m", "s"]);
                    return None;
                }
            }
        }
        Some(flags)
    }

    /// A JSON Schema that stands in a text.
    fn schema_text(&mut self, node: &Node) -> Option<Node> {
        let text = self.low.said.as_text(node, "`json_schema`")?;
        match yaml::parse(text, node.span.file, Schema::Core) {
            Ok(schema) if schema.is_map() => Some(placed(&schema, node.span)),
            _ => {
                self.low.said.error(
                    Slug::BadJson,
                    node.span,
                    "`json_schema` holds no JSON Schema",
                    "write `'{\"type\": …}'`",
                );
                None
            }
        }
    }
}

/// A value all of whose parts stand at one place.
fn placed(node: &Node, place: Span) -> Node {
    let value = match &node.value {
        Value::List(items) => Value::List(items.iter().map(|item| placed(item, place)).collect()),
        Value::Map(entries) => {
            Value::Map(entries.iter().map(|(key, value)| (placed(key, place), placed(value, place))).collect())
        }
        other => other.clone(),
    };
    Node { value, span: place }
}

/// The schema of the file counts, where one is named.
fn json_schema(assay: &mut Assay<'_, '_>, node: &Node) -> Option<Vec<Sentence>> {
    let (place, schema) = match (node.get("schema_file"), node.get("json_schema")) {
        (Some(file), _) if !file.is_null() => {
            let path = assay.low.said.as_text(file, "`schema_file`")?.to_owned();
            (file.span, assay.read(&path, file.span)?)
        }
        (_, Some(text)) => (text.span, assay.schema_text(text)?),
        _ => {
            let message = "the expectation has neither `json_schema` nor `schema_file`";
            assay.low.said.error(Slug::TypeMismatch, node.span, message, "write `schema_file: FILE`");
            return None;
        }
    };
    let declared = assay.schema("Answer", &schema);
    Some(vec![Sentence::new(place, format!("output is json {declared}"))])
}

fn args_valid(assay: &mut Assay<'_, '_>, node: &Node) -> Option<Vec<Sentence>> {
    let document = match (node.get("policy"), node.get("schema").filter(|schema| !schema.is_null())) {
        (Some(policy), None) => assay.document(policy)?,
        (None, Some(schema)) => schema.clone(),
        _ => {
            let message = "the expectation needs either `policy` or `schema`";
            assay.low.said.error(Slug::TypeMismatch, node.span, message, "write `policy: FILE`");
            return None;
        }
    };
    let known = assay.low.said.diagnostics.0.len();
    let sentences = assay.policy(&document, &ALL);
    if sentences.is_empty() && assay.low.said.diagnostics.0.len() == known {
        let message = "the policy asks for nothing of recorded runs: it could never fail";
        assay.low.said.error(
            Slug::TypeMismatch,
            document.span.at_start(),
            message,
            "write `deny`, `allow` or `schemas`",
        );
    }
    Some(sentences)
}

/// Calls without a result, and calls that failed, are left out.
fn outputs(assay: &mut Assay<'_, '_>, node: &Node) -> Option<Vec<Sentence>> {
    let schemas = node.get("schemas").filter(|schemas| !schemas.entries().is_empty());
    let Some(schemas) = schemas else {
        assay.low.said.shape(node.get("schemas").unwrap_or(node), "`schemas`", "a mapping of tools to JSON Schemas");
        return None;
    };
    let each = |(name, schema): &(Node, Node)| {
        let tool = crate::writer::tool(&name.key());
        let declared = assay.schema(&format!("{} result", name.key()), schema);
        let text = format!("each ({tool} where result exists and error is missing): result is {declared}");
        Sentence::new(name.span.to(schema.span), text)
    };
    Some(schemas.entries().iter().map(each).collect())
}

/// The likeness of what the trace recorded of both texts.
fn similar(assay: &mut Assay<'_, '_>, node: &Node) -> Option<Vec<Sentence>> {
    let least = assay.least(node, ["min_score", "threshold"], "0.8")?;
    let text = node.get("semantic_similarity_to").or_else(|| node.get("text"));
    let Some(text) = text else {
        assay.low.said.error(Slug::TypeMismatch, node.span, "there is no text to compare with", "write `text: …`");
        return None;
    };
    let recorded = "meta.assay.embeddings";
    let sentence = format!("cosine({recorded}.response, {recorded}.reference) + 0.000001 >= {least}");
    let message = format!("the output is not like {}; runs record their embeddings in `{recorded}`", literal(text));
    Some(vec![Sentence::new(node.span, sentence).saying(&message)])
}

/// What a model said of the run, where the trace recorded it.
fn judged(assay: &mut Assay<'_, '_>, node: &Node, name: &str) -> Option<Vec<Sentence>> {
    let least = assay.least(node, ["min_score", "min_score"], "0.8")?;
    let recorded = format!("meta.assay.judge.{name}");
    let sentence = format!("{recorded}.score + 0.000000001 >= {least}");
    let message = format!("no recorded judgement says so; runs record it in `{recorded}`");
    Some(vec![Sentence::new(node.span, sentence).saying(&message)])
}
