//! One input after the other: what is entered is compiled with everything that was entered before, and judged on the run at hand.

use super::runs::Position;
use super::workspace::{Composed, Input, Workspace};
use crate::commands::exit::{Exit, Stop};
use averment_base::diagnostic::render::{Ink, Style, one_line, paint};
use averment_base::diagnostic::suggest::nearest;
use averment_base::limits::Limits;
use averment_base::source::{SourceFile, SourceMap};
use averment_engine::check::Checked;
use averment_engine::vm::world::Permissions;
use averment_ide::assist::CursorContext;
use averment_report::derivation::view::{DerivationView, Node};
use averment_report::diagnostic::graphical;
use averment_syntax::ast::{Item, ItemKind, StatementKind};
use averment_syntax::parse;
use std::io::{self, Write};

/// How a session is set up.
#[derive(Debug, Clone)]
pub struct Settings {
    /// Sizes, depths, fuel, and what ends an evaluation.
    pub limits: Limits,
    /// What rules may look at beside the run.
    pub permissions: Permissions,
    /// Values for parameters, `NAME=VALUE`.
    pub params: Vec<String>,
    /// How text looks.
    pub style: Style,
}

/// Whether the session goes on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Go {
    /// It does.
    On,
    /// It ends.
    Quit,
}

/// What the last input was about, for `:explain` and `:step`.
#[derive(Debug, Default)]
pub(super) enum Last {
    /// Nothing yet.
    #[default]
    Nothing,
    /// A value.
    Value(Vec<Node>),
    /// Verdicts.
    Verdicts(DerivationView),
}

/// A session.
pub struct Session<'w> {
    pub(super) out: &'w mut dyn Write,
    pub(super) settings: Settings,
    pub(super) workspace: Workspace,
    pub(super) position: Option<Position>,
    pub(super) last: Last,
    /// The text of the last input that was no command.
    pub(super) input: String,
    /// The last verdicts with every step of the run, for `:step`.
    pub(super) walk: Option<DerivationView>,
    /// The step that `:step` has shown.
    pub(super) step: usize,
    /// Fuel that the last evaluation took.
    pub(super) fuel: Option<u64>,
    /// The worst that has happened: the exit code of a script.
    pub(super) worst: Exit,
    pub(super) context: CursorContext,
}

impl<'w> Session<'w> {
    /// A session that writes to `out`.
    pub fn new(out: &'w mut dyn Write, settings: Settings) -> Self {
        Self {
            out,
            settings,
            workspace: Workspace::default(),
            position: None,
            last: Last::Nothing,
            input: String::new(),
            walk: None,
            step: 0,
            fuel: None,
            worst: Exit::Holds,
            context: CursorContext::default(),
        }
    }

    /// The names that are known: of what was entered, and of the run.
    #[must_use]
    pub fn context(&self) -> &CursorContext {
        &self.context
    }

    /// The rules and assertions that have names, for completion.
    #[must_use]
    pub fn rule_names(&self) -> Vec<String> {
        let rules = self.context.names.iter().filter(|one| one.kind == averment_engine::check::DeclarationKind::Rule);
        rules.map(|one| one.name.clone()).collect()
    }

    /// Writes text as it is.
    pub(super) fn write(&mut self, text: &str) -> io::Result<()> {
        self.out.write_all(text.as_bytes())?;
        self.out.flush()
    }

    /// Says why an input is not taken.
    pub(super) fn refuse(&mut self, message: &str, exit: Exit) -> io::Result<()> {
        self.wrong(message, "", exit)
    }

    /// The exit code of the session as a script.
    #[must_use]
    pub fn exit(&self) -> Exit {
        self.worst
    }

    /// The limits of the session.
    #[must_use]
    pub fn limits(&self) -> Limits {
        self.settings.limits
    }

    /// Takes one input: a command, expressions, statements or declarations.
    ///
    /// # Errors
    /// What the writer says.
    pub fn enter(&mut self, text: &str) -> io::Result<Go> {
        let go = match (text.trim_start().strip_prefix(':'), text.trim()) {
            (Some(command), _) => self.command(command),
            // Nobody has a rule of one of these words alone, and everybody types them.
            (None, word @ ("help" | "?")) => {
                self.wrong(&format!("`{word}` is no command"), "write `:help`", Exit::Usage).map(|()| Go::On)
            }
            (None, word @ ("quit" | "exit" | "q")) if !self.context.names.iter().any(|one| one.name == word) => self
                .wrong(&format!("`{word}` is no command"), "write `:quit`, or press Ctrl-D", Exit::Usage)
                .map(|()| Go::On),
            (None, _) => self.rules(text).map(|()| Go::On),
        };
        self.out.flush()?;
        go
    }

