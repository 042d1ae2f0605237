//! The tests that the Assay program runs: a prompt, and the expected results of runs with that prompt.

use super::AssayLowering;
use super::policy_scope::ALL;
use super::reading::RuleSemantics;
use super::sentence::{AssayAssertion, RuleDraft};
use crate::writer::{quote_text, value_literal};
use crate::yaml::{self, YamlNode, YamlSchema, YamlValue};
use averment_base::diagnostic::Slug;
use averment_base::source::Span;

const TEST: &[&str] = &["id", "description", "input", "expected", "assertions", "on_error", "tags", "metadata", "when"];

struct ExpectationType {
    name: &'static str,
    keys: &'static [&'static str],
    lower: fn(&mut AssayLowering<'_, '_>, &YamlNode) -> Option<Vec<AssayAssertion>>,
}

const SIMILARITY: &[&str] = &["semantic_similarity_to", "text", "min_score", "threshold", "thresholding"];
const JUDGED: &[&str] = &["min_score", "rubric_version", "thresholding"];

const KINDS: &[ExpectationType] = &[
    ExpectationType {
        name: "must_contain",
        keys: &["must_contain"],
        lower: |assay, node| output_contains(assay, node, "must_contain", "contains"),
    },
    ExpectationType {
        name: "must_not_contain",
        keys: &["must_not_contain"],
        lower: |assay, node| output_contains(assay, node, "must_not_contain", "not contains"),
    },
    ExpectationType {
        name: "regex_match",
        keys: &["pattern", "flags"],
        lower: |assay, node| output_matches(assay, node, "matches"),
    },
    ExpectationType {
        name: "regex_not_match",
        keys: &["pattern", "flags"],
        lower: |assay, node| output_matches(assay, node, "not matches"),
    },
    ExpectationType { name: "json_schema", keys: &["json_schema", "schema_file"], lower: json_schema },
    ExpectationType { name: "args_valid", keys: &["policy", "schema"], lower: args_valid },
    ExpectationType {
        name: "sequence_valid",
        keys: &["rules", "sequence", "policy"],
        lower: |assay, node| Some(assay.lower_order(node, RuleSemantics::Program)),
    },
    ExpectationType {
        name: "tool_blocklist",
        keys: &["blocked"],
        lower: |assay, node| Some(assay.lower_blocked(node, "blocked")),
    },
    ExpectationType { name: "tool_output_valid", keys: &["schemas"], lower: outputs_valid },
    ExpectationType { name: "semantic_similarity_to", keys: SIMILARITY, lower: similar_output },
    ExpectationType {
        name: "faithfulness",
        keys: JUDGED,
        lower: |assay, node| recorded_judgment(assay, node, "faithfulness"),
    },
    ExpectationType {
        name: "relevance",
        keys: JUDGED,
        lower: |assay, node| recorded_judgment(assay, node, "relevance"),
    },
];

/// Types that cannot be decided on a recorded run, with alternatives.
const REFUSED: &[(&str, &str)] = &[
    ("judge_criteria", "a model would have to judge it: write what the output has to contain"),
    ("tool_description_integrity", "runs do not record the descriptions of tools: pin them where the tools are served"),
    ("tool_collision_detect", "runs do not record which server offers a tool: ask it where the tools are served"),
];

/// Blocks in earlier versions do not name a type; the key identifies it.
const UNTAGGED: &[(&str, &str)] = &[
    ("must_contain", "must_contain"),
    ("sequence", "sequence_valid"),
    ("rules", "sequence_valid"),
    ("schema", "args_valid"),
];

