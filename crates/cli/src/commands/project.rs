//! Flags about `averment.toml`, and the settings that commands take from it.

use super::console::{ColorChoice, OutputStream, eprint_redacted};
use super::exit::{CommandError, Exit};
use averment_base::diagnostic::render::{TextColor, one_line, paint_text};
use averment_ide::project::{self, LoadOptions, Project, ProjectSearch};
use std::path::{Path, PathBuf};

/// Options about the project: `--project`, `--no-project`, `--trust-project`.
#[derive(Debug, Clone, Default, clap::Args)]
#[command(next_help_heading = "Project")]
pub struct ProjectArguments {
    /// The project file [default: `averment.toml` in the folder of the rules, or above it]
    #[arg(long, value_name = "FILE", conflicts_with = "no_project")]
    pub project: Option<PathBuf>,
    /// Use no project file
    #[arg(long)]
    pub no_project: bool,
    /// Grant the permissions that the project file asks for, and let its paths leave its folder
    #[arg(long, conflicts_with = "no_project")]
    pub trust_project: bool,
}

impl ProjectArguments {
    /// Loads the project of the named rules, or of the working directory if none are named; `None` if there is none. Mistakes in the file are an
    /// error.
    pub fn load_project(&self, rules: &[PathBuf], color: ColorChoice) -> Result<Option<Project>, CommandError> {
        let file = match (&self.project, self.no_project) {
            (_, true) => return Ok(None),
            (Some(file), _) => file.clone(),
            (None, _) => match project::find_for(rules) {
                ProjectSearch::File(file) => file,
                ProjectSearch::Nothing => return Ok(None),
                ProjectSearch::Linked(file) => {
                    let text = format!(
                        "`{0}` leads out of its folder and is not used; `--project {0}` uses it",
                        file.display()
                    );
                    eprint_redacted(&format!(
                        "{}: {}\n",
                        paint_text(OutputStream::Err.style(color), TextColor::Yellow, "note"),
                        one_line(&text)
                    ));
                    return Ok(None);
                }
                ProjectSearch::Foreign(file) => {
                    let style = OutputStream::Err.style(color);
                    let file = file.display().to_string();
                    let file = one_line(&file);
                    let note = paint_text(style, TextColor::Yellow, "note");
                    eprint_redacted(&format!(
                        "{note}: `{file}` belongs to another user and is not used; `--project {file}` uses it\n"
                    ));
                    return Ok(None);
                }
            },
        };
        project::load_project(&file, LoadOptions { trusted: self.trust_project }).map(Some).map_err(|error| {
            eprint_redacted(&averment_report::diagnostic::draw_diagnostics(
                &error.diagnostics,
                &error.sources,
                OutputStream::Err.style(color),
            ));
            CommandError::AlreadyReported(Exit::Usage)
        })
    }

    /// Returns the folder for additional reports: that of `--report-dir`, otherwise that of a trusted project.
    pub fn report_folder<'a>(
        &self,
        flag: Option<&'a Path>,
        project: Option<&'a Project>,
        color: ColorChoice,
    ) -> ReportFolder<'a> {
        let of_project = project.map(|project| &project.report);
        let formats = of_project.map_or(&[][..], |report| &report.formats);
        let named = of_project.and_then(|report| report.folder.as_deref());
        let folder = flag.or(named.filter(|_| self.trust_project));
        if let (None, Some(named), Some(project)) = (folder, named, project) {
            let named = named.display();
            let text = format!(
                "`{}` names a folder for reports; `--report-dir {named}` or `--trust-project` writes them",
                project.file.display()
            );
            eprint_redacted(&format!(
                "{}: {}\n",
                paint_text(OutputStream::Err.style(color), TextColor::Yellow, "note"),
                one_line(&text)
            ));
        }
        ReportFolder { folder, formats }
    }

    /// Reports the permissions that an untrusted project requests. Called if an evaluation failed because they are missing.
    pub fn tell_request(&self, project: Option<&Project>, color: ColorChoice) {
        let Some(project) = project.filter(|project| !self.trust_project && !project.requested.is_empty()) else {
            return;
        };
        let text = format!("`{}` asks {}; `--trust-project` allows it", project.file.display(), project.requested);
        eprint_redacted(&format!(
            "{}: {}\n",
            paint_text(OutputStream::Err.style(color), TextColor::Yellow, "note"),
            one_line(&text)
        ));
    }
}

/// A folder for reports, with their formats.
#[derive(Debug, Clone, Copy)]
pub struct ReportFolder<'a> {
    /// The folder; `None` if reports go to no folder.
    pub folder: Option<&'a Path>,
    /// Names of the formats; empty for the default formats of a folder.
    pub formats: &'a [String],
}

impl<'a> ReportFolder<'a> {
    /// Uses the formats that rules of another system request, unless the project sets some.
    pub fn with_requested(self, formats: &'a [String]) -> Self {
        if self.folder.is_some() && self.formats.is_empty() { Self { formats, ..self } } else { self }
    }
}

/// Returns the project of the rules. Errors are ignored: a project that cannot be loaded is `None`.
pub fn find_beside(rules: &[PathBuf]) -> Option<Project> {
    let ProjectSearch::File(file) = project::find_for(rules) else { return None };
    project::load_project(&file, LoadOptions::default()).ok()
}

/// Returns the rules of a command: the named ones, otherwise those of the project.
pub fn rule_paths(named: &[PathBuf], project: Option<&Project>) -> Result<Vec<PathBuf>, CommandError> {
    if !named.is_empty() {
        return Ok(named.to_vec());
    }
    match project {
        Some(project) if !project.rules.is_empty() => Ok(project.rules.clone()),
        Some(project) => Err(CommandError::usage(
            format!("no rules are named, and `{}` names none", project.file.display()),
            "name a rule file or a folder, or write `rules = [\"rules/\"]` into the project file",
        )),
        None => Err(CommandError::usage(
            "no rules are named, and there is no `averment.toml` here or above",
            "name a rule file or a folder: `aver check rules.assert runs/`; `aver init` sets a project up",
        )),
    }
}

/// Parses a tag of the command line.
pub fn parse_tag(text: &str) -> Result<String, String> {
    match text.trim() {
        "" => Err("a tag is not empty: write `--tag smoke`, and commas between several".to_owned()),
        tag => Ok(tag.to_owned()),
    }
}

/// Returns the selecting tags: those of the command line, otherwise those of the project.
pub fn selected_tags(given: &[String], project: Option<&Project>) -> Vec<String> {
    match project.filter(|_| given.is_empty()) {
        Some(project) => project.tags.clone(),
        None => given.to_vec(),
    }
}
