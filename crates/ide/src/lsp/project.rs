//! The projects that open documents belong to: their levels of lints, and the files in which they say what is true of tools.

use crate::lint::LintOptions;
use crate::project::{self, LoadOptions, ProjectSearch};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// Cached project settings, by folder.
#[derive(Debug, Default)]
pub struct ProjectCache {
    known: BTreeMap<PathBuf, ProjectSettings>,
}

/// A project's settings for its rules.
#[derive(Debug, Clone, Default)]
pub struct ProjectSettings {
    /// The lint options.
    pub lints: LintOptions,
    /// Files that say something of tools for all of them.
    pub tools: Vec<PathBuf>,
}

impl ProjectCache {
    /// The settings for a file. An invalid project file is ignored: `aver lint` reports it.
    pub fn settings_for(&mut self, file: &Path) -> ProjectSettings {
        let folder = file.parent().unwrap_or(Path::new("")).to_path_buf();
        self.known.entry(folder).or_insert_with_key(|folder| load_settings(folder)).clone()
    }

    /// Forgets everything: a project file changed.
    pub fn forget_all(&mut self) {
        self.known.clear();
    }
}

fn load_settings(folder: &Path) -> ProjectSettings {
    match project::find_project(folder) {
        ProjectSearch::File(file) => match project::load_project(&file, LoadOptions::default()) {
            Ok(project) => ProjectSettings { lints: LintOptions { levels: project.lint }, tools: project.tools },
            Err(_) => ProjectSettings::default(),
        },
        ProjectSearch::Nothing | ProjectSearch::Foreign(_) | ProjectSearch::Linked(_) => ProjectSettings::default(),
    }
}
