//! agentv: YAML suites whose assertion types are named as in promptfoo.
//!
//! A test becomes a case. Assertions that a program can decide are written as expressions, with the weighted mean that decides the test. Assertions
//! that need a model, a script or a plugin are undecided. Nothing is executed.

mod grader;
mod kinds;
mod metrics;
mod suite;
mod trajectory;

use crate::yaml::{YamlNode, YamlSchema};
use crate::{Dialect, FileSyntax, YamlDialect};
use averment_engine::bytecode::program::{ForeignVerdict, ForeignVerdicts};
use std::borrow::Cow;

/// Suites whose tests have an `id`.
pub const DIALECT: Dialect = Dialect {
    files: "suites with `tests` that have an `id` and `assert`",
    reads: FileSyntax::Yaml(YamlDialect {
        marks: &["default_test", "evaluate_options"],
        schema: YamlSchema::Core,
        is_one: is_suite,
        lower: suite::lower_suite,
    }),
    verdicts: ForeignVerdicts {
        system: Cow::Borrowed("agentv"),
        pass: ForeignVerdict::new("pass", Some(1.0)),
        fail: ForeignVerdict::new("fail", Some(0.0)),
        vacuous: ForeignVerdict::new("pass", Some(1.0)),
        // agentv fails an assertion whose data is not recorded.
        undecided: ForeignVerdict::new("fail", Some(0.0)),
        error: ForeignVerdict::new("fail", Some(0.0)),
    },
};

fn is_suite(document: &YamlNode) -> bool {
    let has = |key: &str| document.get(key).is_some();
    let asserts = |node: &YamlNode| node.get("assert").or_else(|| node.get("assertions")).is_some();
    // In promptfoo, a test has no `id`, and a config has neither a name nor assertions of its own.
    let is_test = |test: &YamlNode| test.get("id").is_some() && (asserts(test) || test.get("criteria").is_some());
    let tests = document.get("tests").unwrap_or(document);
    let is_own = has("default_test") || has("evaluate_options") || asserts(document);
    let names_files = has("name") && tests.as_text().is_some();
    // Suites of Assay also have ids and assertions.
    let is_of_assay = has("configVersion") || has("suite") && (has("version") || has("model"));
    !is_of_assay && (tests.items().iter().any(is_test) || (is_own || names_files) && (has("tests") || has("scenarios")))
}
