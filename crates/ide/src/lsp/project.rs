//! The projects that open documents belong to: their levels of lints.

use crate::lint::LintOptions;
use crate::project::{self, LoadOptions, ProjectSearch};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// What was read of project files, by folder.
#[derive(Debug, Default)]
pub struct Projects {
    known: BTreeMap<PathBuf, LintOptions>,
}

impl Projects {
    /// How a file is linted. A project file that cannot be used changes nothing: `aver lint` says what is wrong with it.
    pub fn options(&mut self, file: &Path) -> LintOptions {
        let folder = file.parent().unwrap_or(Path::new("")).to_path_buf();
        self.known.entry(folder).or_insert_with_key(|folder| options(folder)).clone()
    }

    /// Forgets everything: a project file changed.
    pub fn forget(&mut self) {
        self.known.clear();
    }
}

fn options(folder: &Path) -> LintOptions {
    match project::find(folder) {
        ProjectSearch::File(file) => match project::load(&file, LoadOptions::default()) {
            Ok(project) => LintOptions { levels: project.lint },
            Err(_) => LintOptions::default(),
        },
        ProjectSearch::Nothing | ProjectSearch::Foreign(_) | ProjectSearch::Linked(_) => LintOptions::default(),
    }
}
