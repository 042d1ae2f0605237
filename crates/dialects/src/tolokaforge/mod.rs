//! tolokaforge: `grading.yaml`, which specifies what an agent should do in a task.
//!
//! Trace checks and transcript rules become lines of a rule, with the score of each component and a line for its threshold. Components that need a
//! model, a program or the state of an environment are undecided.

mod constraints;
mod grading;
mod matcher;
mod ordering;
mod predicate;
mod trace_checks;
mod transcript;

use crate::yaml::{YamlNode, YamlSchema};
use crate::{Dialect, FileSyntax, YamlDialect};
use averment_engine::bytecode::program::{ForeignVerdict, ForeignVerdicts};
use std::borrow::Cow;

/// Files with `combine` and the components that it combines.
pub const DIALECT: Dialect = Dialect {
    files: "`grading.yaml` with `combine` and `trace_checks`",
    reads: FileSyntax::Yaml(YamlDialect {
        marks: &["combine", "trace_checks", "transcript_rules"],
        schema: YamlSchema::Yaml11,
        is_one: is_grading,
        lower: grading::lower_grading,
    }),
    verdicts: ForeignVerdicts {
        system: Cow::Borrowed("tolokaforge"),
        pass: ForeignVerdict::new("passed", Some(1.0)),
        fail: ForeignVerdict::new("failed", Some(0.0)),
        vacuous: ForeignVerdict::new("passed", Some(1.0)),
        // In tolokaforge, a check without recorded evidence fails.
        undecided: ForeignVerdict::new("undecided", Some(0.0)),
        error: ForeignVerdict::new("undecided", Some(0.0)),
    },
};

fn is_grading(document: &YamlNode) -> bool {
    let has = |key: &str| document.get(key).is_some();
    has("trace_checks") || has("combine") && grading::COMPONENTS.iter().any(|name| has(name))
}
