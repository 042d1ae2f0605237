//! The inputs of `aver test`, from the command line or from the project.

use super::TestArgs;
use crate::commands::console::ColorChoice;
use crate::commands::exit::CommandError;
use crate::commands::watch::UsedPaths;
use crate::commands::{inputs, params, project, rules};
use averment::stages::select;
use averment_base::limits::Limits;
use averment_engine::vm::select::RuleSelection;
use averment_ide::project::Project;
use averment_testing::cases;
use averment_testing::subject::{TestSelection, TestSubject};
use std::path::{Path, PathBuf};

/// The rules and settings of `aver test`.
pub struct TestInputs<'a> {
    arguments: &'a TestArgs,
    /// The project of the rules.
    pub project: Option<Project>,
}

impl<'a> TestInputs<'a> {
    /// Reads the inputs of a command line.
    pub fn new(arguments: &'a TestArgs, color: ColorChoice) -> Result<Self, CommandError> {
        Ok(Self { arguments, project: arguments.project.load_project(&arguments.rules, color)? })
    }

    /// Returns the project's minimum coverage, in tenths of a percent. It does not apply to a selection of tests.
    pub fn least_coverage(&self, chosen: &TestSelection) -> Option<u64> {
        let share = self.project.as_ref()?.test.minimum_coverage.filter(|_| chosen.is_all())?;
        // Shares are between 0 and 1 with few digits, so formatting is a simple way to convert them to an integer.
        format!("{:.0}", share * 1000.0).parse().ok()
    }

    /// Loads the rules with their tests. Adds the files that were read to `used`.
    pub fn load_subjects(
        &self,
        color: ColorChoice,
        limits: &Limits,
        used: &mut UsedPaths,
    ) -> Result<Vec<TestSubject>, CommandError> {
        let project = self.project.as_ref();
        project.iter().for_each(|project| used.add_path(&project.file));
        let named = project::rule_paths(&self.arguments.rules, project)?;
        named.iter().for_each(|path| used.add_path(path));
        let inputs = inputs::rule_inputs(&named)?;
        let tools = rules::project_tools(project, *limits)?;
        tools.iter().for_each(|(file, _)| used.add_path(Path::new(file)));
        let values = params::ParamValues::new(&self.arguments.param_file, &self.arguments.param)?;
        let foreign = self.arguments.compat.refuse_trace_compat()?.foreign_options(&values.texts);
        let mut loaded = rules::load_rules(
            &inputs,
            self.arguments.read.read_options(*limits).with_tools(&tools).with_foreign(foreign),
        )?;
        loaded.file_names().for_each(|file| used.add_path(Path::new(file)));
        project.iter().for_each(|project| loaded.take_levels(&project.lint));
        loaded.report_errors(color)?;
        if let Some(project) = project {
            params::apply_project(&mut loaded.programs, project, self.arguments.rules.is_empty())?;
        }
        values.apply_to(&mut loaded.programs)?;
        let selection = RuleSelection { rules: self.arguments.rule.clone(), ..RuleSelection::default() };
        select::check_names(&loaded.programs, &selection)?;
        self.cases_have_rules(&inputs)?;
        let mut subjects = Vec::new();
        for (input, program) in inputs.iter().zip(loaded.programs) {
            let path = match input {
                inputs::TraceInput::File(path) => Some(path.as_path()),
                inputs::TraceInput::Stdin | inputs::TraceInput::Made { .. } => None,
            };
            let more = self.case_paths(path, inputs.len() == 1);
            let beside = path.iter().flat_map(|path| [cases::folder_of(path), cases::table_of(path)]);
            beside.chain(more.iter().cloned()).for_each(|at| used.add_path(&at));
            let subject = TestSubject::new(
                program,
                path,
                &more,
                &rules::readable_folders(input, &self.arguments.read.allow_read),
                limits,
            )
            .map_err(|unreadable| {
                let said = crate::commands::io_error_text(&unreadable.error);
                CommandError::usage(format!("the cases in `{}` cannot be read: {said}", unreadable.path.display()), "")
            })?;
            subjects.push(subject);
        }
        Ok(subjects)
    }

    /// Returns an error if a folder of `--cases` belongs to none of several rule files.
    fn cases_have_rules(&self, inputs: &[inputs::TraceInput]) -> Result<(), CommandError> {
        let stems: Vec<&std::ffi::OsStr> = inputs
            .iter()
            .filter_map(|input| match input {
                inputs::TraceInput::File(path) => path.file_stem(),
                inputs::TraceInput::Stdin | inputs::TraceInput::Made { .. } => None,
            })
            .collect();
        let lost = |folder: &&PathBuf| inputs.len() > 1 && !stems.iter().any(|stem| folder.join(stem).is_dir());
        match (self.arguments.cases.iter().find(lost), stems.first()) {
            (Some(folder), Some(stem)) => Err(CommandError::usage(
                format!("`{}` has no folder of a rule file's name", folder.display()),
                format!("put the cases of `{}.assert` into `{}`", stem.display(), folder.join(stem).display()),
            )),
            _ => Ok(()),
        }
    }

    /// Returns the cases that are not beside the rules. With several rule files, each has a subfolder of its own name.
    fn case_paths(&self, rules: Option<&Path>, alone: bool) -> Vec<PathBuf> {
        let of_project = self.project.iter().flat_map(|project| &project.test.cases);
        let all = self.arguments.cases.iter().chain(of_project);
        match rules.and_then(Path::file_stem).filter(|_| !alone) {
            None => all.cloned().collect(),
            Some(name) => all.map(|folder| folder.join(name)).filter(|folder| folder.is_dir()).collect(),
        }
    }
}
