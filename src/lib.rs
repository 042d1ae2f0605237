//! Averment: a compiled rule language for what AI agents did and answered.
//!
//! [`Rules`] is the whole pipeline in one piece. Stage by stage it is this:
//!
//! ```
//! use averment::{bytecode::codec, check, compile::compile, limits::Limits, source::*, trace, truth::Verdict, vm};
//!
//! let mut sources = SourceMap::default();
//! let root = sources.add(SourceFile::new("refunds.assert", None, "before approve(id: $id) -> refund(id: $id)"));
//! let files = check::files::Memory::default();
//! let checked = check::check(&mut sources, root, &check::CheckOptions { limits: Limits::default(), files: &files });
//! assert!(!checked.diagnostics.has_errors());
//! let program = compile(&checked.module, &sources);
//! assert!(codec::is_program(&codec::encode(&program)));
//!
//! let prepared = vm::prepare::Prepared::new(&program);
//! let arena = bumpalo::Bump::new();
//! let run = trace::read_str(r#"{"calls": [{"tool": "refund", "args": {"id": "o-1"}}]}"#, &arena, &Limits::default())?;
//! let outcome = vm::evaluate::evaluate(&program, &prepared, &run, &arena, &Default::default());
//! assert_eq!(outcome.results[0].verdict, Verdict::Fail);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

// Rules and traces come from anybody: nothing here may stop the program. Tests may.
#![cfg_attr(
    not(test),
    deny(
        clippy::unwrap_used,
        clippy::expect_used,
        clippy::panic,
        clippy::todo,
        clippy::unimplemented,
        clippy::dbg_macro,
        clippy::indexing_slicing,
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        clippy::cast_possible_wrap
    )
)]

pub mod assist;
pub mod builtins;
pub mod bytecode;
pub mod check;
pub mod cli;
pub mod compile;
pub mod diagnostic;
pub mod fmt;
pub mod ir;
pub mod limits;
pub mod lint;
pub mod lsp;
pub mod project;
pub mod propose;
pub mod repl;
pub mod report;
mod rules;
pub mod source;
pub mod syntax;
pub mod testing;
pub mod trace;
pub mod truth;
pub mod value;
pub mod vm;

pub use rules::{Rules, RulesError};
