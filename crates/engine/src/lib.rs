//! From checked rules to verdicts: the compiler, the program and its evaluation on a run.
//!
//! ```
//! use averment_base::{limits::Limits, source::*, truth::Verdict};
//! use averment_checker::{CheckOptions, check_rules, files::Memory};
//! use averment_engine::{bytecode::codec, compile::compile, vm};
//!
//! let mut sources = SourceMap::default();
//! let root = sources.add_file(SourceFile::new("refunds.assert", None, "before approve(id: $id) -> refund(id: $id)"));
//! let files = Memory::default();
//! let checked = check_rules(&mut sources, root, &CheckOptions { limits: Limits::default(), files: &files });
//! assert!(!checked.diagnostics.has_errors());
//! let program = compile(&checked.module, &sources);
//! assert!(codec::is_program(&codec::encode(&program)));
//!
//! let prepared = vm::prepare::PreparedProgram::new(&program);
//! let arena = bumpalo::Bump::new();
//! let text = r#"{"calls": [{"tool": "refund", "args": {"id": "o-1"}}]}"#;
//! let run = averment_traces::read_str(text, &arena, &Limits::default())?;
//! let outcome = vm::evaluate::evaluate(&program, &prepared, &run, &arena, &Default::default());
//! assert_eq!(outcome.results[0].verdict, Verdict::Fail);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Nothing here touches a file, a process, a thread, the environment or a clock, but for one feature: `world` looks at the files, commands
//! and variables that rules ask for ([`vm::world`]).

#![cfg_attr(
    test,
    allow(clippy::disallowed_methods, clippy::disallowed_types, reason = "tests read files and measure time")
)]

pub mod bytecode;
pub mod compile;
pub mod vm;
