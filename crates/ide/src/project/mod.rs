//! `averment.toml`: the files of a project, and how they are checked.
//!
//! [`find_project`] searches for the file from a folder upward, [`load_project`] reads it. An unknown key is an error with its location. The command
//! line takes precedence over the file.
//!
//! **A project file is untrusted input.** It may come with a repository that nobody has reviewed, so it cannot extend what rules may do. Its
//! `[permissions]` are a *request* ([`Project::requested`]) that only `--trust-project` grants, its paths stay inside its folder, and a file found
//! above the starting folder counts only if it belongs to the user (or to the administrator).

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

/// Maximum size of a project file in bytes.
const SIZE: u64 = 1 << 20;

/// The settings of a project. Paths are relative to the same folder as paths on the command line, so that they can be used and shown directly.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Project {
    /// The file.
    pub file: PathBuf,
    /// Its folder.
    pub folder: PathBuf,
    /// Rule files and folders of rule files.
    pub rules: Vec<PathBuf>,
    /// Files that declare tools: catalogs, and rule files with `tool` lines.
    pub tools: Vec<PathBuf>,
    /// Traces: files, folders, patterns.
    pub traces: Vec<String>,
    /// Tags that select assertions and tests, unless `--tag` is given.
    pub tags: Vec<String>,
    /// The report format of `aver check`.
    pub format: Option<String>,
    /// Known failures, as with `--baseline`.
    pub baseline: Option<PathBuf>,
    /// Token prices, as with `--prices`.
    pub prices: Option<PathBuf>,
    /// Outcomes to deny, as with `--deny`.
    pub deny: Vec<String>,
    /// Outcomes to allow, as with `--allow`.
    pub allow: Vec<String>,
    /// Values of parameters, sorted by name.
    pub params: Vec<(String, Value)>,
    /// Permissions that the project requests; granted only by `--trust-project`.
    pub requested: RequestedPermissions,
    /// Lint levels.
    pub lint: LintLevels,
    /// Settings of `aver test`.
    pub test: TestSettings,
    /// Additional reports.
    pub report: ReportSettings,
}

/// Permissions that a project requests.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RequestedPermissions {
    /// Folders whose files rules may examine.
    pub read: Vec<PathBuf>,
    /// True if rules may run commands.
    pub run: bool,
}

impl RequestedPermissions {
    /// Returns true if nothing is requested.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.read.is_empty() && !self.run
    }
}

impl fmt::Display for RequestedPermissions {
    /// Writes the request: `to run commands and to read \`fixtures\``.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let folders: Vec<String> = self.read.iter().map(|folder| format!("`{}`", folder.display())).collect();
        match (self.run, folders.is_empty()) {
            (true, true) => f.write_str("to run commands"),
            (true, false) => write!(f, "to run commands and to read {}", folders.join(", ")),
            (false, _) => write!(f, "to read {}", folders.join(", ")),
        }
    }
}

/// The section `[report]`.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ReportSettings {
    /// The formats that `--report-dir` writes.
    pub formats: Vec<String>,
    /// The folder for these reports, used only if the project is trusted.
    pub folder: Option<PathBuf>,
    /// Paths whose values no report shows, as with `--redact`.
    pub redact: Vec<String>,
}

/// The section `[test]`.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct TestSettings {
    /// Case files and folders of case files.
    pub cases: Vec<PathBuf>,
    /// Minimum share of all outcomes (see `aver test --coverage`), between 0 and 1; below it, `aver test` fails.
    pub minimum_coverage: Option<f64>,
}

/// Options for reading a project file.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct LoadOptions {
    /// True if the user trusts the file, so that its paths may leave its folder.
    pub trusted: bool,
}

/// The errors of an unusable project file, with its text.
#[derive(Debug)]
pub struct ProjectError {
    /// The diagnostics, with at least one error.
    pub diagnostics: Diagnostics,
    /// The file.
    pub sources: SourceMap,
}

impl fmt::Display for ProjectError {
    /// Writes one line per error, like `--format short`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&render::render_short(&self.diagnostics, &self.sources))
    }
}

impl std::error::Error for ProjectError {}

/// Reads a project file.
///
/// # Errors
/// All errors in the file.
pub fn load_project(file: &Path, options: LoadOptions) -> Result<Project, ProjectError> {
    match read_text(file) {
        Ok(text) => parse_project(file, &text, options),
        Err(message) => Err(project_error(file, message)),
    }
}

/// Parses the text of a project file; `file` is its path.
///
/// # Errors
/// All errors in the file.
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

/// Returns the text of a regular file of limited size.
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
