//! One input after the other: what is entered is compiled with everything that was entered before, and judged on the run at hand.

use super::runs::{Nothing, Position};
use super::workspace::{Base, Composed, Input, Workspace};
use crate::assist::Facts;
use crate::bytecode::program::Program;
use crate::check::Checked;
use crate::cli::exit::{Exit, Stop};
use crate::cli::params;
use crate::compile::compile;
use crate::diagnostic::render::{Ink, Style, graphical, one_line, paint};
use crate::diagnostic::suggest::nearest;
use crate::limits::Limits;
use crate::report::derivation::view::{AssertionView, Node, View};
use crate::report::derivation::{self, Choice};
use crate::report::table::Table;
use crate::report::tell_unreadable;
use crate::source::{SourceFile, SourceMap};
use crate::syntax::ast::{Item, ItemKind, StatementKind};
use crate::syntax::parse;
use crate::trace::read::{self, RawRun};
use crate::trace::run::{Run, RunSource};
use crate::truth::{Truth, Verdict};
use crate::vm::evaluate::{EvaluateOptions, derive};
use crate::vm::inspect::{Inspected, inspect};
use crate::vm::prepare::Prepared;
use crate::vm::testing::run_tests;
use crate::vm::world::Permissions;
use bumpalo::Bump;
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
    Verdicts(View),
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
    /// The step that `:step` has shown.
    pub(super) step: usize,
    /// Fuel that the last evaluation took.
    pub(super) fuel: Option<u64>,
    /// The worst that has happened: the exit code of a script.
    pub(super) worst: Exit,
    facts: Facts,
}

