//! What is tested: what the command line says, else what the project says.

use super::Arguments;
use super::watch::Used;
use crate::commands::console::ColorChoice;
use crate::commands::exit::Stop;
use crate::commands::{inputs, params, project, rules};
use averment::stages::select;
use averment_base::limits::Limits;
use averment_engine::vm::select::Selection;
use averment_ide::project::Project;
use averment_testing::cases;
use averment_testing::subject::{Chosen, Subject};
use std::path::{Path, PathBuf};

/// What is tested.
pub struct TestInputs<'a> {
    arguments: &'a Arguments,
    /// The project of the rules.
    pub project: Option<Project>,
}

impl<'a> TestInputs<'a> {
    /// Of a command line.
    pub fn new(arguments: &'a Arguments, color: ColorChoice) -> Result<Self, Stop> {
        Ok(Self { arguments, project: arguments.project.load(&arguments.rules, color)? })
    }

    /// The coverage that the project wants, in tenths of a percent. A selection of tests is not held against it.
    pub fn least(&self, chosen: &Chosen) -> Option<u64> {
        let share = self.project.as_ref()?.test.minimum_coverage.filter(|_| chosen.is_all())?;
        // Shares are between 0 and 1 with a few digits: their text is the easiest way to a whole number.
        format!("{:.0}", share * 1000.0).parse().ok()
    }

    /// The rules with their tests. What is read on the way is told to `used`.
    pub fn subjects(&self, color: ColorChoice, limits: &Limits, used: &mut Used) -> Result<Vec<Subject>, Stop> {
        let project = self.project.as_ref();
        project.iter().for_each(|project| used.add(&project.file));
        let named = project::rules(&self.arguments.rules, project)?;
        named.iter().for_each(|path| used.add(path));
        let inputs = inputs::rules(&named)?;
        let tools = rules::tools(project, *limits)?;
        tools.iter().for_each(|(file, _)| used.add(Path::new(file)));
        let values = params::Values::new(&self.arguments.param_file, &self.arguments.param)?;
        let foreign = self.arguments.compat.of_rules()?.reading(&values.texts);
        let mut loaded = rules::load(&inputs, self.arguments.read.reading(*limits).with(&tools).foreign(foreign))?;
        loaded.files().for_each(|file| used.add(Path::new(file)));
        project.iter().for_each(|project| loaded.take_levels(&project.lint));
        loaded.tell(color)?;
        if let Some(project) = project {
            params::of_project(&mut loaded.programs, project, self.arguments.rules.is_empty())?;
        }
        values.apply(&mut loaded.programs)?;
        let selection = Selection { rules: self.arguments.rule.clone(), ..Selection::default() };
        select::known(&loaded.programs, &selection)?;
        self.cases_have_rules(&inputs)?;
        let mut subjects = Vec::new();
        for (input, program) in inputs.iter().zip(loaded.programs) {
            let path = match input {
                inputs::Input::File(path) => Some(path.as_path()),
                inputs::Input::Stdin | inputs::Input::Made { .. } => None,
            };
            let more = self.cases(path, inputs.len() == 1);
            let beside = path.iter().flat_map(|path| [cases::folder_of(path), cases::table_of(path)]);
            beside.chain(more.iter().cloned()).for_each(|at| used.add(&at));
            let subject =
                Subject::new(program, path, &more, &rules::readable(input, &self.arguments.read.allow_read), limits)
                    .map_err(|unreadable| {
                        let said = crate::commands::said(&unreadable.error);
                        Stop::usage(format!("the cases in `{}` cannot be read: {said}", unreadable.path.display()), "")
                    })?;
            subjects.push(subject);
        }
        Ok(subjects)
    }

    /// A folder of `--cases` that belongs to none of several rule files is a mistake.
    fn cases_have_rules(&self, inputs: &[inputs::Input]) -> Result<(), Stop> {
        let stems: Vec<&std::ffi::OsStr> = inputs
            .iter()
            .filter_map(|input| match input {
                inputs::Input::File(path) => path.file_stem(),
                inputs::Input::Stdin | inputs::Input::Made { .. } => None,
            })
            .collect();
        let lost = |folder: &&PathBuf| inputs.len() > 1 && !stems.iter().any(|stem| folder.join(stem).is_dir());
        match (self.arguments.cases.iter().find(lost), stems.first()) {
            (Some(folder), Some(stem)) => Err(Stop::usage(
                format!("`{}` has no folder of a rule file's name", folder.display()),
                format!("put the cases of `{}.assert` into `{}`", stem.display(), folder.join(stem).display()),
            )),
            _ => Ok(()),
        }
    }

    /// Cases that do not lie beside the rules. With several rule files, each has a folder of its name in them.
    fn cases(&self, rules: Option<&Path>, alone: bool) -> Vec<PathBuf> {
        let of_project = self.project.iter().flat_map(|project| &project.test.cases);
        let all = self.arguments.cases.iter().chain(of_project);
        match rules.and_then(Path::file_stem).filter(|_| !alone) {
            None => all.cloned().collect(),
            Some(name) => all.map(|folder| folder.join(name)).filter(|folder| folder.is_dir()).collect(),
        }
    }
}
