//! pydantic-evals: data sets whose cases use built-in evaluators.
//!
//! Each case becomes a case of the rule language, with its own evaluators and those of the whole set. An evaluator that needs a model or a Python
//! class is undecided.

mod dataset;
mod evaluators;
mod kinds;
mod trajectory;

use crate::yaml::{YamlNode, YamlSchema};
use crate::{Dialect, FileSyntax, YamlDialect};
use averment_engine::bytecode::program::{ForeignVerdict, ForeignVerdicts};
use std::borrow::Cow;

/// Data sets in YAML or JSON.
pub const DIALECT: Dialect = Dialect {
    files: "data sets with `cases` and `evaluators`",
    reads: FileSyntax::Yaml(YamlDialect {
        marks: &["cases", "evaluators"],
        schema: YamlSchema::Yaml11,
        is_one: is_dataset,
        lower: dataset::lower_dataset,
    }),
    verdicts: ForeignVerdicts {
        system: Cow::Borrowed("pydantic-evals"),
        pass: ForeignVerdict::new("passed", None),
        fail: ForeignVerdict::new("failed", None),
        vacuous: ForeignVerdict::new("passed", None),
        // An evaluator fails in pydantic-evals if its data is missing.
        undecided: ForeignVerdict::new("failed", None),
        error: ForeignVerdict::new("failed", None),
    },
};

fn is_dataset(document: &YamlNode) -> bool {
    let cases = document.get("cases").map(YamlNode::items).unwrap_or_default();
    document.get("suite").is_none() && cases.iter().any(|case| case.get("inputs").is_some())
}

/// True if the text of a JSON file may be a data set.
pub fn looks_like_dataset(text: &str) -> bool {
    let has = |key: &str| text.contains(&format!("\"{key}\""));
    text.trim_start().starts_with('{') && has("cases") && has("inputs") && has("evaluators")
}