pub(super) fn lower_case(assay: &mut AssayLowering<'_, '_>, test: &YamlNode, id: &str) {
    assay.low.sink.check_keys(test, "a test", TEST);
    let name = assay.labels.unique_label(id);
    let prompt = assay.test_prompt(test);
    let (mut sentences, units) = assay.lower_assertions(test);
    let asserted = !sentences.is_empty() || !units.is_empty();
    let before = assay.low.sink.diagnostic_count();
    let block = test.get("expected").filter(|node| !node.is_null());
    let found = block.and_then(|node| assay.lower_expected(node, asserted));
    let (metric, mut expected) = found.map_or((None, Vec::new()), |(kind, sentences)| (Some(kind), sentences));
    if expected.is_empty() && !asserted && assay.low.sink.diagnostic_count() == before {
        let message = format!("the test `{id}` expects nothing: it could never fail");
        assay.low.sink.error(Slug::TypeMismatch, test.span.at_start(), message, "write `expected:` or `assertions:`");
    }
    expected.append(&mut sentences);
    if !expected.is_empty() {
        let mut settings = vec![format!("prompt {}", quote_text(&prompt.unwrap_or_default()))];
        settings.extend(metric.map(|metric| format!("as {metric}")));
        settings.extend(assay.test_tags(test));
        let head = format!("case {name}");
        assay.write_rule(&RuleDraft { place: test.span, head, settings, sentences: expected });
    }
    units.iter().for_each(|unit| assay.write_unit(&name, unit));
}

impl AssayLowering<'_, '_> {
    fn test_prompt(&mut self, test: &YamlNode) -> Option<String> {
        let Some(input) = test.get("input") else {
            let message = "the test has no `input`";
            self.low.sink.error(
                Slug::TypeMismatch,
                test.span.at_start(),
                message,
                "write `input: { prompt: … }`, or `metric: …`",
            );
            return None;
        };
        if input.is_map() {
            self.low.sink.check_keys(input, "`input`", &["prompt", "context"]);
            return self.low.sink.required_text(input, "prompt", "`input`").map(ToOwned::to_owned);
        }
        self.low.sink.as_text(input, "`input`").map(ToOwned::to_owned)
    }

    /// Returns the type and the assertions. An empty block is skipped if the test has assertions.
    fn lower_expected(&mut self, node: &YamlNode, asserted: bool) -> Option<(&'static str, Vec<AssayAssertion>)> {
        let node = match node.items() {
            [one] => one,
            [] if node.is_map() => node,
            _ => {
                self.low.sink.wrong_shape(node, "`expected`", "one mapping: `type: must_contain` and its keys");
                return None;
            }
        };
        if let Some(reference) = node.get("$ref") {
            let target = self.resolve_reference(reference, node)?;
            return match target.get("$ref") {
                Some(again) => {
                    self.low.sink.error(
                        Slug::Recursion,
                        again.span,
                        "a reference leads to a reference",
                        "name the block itself",
                    );
                    None
                }
                None => self.lower_expected(&target, asserted),
            };
        }
        let untagged = UNTAGGED.iter().find(|(key, _)| node.get(key).is_some()).map(|(_, name)| *name);
        let name = match node.get("type") {
            Some(word) => self.low.sink.as_text(word, "`type`")?.to_owned(),
            None if untagged.is_some() => untagged?.to_owned(),
            None => self.low.sink.required_text(node, "type", "`expected`")?.to_owned(),
        };
        let place = node.get("type").map_or(node.span, |word| word.span);
        if let Some((_, help)) = REFUSED.iter().find(|(refused, _)| *refused == name) {
            self.low.sink.error(
                Slug::UnknownType,
                place,
                format!("`{name}` cannot be decided on recorded runs"),
                *help,
            );
            return None;
        }
        let Some(kind) = KINDS.iter().find(|kind| kind.name == name) else {
            let known: Vec<&str> = KINDS.iter().map(|kind| kind.name).collect();
            self.low.sink.unknown_word(node.get("type").unwrap_or(node), "type of `expected`", &known);
            return None;
        };
        let known: Vec<&str> = ["type"].iter().chain(kind.keys).copied().collect();
        self.low.sink.check_keys(node, &format!("`{name}`"), &known);
        let is_empty = node.get(&name).is_some_and(|list| list.is_list() && list.items().is_empty());
        if is_empty && asserted {
            let message = format!("`{name}` is empty: it checks nothing");
            self.low.sink.warning(Slug::TypeMismatch, place, message, "leave `expected` out, or write what it names");
            return None;
        }
        Some((kind.name, (kind.lower)(self, node)?))
    }

