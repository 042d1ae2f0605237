//! Processes one input at a time: compiles it together with all earlier inputs, and judges it on the selected run.

use super::runs::TracePosition;
use super::workspace::{ComposedText, ReplWorkspace, WorkspaceInput};
use crate::commands::exit::{CommandError, Exit};
use averment_base::diagnostic::render::{TextColor, TextStyle, one_line, paint_text};
use averment_base::diagnostic::suggest::suggest_name;
use averment_base::limits::Limits;
use averment_base::source::{SourceFile, SourceMap};
use averment_checker::CheckResult;
use averment_engine::vm::world::Permissions;
use averment_ide::assist::CursorContext;
use averment_report::derivation::view::{DerivationNode, DerivationView};
use averment_report::diagnostic::draw_diagnostics;
use averment_syntax::ast::{ItemKind, StatementKind, SyntaxItem};
use averment_syntax::parse;
use std::io::{self, Write};

/// The settings of a session.
#[derive(Debug, Clone)]
pub struct ReplSettings {
    /// Limits of sizes, depths and fuel, and the cancel flag of evaluations.
    pub limits: Limits,
    /// Permissions of rules to access anything besides the run.
    pub permissions: Permissions,
    /// Values for parameters, `NAME=VALUE`.
    pub params: Vec<String>,
    /// The text style.
    pub style: TextStyle,
}

/// Decides if the session continues.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReplFlow {
    /// It continues.
    Continue,
    /// It ends.
    Quit,
}

/// The subject of the last input, for `:explain` and `:step`.
#[derive(Debug, Default)]
pub(super) enum LastInput {
    #[default]
    Nothing,
    Value(Vec<DerivationNode>),
    Verdicts(DerivationView),
}

/// A REPL session.
pub struct ReplSession<'w> {
    pub(super) out: &'w mut dyn Write,
    pub(super) settings: ReplSettings,
    pub(super) workspace: ReplWorkspace,
    pub(super) position: Option<TracePosition>,
    pub(super) last: LastInput,
    pub(super) input: String,
    pub(super) walk: Option<DerivationView>,
    pub(super) step: usize,
    pub(super) fuel: Option<u64>,
    /// The most severe outcome so far: the exit code of a script.
    pub(super) worst: Exit,
    pub(super) context: CursorContext,
}

impl<'w> ReplSession<'w> {
    /// A session that writes to `out`.
    pub fn new(out: &'w mut dyn Write, settings: ReplSettings) -> Self {
        Self {
            out,
            settings,
            workspace: ReplWorkspace::default(),
            position: None,
            last: LastInput::Nothing,
            input: String::new(),
            walk: None,
            step: 0,
            fuel: None,
            worst: Exit::Holds,
            context: CursorContext::default(),
        }
    }

    /// Returns the names that earlier inputs and the run define.
    #[must_use]
    pub fn context(&self) -> &CursorContext {
        &self.context
    }

    /// Returns the names of rules and assertions, for completion.
    #[must_use]
    pub fn rule_names(&self) -> Vec<String> {
        let rules = self.context.names.iter().filter(|one| one.kind == averment_checker::DeclarationKind::Rule);
        rules.map(|one| one.name.clone()).collect()
    }

    pub(super) fn write_text(&mut self, text: &str) -> io::Result<()> {
        self.out.write_all(text.as_bytes())?;
        self.out.flush()
    }

    pub(super) fn refuse_input(&mut self, message: &str, exit: Exit) -> io::Result<()> {
        self.report_error(message, "", exit)
    }

    /// Returns the exit code of the session, for scripts.
    #[must_use]
    pub fn exit_code(&self) -> Exit {
        self.worst
    }

    /// The limits of the session.
    #[must_use]
    pub fn limits(&self) -> Limits {
        self.settings.limits
    }

    /// Processes one input: a command, expressions, statements or declarations.
    ///
    /// # Errors
    /// Returns the error of the writer.
    pub fn enter_input(&mut self, text: &str) -> io::Result<ReplFlow> {
        let go = match (text.trim_start().strip_prefix(':'), text.trim()) {
            (Some(command), _) => self.run_command(command),
            // These words alone are unlikely to be rules, and users often type them.
            (None, word @ ("help" | "?")) => self
                .report_error(&format!("`{word}` is no command"), "write `:help`", Exit::Usage)
                .map(|()| ReplFlow::Continue),
            (None, word @ ("quit" | "exit" | "q")) if !self.context.names.iter().any(|one| one.name == word) => self
                .report_error(&format!("`{word}` is no command"), "write `:quit`, or press Ctrl-D", Exit::Usage)
                .map(|()| ReplFlow::Continue),
            (None, _) => self.enter_rules(text).map(|()| ReplFlow::Continue),
        };
        self.out.flush()?;
        go
    }

