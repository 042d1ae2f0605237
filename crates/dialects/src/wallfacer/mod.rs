//! Wallfacer: packs of invariants of MCP tools.
//!
//! An invariant becomes an `invariant`, a block of `for_each_tool` one that stands for each tool, a sequence a rule over the first calls that follow each
//! other as its steps. `$.response` is what the protocol wrapped around a result (`envelope`), `$.input` the arguments; fixtures become tests.

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

use crate::writer::{Labels, Writer};
use crate::yaml::{Node, Schema};
use crate::{Dialect, Lowering, OfYaml, Reads};
use averment_base::diagnostic::Slug;
use averment_base::source::Span;
use averment_engine::bytecode::program::{OwnVerdict, OwnVerdicts};
use names::Names;
use std::borrow::Cow;

/// Packs of the versions 1 to 3.
pub const DIALECT: Dialect = Dialect {
    files: "packs with `version` and `invariants`",
    reads: Reads::Yaml(OfYaml {
        marks: &["invariants", "for_each_tool", "sequences"],
        schema: Schema::Core,
        is_one: |document| {
            // Steps of a sequence have no type; rules of a policy of Assay, which stand under the same key, do.
            let typed = |list: &Node| list.items().iter().any(|one| one.get("type").is_some());
            let has = |key: &str| document.get(key).is_some();
            has("invariants") || has("for_each_tool") || document.get("sequences").is_some_and(|list| !typed(list))
        },
        lower,
    }),
    verdicts: OwnVerdicts {
        system: Cow::Borrowed("wallfacer"),
        pass: OwnVerdict::new("pass", None),
        fail: OwnVerdict::new("fail", None),
        // What holds because nothing speaks against it passes there.
        vacuous: OwnVerdict::new("pass", None),
        undecided: OwnVerdict::new("structural", None),
        error: OwnVerdict::new("structural", None),
    },
};

/// What the sentences of a pack share while they are made.
struct Sentences<'a, 'l> {
    lowering: &'a mut Lowering<'l>,
    /// The rules, behind what they use.
    out: Writer,
    labels: Labels,
    /// Names of schemas.
    schema_names: Labels,
    /// Schemas of the rule that is being made.
    schemas: Vec<(String, Node)>,
    /// The label of that rule.
    label: String,
}

fn lower(_: &Node, lowering: &mut Lowering<'_>) {
    let Some(pack) = pack::read(lowering) else { return };
    let mut sentences = Sentences {
        lowering,
        out: Writer::default(),
        labels: Labels::default(),
        schema_names: Labels::default(),
        schemas: Vec::new(),
        label: String::new(),
    };
    for node in &pack.invariants {
        sentences.invariant(node);
    }
    for node in &pack.for_each_tool {
        sentences.for_each_tool(node);
    }
    for node in &pack.sequences {
        sentences.sequence(node);
    }
    let out = sentences.out;
    let description = pack.description.as_deref().unwrap_or("").trim();
    lowering.out.remark(&format!("The pack {}. {description}", pack.name));
    definitions(lowering, &out);
    lowering.out.append(out);
}

/// What sentences say in short: what it is, its parameter, what it says. What is missing has plainly none, what is not recorded
/// an unknown one.
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

/// Defines what the sentences say in short.
fn definitions(lowering: &mut Lowering<'_>, out: &Writer) {
    let place = Span::new(lowering.root, 0, 0);
    for (name, parameter, says, means) in SHORT {
        let used = |name: &str| out.holds(&format!("{name}("));
        let needed = match name {
            "is_whole" => used("is_size"),
            "is_number" => used("is_size") || used("is_whole"),
            "is_flag" => used("is_error"),
            _ => false,
        };
        if !used(name) && !needed {
            continue;
        }
        lowering.out.gap();
        lowering.out.remark(says);
        lowering.out.line(place, |out| out.put(&format!("def {name}({parameter}) = {means}")));
    }
}

impl Sentences<'_, '_> {
    /// A label for a rule, and its sentence where the name is another one.
    fn head(&mut self, word: &str, name: &str, says: Option<&str>) -> String {
        self.label = self.labels.of(name);
        let sentence = match says {
            Some(says) => format!("{name}: {}", says.split_whitespace().collect::<Vec<_>>().join(" ")),
            None if self.label == name => return format!("{word} {name}"),
            None => name.to_owned(),
        };
        format!("{word} {} {}", self.label, crate::writer::quoted(&sentence))
    }

    /// A name for a schema, made of the rule that it stands in.
    fn schema(&mut self, schema: &Node) -> String {
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
        let name = self.schema_names.of(&name).replace('-', "_");
        self.schemas.push((name.clone(), schema.clone()));
        name
    }

    /// Writes the schemas of the rule that comes.
    fn write_schemas(&mut self) {
        self.out.gap();
        for (name, schema) in std::mem::take(&mut self.schemas) {
            self.out.line(schema.span, |out| {
                out.put(&format!("schema {name} = "));
                out.literal(&schema);
            });
            self.out.gap();
        }
    }

    /// A regular expression as a literal.
    fn pattern(&mut self, node: &Node, text: &str, names: &Names) -> Option<String> {
        if names.each_tool && text.contains("{{tool_name}}") {
            let help = "compare `$.tool.name` by `equals`, or write an expression that holds for all tools";
            self.lowering.said.error(
                Slug::BadRegex,
                node.span,
                "an expression cannot depend on the name of the tool",
                help,
            );
            return None;
        }
        match regex::literal(text) {
            Ok(literal) => Some(literal),
            Err(unusable) => {
                let message =
                    format!("the regular expression cannot be used: {} (at byte {})", unusable.why, unusable.at);
                let help = "write it as Rust's crate `regex` reads it: no look-around, no back-references";
                self.lowering.said.error(Slug::BadRegex, node.span, message, help);
                None
            }
        }
    }
}