    /// Reads a list with at least one text, none of them empty.
    fn required_texts(&mut self, node: &YamlNode, key: &str) -> Option<Vec<(String, Span)>> {
        let list = node.get(key).unwrap_or(node);
        let items = if list.as_text().is_some() { std::slice::from_ref(list) } else { list.items() };
        if items.is_empty() {
            let message = format!("`{key}` is empty: it could never fail");
            self.low.sink.error(Slug::TypeMismatch, list.span, message, "write a list of texts");
            return None;
        }
        let texts: Vec<(String, Span)> = items
            .iter()
            .filter_map(|item| Some((self.low.sink.as_text(item, "an element")?.to_owned(), item.span)))
            .collect();
        if let Some((_, place)) = texts.iter().find(|(text, _)| text.is_empty()) {
            self.low.sink.error(Slug::EmptyNeedle, *place, "every text contains the empty text", "write a text");
            return None;
        }
        Some(texts)
    }

    fn min_score(&mut self, node: &YamlNode, keys: &[&str], otherwise: &str) -> Option<String> {
        let Some(score) = keys.iter().find_map(|key| node.get(key)) else { return Some(otherwise.to_owned()) };
        if score.as_number().is_none() {
            self.low.sink.wrong_shape(score, "the least score", "a number");
        }
        score.as_number().map(ToOwned::to_owned)
    }
}

/// Writes `must_contain` and `must_not_contain`: an assertion for each text.
fn output_contains(
    assay: &mut AssayLowering<'_, '_>,
    node: &YamlNode,
    key: &str,
    test: &str,
) -> Option<Vec<AssayAssertion>> {
    let texts = assay.required_texts(node, key)?;
    let assertion =
        |(text, at): &(String, Span)| AssayAssertion::new(*at, format!("output {test} {}", quote_text(text)));
    Some(texts.iter().map(assertion).collect())
}

fn output_matches(assay: &mut AssayLowering<'_, '_>, node: &YamlNode, test: &str) -> Option<Vec<AssayAssertion>> {
    let flags = assay.regex_flags(node)?;
    assay.low.sink.required_text(node, "pattern", "the expectation")?;
    let pattern = node.get("pattern")?;
    if pattern.as_text() == Some("") {
        assay.low.sink.error(
            Slug::EmptyNeedle,
            pattern.span,
            "the empty pattern is found everywhere",
            "write a pattern",
        );
        return None;
    }
    let regex = assay.regex_literal(pattern, &flags)?;
    Some(vec![AssayAssertion::new(pattern.span, format!("output {test} {regex}"))])
}

impl AssayLowering<'_, '_> {
    fn regex_flags(&mut self, node: &YamlNode) -> Option<String> {
        let mut flags = String::new();
        for flag in self.low.sink.list_items(node, "flags", "the expectation") {
            match flag.as_text() {
                Some(known @ ("i" | "m" | "s")) => flags.push_str(known),
                _ => {
                    self.low.sink.unknown_word(flag, "flag", &["i", "m", "s"]);
                    return None;
                }
            }
        }
        Some(flags)
    }