/// The name under which an expression is compiled: nobody writes it.
const VALUE: &str = "_input";
/// The name of the last value.
const IT: &str = "it";

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
            step: 0,
            fuel: None,
            worst: Exit::Holds,
            facts: Facts::default(),
        }
    }

    /// The names that are known: of what was entered, and of the run.
    #[must_use]
    pub fn facts(&self) -> &Facts {
        &self.facts
    }

    /// The rules and assertions that have names, for completion.
    #[must_use]
    pub fn rule_names(&self) -> Vec<String> {
        let rules = self.facts.names.iter().filter(|one| one.kind == crate::check::DeclarationKind::Rule);
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
        let go = match text.trim_start().strip_prefix(':') {
            Some(command) => self.command(command),
            None => self.rules(text).map(|()| Go::On),
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
        let checked = composed.check(self.settings.limits);
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

    /// Judges the assertions of an input on the run at hand.
    fn judge(&mut self, composed: &Composed, checked: &Checked) -> io::Result<()> {
        let mut module = checked.module.clone();
        module.assertions.retain(|assertion| composed.is_input(assertion.span));
        if module.assertions.is_empty() {
            return Ok(());
        }
        if self.position.is_none() {
            return self.remark("it compiles; there is no run to judge it on: `:on TRACE` takes one");
        }
        let program = compile(&module, &composed.sources);
        self.verdicts(program, composed)
    }

    /// Judges a program and prints its verdicts.
    pub(super) fn verdicts(&mut self, program: Program, composed: &Composed) -> io::Result<()> {
        let Some(view) = self.derived(program, composed)? else { return Ok(()) };
        let several = view.assertions.len() > 1;
        for assertion in &view.assertions {
            self.verdict(assertion, several)?;
        }
        (self.last, self.step) = (Last::Verdicts(view), 0);
        Ok(())
    }

    /// The derivations of a program on the run at hand; `None` when there is none, or a parameter has no value.
    pub(super) fn derived(&mut self, program: Program, composed: &Composed) -> io::Result<Option<View>> {
        let mut programs = vec![program];
        let given = self.of_program(&programs);
        if let Err(stop) = params::apply(&mut programs, &[], &given) {
            self.stopped(stop)?;
            return Ok(None);
        }
        let Some(raw) = self.position.as_ref().map(|position| position.run.clone()) else { return Ok(None) };
        let prepared: Vec<Prepared> = programs.iter().map(Prepared::new).collect();
        let arena = Bump::new();
        let Some(run) = self.read(&raw, &arena)? else { return Ok(None) };
        let options = EvaluateOptions {
            permissions: self.settings.permissions.clone(),
            limits: self.settings.limits,
            assume_case: true,
            ..EvaluateOptions::default()
        };
        let mut derived = Vec::new();
        for (at, (program, prepared)) in programs.iter().zip(&prepared).enumerate() {
            derived.push((at, derive(program, prepared, &run, &arena, &options).1));
        }
        let table = Table::new(&programs, |_, _| true);
        let mut view = derivation::view(&table, &run, &derived, Choice::Around);
        view.assertions.iter_mut().for_each(|one| one.location = composed.location(one.span));
        Ok(Some(view))
    }

    /// The values for parameters that a program has.
    fn of_program(&self, programs: &[Program]) -> Vec<String> {
        let has = |name: &str| programs.iter().flat_map(|program| &program.params).any(|param| param.name == name);
        let given = self.settings.params.iter();
        given.filter(|text| text.split_once('=').is_some_and(|(name, _)| has(name.trim()))).cloned().collect()
    }

    /// Reads a run.
    pub(super) fn read<'r>(&mut self, raw: &'r RawRun, arena: &'r Bump) -> io::Result<Option<Run<'r>>> {
        match read::parse(raw, arena, &self.settings.limits) {
            Ok(run) => Ok(Some(run)),
            Err(error) => {
                self.worst = self.worst.max(Exit::Trace);
                let help = error.help.clone();
                self.wrong(&format!("{}:{}: {}", error.file, error.line, error.message), &help, Exit::Trace)?;
                Ok(None)
            }
        }
    }

    fn verdict(&mut self, view: &AssertionView, several: bool) -> io::Result<()> {
        let style = self.settings.style;
        let word = paint(style, derivation::ink(view.verdict), view.verdict.as_str());
        let name =
            if several { format!("  {}", if view.named { &view.id } else { &view.text }) } else { String::new() };
        let why = if view.reason.is_empty() { String::new() } else { format!(": {}", view.reason) };
        writeln!(self.out, "{word}{name}{why}")?;
        if let Some(message) = &view.message {
            writeln!(self.out, "  message: {message}")?;
        }
        match view.verdict {
            Verdict::Pass | Verdict::Skipped => return Ok(()),
            Verdict::Fail => self.worst = self.worst.max(Exit::Failed),
            Verdict::Error => self.worst = self.worst.max(Exit::Error),
            Verdict::Vacuous | Verdict::Undecided => {}
        }
        let mut told: Vec<u64> = Vec::new();
        for evidence in &view.evidence {
            if let (Some(step), Some(what)) = (evidence.step, &evidence.what)
                && !told.contains(&step)
                && told.len() < STEPS
            {
                told.push(step);
                let line = format!("  step {step}  {what}");
                writeln!(self.out, "{}", crate::report::derivation::cut(&line, style.width))?;
            }
        }
        Ok(())
    }

    /// Runs the tests of an input.
    fn tests(&mut self, composed: &Composed, checked: &Checked) -> io::Result<()> {
        if !checked.module.tests.iter().any(|test| composed.is_input(test.span)) {
            return Ok(());
        }
        let program = compile(&checked.module, &composed.sources);
        let prepared = Prepared::new(&program);
        for result in run_tests(&program, &prepared, &self.settings.limits) {
            let Some(test) = program.tests.get(result.test as usize) else { continue };
            if !composed.is_input(test.span) {
                continue;
            }
            let style = self.settings.style;
            let word = if result.passed { paint(style, Ink::Green, "ok") } else { paint(style, Ink::Red, "failed") };
            let why = if result.passed { String::new() } else { format!(": {}", result.reason) };
            writeln!(self.out, "{word}  test {}{}", one_line(&test.name), one_line(&why))?;
            if !result.passed {
                self.worst = self.worst.max(Exit::Failed);
            }
        }
        Ok(())
    }

    /// The value of an expression.
    fn expression(&mut self, text: &str) -> io::Result<()> {
        self.evaluate(text, true)
    }

    /// The value of an expression, for `:explain` alone.
    pub(super) fn value_quietly(&mut self, text: &str) -> io::Result<()> {
        self.evaluate(text, false)
    }

    fn evaluate(&mut self, text: &str, aloud: bool) -> io::Result<()> {
        let Some((program, code, ty)) = self.compiled(text)? else { return Ok(()) };
        let mut programs = vec![program];
        let given = self.of_program(&programs);
        if let Err(stop) = params::apply(&mut programs, &[], &given) {
            return self.stopped(stop);
        }
        let Some(program) = programs.first() else { return Ok(()) };
        let raw = match &self.position {
            Some(position) => position.run.clone(),
            // Without a run there is still arithmetic.
            None => RawRun::new("{}".to_owned(), RunSource::default()),
        };
        let (prepared, arena) = (Prepared::new(program), Bump::new());
        let Some(run) = self.read(&raw, &arena)? else { return Ok(()) };
        match inspect(program, &prepared, &run, &arena, self.settings.limits, code) {
            Ok(inspected) => {
                let table = Table::new(&programs, |_, _| true);
                let (shown, mut nodes) = derivation::value(&table, &run, &inspected.shown, &inspected.part);
                let reason = derivation::words(&run, &inspected.part, &inspected.shown, &inspected.reason);
                // The brackets around it are ours.
                for node in &mut nodes {
                    let inner = node.text.strip_prefix('(').and_then(|text| text.strip_suffix(')')).map(str::trim);
                    let typed = text.split_whitespace().collect::<Vec<_>>().join(" ");
                    if inner.is_some_and(|inner| inner == one_line(&typed)) {
                        node.text = inner.unwrap_or_default().to_owned();
                    }
                }
                if aloud {
                    self.value(&inspected, &shown, &reason, ty)?;
                    self.remember(&inspected);
                }
                self.last = Last::Value(nodes);
            }
            Err(fault) => self.wrong(&fault.to_string(), "", Exit::Error)?,
        }
        Ok(())
    }

    /// An expression as a program, with the number of its code and its type.
    pub(super) fn compiled(
        &mut self,
        text: &str,
    ) -> io::Result<Option<(Program, crate::bytecode::program::CodeId, crate::ir::Type)>> {
        let before = format!("let {VALUE} = (");
        let input = Input { before: &before, text, after: "\n)" };
        let mut composed = self.workspace.compose(input, &[]);
        let mut checked = composed.check(self.settings.limits);
        if self.told(&composed, &checked)? {
            return Ok(None);
        }
        let number = checked.module.lets.iter().position(|one| one.name == VALUE);
        let ty = number.and_then(|number| checked.module.lets.get(number)).map(|one| one.value.ty);
        checked.module.assertions.clear();
        checked.module.tests.clear();
        let program = compile(&checked.module, &composed.sources);
        let code = number.and_then(|number| program.lets.get(number)).copied();
        Ok(code.zip(ty).map(|(code, ty)| (program, code, ty)))
    }

    fn value(&mut self, inspected: &Inspected, shown: &str, reason: &str, ty: crate::ir::Type) -> io::Result<()> {
        self.fuel = Some(inspected.fuel);
        let style = self.settings.style;
        let ink = match inspected.shown.truth {
            Some(Truth::True) => Some(Ink::Green),
            Some(Truth::False | Truth::FalseByMissing) => Some(Ink::Red),
            Some(_) => Some(Ink::Yellow),
            None => None,
        };
        let value = ink.map_or_else(|| shown.to_owned(), |ink| paint(style, ink, shown));
        let unit = super::looks::unit(&inspected.shown.text, ty);
        let why = match (inspected.shown.truth, inspected.part.note.as_str()) {
            (Some(_), _) if !reason.is_empty() => format!(": {reason}"),
            (None, note) if !note.is_empty() && shown == "missing" => format!(": {}", one_line(note)),
            (None, _) if shown == "not recorded" && self.position.is_none() => ": there is no run".to_owned(),
            _ => String::new(),
        };
        writeln!(self.out, "{value}{unit}{why}")
    }

    /// Keeps the value as `it`, unless the rules have something of that name.
    fn remember(&mut self, inspected: &Inspected) {
        let literal = inspected.literal.as_ref().map(|literal| format!("let {IT} = {literal}"));
        self.workspace.set_hidden(IT, literal);
    }

    /// Looks at the run and the declarations anew, for completion.
    pub(super) fn look_around(&mut self) {
        let mut composed = self.workspace.compose(Input::default(), &[]);
        let checked = composed.check(self.settings.limits);
        let facts = Facts::of(&checked, &composed.sources, composed.root);
        let arena = Bump::new();
        let run = self.position.as_ref().and_then(|position| {
            let run = read::parse(&position.run, &arena, &self.settings.limits).ok()?;
            Some(facts.clone().with_run(&run))
        });
        self.facts = run.unwrap_or(facts);
    }

    /// Loads a rule file. True when it can be used.
    ///
    /// # Errors
    /// What the writer says.
    pub fn load(&mut self, path: &std::path::Path) -> io::Result<bool> {
        let text = match crate::cli::rules::text_of(path, self.settings.limits) {
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
        let checked = composed.check(self.settings.limits);
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
                let id = run.id.map_or(String::new(), |id| format!(" (id {id})"));
                let steps = run.steps.len();
                let steps = if steps == 1 { "1 step".to_owned() } else { format!("{steps} steps") };
                let name = run.source.name();
                self.position = Some(position);
                self.last = Last::Nothing;
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

    /// A near name, as help.
    pub(super) fn near(word: &str, known: impl Iterator<Item = &'static str>, otherwise: &str) -> String {
        nearest(word, known).map_or(otherwise.to_owned(), |near| format!("did you mean `{near}`?"))
    }
}

/// Steps that are named below a verdict.
const STEPS: usize = 5;

/// Whether a text is one expression and nothing else.
pub(super) fn is_expression(items: &[Item]) -> bool {
    match items {
        [Item { kind: ItemKind::Assertion(assertion), .. }] => {
            matches!(assertion.statement.kind, StatementKind::Expression(_)) && assertion.modifiers.is_empty()
        }
        _ => false,
    }
}
