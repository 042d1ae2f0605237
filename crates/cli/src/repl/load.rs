//! Rules and runs that a session takes from files.

use super::runs::{Nothing, Position};
use super::session::{Last, Session};
use super::workspace::{Base, Input};
use crate::commands::exit::Exit;
use crate::commands::params;
use averment_base::diagnostic::render::one_line;
use averment_engine::compile::compile;
use averment_ide::assist::CursorContext;
use averment_report::{redact_run, tell_unreadable};
use averment_traces::read;
use bumpalo::Bump;
use std::io;

impl Session<'_> {
    /// Loads a rule file. True when it can be used.
    ///
    /// # Errors
    /// What the writer says.
    pub fn load(&mut self, path: &std::path::Path) -> io::Result<bool> {
        let text = match crate::commands::rules::text_of(path, self.settings.limits) {
            Ok(text) => text,
            Err(stop) => {
                self.stopped(stop)?;
                return Ok(false);
            }
        };
        let folder = path.parent().map(std::path::Path::to_path_buf).unwrap_or_default();
        let base = Base::new(path.to_string_lossy().into_owned(), folder, text, &self.settings.limits);
        let before = self.workspace.base.replace(base);
        let mut composed = self.workspace.compose(Input::default(), &[]);
        let checked = composed.check(self.settings.limits, &self.settings.permissions.read);
        if self.told(&composed, &checked)? {
            self.workspace.base = before;
            self.remark(&format!("`{}` is not loaded", path.display()))?;
            return Ok(false);
        }
        let given: Vec<String> = self.settings.params.clone();
        let mut programs = vec![compile(&checked.module, &composed.sources)];
        if let Err(stop) = params::apply(&mut programs, &[], &given) {
            self.stopped(stop)?;
        }
        let count = checked.module.assertions.len();
        let rules = if count == 1 { "1 assertion".to_owned() } else { format!("{count} assertions") };
        self.remark(&format!("loaded `{}`: {rules}", path.display()))?;
        self.look_around();
        Ok(true)
    }

    /// Goes to a run of some traces. True when there is one.
    ///
    /// # Errors
    /// What the writer says.
    pub fn on(&mut self, trace: &str, number: usize) -> io::Result<bool> {
        let found = Position::open(trace, number, &self.settings.limits);
        self.go_to(found, trace)
    }

    pub(super) fn go_to(&mut self, found: Result<Position, Nothing>, trace: &str) -> io::Result<bool> {
        match found {
            Ok(position) => {
                let arena = Bump::new();
                let raw = position.run.clone();
                let Some(run) = self.read(&raw, &arena)? else { return Ok(false) };
                let id = run.id.map_or(String::new(), |id| format!(" (id {})", one_line(&redact_run(&run, id))));
                let steps = run.steps.len();
                let steps = if steps == 1 { "1 step".to_owned() } else { format!("{steps} steps") };
                let name = run.source.name();
                self.position = Some(position);
                (self.last, self.walk, self.step) = (Last::Nothing, None, 0);
                self.remark(&format!("on `{name}`{id}: {steps}"))?;
                self.look_around();
                Ok(true)
            }
            Err(Nothing::Stop(stop)) => self.stopped(stop).map(|()| false),
            Err(Nothing::Unreadable(what)) => {
                self.worst = self.worst.max(Exit::Trace);
                let style = self.settings.style;
                tell_unreadable(&mut self.out, style, &what).map(|()| false)
            }
            Err(Nothing::Fewer(0)) => {
                self.wrong(&format!("there is no run in `{trace}`"), "", Exit::Usage).map(|()| false)
            }
            Err(Nothing::Fewer(count)) => {
                let there = if count == 1 { "is 1 run".to_owned() } else { format!("are {count} runs") };
                self.wrong(&format!("there is no such run: there {there}"), "", Exit::Usage).map(|()| false)
            }
        }
    }

    /// Looks at the run and the declarations anew, for completion.
    pub(super) fn look_around(&mut self) {
        let mut composed = self.workspace.compose(Input::default(), &[]);
        let checked = composed.check(self.settings.limits, &self.settings.permissions.read);
        let context = CursorContext::of(&checked, &composed.sources, composed.root);
        let arena = Bump::new();
        let run = self.position.as_ref().and_then(|position| {
            let run = read::parse(&position.run, &arena, &self.settings.limits).ok()?;
            Some(context.clone().with_run(&run))
        });
        self.context = run.unwrap_or(context);
    }
}