    fn schema_text(&mut self, node: &YamlNode) -> Option<YamlNode> {
        let text = self.low.sink.as_text(node, "`json_schema`")?;
        match yaml::parse_document(text, node.span.file, YamlSchema::Core) {
            Ok(schema) if schema.is_map() => Some(place_everywhere(&schema, node.span)),
            _ => {
                self.low.sink.error(
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

/// Returns a copy in which every part has the span `place`.
fn place_everywhere(node: &YamlNode, place: Span) -> YamlNode {
    let value = match &node.value {
        YamlValue::List(items) => YamlValue::List(items.iter().map(|item| place_everywhere(item, place)).collect()),
        YamlValue::Map(entries) => YamlValue::Map(
            entries.iter().map(|(key, value)| (place_everywhere(key, place), place_everywhere(value, place))).collect(),
        ),
        other => other.clone(),
    };
    YamlNode { value, span: place }
}

/// Checks the output against a JSON Schema. `schema_file` takes precedence over `json_schema`.
fn json_schema(assay: &mut AssayLowering<'_, '_>, node: &YamlNode) -> Option<Vec<AssayAssertion>> {
    let (place, schema) = match (node.get("schema_file"), node.get("json_schema")) {
        (Some(file), _) if !file.is_null() => {
            let path = assay.low.sink.as_text(file, "`schema_file`")?.to_owned();
            (file.span, assay.read_document(&path, file.span)?)
        }
        (_, Some(text)) => (text.span, assay.schema_text(text)?),
        _ => {
            let message = "the expectation has neither `json_schema` nor `schema_file`";
            assay.low.sink.error(Slug::TypeMismatch, node.span, message, "write `schema_file: FILE`");
            return None;
        }
    };
    let declared = assay.schema_name("Answer", &schema);
    Some(vec![AssayAssertion::new(place, format!("output is json {declared}"))])
}

fn args_valid(assay: &mut AssayLowering<'_, '_>, node: &YamlNode) -> Option<Vec<AssayAssertion>> {
    let document = match (node.get("policy"), node.get("schema").filter(|schema| !schema.is_null())) {
        (Some(policy), None) => assay.policy_document(policy)?,
        (None, Some(schema)) => schema.clone(),
        _ => {
            let message = "the expectation needs either `policy` or `schema`";
            assay.low.sink.error(Slug::TypeMismatch, node.span, message, "write `policy: FILE`");
            return None;
        }
    };
    let known = assay.low.sink.diagnostic_count();
    let sentences = assay.lower_policy(&document, &ALL);
    if sentences.is_empty() && assay.low.sink.diagnostic_count() == known {
        let message = "the policy asks for nothing of recorded runs: it could never fail";
        assay.low.sink.error(
            Slug::TypeMismatch,
            document.span.at_start(),
            message,
            "write `deny`, `allow` or `schemas`",
        );
    }
    Some(sentences)
}

/// Checks the results of calls against schemas. Calls without a result and failed calls are ignored.
fn outputs_valid(assay: &mut AssayLowering<'_, '_>, node: &YamlNode) -> Option<Vec<AssayAssertion>> {
    let schemas = node.get("schemas").filter(|schemas| !schemas.entries().is_empty());
    let Some(schemas) = schemas else {
        assay.low.sink.wrong_shape(
            node.get("schemas").unwrap_or(node),
            "`schemas`",
            "a mapping of tools to JSON Schemas",
        );
        return None;
    };
    let each = |(name, schema): &(YamlNode, YamlNode)| {
        let tool = crate::writer::tool_pattern(&name.key_text());
        let declared = assay.schema_name(&format!("{} result", name.key_text()), schema);
        let text = format!("each ({tool} where result exists and error is missing): result is {declared}");
        AssayAssertion::new(name.span.cover_with(schema.span), text)
    };
    Some(schemas.entries().iter().map(each).collect())
}

/// By how much a score may be below its minimum, as in Assay's own comparisons.
const SIMILARITY_TOLERANCE: &str = "0.000001";
const JUDGMENT_TOLERANCE: &str = "0.000000001";

/// Compares the similarity that the trace recorded with a minimum.
fn similar_output(assay: &mut AssayLowering<'_, '_>, node: &YamlNode) -> Option<Vec<AssayAssertion>> {
    let least = assay.min_score(node, &["min_score", "threshold"], "0.8")?;
    let text = node.get("semantic_similarity_to").or_else(|| node.get("text"));
    let Some(text) = text else {
        assay.low.sink.error(Slug::TypeMismatch, node.span, "there is no text to compare with", "write `text: …`");
        return None;
    };
    let recorded = "meta.assay.embeddings";
    let sentence = format!("cosine({recorded}.response, {recorded}.reference) + {SIMILARITY_TOLERANCE} >= {least}");
    let message =
        format!("the output is not like {}; runs record their embeddings in `{recorded}`", value_literal(text));
    Some(vec![AssayAssertion::new(node.span, sentence).with_message(&message)])
}

/// Uses a model's judgment of the run if the trace recorded one.
fn recorded_judgment(assay: &mut AssayLowering<'_, '_>, node: &YamlNode, name: &str) -> Option<Vec<AssayAssertion>> {
    let least = assay.min_score(node, &["min_score"], "0.8")?;
    let recorded = format!("meta.assay.judge.{name}");
    let sentence = format!("{recorded}.score + {JUDGMENT_TOLERANCE} >= {least}");
    let message = format!("no recorded judgement says so; runs record it in `{recorded}`");
    Some(vec![AssayAssertion::new(node.span, sentence).with_message(&message)])
}
