//! SkillGym: suites of cases in TypeScript, and the configuration of a project.
//!
//! No code is executed. The reader extracts what follows from the text alone: cases, prompts, tags, settings, and the assertions of a case if they
//! are calls of `assert` on the report. It follows constants, templates, functions and modules beside the suite. Parts that only a running program
//! determines are listed with their locations. `aver import` writes the rest. Every other command rejects the file, because a case without one of its
//! assertions could pass by mistake.

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
        // A vacuous assertion passes in SkillGym.
        vacuous: ForeignVerdict::new("passed", None),
        undecided: ForeignVerdict::new("failed", None),
        error: ForeignVerdict::new("failed", None),
    },
};