    pub(super) fn report_error(&mut self, message: &str, help: &str, exit: Exit) -> io::Result<()> {
        self.worst = self.worst.max(exit);
        let style = self.settings.style;
        writeln!(self.out, "{}: {}", paint_text(style, TextColor::Red, "error"), one_line(message))?;
        if !help.is_empty() {
            writeln!(self.out, "  {}: {}", paint_text(style, TextColor::Green, "help"), one_line(help))?;
        }
        Ok(())
    }

    pub(super) fn report_stop(&mut self, stop: CommandError) -> io::Result<()> {
        match stop {
            CommandError::Usage { message, help } => self.report_error(&message, &help, Exit::Usage),
            CommandError::Output(error) => Err(error),
            CommandError::AlreadyReported(exit) => {
                self.worst = self.worst.max(exit);
                Ok(())
            }
        }
    }

    pub(super) fn print_info(&mut self, text: &str) -> io::Result<()> {
        writeln!(self.out, "{}", paint_text(self.settings.style, TextColor::Dim, &one_line(text)))
    }

    /// Prints diagnostics with locations in the input. Returns true if the input does not compile.
    pub(super) fn report_diagnostics(&mut self, composed: &ComposedText, checked: &CheckResult) -> io::Result<bool> {
        let (told, map) = composed.mapped_diagnostics(&checked.diagnostics);
        self.out.write_all(draw_diagnostics(&told, &map, self.settings.style).as_bytes())?;
        let broken = checked.diagnostics.has_errors();
        if broken {
            self.worst = self.worst.max(Exit::Rules);
        }
        Ok(broken)
    }

    fn enter_rules(&mut self, text: &str) -> io::Result<()> {
        if text.trim().is_empty() {
            return Ok(());
        }
        let Some(items) = self.parse_items(text)? else { return Ok(()) };
        if items.is_empty() {
            self.workspace.keep_comments(text);
            return Ok(());
        }
        text.clone_into(&mut self.input);
        if is_expression(&items) {
            return self.print_expression(text);
        }
        let keys = ReplWorkspace::declared_keys(&items);
        let mut composed = self.workspace.compose_text(WorkspaceInput { text, ..WorkspaceInput::default() }, &keys);
        let checked = composed.check_text(self.settings.limits, &self.settings.permissions.read);
        if self.report_diagnostics(&composed, &checked)? {
            return Ok(());
        }
        self.judge_input(&composed, &checked)?;
        self.run_tests(&composed, &checked)?;
        for key in &keys {
            let known = self.workspace.is_declared(key);
            self.print_info(&format!("{} `{}`", if known { "replaced" } else { "defined" }, key.name))?;
        }
        self.workspace.keep_items(text, &items);
        self.look_around();
        Ok(())
    }

    /// Parses the items of a text; prints errors and returns `None`. Parsed separately from earlier inputs, so that an open bracket cannot swallow
    /// them.
    pub(super) fn parse_items(&mut self, text: &str) -> io::Result<Option<Vec<SyntaxItem>>> {
        let mut map = SourceMap::default();
        let file = map.add_file(SourceFile::new(super::workspace::INPUT, None, text));
        let (tree, _, diagnostics) = parse(&map, file, &self.settings.limits);
        if !diagnostics.has_errors() {
            return Ok(Some(tree.items));
        }
        self.worst = self.worst.max(Exit::Rules);
        self.out.write_all(draw_diagnostics(&diagnostics, &map, self.settings.style).as_bytes())?;
        Ok(None)
    }

    pub(super) fn near_name_help(word: &str, known: impl Iterator<Item = &'static str>, otherwise: &str) -> String {
        suggest_name(word, known).map_or(otherwise.to_owned(), |near| format!("did you mean `{near}`?"))
    }
}

pub(super) fn is_expression(items: &[SyntaxItem]) -> bool {
    match items {
        [SyntaxItem { kind: ItemKind::Assertion(assertion), .. }] => {
            matches!(assertion.statement.kind, StatementKind::Expression(_)) && assertion.modifiers.is_empty()
        }
        _ => false,
    }
}
