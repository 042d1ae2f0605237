//! promptfoo: configs with tests and assertions, and result files, which contain the assertions that judged them.
//!
//! A test becomes a case, beginning with `test-0`; the results reader assigns each run to the case of its test. Deterministic assertions are written
//! as expressions. For an assertion that a model or a program judged, the recorded verdict counts; without one, it is undecided. Nothing is executed.

mod asserted;
mod assertion;
mod case;
mod config;
mod csv;
pub(crate) mod files;
mod markup_kinds;
mod modes;
mod recorded;
mod results;
mod score_kinds;
mod template;
mod text_kinds;
mod trace_kinds;
mod traced_steps;
mod trajectory_kinds;
mod values;

use crate::yaml::{YamlNode, YamlSchema};
use crate::{Dialect, FileSyntax, JsonDialect, YamlDialect};
use averment_engine::bytecode::program::{ForeignVerdict, ForeignVerdicts};
use std::borrow::Cow;
pub(crate) use template::TemplateVars;
pub(crate) use text_kinds::glob_regex;
pub(crate) use trajectory_kinds::{TOOLS, trajectory_truth};

const VERDICTS: ForeignVerdicts = ForeignVerdicts {
    system: Cow::Borrowed("promptfoo"),
    pass: ForeignVerdict::new("pass", Some(1.0)),
    fail: ForeignVerdict::new("fail", Some(0.0)),
    // A vacuous assertion passes in promptfoo.
    vacuous: ForeignVerdict::new("pass", Some(1.0)),
    // In promptfoo, a missing record ends the test with an error.
    undecided: ForeignVerdict::new("error", Some(0.0)),
    error: ForeignVerdict::new("error", Some(0.0)),
};

/// Configs, and lists of tests.
pub const CONFIG: Dialect = Dialect {
    files: "configs with `tests` and `assert`",
    reads: FileSyntax::Yaml(YamlDialect {
        marks: &["prompts", "providers", "targets", "defaultTest"],
        schema: YamlSchema::Core,
        is_one: is_config,
        lower: config::lower_config,
    }),
    verdicts: VERDICTS,
};

/// Result files, another file format of promptfoo.
pub static RESULTS: Dialect = Dialect {
    files: "results in JSON",
    reads: FileSyntax::Json(JsonDialect { is_one: results::looks_like_results, lower: results::lower_results }),
    verdicts: VERDICTS,
};

const TEST_KEYS: [&str; 2] = ["vars", "assert"];

fn is_config(document: &YamlNode) -> bool {
    let has = |key: &str| document.get(key).is_some();
    let is_test = |node: &YamlNode| node.is_map() && TEST_KEYS.iter().any(|key| node.get(key).is_some());
    let holds_tests = |node: Option<&YamlNode>| node.is_some_and(|node| node.items().iter().any(is_test));
    let others = ["providers", "targets", "tests", "defaultTest", "scenarios", "redteam"];
    has("prompts") && others.iter().any(|key| has(key))
        || (has("providers") || has("targets") || has("defaultTest")) && (has("tests") || has("scenarios"))
        || holds_tests(document.get("tests")) && !has("suite") && !has("configVersion")
        || holds_tests(Some(document))
}

/// True if the text of a JSON file may be a config.
pub fn looks_like_config(text: &str) -> bool {
    let has = |key: &str| text.contains(&format!("\"{key}\""));
    text.trim_start().starts_with('{')
        && has("prompts")
        && (has("tests") || has("defaultTest"))
        && !text.trim_start().contains("\"evalId\"")
}
