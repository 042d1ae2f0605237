//! Judges a foreign file on a run: directly, and after import.

use averment::{Rules, UndecidedCause, Verdict};
use averment_base::diagnostic::Diagnostics;
use averment_base::limits::Limits;
use averment_base::source::{SourceFile, SourceMap};
use averment_checker::files::Memory;
use averment_checker::{CheckOptions, check_rules};
use averment_dialects::{ForeignOptions, LoweringInputs};
use averment_ide::lint::{LintOptions, report_file};
use averment_syntax::fmt;
use std::path::Path;

/// The results of a file on a run.
#[derive(Debug, Clone, PartialEq)]
pub struct Judged {
    /// Id, verdict and score of each assertion.
    pub results: Vec<(String, Verdict, Option<f64>)>,
    /// The cause of each undecided assertion.
    pub causes: Vec<Option<UndecidedCause>>,
    /// Id, verdict and score of each rule.
    pub rules: Vec<(String, Verdict, Option<f64>)>,
    /// Named scores.
    pub named: Vec<(String, f64)>,
    /// True if the run passes.
    pub passed: bool,
    /// The score of the run.
    pub score: Option<f64>,
}

/// A foreign file, the files beside it, and values for its parameters.
#[derive(Debug, Clone, Default)]
pub struct Given<'a> {
    /// Its name.
    pub name: &'a str,
    /// Its text.
    pub text: &'a str,
    /// Files beside it.
    pub beside: &'a [(&'a str, &'a str)],
    /// Values of parameters.
    pub params: &'a [(&'a str, &'a str)],
    /// True if the newest release of the system decides.
    pub newest: bool,
}

impl Given<'_> {
    fn files(&self) -> Memory {
        Memory::new(self.beside.iter().copied())
    }

    /// Returns the imported text.
    ///
    /// # Errors
    /// The diagnostics, one per line.
    pub fn imported(&self) -> Result<String, String> {
        self.import_rules(false)
    }

    /// Returns the imported text as `aver import` writes it; with `keep_params`, parameters stay parameters.
    ///
    /// # Errors
    /// The diagnostics, one per line.
    pub fn import_rules(&self, keep_params: bool) -> Result<String, String> {
        let mut sources = SourceMap::default();
        let root = sources.add_file(SourceFile::new(self.name, Some(Path::new("")), self.text));
        let given: Vec<(String, String)> =
            self.params.iter().map(|(a, b)| ((*a).to_owned(), (*b).to_owned())).collect();
        let how = LoweringInputs {
            files: &self.files(),
            options: ForeignOptions { given: &given, newest: self.newest, keep_params, ..ForeignOptions::default() },
        };
        let compiled = averment_dialects::compile_foreign(&mut sources, root, &[], Limits::default(), how);
        match (compiled.program, compiled.lowered) {
            (Some(_), Some(lowered)) => Ok(lowered.written.text),
            _ => Err(lines(&sources, &compiled.diagnostics)),
        }
    }

    /// Judges a run directly and after import; both results have to agree.
    ///
    /// # Errors
    /// The diagnostics of an unusable file, one per line.
    pub fn judge(&self, run: &str) -> Result<Judged, String> {
        let text = self.import_rules(true)?;
        let builder = Rules::builder().files(self.files()).text(self.name, self.text).allow_empty(true);
        let mut builder = builder.by_newest_release(self.newest);
        for (name, value) in self.params {
            builder = builder.param_text(*name, *value);
        }
        let own = judged(&builder.build().map_err(|error| error.to_string())?, run);
        let rules = Rules::builder().files(self.files()).text("imported.assert", text.as_str()).allow_empty(true);
        let imported = rules.build().unwrap_or_else(|error| panic!("{error}\n{text}"));
        assert_eq!(own, judged(&imported, run), "the file and what it is imported as differ:\n{text}");
        Ok(own)
    }

    /// Runs the tests of the file directly and after import; both results have to agree.
    ///
    /// # Errors
    /// The diagnostics of an unusable file, one per line.
    pub fn tested(&self) -> Result<Vec<Tested>, String> {
        let text = self.import_rules(true)?;
        let builder = Rules::builder().files(self.files()).text(self.name, self.text).allow_empty(true);
        let builder = self.params.iter().fold(builder, |builder, (name, value)| builder.param_text(*name, *value));
        let own = tested(&builder.build().map_err(|error| error.to_string())?);
        let imported = Rules::builder().files(self.files()).text("imported.assert", text.as_str()).allow_empty(true);
        let imported = imported.build().unwrap_or_else(|error| panic!("{error}\n{text}"));
        assert_eq!(own, tested(&imported), "the tests of the file and of what it is imported as differ:\n{text}");
        Ok(own)
    }

    /// Returns the diagnostics of a usable file, one per line.
    pub fn linted(&self) -> String {
        let mut sources = SourceMap::default();
        let root = sources.add_file(SourceFile::new(self.name, Some(Path::new("")), self.text));
        let how = LoweringInputs { files: &self.files(), options: ForeignOptions::default() };
        let compiled = averment_dialects::compile_foreign(&mut sources, root, &[], Limits::default(), how);
        assert!(compiled.program.is_some(), "{}", lines(&sources, &compiled.diagnostics));
        lines(&sources, &compiled.diagnostics)
    }

    /// Asserts that the imported text is already formatted and has no lint findings.
    pub fn imports_cleanly(&self) {
        let text = self.import_rules(true).unwrap();
        let formatted =
            fmt::format_text(&text, &fmt::FormatOptions::default()).unwrap_or_else(|said| panic!("{said:?}\n{text}"));
        let mut sources = SourceMap::default();
        let root = sources.add_file(SourceFile::new("imported.assert", Some(Path::new("")), formatted.as_str()));
        let options = CheckOptions { limits: Limits::default(), files: &self.files() };
        let checked = check_rules(&mut sources, root, &options);
        let said = report_file(&sources, root, &checked, &LintOptions::default());
        assert!(said.0.is_empty(), "{}\n{formatted}", lines(&sources, &said));
    }
}

/// A test: its name, true if it had the expected result, and the verdicts by rule.
pub type Tested = (String, bool, Vec<(String, Verdict)>);

fn tested(rules: &Rules) -> Vec<Tested> {
    rules.run_tests().into_iter().map(|test| (test.name, test.passed, test.verdicts)).collect()
}

fn judged(rules: &Rules, run: &str) -> Judged {
    let outcome = rules.check_one(run).unwrap_or_else(|error| panic!("{error}: {run}"));
    Judged {
        results: outcome.results().map(|one| (one.id().to_owned(), one.verdict(), one.score())).collect(),
        causes: outcome.results().map(|one| one.because()).collect(),
        rules: outcome.rules().map(|one| (one.id().to_owned(), one.verdict(), one.score())).collect(),
        named: outcome.named_scores().to_vec(),
        passed: outcome.passed(),
        score: outcome.score(),
    }
}

/// Returns diagnostics with their locations, one per line.
pub fn lines(sources: &SourceMap, said: &Diagnostics) -> String {
    let line = |one: &averment_base::diagnostic::Diagnostic| {
        let place = sources.line_column(one.span);
        let help = one.help.as_deref().map(|help| format!(" ({help})")).unwrap_or_default();
        format!("{}:{}:{}: {}{help}", sources.file_name(one.span), place.line, place.column, one.message)
    };
    said.0.iter().map(line).collect::<Vec<_>>().join("\n")
}