    /// Says that something is wrong.
    pub(super) fn wrong(&mut self, message: &str, help: &str, exit: Exit) -> io::Result<()> {
        self.worst = self.worst.max(exit);
        let style = self.settings.style;
        writeln!(self.out, "{}: {}", paint(style, Ink::Red, "error"), one_line(message))?;
        if !help.is_empty() {
            writeln!(self.out, "  {}: {}", paint(style, Ink::Green, "help"), one_line(help))?;
        }
        Ok(())
    }

    /// Says why a command line would have ended.
    pub(super) fn stopped(&mut self, stop: Stop) -> io::Result<()> {
        match stop {
            Stop::Usage { message, help } => self.wrong(&message, &help, Exit::Usage),
            Stop::Output(error) => Err(error),
            Stop::Said(exit) => {
                self.worst = self.worst.max(exit);
                Ok(())
            }
        }
    }

    pub(super) fn remark(&mut self, text: &str) -> io::Result<()> {
        writeln!(self.out, "{}", paint(self.settings.style, Ink::Dim, &one_line(text)))
    }

    /// What is to be said of a text, where it was typed. True when it cannot be used.
    pub(super) fn told(&mut self, composed: &Composed, checked: &Checked) -> io::Result<bool> {
        let (told, map) = composed.told(&checked.diagnostics);
        self.out.write_all(graphical(&told, &map, self.settings.style).as_bytes())?;
        let broken = checked.diagnostics.has_errors();
        if broken {
            self.worst = self.worst.max(Exit::Rules);
        }
        Ok(broken)
    }

    /// Expressions, statements, declarations.
    fn rules(&mut self, text: &str) -> io::Result<()> {
        if text.trim().is_empty() {
            return Ok(());
        }
        let Some(items) = self.parsed(text)? else { return Ok(()) };
        if items.is_empty() {
            self.workspace.note(text);
            return Ok(());
        }
        text.clone_into(&mut self.input);
        if is_expression(&items) {
            return self.expression(text);
        }
        let keys = Workspace::keys(&items);
        let mut composed = self.workspace.compose(Input { text, ..Input::default() }, &keys);
        let checked = composed.check(self.settings.limits, &self.settings.permissions.read);
        if self.told(&composed, &checked)? {
            return Ok(());
        }
        self.judge(&composed, &checked)?;
        self.tests(&composed, &checked)?;
        for key in &keys {
            let known = self.workspace.knows(key);
            self.remark(&format!("{} `{}`", if known { "replaced" } else { "defined" }, key.name))?;
        }
        self.workspace.keep(text, &items);
        self.look_around();
        Ok(())
    }

    /// The items of a text; `None` for one that cannot be read, which is told. It is read alone first: an open bracket must not swallow what was
    /// entered before.
    pub(super) fn parsed(&mut self, text: &str) -> io::Result<Option<Vec<Item>>> {
        let mut map = SourceMap::default();
        let file = map.add(SourceFile::new(super::workspace::INPUT, None, text));
        let (tree, _, diagnostics) = parse(&map, file, &self.settings.limits);
        if !diagnostics.has_errors() {
            return Ok(Some(tree.items));
        }
        self.worst = self.worst.max(Exit::Rules);
        self.out.write_all(graphical(&diagnostics, &map, self.settings.style).as_bytes())?;
        Ok(None)
    }

    /// A near name, as help.
    pub(super) fn near(word: &str, known: impl Iterator<Item = &'static str>, otherwise: &str) -> String {
        nearest(word, known).map_or(otherwise.to_owned(), |near| format!("did you mean `{near}`?"))
    }
}

/// Whether a text is one expression and nothing else.
pub(super) fn is_expression(items: &[Item]) -> bool {
    match items {
        [Item { kind: ItemKind::Assertion(assertion), .. }] => {
            matches!(assertion.statement.kind, StatementKind::Expression(_)) && assertion.modifiers.is_empty()
        }
        _ => false,
    }
}
