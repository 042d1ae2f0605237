//! `averment.toml`: what belongs together, and how it is checked.
//!
//! [`find_project`] looks for the file from a folder upwards, [`load_project`] reads it. Every key is known or an error with its place. What the command
//! line says wins over what the file says.
//!
//! **A project file is foreign text.** It may come with a repository that nobody has read yet, so it cannot widen what rules may do: its
//! `[permissions]` are a *request* ([`Project::requested`]) that only `--trust-project` grants, its paths stay inside its folder, and a file found
//! above the starting folder counts only when it belongs to the user (or to the administrator).

mod find;
mod read;

pub use find::{NAME, ProjectSearch, find_for, find_project, readable_folders};

use crate::lint::LintLevels;
use averment_base::diagnostic::{Diagnostic, Diagnostics, Slug, render};
use averment_base::files::{self, NO_FILE};
use averment_base::source::{SourceFile, SourceMap, Span};
use serde_json::Value;
use std::fmt;
use std::io::Read as _;
use std::path::{Path, PathBuf};

/// Bytes of the largest project file that is read.
const SIZE: u64 = 1 << 20;

/// The settings of a project. Paths start where the command line's own paths start, so that they can be used and shown as they are.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Project {
    /// The file.
    pub file: PathBuf,
    /// Its folder.
    pub folder: PathBuf,
    /// Rule files and folders of them.
    pub rules: Vec<PathBuf>,
    /// Files that declare tools: catalogues, and rule files with `tool` lines.
    pub tools: Vec<PathBuf>,
    /// Traces: files, folders, patterns.
    pub traces: Vec<String>,
    /// Tags that select assertions and tests, unless `--tag` does.
    pub tags: Vec<String>,
    /// The format of `aver check`.
    pub format: Option<String>,
    /// Failures that are known, as behind `--baseline`.
    pub baseline: Option<PathBuf>,
    /// Token prices, as in `--prices`.
    pub prices: Option<PathBuf>,
    /// Outcomes to deny, as in `--deny`.
    pub deny: Vec<String>,
    /// Outcomes to allow, as in `--allow`.
    pub allow: Vec<String>,
    /// Values for parameters, in the order of their names.
    pub params: Vec<(String, Value)>,
    /// Permissions that the project requests; granted only by `--trust-project`.
    pub requested: RequestedPermissions,
    /// Levels of lints.
    pub lint: LintLevels,
    /// Settings of `aver test`.
    pub test: TestSettings,
    /// Reports beside the printed one.
    pub report: ReportSettings,
}

/// Permissions that a project requests.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RequestedPermissions {
    /// Folders whose files rules may look at.
    pub read: Vec<PathBuf>,
    /// True if rules may run commands.
    pub run: bool,
}

impl RequestedPermissions {
    /// True when nothing is asked for.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.read.is_empty() && !self.run
    }
}

impl fmt::Display for RequestedPermissions {
    /// `to run commands and to read \`fixtures\``.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let folders: Vec<String> = self.read.iter().map(|folder| format!("`{}`", folder.display())).collect();
        match (self.run, folders.is_empty()) {
            (true, true) => f.write_str("to run commands"),
            (true, false) => write!(f, "to run commands and to read {}", folders.join(", ")),
            (false, _) => write!(f, "to read {}", folders.join(", ")),
        }
    }
}

/// `[report]`.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ReportSettings {
    /// The formats that `--report-dir` writes.
    pub formats: Vec<String>,
    /// The folder that they are written into where the project is trusted.
    pub folder: Option<PathBuf>,
    /// Paths whose values no report shows, as behind `--redact`.
    pub redact: Vec<String>,
}

/// `[test]`.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct TestSettings {
    /// Case files and folders of them.
    pub cases: Vec<PathBuf>,
    /// The share of all outcomes (see `aver test --coverage`) below which `aver test` fails, between 0 and 1.
    pub minimum_coverage: Option<f64>,
}

/// How a project file is read.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct LoadOptions {
    /// The user trusts the file: its paths may leave its folder.
    pub trusted: bool,
}

/// A project file that cannot be used: all that is wrong with it, with its text.
#[derive(Debug)]
pub struct ProjectError {
    /// The diagnostics, with at least one error.
    pub diagnostics: Diagnostics,
    /// The file.
    pub sources: SourceMap,
}

impl fmt::Display for ProjectError {
    /// A line per mistake, as `--format short` prints them.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&render::render_short(&self.diagnostics, &self.sources))
    }
}

impl std::error::Error for ProjectError {}

/// Reads a project file.
///
/// # Errors
/// Everything that is wrong with it.
pub fn load_project(file: &Path, options: LoadOptions) -> Result<Project, ProjectError> {
    match read_text(file) {
        Ok(text) => parse_project(file, &text, options),
        Err(message) => Err(project_error(file, message)),
    }
}

/// A project file from its text; `file` is where it is.
///
/// # Errors
/// Everything that is wrong with it.
pub fn parse_project(file: &Path, text: &str, options: LoadOptions) -> Result<Project, ProjectError> {
    let mut sources = SourceMap::default();
    let id = sources.add_file(SourceFile::new(file.to_string_lossy(), file.parent(), text));
    let (project, mut diagnostics) = read::read_project(file, text, id, options);
    if diagnostics.has_errors() {
        diagnostics.sort_by_place();
        return Err(ProjectError { diagnostics, sources });
    }
    Ok(project)
}

fn project_error(file: &Path, message: String) -> ProjectError {
    let mut sources = SourceMap::default();
    let id = sources.add_file(SourceFile::new(file.to_string_lossy(), None, ""));
    let one =
        Diagnostic::new(Slug::Project, Span::new(id, 0, 0), message).with_help("`--no-project` goes on without it");
    ProjectError { diagnostics: Diagnostics(vec![one]), sources }
}

/// The text of a regular file of limited size.
fn read_text(file: &Path) -> Result<String, String> {
    let said = |error: std::io::Error| match error.kind() {
        std::io::ErrorKind::NotFound => "there is no such file".to_owned(),
        std::io::ErrorKind::PermissionDenied => "it may not be read".to_owned(),
        _ if error.to_string() == NO_FILE => NO_FILE.to_owned(),
        _ => format!("it cannot be read: {}", error.kind()),
    };
    let opened = files::open_named(file).map_err(said)?;
    if !opened.metadata().map_err(said)?.is_file() {
        return Err(NO_FILE.to_owned());
    }
    let mut bytes = Vec::new();
    opened.take(SIZE.saturating_add(1)).read_to_end(&mut bytes).map_err(said)?;
    if u64::try_from(bytes.len()).is_ok_and(|length| length > SIZE) {
        return Err("it is larger than 1 MiB".to_owned());
    }
    String::from_utf8(bytes).map_err(|_| "it is not UTF-8 text".to_owned())
}

#[cfg(test)]
mod tests;
