//! What comes of an input: values, verdicts, tests.

use super::session::{Last, Session};
use super::workspace::{Composed, Input};
use crate::commands::exit::Exit;
use crate::commands::params;
use averment_base::diagnostic::render::{Ink, one_line, paint};
use averment_base::truth::{Truth, Verdict};
use averment_engine::bytecode::program::{CodeId, Program};
use averment_engine::check::Checked;
use averment_engine::compile::compile;
use averment_engine::ir::Type;
use averment_engine::vm::evaluate::{EvaluateOptions, derive};
use averment_engine::vm::inspect::{Inspected, inspect};
use averment_engine::vm::prepare::Prepared;
use averment_engine::vm::testing::run_tests;
use averment_report::derivation::view::{AssertionView, DerivationView};
use averment_report::derivation::{self, Choice};
use averment_report::table::Table;
use averment_runs::run::{Run, RunSource};
use averment_traces::read::{self, RawRun};
use bumpalo::Bump;
use std::io;

/// The name under which an expression is compiled: nobody writes it.
const VALUE: &str = "_input";
/// The name of the last value.
const IT: &str = "it";
/// Steps that are named below a verdict.
const STEPS: usize = 5;
/// Runs of more steps are walked through only where something happens.
const WALKED: usize = 5_000;

impl Session<'_> {
    /// Judges the assertions of an input on the run at hand.
    pub(super) fn judge(&mut self, composed: &Composed, checked: &Checked) -> io::Result<()> {
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
    pub(super) fn derived(&mut self, program: Program, composed: &Composed) -> io::Result<Option<DerivationView>> {
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
        // `:step` looks at every step, as far as a person would.
        let walk = if run.steps.len() <= WALKED { Choice::All } else { Choice::Around };
        self.walk = Some(derivation::view(&table, &run, &derived, walk));
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
                writeln!(self.out, "{}", averment_report::derivation::cut(&line, style.width))?;
            }
        }
        Ok(())
    }

    /// Runs the tests of an input.
    pub(super) fn tests(&mut self, composed: &Composed, checked: &Checked) -> io::Result<()> {
        if !checked.module.tests.iter().any(|test| composed.is_input(test.span)) {
            return Ok(());
        }
        let program = compile(&checked.module, &composed.sources);
        let prepared = Prepared::new(&program);
        for result in run_tests(&program, &prepared, &self.settings.limits, averment_traces::read_str) {
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
    pub(super) fn expression(&mut self, text: &str) -> io::Result<()> {
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
    pub(super) fn compiled(&mut self, text: &str) -> io::Result<Option<(Program, CodeId, Type)>> {
        let before = format!("let {VALUE} = (");
        let input = Input { before: &before, text, after: "\n)" };
        let mut composed = self.workspace.compose(input, &[]);
        let mut checked = composed.check(self.settings.limits, &self.settings.permissions.read);
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

    fn value(&mut self, inspected: &Inspected, shown: &str, reason: &str, ty: Type) -> io::Result<()> {
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
}
