//! Wallfacer: packs of invariants for MCP tools.
//!
//! An invariant becomes an `invariant`, and a `for_each_tool` block becomes one for each tool. A sequence becomes a rule over the first calls that
//! match its steps in order. `$.response` is the protocol's wrapper around a result (`envelope`), and `$.input` the arguments. Fixtures become tests.

mod check;
mod cond;
mod equality;
mod fixture;
mod invariant;
mod kinds;
mod names;
mod operand;
mod pack;
mod placeholder;
mod regex;
mod sequence;
pub(crate) mod template;

use crate::writer::{RuleWriter, UniqueLabels};
use crate::yaml::{YamlNode, YamlSchema, YamlValue};
use crate::{Dialect, FileSyntax, Lowering, YamlDialect};
use averment_base::diagnostic::Slug;
use averment_base::source::Span;
use averment_engine::bytecode::program::{ForeignVerdict, ForeignVerdicts};
use names::PathRoots;
use pack::PackEntry;
use std::borrow::Cow;
use template::KeptParams;

/// Packs of versions 1 to 3.
pub const DIALECT: Dialect = Dialect {
    files: "packs with `version` and `invariants`",
    reads: FileSyntax::Yaml(YamlDialect {
        marks: &["invariants", "for_each_tool", "sequences"],
        schema: YamlSchema::Core,
        is_one: |document| {
            // Steps of a sequence have no type. Rules of an Assay policy, which use the same key, do.
            let typed = |list: &YamlNode| list.items().iter().any(|one| one.get("type").is_some());
            let has = |key: &str| document.get(key).is_some();
            has("invariants") || has("for_each_tool") || document.get("sequences").is_some_and(|list| !typed(list))
        },
        lower: lower_pack,
    }),
    verdicts: ForeignVerdicts {
        system: Cow::Borrowed("wallfacer"),
        pass: ForeignVerdict::new("pass", None),
        fail: ForeignVerdict::new("fail", None),
        // A vacuous rule passes in Wallfacer.
        vacuous: ForeignVerdict::new("pass", None),
        undecided: ForeignVerdict::new("structural", None),
        error: ForeignVerdict::new("structural", None),
    },
};

struct PackLowering<'a, 'l> {
    lowering: &'a mut Lowering<'l>,
    /// The rules; the definitions they use are written before them.
    out: RuleWriter,
    labels: UniqueLabels,
    schema_names: UniqueLabels,
    schemas: Vec<(String, YamlNode)>,
    label: String,
    /// Tags of the current entry, as a modifier.
    tags: String,
    kept: &'a KeptParams,
}

fn lower_pack(_: &YamlNode, lowering: &mut Lowering<'_>) {
    let Some(mut pack) = pack::read_pack(lowering) else { return };
    let kept = std::mem::take(&mut pack.kept);
    let mut sentences = PackLowering {
        lowering,
        out: RuleWriter::default(),
        labels: UniqueLabels::default(),
        schema_names: UniqueLabels::default(),
        schemas: Vec::new(),
        label: String::new(),
        tags: String::new(),
        kept: &kept,
    };
    for entry in &pack.invariants {
        sentences.begin_entry(entry);
        sentences.lower_invariant(&entry.node);
    }
    for entry in &pack.for_each_tool {
        sentences.begin_entry(entry);
        sentences.for_each_tool(&entry.node);
    }
    for entry in &pack.sequences {
        sentences.begin_entry(entry);
        sentences.lower_sequence(&entry.node);
    }
    let out = sentences.out;
    let description = pack.description.as_deref().unwrap_or("").trim();
    lowering.out.write_remark(&format!("The pack {}. {description}", pack.name));
    write_params(lowering, &kept);
    write_definitions(lowering, &out);
    lowering.out.append(out);
}

/// Helpers: name, parameter, description, body. A missing value plainly fails, an unrecorded one is unknown.
const SHORT: [(&str, &str, &str, &str); 11] = [
    ("is_text", "x", "A text.", "x exists and type_of(x) == \"string\""),
    ("is_number", "x", "A number.", "x exists and type_of(x) == \"number\""),
    ("is_flag", "x", "A boolean.", "x exists and type_of(x) == \"boolean\""),
    ("is_list", "x", "A list.", "x exists and type_of(x) == \"list\""),
    ("is_object", "x", "An object.", "x exists and type_of(x) == \"object\""),
    ("is_long", "x", "What has a length.", "x exists and type_of(x) in [\"string\", \"list\"]"),
    ("is_size", "x", "What a length can be compared with.", "is_whole(x) and x >= 0"),
    (
        "is_whole",
        "x",
        "A number that JSON writes without a fraction, as 1 and not as 1.0.",
        "is_number(x) and text(x) matches /^(0|-?[1-9][0-9]*)$/ and x in -9223372036854775808..18446744073709551615",
    ),
    (
        "about",
        "called",
        "What the run records of a tool.",
        "if first(tools where name == called) exists then first(tools where name == called) else null",
    ),
    (
        "answer",
        "made",
        "What the protocol put around the result of a call.",
        "if made.response exists then made.response else made.result",
    ),
    ("is_error", "said", "Whether it says that the call went wrong.", "is_flag(said.isError) and said.isError == true"),
];

