//! Loads rules and runs from files into the REPL.

use super::runs::{NoSuchRun, TracePosition};
use super::session::{LastInput, ReplSession};
use super::workspace::{BaseFile, WorkspaceInput};
use crate::commands::exit::Exit;
use crate::commands::params;
use averment_base::diagnostic::render::one_line;
use averment_engine::compile::compile;
use averment_ide::assist::CursorContext;
use averment_report::{redact_run, tell_unreadable};
use averment_traces::read;
use bumpalo::Bump;
use std::io;

impl ReplSession<'_> {
    /// Loads a rule file. Returns true if it is usable.
    ///
    /// # Errors
    /// Returns the error of the writer.
    pub fn load_rules(&mut self, path: &std::path::Path) -> io::Result<bool> {
        let text = match crate::commands::rules::read_rule_text(path, self.settings.limits) {
            Ok(text) => text,
            Err(stop) => {
                self.report_stop(stop)?;
                return Ok(false);
            }
        };
        let folder = path.parent().map(std::path::Path::to_path_buf).unwrap_or_default();
        let base = BaseFile::new(path.to_string_lossy().into_owned(), folder, text, &self.settings.limits);
        let before = self.workspace.base.replace(base);
        let mut composed = self.workspace.compose_text(WorkspaceInput::default(), &[]);
        let checked = composed.check_text(self.settings.limits, &self.settings.permissions.read);
        if self.report_diagnostics(&composed, &checked)? {
            self.workspace.base = before;
            self.print_info(&format!("`{}` is not loaded", path.display()))?;
            return Ok(false);
        }
        let given: Vec<String> = self.settings.params.clone();
        let mut programs = vec![compile(&checked.module, &composed.sources)];
        if let Err(stop) = params::apply_params(&mut programs, &[], &given) {
            self.report_stop(stop)?;
        }
        let count = checked.module.assertions.len();
        let rules = if count == 1 { "1 assertion".to_owned() } else { format!("{count} assertions") };
        self.print_info(&format!("loaded `{}`: {rules}", path.display()))?;
        self.look_around();
        Ok(true)
    }

    /// Selects a run of some traces. Returns true if it exists.
    ///
    /// # Errors
    /// Returns the error of the writer.
    pub fn open_run(&mut self, trace: &str, number: usize) -> io::Result<bool> {
        let found = TracePosition::open_trace(trace, number, &self.settings.limits);
        self.move_to_run(found, trace)
    }

    pub(super) fn move_to_run(&mut self, found: Result<TracePosition, NoSuchRun>, trace: &str) -> io::Result<bool> {
        match found {
            Ok(position) => {
                let arena = Bump::new();
                let raw = position.run.clone();
                let Some(run) = self.read_run(&raw, &arena)? else { return Ok(false) };
                let id = run.id.map_or(String::new(), |id| format!(" (id {})", one_line(&redact_run(&run, id))));
                let steps = run.steps.len();
                let steps = if steps == 1 { "1 step".to_owned() } else { format!("{steps} steps") };
                let name = run.source.run_name();
                self.position = Some(position);
                (self.last, self.walk, self.step) = (LastInput::Nothing, None, 0);
                self.print_info(&format!("on `{name}`{id}: {steps}"))?;
                self.look_around();
                Ok(true)
            }
            Err(NoSuchRun::Stop(stop)) => self.report_stop(stop).map(|()| false),
            Err(NoSuchRun::Unreadable(what)) => {
                self.worst = self.worst.max(Exit::Trace);
                let style = self.settings.style;
                tell_unreadable(&mut self.out, style, &what).map(|()| false)
            }
            Err(NoSuchRun::Fewer(0)) => {
                self.report_error(&format!("there is no run in `{trace}`"), "", Exit::Usage).map(|()| false)
            }
            Err(NoSuchRun::Fewer(count)) => {
                let there = if count == 1 { "is 1 run".to_owned() } else { format!("are {count} runs") };
                self.report_error(&format!("there is no such run: there {there}"), "", Exit::Usage).map(|()| false)
            }
        }
    }

    pub(super) fn look_around(&mut self) {
        let mut composed = self.workspace.compose_text(WorkspaceInput::default(), &[]);
        let checked = composed.check_text(self.settings.limits, &self.settings.permissions.read);
        let context = CursorContext::from_checked(&checked, &composed.sources, composed.root);
        let arena = Bump::new();
        let run = self.position.as_ref().and_then(|position| {
            let run = read::parse_run(&position.run, &arena, &self.settings.limits).ok()?;
            Some(context.clone().with_run(&run))
        });
        self.context = run.unwrap_or(context);
    }
}
