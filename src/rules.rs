//! Rules in one piece: text in, verdicts out. The command line and bindings of other languages use the stages one by one.

use averment_base::diagnostic::{Diagnostics, render};
use averment_base::limits::Limits;
use averment_base::source::{SourceFile, SourceMap};
use averment_engine::bytecode::program::Program;
use averment_engine::check::files::{Files, Memory};
use averment_engine::check::{CheckOptions, check};
use averment_engine::compile::compile;
use averment_engine::vm::evaluate::{EvaluateOptions, evaluate};
use averment_engine::vm::outcome::Outcome;
use averment_engine::vm::prepare::Prepared;
use averment_engine::vm::testing::{TestResult, run_tests};
use averment_traces::error::ReadError;
use averment_traces::read::read_str;
use bumpalo::Bump;
use std::fmt;
use std::path::Path;

/// A compiled rule file, ready to judge runs.
///
/// ```
/// let rules = averment::Rules::from_text("refunds.assert", "never refund(amount > 100)")?;
/// let outcome = rules.check_json(r#"{"calls": [{"tool": "refund", "args": {"amount": 250}}]}"#)?;
/// assert!(!outcome.passed);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Rules {
    program: Program,
    prepared: Prepared,
    diagnostics: Diagnostics,
}

/// Rules that do not compile: everything that was said about them, with the sources it speaks of.
#[derive(Debug)]
pub struct RulesError {
    /// What was said; at least one error.
    pub diagnostics: Diagnostics,
    /// The files it speaks of.
    pub sources: SourceMap,
}

impl fmt::Display for RulesError {
    /// A line per diagnostic, as `--format short` prints them.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&render::short(&self.diagnostics, &self.sources))
    }
}

impl std::error::Error for RulesError {}

impl Rules {
    /// Compiles rules from text. They can import nothing but the standard set.
    ///
    /// # Errors
    /// What is wrong with the rules.
    pub fn from_text(name: &str, text: &str) -> Result<Self, RulesError> {
        Self::with_files(name, None, text, &Memory::default())
    }

    /// Compiles rules from text that may name other files: `folder` is where their paths start, `files` reads them.
    ///
    /// # Errors
    /// What is wrong with the rules.
    pub fn with_files(name: &str, folder: Option<&Path>, text: &str, files: &dyn Files) -> Result<Self, RulesError> {
        let mut sources = SourceMap::default();
        let root = sources.add(SourceFile::new(name, folder, text));
        let checked = check(&mut sources, root, &CheckOptions { limits: Limits::default(), files });
        if checked.diagnostics.has_errors() {
            return Err(RulesError { diagnostics: checked.diagnostics, sources });
        }
        let program = compile(&checked.module, &sources);
        Ok(Self { diagnostics: checked.diagnostics, ..Self::from_program(program) })
    }

    /// Rules that were compiled before.
    #[must_use]
    pub fn from_program(program: Program) -> Self {
        Self { prepared: Prepared::new(&program), program, diagnostics: Diagnostics::default() }
    }

    /// The program.
    #[must_use]
    pub fn program(&self) -> &Program {
        &self.program
    }

    /// What was said while compiling: warnings.
    #[must_use]
    pub fn diagnostics(&self) -> &Diagnostics {
        &self.diagnostics
    }

    /// Judges one run in normal form. Nothing but the run is looked at.
    ///
    /// # Errors
    /// Why the text is no run.
    pub fn check_json(&self, run: &str) -> Result<Outcome, ReadError> {
        self.check_json_with(run, &EvaluateOptions::default())
    }

    /// Judges one run in normal form with a selection, permissions and limits.
    ///
    /// # Errors
    /// Why the text is no run.
    pub fn check_json_with(&self, run: &str, options: &EvaluateOptions) -> Result<Outcome, ReadError> {
        let arena = Bump::new();
        let run = read_str(run, &arena, &options.limits)?;
        Ok(evaluate(&self.program, &self.prepared, &run, &arena, options))
    }

    /// Runs the `test` blocks of the file.
    #[must_use]
    pub fn run_tests(&self) -> Vec<TestResult> {
        run_tests(&self.program, &self.prepared, &Limits::default(), read_str)
    }
}
