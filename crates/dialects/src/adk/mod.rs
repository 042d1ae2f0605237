//! Google ADK: eval sets, whose cases list the tools that an agent should call and the answers it should give.
//!
//! Each case becomes a case of the rule language. The criteria come from `test_config.json` beside the file; without it, ADK's defaults apply.
//! Trajectories are compared by rules. A metric that needs a model is undecided.

mod criteria;
mod eval_set;
mod sentences;

use crate::spelling::field;
use crate::yaml::{YamlNode, YamlSchema};
use crate::{Dialect, FileSyntax, YamlDialect};
use averment_engine::bytecode::program::{ForeignVerdict, ForeignVerdicts};
use std::borrow::Cow;

/// Eval sets, in the `*.evalset.json` format and the older `*.test.json` format.
pub const DIALECT: Dialect = Dialect {
    files: "eval sets with `eval_cases`",
    reads: FileSyntax::Yaml(YamlDialect {
        marks: &["eval_cases", "evalCases", "eval_set_id"],
        schema: YamlSchema::Core,
        is_one: is_eval_set,
        lower: sentences::lower_eval_set,
    }),
    verdicts: ForeignVerdicts {
        system: Cow::Borrowed("Google ADK"),
        pass: ForeignVerdict::new("PASSED", Some(1.0)),
        fail: ForeignVerdict::new("FAILED", Some(0.0)),
        vacuous: ForeignVerdict::new("PASSED", Some(1.0)),
        undecided: ForeignVerdict::new("NOT_EVALUATED", None),
        error: ForeignVerdict::new("NOT_EVALUATED", None),
    },
};

fn is_eval_set(document: &YamlNode) -> bool {
    let is_older = |case: &YamlNode| {
        let turns = case.get("data").map(YamlNode::items).unwrap_or_default();
        turns.iter().any(|turn| turn.get("query").is_some() && turn.get("expected_tool_use").is_some())
    };
    field(document, "eval_cases").is_some() || document.items().iter().any(is_older)
}

/// True if the text of a JSON file may be an eval set.
pub fn looks_like_eval_set(text: &str) -> bool {
    let has = |key: &str| text.contains(&format!("\"{key}\""));
    let is_newer = has("eval_cases") || has("evalCases");
    text.trim_start().starts_with(['{', '[']) && (is_newer || has("expected_tool_use") && has("query") && has("data"))
}
