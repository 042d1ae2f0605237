//! `--baseline FILE` and `--update-baseline`. The file holds known failures, which fail no run. It can also be a JSON report of earlier runs, with
//! which the blocks of a workflow are compared.

use super::console::eprint_redacted;
use super::exit::CommandError;
use super::{draft_file, io_error_text, write_error_text};
use averment_base::diagnostic::render::one_line;
use averment_base::files::text_of;
use averment_base::words::count_noun;
use averment_report::baseline::{BEGINNING, Baseline};
use averment_report::block::BlockHistory;
use averment_report::gate::GatePolicy;
use averment_report::model::RunReport;
use averment_report::table::ReportTable;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

/// Maximum size of a baseline file, in bytes.
const SIZE: usize = 64 << 20;

/// A file of known failures.
#[derive(Debug)]
pub struct BaselineFile {
    path: PathBuf,
    baseline: Baseline,
    updates: bool,
    /// Blocks of earlier runs, if the file is a JSON report.
    history: Option<BlockHistory>,
}

impl BaselineFile {
    /// Reads a baseline file. With `updates`, the file may be missing, because it will be written.
    pub fn open_file(path: &Path, updates: bool) -> Result<Self, CommandError> {
        let name = path.display();
        let text = match text_of(path, SIZE) {
            Ok(text) => text,
            Err(error) if updates && error.kind() == ErrorKind::NotFound => String::new(),
            Err(error) => {
                let help = match error.kind() {
                    ErrorKind::NotFound => "`--update-baseline` writes it",
                    _ => "name a file that `--update-baseline` wrote",
                };
                return Err(CommandError::usage(
                    format!("the baseline `{name}` cannot be read: {}", io_error_text(&error)),
                    help,
                ));
            }
        };
        if updates && !text.is_empty() && !text.starts_with(BEGINNING) {
            let message = format!("`{name}` is something else than a baseline, and is not written over");
            return Err(CommandError::usage(
                message,
                format!("name another file; a baseline begins with `{BEGINNING}`"),
            ));
        }
        if text.trim_start().starts_with('{') {
            let history = BlockHistory::parse(&text).map_err(|what| {
                let help = "name what `aver check WORKFLOW.yaml RUNS --format json` printed of earlier runs";
                CommandError::usage(format!("`{name}` is no report of earlier runs: {what}"), help)
            })?;
            let baseline = Baseline::default();
            return Ok(Self { path: path.to_path_buf(), baseline, updates, history: Some(history) });
        }
        let read = Baseline::parse(&text).map_err(|error| {
            let help = "mend or remove the line";
            CommandError::usage(
                format!("{name}:{}: this is no line of a baseline: {}", error.line, error.message),
                help,
            )
        })?;
        let baseline = if updates { read.for_update() } else { read };
        Ok(Self { path: path.to_path_buf(), baseline, updates, history: None })
    }

    /// Marks the known failures of a run. With a JSON report of earlier runs, compares the run's blocks with those instead.
    pub fn mark_known(&mut self, table: &ReportTable, run: &mut RunReport, policy: GatePolicy) {
        if let Some(history) = &mut self.history {
            return history.apply_history(table, run);
        }
        self.baseline.mark_known(table, run, policy);
    }

    /// Writes the file with `--update-baseline`; otherwise prints how many of its lines are out of date. `complete` means that every run was judged.
    pub fn save(&self, table: &ReportTable, complete: bool) -> Result<(), CommandError> {
        if let Some(history) = &self.history {
            eprint_redacted(&format!("note: {}\n", one_line(&history.in_words())));
            return Ok(());
        }
        if !self.updates {
            let unused = self.baseline.unused_lines(table);
            if complete && unused > 0 {
                let lines = if unused == 1 { "1 line stands".to_owned() } else { format!("{unused} lines stand") };
                let name = self.path.display();
                eprint_redacted(&format!(
                    "note: {lines} in `{name}` for what fails no more; --update-baseline removes that\n"
                ));
            }
            return Ok(());
        }
        if !complete {
            eprint_redacted(
                "note: the baseline was not written: not every run could be judged; what is called known here is not\n",
            );
            return Ok(());
        }
        let text = self.baseline.file_text(table);
        draft_file::update_file(&self.path, text.as_bytes()).map_err(|error| {
            let message = format!(
                "the baseline `{}` cannot be written: {}",
                self.path.display(),
                write_error_text(&self.path, &error)
            );
            CommandError::usage(message, "name a file in a folder that exists")
        })?;
        let (count, name) = (self.baseline.learned_count(), self.path.display());
        eprint_redacted(&format!("note: {} in `{name}`\n", count_noun(count, "known failure")));
        Ok(())
    }
}