/// True if the name is that of a helper.
fn is_shorthand(name: &str) -> bool {
    SHORT.iter().any(|(short, ..)| *short == name)
}

/// Writes the parameters that stay parameters. If the rule language cannot take a parameter in some position, a comment says that its value is
/// inlined there.
fn write_params(lowering: &mut Lowering<'_>, kept: &KeptParams) {
    lowering.out.write_gap();
    for (name, default, says) in &kept.declared {
        let value = crate::writer::value_literal(default);
        let (is_kept, is_frozen) = kept.uses_of(name);
        if is_frozen {
            let places = "In paths, patterns, schemas, fixtures and names";
            lowering.out.write_remark(&format!("{places} the parameter {name} is written out: {value}."));
        }
        if !is_kept {
            continue;
        }
        let ty = match &default.value {
            YamlValue::Bool(_) => "boolean",
            YamlValue::Number(_) => "number",
            _ => "string",
        };
        lowering.out.write_remark(says.as_deref().unwrap_or(""));
        lowering.out.write_line(default.span, |out| out.put_text(&format!("param {name}: {ty} = {value}")));
    }
}

fn write_definitions(lowering: &mut Lowering<'_>, out: &RuleWriter) {
    let place = Span::new(lowering.root, 0, 0);
    for (name, parameter, says, means) in SHORT {
        let used = |name: &str| out.contains_text(&format!("{name}("));
        let needed = match name {
            "is_whole" => used("is_size"),
            "is_number" => used("is_size") || used("is_whole"),
            "is_flag" => used("is_error"),
            _ => false,
        };
        if !used(name) && !needed {
            continue;
        }
        lowering.out.write_gap();
        lowering.out.write_remark(says);
        lowering.out.write_line(place, |out| out.put_text(&format!("def {name}({parameter}) = {means}")));
    }
}

impl PackLowering<'_, '_> {
    fn begin_entry(&mut self, entry: &PackEntry) {
        let tags = entry.tags.join(", ");
        self.tags = if tags.is_empty() { tags } else { format!(" tags {tags}") };
    }

    /// Returns the head of a rule, with a sentence if the label differs from the name.
    fn rule_head(&mut self, word: &str, name: &str, says: Option<&str>) -> String {
        self.label = self.labels.unique_label(name);
        let sentence = match says {
            Some(says) => format!("{name}: {}", says.split_whitespace().collect::<Vec<_>>().join(" ")),
            None if self.label == name => return format!("{word} {name}{}", self.tags),
            None => name.to_owned(),
        };
        format!("{word} {} {}{}", self.label, crate::writer::quote_text(&sentence), self.tags)
    }

    fn schema_name(&mut self, schema: &YamlNode) -> String {
        let last = self.label.rsplit('.').next().unwrap_or("");
        let mut name = String::new();
        for word in last.split(|c: char| !c.is_ascii_alphanumeric()) {
            let mut letters = word.chars();
            name.extend(letters.next().map(|first| first.to_ascii_uppercase()));
            name.push_str(letters.as_str());
        }
        if !name.starts_with(|c: char| c.is_ascii_uppercase()) {
            name.insert_str(0, "Shape");
        }
        let name = self.schema_names.unique_label(&name).replace('-', "_");
        self.schemas.push((name.clone(), schema.clone()));
        name
    }

    fn write_schemas(&mut self) {
        self.out.write_gap();
        for (name, schema) in std::mem::take(&mut self.schemas) {
            self.out.write_schema(&name, &schema);
            self.out.write_gap();
        }
    }

    fn regex_literal(&mut self, node: &YamlNode, text: &str, names: &PathRoots) -> Option<String> {
        if names.each_tool && text.contains("{{tool_name}}") {
            let help = "compare `$.tool.name` by `equals`, or write an expression that holds for all tools";
            self.lowering.sink.error(
                Slug::BadRegex,
                node.span,
                "an expression cannot depend on the name of the tool",
                help,
            );
            return None;
        }
        match regex::pattern_literal(text) {
            Ok(literal) => Some(literal),
            Err(unusable) => {
                let message =
                    format!("the regular expression cannot be used: {} (at byte {})", unusable.why, unusable.at);
                let help = "write it as Rust's crate `regex` reads it: no look-around, no back-references";
                self.lowering.sink.error(Slug::BadRegex, node.span, message, help);
                None
            }
        }
    }
}
