//! SkillGym: suites of cases, written in TypeScript, and the configuration of a project.
//!
//! Nothing of them is run. What follows from the text alone is read: cases, prompts, tags, settings, and the assertions of a case as far as they
//! are calls of `assert` on the report, also through constants, templates, functions and modules beside the suite. What only a running program
//! shows is listed with its place: `aver import` writes the rest, every other command refuses the file, because a case that lacks an assertion
//! would pass where it should not.

mod body;
mod chain;
mod conditions;
mod effects;
mod eval;
mod flow;
mod groups;
mod matcher;
mod members;
mod needs;
mod operators;
mod plain;
mod program;
mod settings;
mod suite;
mod text_units;
mod value;

use crate::{Dialect, FileSyntax, Lowering};
use averment_engine::bytecode::program::{ForeignVerdict, ForeignVerdicts};
use std::borrow::Cow;

/// Suites of cases.
pub const DIALECT: Dialect = Dialect {
    files: "suites in TypeScript with a default export of cases",
    reads: FileSyntax::TypeScript(|lowering: &mut Lowering<'_>| suite::lower_suite(lowering)),
    verdicts: ForeignVerdicts {
        system: Cow::Borrowed("SkillGym"),
        pass: ForeignVerdict::new("passed", None),
        fail: ForeignVerdict::new("failed", None),
        // What holds because nothing was there passes there.
        vacuous: ForeignVerdict::new("passed", None),
        undecided: ForeignVerdict::new("failed", None),
        error: ForeignVerdict::new("failed", None),
    },
};
