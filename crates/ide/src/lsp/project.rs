//! The projects that open documents belong to: their levels of lints, and the files in which they say what is true of tools.

use crate::lint::LintOptions;
use crate::project::{self, LoadOptions, ProjectSearch};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// What was read of project files, by folder.
#[derive(Debug, Default)]
pub struct Projects {
    known: BTreeMap<PathBuf, OfProject>,
}

/// What a project says of its rules.
#[derive(Debug, Clone, Default)]
pub struct OfProject {
    /// How they are linted.
    pub lints: LintOptions,
    /// Files that say something of tools for all of them.
    pub tools: Vec<PathBuf>,
}

impl Projects {
    /// What is said of a file. A project file that cannot be used changes nothing: `aver lint` says what is wrong with it.
    pub fn options(&mut self, file: &Path) -> OfProject {
        let folder = file.parent().unwrap_or(Path::new("")).to_path_buf();
        self.known.entry(folder).or_insert_with_key(|folder| options(folder)).clone()
    }

    /// Forgets everything: a project file changed.
    pub fn forget(&mut self) {
        self.known.clear();
    }
}

fn options(folder: &Path) -> OfProject {
    match project::find(folder) {
        ProjectSearch::File(file) => match project::load(&file, LoadOptions::default()) {
            Ok(project) => OfProject { lints: LintOptions { levels: project.lint }, tools: project.tools },
            Err(_) => OfProject::default(),
        },
        ProjectSearch::Nothing | ProjectSearch::Foreign(_) | ProjectSearch::Linked(_) => OfProject::default(),
    }
}
