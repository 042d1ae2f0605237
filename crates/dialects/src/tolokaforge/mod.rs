//! tolokaforge: `grading.yaml`, which says what an agent should have done in a task.
//!
//! Trace checks and transcript rules become lines of a rule, with the score of each component and the line by which they pass. What a model, a
//! program or the state of an environment decides is undecided.

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

/// Files with `combine` and what it combines.
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
        // A check whose evidence was not recorded fails there.
        undecided: ForeignVerdict::new("undecided", Some(0.0)),
        error: ForeignVerdict::new("undecided", Some(0.0)),
    },
};

fn is_grading(document: &YamlNode) -> bool {
    let has = |key: &str| document.get(key).is_some();
    has("trace_checks") || has("combine") && grading::COMPONENTS.iter().any(|name| has(name))
}
