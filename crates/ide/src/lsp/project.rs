//! The projects of open documents: their lint levels, and their files with facts about tools.

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
    /// Files with facts about tools, which apply to all rules.
    pub tools: Vec<PathBuf>,
}

impl ProjectCache {
    /// Returns the settings for a file. An invalid project file is ignored, since `aver lint` reports it.
    pub fn settings_for(&mut self, file: &Path) -> ProjectSettings {
        let folder = file.parent().unwrap_or(Path::new("")).to_path_buf();
        self.known.entry(folder).or_insert_with_key(|folder| load_settings(folder)).clone()
    }

    /// Forgets all settings, because a project file changed.
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
