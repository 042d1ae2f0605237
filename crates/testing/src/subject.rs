//! A rule file with all its tests.

use super::cases as case_files;
use super::trial::{FilePlace, TestTrial, TrialInput};
use averment_base::limits::Limits;
use averment_base::source::{SourceFile, SourceMap};
use averment_engine::bytecode::program::Program;
use averment_engine::vm::prepare::PreparedProgram;
use std::path::{Path, PathBuf};

/// A rule file with its tests.
#[derive(Debug)]
pub struct TestSubject {
    /// The file; `None` for rules from standard input, which have no files beside them.
    pub path: Option<PathBuf>,
    /// The compiled rules.
    pub program: Program,
    /// Data computed from the rules once.
    pub prepared: PreparedProgram,
    /// Its sources, for locations.
    pub sources: SourceMap,
    /// Its tests: the `test` blocks in file order, then the case files by name.
    pub trials: Vec<TestTrial>,
}

/// Selects the tests to run. An empty criterion selects everything; criteria combine with AND, names of one criterion with OR.
#[derive(Debug, Clone, Default)]
pub struct TestSelection {
    /// A text that the name of the test contains.
    pub text: Option<String>,
    /// Rules that the test names.
    pub rules: Vec<String>,
    /// Tags of the test, or of a rule that it names.
    pub tags: Vec<String>,
}

impl TestSelection {
    /// Returns true if everything is selected.
    #[must_use]
    pub fn is_all(&self) -> bool {
        self.text.is_none() && self.rules.is_empty() && self.tags.is_empty()
    }

    fn selects_trial(&self, program: &Program, trial: &TestTrial) -> bool {
        let named = || trial.rules.iter().filter_map(|&rule| program.rules.get(rule as usize));
        let by_text = self.text.as_ref().is_none_or(|text| trial.name.contains(text.as_str()));
        let by_rule = self.rules.is_empty() || named().any(|rule| self.rules.contains(&rule.id));
        let mut tags = trial.tags.iter().chain(named().flat_map(|rule| &rule.tags));
        by_text && by_rule && (self.tags.is_empty() || tags.any(|tag| self.tags.contains(tag)))
    }
}

impl TestSubject {
    /// Collects the tests of a program. `path` is the rule file. `cases` are folders and files with more case files. `readable` are the folders in
    /// which files beside the rules may name other files.
    ///
    /// # Errors
    /// If a folder cannot be read.
    pub fn new(
        program: Program,
        path: Option<&Path>,
        cases: &[PathBuf],
        readable: &[PathBuf],
        limits: &Limits,
    ) -> Result<Self, case_files::UnreadableCases> {
        let mut sources = SourceMap::default();
        for source in &program.sources {
            sources.add_file(SourceFile::new(source.name.as_str(), None, source.text.as_str()));
        }
        let mut trials: Vec<TestTrial> = program
            .tests
            .iter()
            .map(|test| {
                let at = sources.line_column(test.span);
                TestTrial {
                    name: test.name.clone(),
                    place: FilePlace {
                        file: sources.file_name(test.span).to_owned(),
                        line: at.line,
                        column: at.column,
                    },
                    expect: Some(test.expect),
                    rules: test.rules.clone(),
                    tags: Vec::new(),
                    input: TrialInput::Normal(test.run.clone()),
                }
            })
            .collect();
        trials.extend(case_files::read_cases(&program, path, cases, readable, limits)?);
        Ok(Self {
            path: path.map(Path::to_path_buf),
            prepared: PreparedProgram::new(&program),
            program,
            sources,
            trials,
        })
    }

    /// Keeps only the selected tests.
    pub fn choose_trials(&mut self, chosen: &TestSelection) {
        let program = &self.program;
        self.trials.retain(|trial| chosen.selects_trial(program, trial));
    }

    /// Returns the name of the rule file.
    #[must_use]
    pub fn name(&self) -> &str {
        self.program.sources.first().map_or("", |source| &source.name)
    }
}
