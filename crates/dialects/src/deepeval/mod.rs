//! DeepEval: JSON test cases that list the tools an agent should call.
//!
//! Each case becomes a case of the rule language, judged like DeepEval's tool correctness metric. The metric's Python arguments are passed as
//! parameters. These files contain no metrics that need a model.

mod correctness;
mod settings;
mod test_cases;

use crate::spelling::field;
use crate::yaml::{YamlNode, YamlSchema};
use crate::{Dialect, FileSyntax, YamlDialect};
use averment_engine::bytecode::program::{ForeignVerdict, ForeignVerdicts};
use std::borrow::Cow;

/// Lists of test cases or goldens.
pub const DIALECT: Dialect = Dialect {
    files: "lists of test cases with `expected_tools`",
    reads: FileSyntax::Yaml(YamlDialect {
        marks: &["expected_tools", "expectedTools"],
        schema: YamlSchema::Core,
        is_one: is_test_cases,
        lower: test_cases::lower_test_cases,
    }),
    verdicts: ForeignVerdicts {
        system: Cow::Borrowed("DeepEval"),
        pass: ForeignVerdict::new("passed", None),
        fail: ForeignVerdict::new("failed", None),
        vacuous: ForeignVerdict::new("passed", None),
        undecided: ForeignVerdict::new("not evaluated", None),
        error: ForeignVerdict::new("not evaluated", None),
    },
};

fn is_test_cases(document: &YamlNode) -> bool {
    document.items().iter().any(|case| case.get("input").is_some() && field(case, "expected_tools").is_some())
}

/// True if the text of a JSON file may be a list of test cases.
pub fn looks_like_test_cases(text: &str) -> bool {
    let has = |key: &str| text.contains(&format!("\"{key}\""));
    text.trim_start().starts_with('[') && has("input") && (has("expected_tools") || has("expectedTools"))
}
