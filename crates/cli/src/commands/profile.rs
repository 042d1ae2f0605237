//! `aver check --profile`: the destination of the profile of a check.

use super::console::{ColorChoice, OutputStream, eprint_redacted};
use super::exit::CommandError;
use super::{draft_file, write_error_text};
use averment_bulk::pipeline::Pipeline;
use averment_report::json_escape;
use averment_report::profile::{self, ProfileReport};
use std::path::{Path, PathBuf};
use std::sync::PoisonError;
use std::time::Instant;

/// The destination of a profile.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ProfileTarget {
    /// Tables on standard error.
    Table,
    /// JSON on standard error.
    Json,
    /// JSON in a file.
    File(PathBuf),
}

impl ProfileTarget {
    /// Parses the value of `--profile=`. Detects two mistakes before anything is judged: a file in a missing folder, and a value without `=`, which
    /// clap takes for the rules.
    pub fn parse_word(word: &str, rules: Option<&Path>) -> Result<Self, CommandError> {
        let help = "write `--profile`, `--profile=json` or `--profile=FILE.json`";
        match word {
            "text" if rules.is_some_and(|rules| rules == Path::new("json") && !rules.exists()) => {
                Err(CommandError::usage("`json` is taken for the rules here", "write `--profile=json`"))
            }
            "text" => Ok(Self::Table),
            "json" => Ok(Self::Json),
            file if file.ends_with(".json") => {
                let path = PathBuf::from(file);
                let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
                if path.is_dir() || folder.is_some_and(|folder| !folder.is_dir()) {
                    return Err(CommandError::usage(
                        format!("`{file}` cannot be written"),
                        "name a file in a folder that exists",
                    ));
                }
                Ok(Self::File(path))
            }
            other => Err(CommandError::usage(format!("a profile cannot be written as `{other}`"), help)),
        }
    }
}

impl ProfileTarget {
    /// Returns the file to write, if there is one.
    pub fn file_path(&self) -> Option<&Path> {
        match self {
            Self::File(path) => Some(path),
            Self::Table | Self::Json => None,
        }
    }

    /// Writes the profile of a check that began at `started`.
    pub fn write_profile(&self, pipeline: &Pipeline, started: Instant, color: ColorChoice) -> Result<(), CommandError> {
        let elapsed = u64::try_from(started.elapsed().as_nanos()).unwrap_or(u64::MAX);
        let Some(costs) = &pipeline.profile else { return Ok(()) };
        let mut noted = costs.lock().unwrap_or_else(PoisonError::into_inner);
        let emptied = noted.emptied();
        let costs = std::mem::replace(&mut *noted, emptied);
        let report = ProfileReport::new(&pipeline.programs, &pipeline.table, costs, elapsed);
        match self {
            Self::Table => {
                eprint_redacted(&format!("\n{}", profile::profile_tables(&report, OutputStream::Err.style(color))))
            }
            Self::Json => eprint_redacted(&json_escape::escape_json(&profile::profile_json(&report))),
            Self::File(path) => {
                draft_file::write_file(path, json_escape::escape_json(&profile::profile_json(&report)).as_bytes())
                    .map_err(|error| {
                        let message =
                            format!("`{}` cannot be written: {}", path.display(), write_error_text(path, &error));
                        CommandError::usage(message, "name another file")
                    })?
            }
        }
        Ok(())
    }
}
